//! Consistent Overhead Byte Stuffing (Cheshire and Baker, IEEE/ACM Transactions on
//! Networking 7(2), 1999), without the groups of 254 bytes, which only longer bodies need.

/// Encodes `body` without zeros, one byte longer. Returns `None` for a run of more than 253 bytes
/// without a zero: its length and one must be below the code of a full group, 255.
pub(super) fn encode(body: &[u8]) -> Option<Vec<u8>> {
    let mut encoded = Vec::with_capacity(body.len() + 1);
    for group in body.split(|&byte| byte == 0) {
        let code = u8::try_from(group.len() + 1).ok().filter(|code| *code < u8::MAX)?;
        encoded.push(code);
        encoded.extend_from_slice(group);
    }
    Some(encoded)
}

/// Decodes a body. Returns `None` if a group is longer than the remaining bytes.
pub(super) fn decode(mut encoded: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::with_capacity(encoded.len());
    while let Some((&code, rest)) = encoded.split_first() {
        let (group, rest) = rest.split_at_checked(usize::from(code).checked_sub(1)?)?;
        body.extend_from_slice(group);
        if !rest.is_empty() {
            body.push(0);
        }
        encoded = rest;
    }
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples with short groups from the literature: plain and encoded.
    const EXAMPLES: &[(&[u8], &[u8])] = &[
        (&[], &[0x01]),
        (&[0x00], &[0x01, 0x01]),
        (&[0x00, 0x00], &[0x01, 0x01, 0x01]),
        (&[0x11, 0x22, 0x00, 0x33], &[0x03, 0x11, 0x22, 0x02, 0x33]),
        (&[0x11, 0x22, 0x33, 0x44], &[0x05, 0x11, 0x22, 0x33, 0x44]),
        (&[0x11, 0x00, 0x00, 0x00], &[0x02, 0x11, 0x01, 0x01, 0x01]),
    ];

    #[test]
    fn the_examples_come_out_as_printed() {
        for (plain, encoded) in EXAMPLES {
            assert_eq!(encode(plain).as_deref(), Some(*encoded));
            assert_eq!(decode(encoded).as_deref(), Some(*plain));
        }
    }

    #[test]
    fn a_body_that_needs_a_full_group_is_refused() {
        assert!(encode(&[1; 253]).is_some());
        assert_eq!(encode(&[1; 254]), None);
        assert!(encode(&[&[1; 253][..], &[0], &[1; 253]].concat()).is_some());
    }

    #[test]
    fn a_group_longer_than_the_frame_is_refused() {
        assert_eq!(decode(&[0x05, 1, 2]), None);
    }
}
