//! The expected reply to an EXHAUST request, computed with the reference.

use std::ops::Range;

use crc::{CRC_32_ISO_HDLC, Crc};
use firmware_wire::{ExhaustReply, status};

use super::space::ArraySpace;
use sargon_reference::{exchange, minimax};

/// The CRC of the residues: that of zlib.
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// The expected reply for a chunk of arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExpectedChunk {
    /// Numbers of the arrays.
    pub(super) range: Range<u32>,
    /// CRC-32 of the residues before the chunk.
    pub(super) crc_before: u32,
    /// The expected reply of the board.
    pub(super) tally: ExhaustReply,
    /// Numbers of arrays with residues above and below minimax.
    pub(super) off_minimax: (u32, u32),
}

impl ArraySpace {
    /// Computes the expected reply for a chunk of at most 65,535 arrays.
    pub(super) fn expect(&self, range: Range<u32>, crc_before: u32) -> ExpectedChunk {
        let mut residues = Vec::with_capacity(range.len());
        let mut short = false;
        let mut off_minimax = (0, 0);
        for number in range.clone() {
            let (piece, array) = self.at(self.index(number));
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
        let tally = ExhaustReply {
            count: residues.len() as u16,
            crc: extend(crc_before, &residues),
            status: if short { status::SHORT } else { 0 },
            histogram: std::array::from_fn(|points| count(points as u8)),
        };
        ExpectedChunk { range, crc_before, tally, off_minimax }
    }
}

/// Returns the CRC-32 of some bytes with CRC-32 `crc`, followed by these bytes.
fn extend(crc: u32, bytes: &[u8]) -> u32 {
    let mut digest = CRC.digest_with_initial((!crc).reverse_bits());
    digest.update(bytes);
    digest.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crc_continues_from_an_earlier_one() {
        // The check value of the catalogue of parametrised CRC algorithms.
        assert_eq!(extend(0, b"123456789"), 0xCBF4_3926);
        assert_eq!(extend(extend(0, b"1234"), b"56789"), 0xCBF4_3926);
    }
}
