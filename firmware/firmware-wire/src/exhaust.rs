//! The request EXHAUST and its reply: evaluates a range of attackers arrays.

use super::RESIDUE_BINS;

/// The range of arrays that EXHAUST evaluates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExhaustRequest {
    /// Number of the space, below [`super::EXHAUST_SPACES`].
    pub space: u8,
    /// Number of the first array's attackers' section.
    pub attackers: u16,
    /// Number of the first array's defenders' section.
    pub defenders: u16,
    /// The first array's piece: bit 7 the owner's colour, bits 2-0 the type.
    pub piece: u8,
    /// The number of arrays, at least 1.
    pub count: u16,
    /// CRC-32 of the residues before the first array, 0 at the start.
    pub crc: u32,
}

impl ExhaustRequest {
    pub(super) fn payload(&self) -> Vec<u8> {
        let Self { space, attackers, defenders, piece, count, crc } = self;
        let mut bytes = vec![*space];
        bytes.extend(attackers.to_le_bytes());
        bytes.extend(defenders.to_le_bytes());
        bytes.push(*piece);
        bytes.extend(count.to_le_bytes());
        bytes.extend(crc.to_le_bytes());
        bytes
    }
}

/// The reply to EXHAUST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExhaustReply {
    /// Arrays evaluated; fewer than requested at the end of the space.
    pub count: u16,
    /// CRC-32 of all residues so far, one byte each.
    pub crc: u32,
    /// Union of all statuses: bits of [`super::status`].
    pub status: u8,
    /// The number of arrays with each residue from 0 to 10.
    pub histogram: [u16; RESIDUE_BINS],
}

impl ExhaustReply {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let (&[c0, c1, r0, r1, r2, r3, status], rest) = payload.split_first_chunk()?;
        let (bins, []) = rest.as_chunks::<2>() else { return None };
        let bins: &[[u8; 2]; RESIDUE_BINS] = bins.try_into().ok()?;
        Some(Self {
            count: u16::from_le_bytes([c0, c1]),
            crc: u32::from_le_bytes([r0, r1, r2, r3]),
            status,
            histogram: bins.map(u16::from_le_bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_and_reply_are_laid_out_as_the_protocol_says() {
        let request = ExhaustRequest {
            space: 2,
            attackers: 0x0102,
            defenders: 0x0203,
            piece: 0x86,
            count: 0x0405,
            crc: 0x0102_0304,
        };
        assert_eq!(request.payload(), [2, 2, 1, 3, 2, 0x86, 5, 4, 4, 3, 2, 1]);
        let mut payload = vec![0x10, 0x20, 0x78, 0x56, 0x34, 0x12, 1];
        payload.extend((0..22).map(|offset| if offset == 20 { 9 } else { 0 }));
        let tally = ExhaustReply::parse(&payload).expect("it is complete");
        assert_eq!((tally.count, tally.crc, tally.status), (0x2010, 0x1234_5678, 1));
        assert_eq!((tally.histogram[10], tally.histogram.iter().sum::<u16>()), (9, 9));
        assert_eq!(ExhaustReply::parse(&payload[1..]), None);
    }
}
