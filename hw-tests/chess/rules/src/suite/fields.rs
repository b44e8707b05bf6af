//! Splits the text of a line after its FEN into fields.

/// A field without quotes, brackets and a name around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) text: String,
    /// Of its first character, from 1.
    pub(crate) column: usize,
    /// The separator before it, with its blanks in a note.
    pub(crate) separator: &'static str,
}

impl Field {
    /// Returns `true` if these are digits after a comma without a blank, as in `1,000` and `3,25`.
    pub(crate) fn continues(&self, number: &Self) -> bool {
        let is_next = self.column == number.column + number.text.chars().count() + 1;
        let is_digits = self.text.chars().all(|digit| digit.is_ascii_digit());
        self.separator == ", " && is_next && is_digits && !self.text.is_empty()
    }

    pub(crate) fn note(&self) -> String {
        format!("{}{}", self.separator, self.text)
    }
}

/// Splits `; move; value; note`, the same with bars, or `move value note`. `None` if there is no
/// field.
pub(super) fn of_text(rest: &str, column: usize) -> Option<Vec<Field>> {
    let blanks = rest.chars().take_while(|c| c.is_whitespace()).count();
    let column = column + blanks;
    let rest = rest.trim();
    let (mark, separator) = match rest.chars().next()? {
        ';' => (Some(';'), "; "),
        '|' => (Some('|'), " | "),
        _ => (None, " "),
    };
    let mut fields = Vec::new();
    let mut start = usize::from(mark.is_some());
    while start <= rest.len() {
        let end = match mark {
            Some(mark) => rest[start..].find(mark),
            None => rest[start..].find(char::is_whitespace),
        };
        let end = end.map_or(rest.len(), |length| start + length);
        let mut text = &rest[start..end];
        // Only the first fields are read, the others are a note.
        if fields.len() < 3 {
            text = without_comment(text);
        }
        let before = rest[..start].chars().count();
        let blanks = text.chars().take_while(|c| c.is_whitespace()).count();
        let is_dropped = match mark {
            Some(_) => end == rest.len() && fields.len() > 1,
            None => true,
        };
        if !text.trim().is_empty() || !is_dropped {
            let text = text.trim().to_owned();
            fields.push(Field { text, column: column + before + blanks, separator });
        }
        start = end + rest[end..].chars().next().map_or(1, char::len_utf8);
    }
    Some(fields)
}

/// Removes `// a comment`, and the characters `\n` of a line in a string of a program.
fn without_comment(text: &str) -> &str {
    let text = text.split("//").next().unwrap_or_default();
    text.split("\\n").next().unwrap_or_default()
}

/// Splits `, "move", value, "note"` up to the closing bracket; `true` if there is one.
pub(super) fn of_table(rest: &str, column: usize) -> (Vec<Field>, bool) {
    let mut fields = Vec::new();
    let mut depth = 0_u32;
    let mut quote = None;
    let mut start = 0;
    let mut end = rest.len();
    let mut letters = rest.char_indices();
    let mut is_closed = false;
    while let Some((at, letter)) = letters.next() {
        match (letter, quote) {
            ('\\', Some(_)) => drop(letters.next()),
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(letter),
            ('(' | '[' | '{', None) => depth += 1,
            (')' | ']' | '}', None) if depth > 0 => depth -= 1,
            (')' | ']' | '}', None) => {
                (end, is_closed) = (at, true);
                break;
            }
            ('/', None) if rest[at..].starts_with("//") => {
                end = at;
                break;
            }
            (',', None) if depth == 0 => {
                fields.push(table_field(rest, start..at, column));
                start = at + 1;
            }
            _ => {}
        }
    }
    if !rest[start..end].trim().is_empty() {
        fields.push(table_field(rest, start..end, column));
    }
    // Before the first comma is the end of the FEN's string.
    (fields.split_off(fields.len().min(1)), is_closed)
}

fn table_field(rest: &str, range: std::ops::Range<usize>, column: usize) -> Field {
    let text = without_name(rest[range.clone()].trim_start());
    let start = range.end - text.len();
    let text = text.trim();
    let inner =
        ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    let column = column + rest[..start].chars().count();
    Field { text: inner.unwrap_or(text).trim().to_owned(), column, separator: ", " }
}

/// Removes `.name =` or `name:` before a field. A promotion such as `b8=Q` is no name.
fn without_name(text: &str) -> &str {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = text.strip_prefix('.').unwrap_or(text);
    let after = word.trim_start_matches(is_part);
    if after.len() == word.len() {
        return text;
    }
    let sign = after.trim_start();
    match sign.strip_prefix(['=', ':']) {
        Some(value) if !value.starts_with([':', '=']) => value.trim_start(),
        _ => text,
    }
}
