//! The reference's residues of consecutive arrays, folded as the board folds them.

use std::ops::Range;

use crc::{CRC_32_ISO_HDLC, Crc};
use firmware_wire::{Tally, status};

use super::space::Arrays;
use sargon_reference::{exchange, minimax};

/// The check over the residues: zlib's CRC-32.
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// The reference's word on a stretch of arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The arrays' numbers.
    pub range: Range<u32>,
    /// CRC-32 of the residues before the stretch.
    pub crc_before: u32,
    /// The expected reply of the board.
    pub tally: Tally,
    /// In how many arrays the residue is higher, and in how many lower, than what minimax gives.
    pub off_minimax: (u32, u32),
}

impl Arrays {
    /// Plays out the exchanges of a stretch of at most 65,535 arrays of the space.
    #[must_use]
    pub fn expect(&self, range: Range<u32>, crc_before: u32) -> Expected {
        let mut residues = Vec::with_capacity(range.len());
        let mut short = false;
        let mut off_minimax = (0, 0);
        for number in range.clone() {
            let (piece, array) = self.at(self.place(number));
            let outcome = exchange(piece, &array);
            let [attackers, defenders] =
                [piece.colour.other(), piece.colour].map(|side| array.in_order(side));
            let best = minimax(piece.kind.value(), &attackers, &defenders);
            off_minimax.0 += u32::from(outcome.residue > best);
            off_minimax.1 += u32::from(outcome.residue < best);
            short |= outcome.short;
            residues.push(outcome.residue);
        }
        let count = |points| residues.iter().filter(|residue| **residue == points).count() as u16;
        let tally = Tally {
            count: residues.len() as u16,
            crc: extend(crc_before, &residues),
            status: if short { status::SHORT } else { 0 },
            histogram: std::array::from_fn(|points| count(points as u8)),
        };
        Expected { range, crc_before, tally, off_minimax }
    }
}

/// The CRC-32 of what had `crc` and then these bytes.
fn extend(crc: u32, bytes: &[u8]) -> u32 {
    let mut digest = CRC.digest_with_initial((!crc).reverse_bits());
    digest.update(bytes);
    digest.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_goes_on_where_another_ended() {
        // The check value of the catalogue of parametrised CRC algorithms.
        assert_eq!(extend(0, b"123456789"), 0xCBF4_3926);
        assert_eq!(extend(extend(0, b"1234"), b"56789"), 0xCBF4_3926);
    }
}
