//! Symbol files, which other programs take labels from: a hexadecimal value and a name in each line.

use std::fmt::Write;

use super::Program;

/// The maximum number of characters of a line in a message.
const SHOWN: usize = 60;

/// A line of a symbol file that its format does not allow. The message does not contain the number
/// of the line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{}' is not {expected}",
    text.chars().take(SHOWN).collect::<String>().escape_debug()
)]
pub struct SymbolLineError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// What was expected.
    pub expected: &'static str,
}

impl Program {
    /// Returns the symbol file for emulators: `VALUE NAME` per line, addresses ascending.
    pub fn symbol_file(&self) -> String {
        let mut addresses: Vec<_> = self.symbols.iter().filter(|s| s.is_address).collect();
        addresses.sort_by(|a, b| (a.value, &a.name).cmp(&(b.value, &b.name)));
        addresses.iter().fold(String::new(), |mut text, symbol| {
            let _ = writeln!(text, "{:04X} {}", symbol.value, symbol.name);
            text
        })
    }
}

/// Parses a symbol file as written by [`Program::symbol_file`]. Values may end in `H`; comments
/// begin with a semicolon.
///
/// # Errors
///
/// Returns [`SymbolLineError`] for the first line of another form. Words such as `DEFC` and `ADD`
/// are hexadecimal digits too, but lines of sources and of other tools' files have no name as their
/// second and last word.
///
/// ```
/// use tdlasm::link::parse_symbol_file;
///
/// assert_eq!(parse_symbol_file("8003 START ; main\n"), Ok(vec![(0x8003, "START".to_owned())]));
/// assert!(parse_symbol_file("DEFC START = $8003\n").is_err());
/// ```
pub fn parse_symbol_file(text: &str) -> Result<Vec<(u16, String)>, SymbolLineError> {
    let expected = "VALUE NAME with a hexadecimal value, as in 8003 START";
    let lines = (1..).zip(text.lines());
    let lines = lines.map(|(line, text)| (line, text.trim_matches(['\x1A', ' ', '\t', '\r'])));
    lines
        .filter(|(_, text)| !text.is_empty() && !text.starts_with(';'))
        .map(|(line, text)| {
            let wrong = || SymbolLineError { line, text: text.to_owned(), expected };
            parse_line(text).ok_or_else(wrong)
        })
        .collect()
}

fn parse_line(line: &str) -> Option<(u16, String)> {
    let mut words = line.split(';').next()?.split_whitespace();
    let (value, name, rest) = (words.next()?, words.next()?, words.next());
    // A name may begin with any other character: @, ?, ., $ and letters of any alphabet.
    let is_name =
        !name.starts_with(|first: char| first.is_ascii_digit() || "=#:|\"'".contains(first));
    (rest.is_none() && is_name).then_some((hexadecimal(value)?, name.to_owned()))
}

/// Returns the value of digits alone: `from_str_radix` allows a sign.
fn hexadecimal(word: &str) -> Option<u16> {
    let digits = word.strip_suffix(['H', 'h']).unwrap_or(word);
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        && (digits.starts_with(|first: char| first.is_ascii_digit()) || digits.len() == 4);
    u16::from_str_radix(digits, 16).ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_names_are_read_as_they_are_written() {
        let text = "; labels\n8003 START\r\n\n0F00h foo ; of C\nFACE Foo\n12 $A.%\n00008000 @x\n";
        let names =
            [(0x8003, "START"), (0xF00, "foo"), (0xFACE, "Foo"), (0x12, "$A.%"), (0x8000, "@x")];
        let names = names.map(|(value, name)| (value, name.to_owned()));
        assert_eq!(parse_symbol_file(text), Ok(names.to_vec()));
    }

    #[test]
    fn lines_of_other_formats_are_errors() {
        for line in [
            "DEF START 0x8000",
            "DEFC START = $8000",
            "DEFC = $8000",
            "FACE #8000",
            "FACE 0x8000",
            "ADD HL",
            "ADD A,B",
            "+800 START",
            "8000",
            "18000 START",
            "8000 T START",
            "START 8000",
            "01:8000 START",
        ] {
            let error = parse_symbol_file(&format!("8000 A\n\n{line}\n")).expect_err(line);
            assert_eq!((error.line, &*error.text), (3, line));
        }
        let error = parse_symbol_file("\x1B[31m RED").expect_err("escape codes");
        let expected = "'\\u{1b}[31m RED' is not VALUE NAME with a hexadecimal value, as in 8003 \
                        START";
        assert_eq!(error.to_string(), expected);
    }
}
