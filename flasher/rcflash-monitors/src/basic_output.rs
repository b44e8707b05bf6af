//! Parses what ROM BASIC prints.

use cli_support::text::Escape;

pub(crate) fn version(banner: &str) -> String {
    let after = banner.split_once("BASIC Ver").map(|(_, after)| after);
    let version = after.and_then(|after| after.split_whitespace().next());
    version.map_or(String::new(), |version| format!(" {}", version.escaped()))
}

/// Returns `true` if the output ends with the prompt.
pub(crate) fn is_ready(received: &[u8]) -> bool {
    received.ends_with(b"Ok\r\n")
}

pub(crate) fn integers(text: &str) -> impl DoubleEndedIterator<Item = u32> {
    text.split_whitespace().filter_map(|word| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn a_version_is_shown_without_control_characters() {
        assert_eq!(version("Z80 BASIC Ver 4.7b\r\n"), " 4.7b");
        let hostile = version("BASIC Ver 4\u{1b}[2J\u{202e}7\u{9b}\r\n");
        assert_eq!(hostile, " 4\\x1B[2J\\u{202E}7\\u{9B}");
    }
}
