//! The replies to POSITION: squares with their arrays and residues, then the pins.

use super::{MAX_SQUARES_PER_FRAME, PointsReply, SQUARE_RECORD_BYTES};

/// One square of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SquareRecord {
    /// 21 + file + 10 * rank, both from 0.
    pub square: u8,
    /// Bit 7 colour, bits 2-0 type.
    pub piece: u8,
    /// Bits of [`super::status`].
    pub status: u8,
    /// Points that the piece's owner stands to lose.
    pub residue: u8,
    /// The attackers array as ATTACK left it.
    pub array: [u8; 14],
}

impl SquareRecord {
    fn parse(bytes: &[u8; SQUARE_RECORD_BYTES]) -> Self {
        let &[square, piece, status, residue, ..] = bytes;
        let mut array = [0; 14];
        array.copy_from_slice(&bytes[4..]);
        Self { square, piece, status, residue, array }
    }
}

/// A pinned piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pin {
    /// The piece's square.
    pub square: u8,
    /// The step of the pin, outwards from the royal piece.
    pub step: i8,
}

/// The last reply to POSITION.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PositionEnd {
    /// Frames of squares before this one.
    pub parts: u8,
    /// Number of squares in them.
    pub squares: u8,
    /// Union of all statuses.
    pub status: u8,
    /// Squares of White's king, Black's king, White's queen, Black's queen; 0 for none.
    pub royals: [u8; 4],
    /// The pins in the order in which they were found.
    pub pins: Vec<Pin>,
    /// The losses and prizes, if the request had the last move.
    pub points: Option<PointsReply>,
}

impl PositionEnd {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let (&[parts, squares, status, r0, r1, r2, r3, count], rest) =
            payload.split_first_chunk()?;
        let (pins, rest) = rest.split_at_checked(2 * usize::from(count))?;
        let (pins, _) = pins.as_chunks::<2>();
        let points = match rest {
            [] => None,
            rest => Some(PointsReply::parse(rest)?),
        };
        let pins = pins.iter().map(|&[square, step]| Pin { square, step: step as i8 }).collect();
        Some(Self { parts, squares, status, royals: [r0, r1, r2, r3], pins, points })
    }
}

/// Decodes the index of the frame, from 0, and its squares.
pub(super) fn parse_squares(payload: &[u8]) -> Option<(u8, Vec<SquareRecord>)> {
    let (&[part, count], rest) = payload.split_first_chunk()?;
    let (records, odd) = rest.as_chunks::<SQUARE_RECORD_BYTES>();
    if !odd.is_empty()
        || records.len() != usize::from(count)
        || !(1..=MAX_SQUARES_PER_FRAME).contains(&records.len())
    {
        return None;
    }
    Some((part, records.iter().map(SquareRecord::parse).collect()))
}
