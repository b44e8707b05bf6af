//! Text from outside on its way to people: boards, files, file names and the environment may hold
//! characters that a terminal obeys. All programs show them through this module.
//!
//! There are two borders. A *value* from outside, such as a file's name, is put into a message by
//! [`Show::shown`], which leaves no line break in it: a value can't pretend to be a line of ours. A
//! whole *message* goes to the terminal by [`tell`] or [`print()`], which keep line breaks and let
//! no other control character through, whatever a message was made of.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Returns whether a terminal or an editor may obey this character instead of showing it.
///
/// These are the control characters of ASCII and of ISO 8859-1 (C0, DEL and C1), the marks that
/// reorder text ("Trojan Source", CVE-2021-42574: U+061C, U+200E, U+200F, U+202A to U+202E,
/// U+2066 to U+2069), separators of lines and paragraphs, characters without width, and tags.
#[must_use]
pub fn is_hidden(letter: char) -> bool {
    let code = u32::from(letter);
    letter.is_control()
        || matches!(code, 0x00AD | 0x061C | 0x180E | 0xFEFF | 0xFFF9..=0xFFFB)
        || matches!(code, 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F)
        || matches!(code, 0xE0000..=0xE007F)
}

/// Returns the text with hidden characters as escapes, such as `\x1B`; line breaks are escaped too.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// Returns the text with hidden characters as escapes; line breaks and tabs are kept.
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| is_hidden(letter) && letter != '\n' && letter != '\t')
}

/// Returns JSON that means the same and has hidden characters as escapes of JSON.
#[must_use]
pub fn visible_json(json: &str) -> Cow<'_, str> {
    // Only strings hold such characters: between values JSON allows line breaks and tabs alone.
    let is_inside = |letter| is_hidden(letter) && !matches!(letter, '\n' | '\r' | '\t');
    if !json.chars().any(is_inside) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_inside(letter) {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                let _ = write!(safe, "\\u{unit:04x}"); // a string takes all
            }
        } else {
            safe.push(letter);
        }
    }
    Cow::Owned(safe)
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            _ if !is_escaped(letter) => safe.push(letter),
            '\n' => safe += "\\n",
            '\r' => safe += "\\r",
            '\t' => safe += "\\t",
            _ => {
                let code = u32::from(letter);
                // A string takes all that is written to it.
                let _ = match code {
                    0..0x80 => write!(safe, "\\x{code:02X}"),
                    _ => write!(safe, "\\u{{{code:X}}}"),
                };
            }
        }
    }
    Cow::Owned(safe)
}

/// Returns what a stream of bytes holds, with line breaks, carriage returns and tabs; every other
/// byte that is not printable ASCII is shown by its value, since a character may be cut between two
/// reads.
#[must_use]
pub fn visible_stream(bytes: &[u8]) -> String {
    let mut safe = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\n' | b'\r' | b'\t' | b' '..=b'~' => safe.push(char::from(*byte)),
            _ => {
                let _ = write!(safe, "\\x{byte:02X}"); // a string takes all
            }
        }
    }
    safe
}

/// Values from outside that messages name.
pub trait Show {
    /// Returns the value as one line in which nothing is hidden.
    fn shown(&self) -> String;
}

impl Show for str {
    fn shown(&self) -> String {
        visible(self).into_owned()
    }
}

impl Show for [u8] {
    /// Bytes that are not UTF-8 are shown as `\xFF`.
    fn shown(&self) -> String {
        let mut safe = String::with_capacity(self.len());
        for chunk in self.utf8_chunks() {
            safe += &visible(chunk.valid());
            for byte in chunk.invalid() {
                let _ = write!(safe, "\\x{byte:02X}"); // a string takes all
            }
        }
        safe
    }
}

impl Show for OsStr {
    fn shown(&self) -> String {
        self.as_encoded_bytes().shown()
    }
}

impl Show for Path {
    fn shown(&self) -> String {
        self.as_os_str().shown()
    }
}

impl Show for PathBuf {
    fn shown(&self) -> String {
        self.as_path().shown()
    }
}

/// Formats a message, as `format!` does, and passes it to [`tell`](crate::text::tell).
#[macro_export]
macro_rules! tell {
    ($($message:tt)*) => {
        $crate::text::tell(::std::format_args!($($message)*))
    };
}

/// Writes a message and a line break to standard error. Hidden characters are escaped.
///
/// A message that can't be written is dropped: a full disk after standard error must neither end
/// the program nor change its exit code.
pub fn tell(message: impl std::fmt::Display) {
    let line = visible_lines(&message.to_string()).into_owned() + "\n";
    let _ = io::stderr().lock().write_all(line.as_bytes()); // see above
}

/// Writes text as it is laid out, without a line break at its end, to standard error. Hidden
/// characters are escaped, save a carriage return before a line break, which a terminal in raw mode
/// needs; what can't be written is dropped as by [`tell`].
pub fn tell_text(text: &str) {
    let _ = io::stderr().lock().write_all(laid_out(text).as_bytes()); // as there
}

fn laid_out(text: &str) -> String {
    text.split("\r\n").map(visible_lines).collect::<Vec<_>>().join("\r\n")
}

/// Writes coloured text to standard error, as [`tell_text`] writes plain text.
///
/// Sequences that choose a colour or weight (`ESC [ figures m`, ECMA-48 "SGR") pass; a renderer
/// that shows foreign text must have escaped those of its own accord. All else that is hidden is
/// escaped.
pub fn tell_coloured(text: &str) {
    let _ = io::stderr().lock().write_all(coloured(text).as_bytes()); // as there
}

/// Returns the text with hidden characters as escapes, but for colours.
fn coloured(text: &str) -> String {
    let mut pieces = text.split("\x1B[");
    let mut safe = visible_lines(pieces.next().unwrap_or_default()).into_owned();
    for piece in pieces {
        let figures = piece.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(piece.len());
        let is_colour = piece[figures..].starts_with('m');
        safe.push_str(if is_colour { "\x1B[" } else { "\\x1B[" });
        safe.push_str(&visible_lines(piece));
    }
    safe
}

/// Writes text to standard output and flushes it. Hidden characters are escaped. A reader that has
/// had enough is not an error.
///
/// # Errors
/// The system's error, if standard output does not take the text.
pub fn print(text: &str) -> io::Result<()> {
    print_bytes(visible_lines(text).as_bytes())
}

/// Writes data for programs to standard output as it is and flushes it. A reader that has had
/// enough is not an error.
///
/// # Errors
/// The system's error, if standard output does not take the bytes.
pub fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A verdict line, a clear screen, a reversal of text, a C1 introducer and a title.
    const HOSTILE: &str = "a\nPASS: all\x1B[2J\u{202E}b\u{9B}31m\x1B]0;x\x07\r\u{200B}\u{E0041}";

    #[test]
    fn a_value_is_one_line_of_characters_that_are_shown() {
        let shown = HOSTILE.shown();
        assert!(!shown.chars().any(is_hidden), "{shown}");
        assert_eq!(shown, r"a\nPASS: all\x1B[2J\u{202E}b\u{9B}31m\x1B]0;x\x07\r\u{200B}\u{E0041}");
    }

    #[test]
    fn a_message_keeps_its_lines_and_nothing_else_that_is_hidden() {
        assert_eq!(laid_out("one\r\ntwo\rthree\n\r\n"), "one\r\ntwo\\rthree\n\r\n");
        let shown = visible_lines("one\n\ttwo\x1B[31m\r\n");
        assert_eq!(shown, "one\n\ttwo\\x1B[31m\\r\n");
    }

    #[test]
    fn plain_text_of_any_language_is_left_as_it_is() {
        for text in ["", "FEN 8/8 w - -", "Größe ≠ größer; 中文, ♞ 🙂", "C:\\boards\\one"]
        {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_shown_by_their_values() {
        assert_eq!(b"a\xFF\x00\xC3\xA9\xC3"[..].shown(), "a\\xFF\\x00é\\xC3");
    }

    #[cfg(unix)]
    #[test]
    fn file_names_may_be_any_bytes() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(OsStr::from_bytes(b"/tmp/\xFE\x1B[2J\nPASS: 1"));
        assert_eq!(path.shown(), r"/tmp/\xFE\x1B[2J\nPASS: 1");
        assert_eq!(PathBuf::from("/dev/ttyUSB0").shown(), "/dev/ttyUSB0");
    }

    #[test]
    fn a_stream_keeps_its_lines_and_shows_every_other_control() {
        assert_eq!(
            visible_stream(b"ok\r\n\t\x1B[2J\x9B\xC3\xA9~"),
            "ok\r\n\t\\x1B[2J\\x9B\\xC3\\xA9~"
        );
    }

    #[test]
    fn json_means_the_same_afterwards() {
        let json = "{\"id\":\"a\u{9B}2J\u{202E}\u{E0041}é\"}\n";
        assert_eq!(visible_json(json), "{\"id\":\"a\\u009b2J\\u202e\\udb40\\udc41é\"}\n");
        assert!(matches!(visible_json("{\"id\":\"é\"}\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn all_control_characters_and_all_marks_of_direction_are_hidden() {
        let controls = (0..0x20).chain(0x7F..0xA0);
        let marks = [0x061C, 0x200E, 0x200F].into_iter().chain(0x202A..=0x202E);
        for code in controls.chain(marks).chain(0x2066..=0x2069) {
            assert!(char::from_u32(code).is_some_and(is_hidden), "{code:X}");
        }
        assert!(!(0x20..0x7F).filter_map(char::from_u32).any(is_hidden));
    }

    #[test]
    fn colours_pass_and_other_sequences_do_not() {
        assert_eq!(coloured("\x1B[1;31mred\x1B[0m\n"), "\x1B[1;31mred\x1B[0m\n");
        assert_eq!(coloured("\x1B[2Jgone\x1B]0;t\x07"), "\\x1B[2Jgone\\x1B]0;t\\x07");
    }
}
