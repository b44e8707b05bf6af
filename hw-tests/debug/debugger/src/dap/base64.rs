//! Base64 (RFC 4648, section 4), the protocol's encoding of memory contents.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            (0..3).fold(0u32, |word, at| word << 8 | u32::from(*chunk.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = (text.trim_end_matches('=').bytes())
        .map(|byte| DIGITS.iter().position(|digit| *digit == byte).map(|at| at as u32))
        .collect();
    let digits = digits.filter(|digits| digits.len() % 4 != 1)?;
    let chunk = |chunk: &[u32]| {
        let word = (0..4).fold(0, |word, at| word << 6 | chunk.get(at).unwrap_or(&0));
        word.to_be_bytes()[1..chunk.len()].to_vec()
    };
    Some(digits.chunks(4).flat_map(chunk).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_the_rfc_are_encoded_and_decoded() {
        let vectors =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (plain, text) in vectors {
            assert_eq!(encode(plain.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(plain.as_bytes()));
        }
        assert!(decode("Z").is_none() && decode("Z*==").is_none());
    }
}
