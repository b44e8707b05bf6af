//! Spaces of well-formed attackers arrays, and the order in which they are enumerated.

use std::fmt;

use clap::ValueEnum;
use sargon_reference::{AttackersArray, Colour, FiledArray, Piece, PieceKind};

/// Kinds of the piece under attack; the innermost digit of an array's number.
const PIECE_KINDS: u32 = PieceKind::ALL.len() as u32;
/// The pieces that may stand behind a queen on her line.
const BEHIND_QUEEN: [&[PieceKind]; 4] =
    [&[], &[PieceKind::Bishop], &[PieceKind::Rook], &[PieceKind::Rook, PieceKind::Rook]];
/// Maximum number of pawns, knights and rooks of a side.
const MAX_PER_KIND: usize = 2;

/// A set of attackers arrays: for either side up to two pawns, two knights, two rooks and a king,
/// and one or two bishops and queens. Bishops and rooks may stand behind a queen when she is the
/// only one. Its number in the protocol is that of the variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Space {
    /// Up to one bishop and one queen per side: 857,304 arrays
    Core,
    /// Up to two bishops and one queen per side: 2,117,016 arrays
    TwoBishops,
    /// Up to two bishops and two queens per side: 3,429,216 arrays
    TwoQueens,
}

/// One side's part of an array: its bytes in the article's form (Table 1).
pub(super) type Section = [u8; 7];

impl Space {
    /// Returns the sections that a side may have, in the order of nested loops over pawns
    /// (outermost), knights, kings, queens, pieces behind the queen, other bishops and other rooks,
    /// each from 0 up.
    pub(super) fn sections(self) -> Vec<Section> {
        let mut sections = Vec::new();
        for pawns in 0..=MAX_PER_KIND {
            for knights in 0..=MAX_PER_KIND {
                for kings in 0..=1 {
                    for queens in 0..=self.max_queens() {
                        let outer = OuterCounts { pawns, knights, kings, queens };
                        self.add_sections(outer, &mut sections);
                    }
                }
            }
        }
        sections
    }

    fn add_sections(self, outer: OuterCounts, sections: &mut Vec<Section>) {
        let choices = if outer.queens == 1 { &BEHIND_QUEEN[..] } else { &BEHIND_QUEEN[..1] };
        for behind in choices {
            let used = |kind| behind.iter().filter(|one| **one == kind).count();
            for bishops in 0..=self.max_bishops() - used(PieceKind::Bishop) {
                for rooks in 0..=MAX_PER_KIND - used(PieceKind::Rook) {
                    sections.push(outer.section(behind, bishops, rooks));
                }
            }
        }
    }

    fn max_bishops(self) -> usize {
        if self == Self::Core { 1 } else { 2 }
    }

    fn max_queens(self) -> usize {
        if self == Self::TwoQueens { 2 } else { 1 }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}

/// The outer digits of a section.
#[derive(Clone, Copy)]
struct OuterCounts {
    pawns: usize,
    knights: usize,
    kings: usize,
    queens: usize,
}

impl OuterCounts {
    /// Returns the bytes of a section by the reference's filing, which is that of ATTACK.
    fn section(self, behind: &[PieceKind], bishops: usize, rooks: usize) -> Section {
        let mut filing = FiledArray { array: AttackersArray::default(), overflow: false };
        let mut file = |kind, count, behind_queen| {
            for _ in 0..count {
                filing.insert(Piece { colour: Colour::White, kind }, behind_queen);
            }
        };
        file(PieceKind::Pawn, self.pawns, false);
        file(PieceKind::Knight, self.knights, false);
        file(PieceKind::Bishop, bishops, false);
        file(PieceKind::Rook, rooks, false);
        file(PieceKind::Queen, self.queens, false);
        behind.iter().for_each(|kind| file(*kind, 1, true));
        file(PieceKind::King, self.kings, false);
        let [white @ .., _, _, _, _, _, _, _] = filing.array.to_bytes();
        white
    }
}

/// The digits of an array's number: sections of attackers and defenders, kind attacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArrayIndex {
    /// Index of the attackers' section, the outermost digit.
    pub(super) attackers: u16,
    /// Index of the defenders' section.
    pub(super) defenders: u16,
    /// Kind of the piece under attack, the innermost digit.
    pub(super) kind: PieceKind,
}

/// The arrays of a space, for one owner of the piece under attack.
#[derive(Debug, Clone)]
pub(super) struct ArraySpace {
    /// The space.
    pub(super) space: Space,
    /// The colour of the piece under attack.
    pub(super) owner: Colour,
    sections: Vec<Section>,
}

impl ArraySpace {
    /// Creates the arrays of a space.
    pub(super) fn new(space: Space, owner: Colour) -> Self {
        Self { space, owner, sections: space.sections() }
    }

    /// Returns the number of arrays.
    pub(super) fn count(&self) -> u32 {
        let sections = self.sections.len() as u32;
        sections * sections * PIECE_KINDS
    }

    /// Returns the digits of an array's number, which is less than [`Self::count`].
    pub(super) fn index(&self, number: u32) -> ArrayIndex {
        let pair = number / PIECE_KINDS;
        let kind = number % PIECE_KINDS;
        let sections = self.sections.len() as u32;
        let attackers = (pair / sections) as u16;
        let defenders = (pair % sections) as u16;
        ArrayIndex { attackers, defenders, kind: PieceKind::ALL[kind as usize] }
    }

    /// Returns the piece under attack and the array.
    pub(super) fn at(&self, index: ArrayIndex) -> (Piece, AttackersArray) {
        let attackers = self.sections[usize::from(index.attackers)];
        let defenders = self.sections[usize::from(index.defenders)];
        let (white, black) = match self.owner {
            Colour::Black => (attackers, defenders),
            Colour::White => (defenders, attackers),
        };
        let mut bytes = [0; 14];
        bytes[..7].copy_from_slice(&white);
        bytes[7..].copy_from_slice(&black);
        let piece = Piece { colour: self.owner, kind: index.kind };
        (piece, AttackersArray::from_bytes(&bytes))
    }
}
