//! Replacement of control characters, by the names that tio has for them.

/// A replacement of a character.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mapping {
    name: &'static str,
    /// Whether it applies to what is sent, instead of what is received.
    is_output: bool,
    from: u8,
    to: &'static [u8],
}

const fn mapping(name: &'static str, is_output: bool, from: u8, to: &'static [u8]) -> Mapping {
    Mapping { name, is_output, from, to }
}

const MAPPINGS: [Mapping; 7] = [
    mapping("ICRNL", false, b'\r', b"\n"),
    mapping("IGNCR", false, b'\r', b""),
    mapping("INLCR", false, b'\n', b"\r"),
    mapping("INLCRNL", false, b'\n', b"\r\n"),
    mapping("OCRNL", true, b'\r', b"\n"),
    mapping("ODELBS", true, 0x7F, b"\x08"),
    mapping("ONLCRNL", true, b'\n', b"\r\n"),
];

/// Parses the name of a mapping, in any case.
pub(crate) fn parse(text: &str) -> Result<Mapping, String> {
    let names = || MAPPINGS.map(|mapping| mapping.name).join(", ");
    let named = MAPPINGS.into_iter().find(|mapping| mapping.name.eq_ignore_ascii_case(text));
    named.ok_or_else(|| format!("unknown mapping '{text}': expected {}", names()))
}

/// Applies to each character the first mapping of this direction that has it.
pub(super) fn apply(mappings: &[Mapping], is_output: bool, bytes: &[u8]) -> Vec<u8> {
    let replacement = |byte: &u8| {
        let found =
            mappings.iter().find(|mapping| mapping.is_output == is_output && mapping.from == *byte);
        found.map_or(vec![*byte], |mapping| mapping.to.to_vec())
    };
    bytes.iter().flat_map(replacement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_replaced_in_their_direction_only() {
        let mappings = ["inlcrnl", "ODELBS"].map(|name| parse(name).expect("a name"));
        assert_eq!(apply(&mappings, false, b"a\nb\x7F"), b"a\r\nb\x7F");
        assert_eq!(apply(&mappings, true, b"a\nb\x7F"), b"a\nb\x08");
        assert!(parse("ICR").is_err_and(|message| message.contains("ICRNL")));
    }
}
