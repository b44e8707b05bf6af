//! Tells data from code by the text of a source line.

/// Directives of data that can't be taken for an operand.
const DIRECTIVES: [&str; 24] = [
    "db", "dw", "ds", "dm", "dc", "dd", "dz", "defb", "defw", "defs", "defm", "defd", "defz",
    "dsb", "dsw", "dword", "asciz", "blkb", "blkw", "incbin", "dwl", "asciiz", "fcb", "fdb",
];
/// Directives of data whose names are also those of labels.
const WORDS: [&str; 11] =
    ["byte", "word", "text", "ascii", "string", "str", "block", "fill", "space", "skip", "insert"];

/// Returns `true` for a line of an assembler's source that defines or reserves data: `COUNT: db 0`.
///
/// ```
/// use program_formats::is_data_line;
///
/// assert!(is_data_line("COUNT   defb 0") && is_data_line("text: .ascii \"hi\""));
/// assert!(!is_data_line("  call text") && !is_data_line("LOOP: ld a,(COUNT) ; db"));
/// ```
pub fn is_data_line(text: &str) -> bool {
    let name = |word: &str| word.trim_start_matches(['.', '#']).to_ascii_lowercase();
    let is_in = |words: &[&str], word: &str| words.contains(&&*name(word));
    let is_directive = |word: &str| is_in(&DIRECTIVES, word) || is_in(&WORDS, word);
    let words = |text: &str| {
        let mut words = text.split_whitespace().map(str::to_owned);
        (words.next().unwrap_or_default(), words.next().unwrap_or_default())
    };
    let (first, second) = words(text);
    let is_label = |word: &str| !word.is_empty() && !word.contains([';', '"', '\'', '(', ',']);
    if let Some((label, rest)) = text.split_once(':').filter(|(label, _)| is_label(label.trim()))
        && label.split_whitespace().count() == 1
    {
        return is_directive(&words(rest.trim_start_matches(':')).0);
    }
    is_directive(&first) || (!text.starts_with(char::is_whitespace) && is_in(&DIRECTIVES, &second))
}
