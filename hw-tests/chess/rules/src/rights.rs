//! Castling rights, by the file of the rook, as Chess960 requires.

use cozy_chess::{Color, File};

/// The side of the board to which a king castles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CastlingSide {
    /// Towards the h file, at any distance.
    King,
    /// Towards the a file.
    Queen,
}

impl CastlingSide {
    /// Both wings, in the order in which FEN lists their rights.
    pub const ALL: [Self; 2] = [Self::King, Self::Queen];

    /// The file of the king after castling.
    #[must_use]
    pub fn king_file(self) -> File {
        match self {
            Self::King => File::G,
            Self::Queen => File::C,
        }
    }

    /// The file of the rook after castling.
    #[must_use]
    pub fn rook_file(self) -> File {
        match self {
            Self::King => File::F,
            Self::Queen => File::D,
        }
    }

    /// The file of the rook in the usual starting position.
    #[must_use]
    pub fn usual_file(self) -> File {
        match self {
            Self::King => File::H,
            Self::Queen => File::A,
        }
    }
}

/// The castling rights of both sides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CastlingRights {
    rooks: [[Option<File>; 2]; 2],
}

impl CastlingRights {
    /// Returns the file of the rook with which a side may castle to a wing.
    pub fn rook(&self, side: Color, wing: CastlingSide) -> Option<File> {
        self.rooks[side as usize][wing as usize]
    }

    /// Returns all rights, White's first, each with the file of its rook.
    pub fn iter(&self) -> impl Iterator<Item = (Color, CastlingSide, File)> + '_ {
        Color::ALL.into_iter().flat_map(move |side| {
            let right = move |wing| self.rook(side, wing).map(|file| (side, wing, file));
            CastlingSide::ALL.into_iter().filter_map(right)
        })
    }

    pub(crate) fn grant(&mut self, side: Color, wing: CastlingSide, file: File) {
        self.rooks[side as usize][wing as usize] = Some(file);
    }

    pub(crate) fn remove_all(&mut self, side: Color) {
        self.rooks[side as usize] = [None; 2];
    }

    pub(crate) fn remove(&mut self, side: Color, file: File) {
        for right in &mut self.rooks[side as usize] {
            if *right == Some(file) {
                *right = None;
            }
        }
    }
}
