//! The spaces of well-formed attackers arrays, and the order in which they are counted through.

use std::fmt;

use sargon_reference::{AttackersArray, Colour, Filing, Kind, Piece};

/// Piece types under attack, the innermost digit of an array's number.
const TYPES: u32 = Kind::ALL.len() as u32;
/// The pieces that may stand behind a queen on her line, first of all none.
const BEHIND_QUEEN: [&[Kind]; 4] = [&[], &[Kind::Bishop], &[Kind::Rook], &[Kind::Rook, Kind::Rook]];
/// Most pawns, knights and rooks of a side.
const TWO: usize = 2;

/// A set of attackers arrays: for either side up to two pawns, two knights, two rooks and a king,
/// and one or two bishops and queens. Bishops and rooks may stand behind a queen when she is the
/// only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Up to one bishop and one queen a side.
    Core,
    /// Up to two bishops and one queen.
    TwoBishops,
    /// Up to two bishops and two queens.
    TwoQueens,
}

/// One side's part of an array: its bytes in the article's form (Table 1).
pub type Section = [u8; 7];

impl Space {
    /// All spaces, the smallest first; a space's place here is its number on the line.
    pub const ALL: [Self; 3] = [Self::Core, Self::TwoBishops, Self::TwoQueens];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::TwoBishops => "two-bishops",
            Self::TwoQueens => "two-queens",
        }
    }

    /// The sections that a side may have, in order: nested loops over the pawns, knights, kings,
    /// queens, what stands behind the queen, bishops and rooks before or beside her; the first is
    /// the outermost, each counts from 0 up.
    #[must_use]
    pub fn sections(self) -> Vec<Section> {
        let mut sections = Vec::new();
        for pawns in 0..=TWO {
            for knights in 0..=TWO {
                for kings in 0..=1 {
                    for queens in 0..=self.most_queens() {
                        let leaders = Leaders { pawns, knights, kings, queens };
                        self.add_sections(leaders, &mut sections);
                    }
                }
            }
        }
        sections
    }

    fn add_sections(self, leaders: Leaders, sections: &mut Vec<Section>) {
        let choices = if leaders.queens == 1 { &BEHIND_QUEEN[..] } else { &BEHIND_QUEEN[..1] };
        for behind in choices {
            let used = |kind| behind.iter().filter(|one| **one == kind).count();
            for bishops in 0..=self.most_bishops() - used(Kind::Bishop) {
                for rooks in 0..=TWO - used(Kind::Rook) {
                    sections.push(leaders.section(behind, bishops, rooks));
                }
            }
        }
    }

    fn most_bishops(self) -> usize {
        if self == Self::Core { 1 } else { 2 }
    }

    fn most_queens(self) -> usize {
        if self == Self::TwoQueens { 2 } else { 1 }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The outer digits of a section.
#[derive(Clone, Copy)]
struct Leaders {
    pawns: usize,
    knights: usize,
    kings: usize,
    queens: usize,
}

impl Leaders {
    /// Files the pieces as ATTACK would: the reference's own filing makes the bytes.
    fn section(self, behind: &[Kind], bishops: usize, rooks: usize) -> Section {
        let mut filing = Filing { array: AttackersArray::default(), overflow: false };
        let mut file = |kind, count, behind_queen| {
            for _ in 0..count {
                filing.file(Piece { colour: Colour::White, kind }, behind_queen);
            }
        };
        file(Kind::Pawn, self.pawns, false);
        file(Kind::Knight, self.knights, false);
        file(Kind::Bishop, bishops, false);
        file(Kind::Rook, rooks, false);
        file(Kind::Queen, self.queens, false);
        behind.iter().for_each(|kind| file(*kind, 1, true));
        file(Kind::King, self.kings, false);
        let [white @ .., _, _, _, _, _, _, _] = filing.array.to_bytes();
        white
    }
}

/// A place in a space: which attackers' section, which defenders' section, and the type of the
/// piece between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Number of the attackers' section, the outermost digit.
    pub attackers: u16,
    /// Number of the defenders' section.
    pub defenders: u16,
    /// The piece, the innermost digit.
    pub kind: Kind,
}

/// A space with its sections at hand, for an owner of the piece under attack.
#[derive(Debug, Clone)]
pub struct Arrays {
    /// The space.
    pub space: Space,
    /// Whose pieces are attacked; the other colour attacks.
    pub owner: Colour,
    sections: Vec<Section>,
}

impl Arrays {
    /// The arrays of a space.
    #[must_use]
    pub fn new(space: Space, owner: Colour) -> Self {
        Self { space, owner, sections: space.sections() }
    }

    /// Returns the number of arrays.
    #[must_use]
    pub fn count(&self) -> u32 {
        let sections = self.sections.len() as u32;
        sections * sections * TYPES
    }

    /// Returns the place of the array of this number, which is below [`Self::count`].
    #[must_use]
    pub fn place(&self, number: u32) -> Place {
        let pair = number / TYPES;
        let kind = number % TYPES;
        let sections = self.sections.len() as u32;
        let attackers = (pair / sections) as u16;
        let defenders = (pair % sections) as u16;
        Place { attackers, defenders, kind: Kind::ALL[kind as usize] }
    }

    /// The piece under attack and the array at a place.
    #[must_use]
    pub fn at(&self, place: Place) -> (Piece, AttackersArray) {
        let attackers = self.sections[usize::from(place.attackers)];
        let defenders = self.sections[usize::from(place.defenders)];
        let (white, black) = match self.owner {
            Colour::Black => (attackers, defenders),
            Colour::White => (defenders, attackers),
        };
        let mut bytes = [0; 14];
        bytes[..7].copy_from_slice(&white);
        bytes[7..].copy_from_slice(&black);
        let piece = Piece { colour: self.owner, kind: place.kind };
        (piece, AttackersArray::from_bytes(&bytes))
    }
}
