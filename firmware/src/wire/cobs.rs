//! Consistent Overhead Byte Stuffing (Cheshire and Baker, IEEE/ACM Transactions on Networking 7(2), 1999)
//! for bodies of fewer than 255 bytes, which is all that the protocol has.

/// Replaces the zeros of `body`; the result is one byte longer and holds none.
pub(super) fn encode(body: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(body.len() + 1);
    for group in body.split(|&byte| byte == 0) {
        encoded.push(group.len() as u8 + 1);
        encoded.extend_from_slice(group);
    }
    encoded
}

/// The body that `encoded` stands for; `None` when a group is longer than what is left.
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

    /// Examples with short groups from the literature: plain bytes and what they become.
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
            assert_eq!(encode(plain), *encoded);
            assert_eq!(decode(encoded).as_deref(), Some(*plain));
        }
    }

    #[test]
    fn a_group_longer_than_the_frame_is_refused() {
        assert_eq!(decode(&[0x05, 1, 2]), None);
    }
}
