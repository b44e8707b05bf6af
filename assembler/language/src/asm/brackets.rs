//! Brackets in comments and quotes: in skipped text they count like any other, which seldom is
//! meant.

/// The first comment or quoted text with a bracket that has no partner in it: the bracket's offset.
pub(super) fn lone_bracket(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        // Text is skipped by counting brackets alone, wherever they stand. So the bracket of an
        // ASCII text or a comment moves the end of the skipped part, and the source reads
        // differently assembled and skipped. That is what the warning is for; pairs within one
        // comment do no harm.
        let end = match text[at] {
            b';' => at + memchr::memchr2(b'\n', b'\r', &text[at..]).unwrap_or(text.len() - at),
            quote @ (b'\'' | b'"') => quoted_end(text, at, quote),
            _ => at + 1,
        };
        if let Some(lone) = lone_in(&text[at..end]) {
            // A single character that is no quote or comment is code.
            if end > at + 1 {
                return Some(at + lone);
            }
        }
        at = end;
    }
    None
}

/// Just past the closing quote; past the opening one if the line ends before.
fn quoted_end(text: &[u8], at: usize, quote: u8) -> usize {
    let line = memchr::memchr2(b'\n', b'\r', &text[at..]).map_or(text.len(), |length| at + length);
    memchr::memchr(quote, &text[at + 1..line]).map_or(at + 1, |length| at + length + 2)
}

fn lone_in(text: &[u8]) -> Option<usize> {
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
    use super::lone_bracket;

    #[test]
    fn only_brackets_without_partner_in_comments_and_quotes_are_found() {
        assert_eq!(lone_bracket(b" NOP ; see [1]\n .BYTE '['\n"), Some(23));
        assert_eq!(lone_bracket(b" NOP ; a ] here\n"), Some(9));
        assert_eq!(lone_bracket(b" .IFE 0,[ ; then\n NOP ]"), None);
        assert_eq!(lone_bracket(b" JR'CC [\n .ASCII '[x]'\n]"), None);
    }
}
