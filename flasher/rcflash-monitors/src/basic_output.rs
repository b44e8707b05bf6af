//! Parses what ROM BASIC prints.

/// Returns the version in a banner, preceded by a space.
pub(crate) fn version(banner: &str) -> String {
    let after = banner.split_once("BASIC Ver").map(|(_, after)| after);
    let version = after.and_then(|after| after.split_whitespace().next());
    version.map_or(String::new(), |version| format!(" {version}"))
}

/// Returns `true` if the output ends with the prompt.
pub(crate) fn is_ready(received: &[u8]) -> bool {
    received.ends_with(b"Ok\r\n")
}

/// Returns the integers in a text.
pub(crate) fn integers(text: &str) -> impl DoubleEndedIterator<Item = u32> {
    text.split_whitespace().filter_map(|word| word.parse().ok())
}
