//! Macros and repetitions, whose lines up to `ENDM` are copied unchanged.

use rustc_hash::FxHashMap;

use super::super::mnemonics::is_zilog_symbol;
use super::super::statement_end::line_end;

const OPENERS: [&[u8]; 4] = [b"MACRO", b"REPT", b"IRP", b"IRPC"];

/// The ends of the first and of the last line of each block.
pub(super) fn find(text: &[u8]) -> FxHashMap<usize, usize> {
    let mut open = Vec::new();
    let mut blocks = FxHashMap::default();
    let mut start = 0;
    while start < text.len() {
        let end = line_end(text, start);
        let words = first_words(&text[start..end]);
        let is = |known: &[u8]| words.iter().any(|word| word.eq_ignore_ascii_case(known));
        if is(b"ENDM") {
            blocks.extend(open.pop().map(|first| (first, end)));
        } else if OPENERS.into_iter().any(is) {
            open.push(end);
        }
        start = end + 1;
    }
    blocks
}

/// The first two words of a line without its comment and without a colon.
fn first_words(line: &[u8]) -> [&[u8]; 2] {
    let code = &line[..memchr::memchr(b';', line).unwrap_or(line.len())];
    let mut words = code.split(|byte| !is_zilog_symbol(*byte)).filter(|word| !word.is_empty());
    [words.next().unwrap_or_default(), words.next().unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn blocks_may_be_nested_and_unclosed_ones_are_ignored() {
        let text = b"M1: MACRO A\n REPT 3\n ENDM ;\n endm\n IRP X\n";
        let mut found: Vec<(usize, usize)> = find(text).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, [(11, 33), (19, 27)]);
    }
}
