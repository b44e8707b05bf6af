//! Finds brackets in comments and quotes, which count like any other bracket in skipped text.

/// Returns the offset of the first unmatched bracket in a comment or quoted text.
pub(super) fn unmatched_bracket(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        // Text is skipped by counting brackets alone, so a bracket in a string or comment moves the
        // end of the skipped part, and the source means different things when it is assembled and
        // when it is skipped. Pairs within one comment do no harm.
        let end = match text[at] {
            b';' => at + memchr::memchr2(b'\n', b'\r', &text[at..]).unwrap_or(text.len() - at),
            quote @ (b'\'' | b'"') => quoted_end(text, at, quote),
            _ => at + 1,
        };
        if let Some(unmatched) = unmatched_in(&text[at..end]) {
            // A single character that is neither quote nor comment is code.
            if end > at + 1 {
                return Some(at + unmatched);
            }
        }
        at = end;
    }
    None
}

/// Returns the offset after the closing quote, or after the opening one if the line ends first.
fn quoted_end(text: &[u8], at: usize, quote: u8) -> usize {
    let line = memchr::memchr2(b'\n', b'\r', &text[at..]).map_or(text.len(), |length| at + length);
    memchr::memchr(quote, &text[at + 1..line]).map_or(at + 1, |length| at + length + 2)
}

fn unmatched_in(text: &[u8]) -> Option<usize> {
    let mut open = Vec::new();
    for at in memchr::memchr2_iter(b'[', b']', text) {
        if text[at] == b'[' {
            open.push(at);
        } else if open.pop().is_none() {
            return Some(at);
        }
    }
    open.first().copied()
}

#[cfg(test)]
mod tests {
    use super::unmatched_bracket;

    #[test]
    fn only_unmatched_brackets_in_comments_and_quotes_are_found() {
        assert_eq!(unmatched_bracket(b" NOP ; see [1]\n .BYTE '['\n"), Some(23));
        assert_eq!(unmatched_bracket(b" NOP ; a ] here\n"), Some(9));
        assert_eq!(unmatched_bracket(b" .IFE 0,[ ; then\n NOP ]"), None);
        assert_eq!(unmatched_bracket(b" JR'CC [\n .ASCII '[x]'\n]"), None);
    }
}
