//! Escapes untrusted text (from boards, files, file names and the environment) before it reaches a
//! terminal.
//!
//! A *value*, such as a file's name, is put into a message by [`Escape::escaped`], which escapes
//! line breaks too, so that a value cannot imitate a line of output. A whole *message* is written
//! by [`MessageKind::eprint`] or `output::print`, which keep line breaks and escape all other
//! control characters.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns `true` for characters that a terminal or editor may interpret instead of display.
///
/// These are the control characters of ASCII and ISO 8859-1 (C0, DEL and C1), bidirectional
/// controls ("Trojan Source", CVE-2021-42574: U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to
/// U+2069), line and paragraph separators, zero-width characters, and tags.
pub fn is_unsafe_for_terminals(letter: char) -> bool {
    let code = u32::from(letter);
    letter.is_control()
        || matches!(code, 0x00AD | 0x061C | 0x180E | 0xFEFF | 0xFFF9..=0xFFFB)
        || matches!(code, 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F)
        || matches!(code, 0xE0000..=0xE007F)
}

/// Escapes control characters, such as `\x1B`, including line breaks.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    escape_where(text, is_unsafe_for_terminals)
}

/// Escapes control characters other than line breaks and tabs.
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    escape_where(text, |letter| is_unsafe_for_terminals(letter) && letter != '\n' && letter != '\t')
}

/// Replaces control characters in the strings of JSON by JSON's escapes; the value stays the same.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    // Only strings contain such characters; between values JSON allows line breaks and tabs alone.
    let is_inside =
        |letter| is_unsafe_for_terminals(letter) && !matches!(letter, '\n' | '\r' | '\t');
    if !has_any(json, is_inside) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_inside(letter) {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                let _ = write!(safe, "\\u{unit:04x}"); // never fails
            }
        } else {
            safe.push(letter);
        }
    }
    Cow::Owned(safe)
}

/// Returns `true` if a text has a character to escape, which no printable ASCII is.
fn has_any(mut text: &str, is_escaped: impl Fn(char) -> bool) -> bool {
    while let Some(at) = first_unprintable(text.as_bytes()) {
        let mut letters = text[at..].chars();
        if letters.next().is_some_and(&is_escaped) {
            return true;
        }
        text = letters.as_str();
    }
    false
}

/// Bytes that are compared at once.
const CHUNK: usize = 64;

/// Returns the position of the first byte that is not printable ASCII.
fn first_unprintable(bytes: &[u8]) -> Option<usize> {
    let is_printable = |byte: &u8| matches!(byte, b' '..=b'~');
    // Without an early end the compiler compares several bytes by one instruction.
    let is_whole = |chunk: &&[u8]| chunk.iter().fold(true, |all, byte| all & is_printable(byte));
    let skipped = bytes.chunks_exact(CHUNK).take_while(is_whole).count() * CHUNK;
    let at = bytes[skipped..].iter().position(|byte| !is_printable(byte))?;
    Some(skipped + at)
}

fn escape_where(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !has_any(text, &is_escaped) {
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
                // Writing to a string never fails.
                let _ = match code {
                    0..0x80 => write!(safe, "\\x{code:02X}"),
                    _ => write!(safe, "\\u{{{code:X}}}"),
                };
            }
        }
    }
    Cow::Owned(safe)
}

/// Returns a stream of bytes as text. Line breaks, carriage returns, tabs and printable ASCII are
/// kept; all other bytes are escaped, since a character may be split between two reads.
pub fn escape_stream(bytes: &[u8]) -> String {
    let mut safe = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\n' | b'\r' | b'\t' | b' '..=b'~' => safe.push(char::from(*byte)),
            _ => {
                let _ = write!(safe, "\\x{byte:02X}"); // never fails
            }
        }
    }
    safe
}

/// Untrusted values that can be put into a message.
pub trait Escape {
    /// Returns the value as one line without control characters.
    fn escaped(&self) -> String;
}

impl Escape for str {
    fn escaped(&self) -> String {
        escape_controls(self).into_owned()
    }
}

impl Escape for [u8] {
    /// Invalid UTF-8 is escaped as `\xFF`.
    fn escaped(&self) -> String {
        let mut safe = String::with_capacity(self.len());
        for chunk in self.utf8_chunks() {
            safe += &escape_controls(chunk.valid());
            for byte in chunk.invalid() {
                let _ = write!(safe, "\\x{byte:02X}"); // never fails
            }
        }
        safe
    }
}

impl Escape for OsStr {
    fn escaped(&self) -> String {
        self.as_encoded_bytes().escaped()
    }
}

impl Escape for Path {
    fn escaped(&self) -> String {
        self.as_os_str().escaped()
    }
}

impl Escape for PathBuf {
    fn escaped(&self) -> String {
        self.as_path().escaped()
    }
}

/// The kind of a message on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// What went wrong.
    Error,
    /// What may be wrong.
    Warning,
    /// What to do about the message before.
    Help,
    /// Anything else.
    Note,
}

impl MessageKind {
    /// Returns the name, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Help => "help",
            Self::Note => "note",
        }
    }

    /// Writes a message and a line break to standard error, with control characters escaped.
    /// `code` is one that documentation explains.
    ///
    /// Errors are ignored: if standard error is redirected to a full disk, this must not change the
    /// program's exit code.
    pub fn eprint(self, code: Option<&'static str>, text: impl std::fmt::Display) {
        if let Some(format) = JSON.get() {
            return eprint_json(&(format(self, code, &text.to_string()) + "\n"));
        }
        let text = match (self, code) {
            (MessageKind::Note, _) => text.to_string(),
            (_, Some(code)) => format!("{}[{code}]: {text}", self.name()),
            (_, None) => format!("{}: {text}", self.name()),
        };
        let line = escape_lines(&text).into_owned() + "\n";
        let _ = io::stderr().lock().write_all(line.as_bytes()); // see above
    }
}

/// Returns the JSON of a message with a kind and perhaps a code.
pub type JsonFormat = fn(MessageKind, Option<&'static str>, &str) -> String;

/// Formats a note and passes it to [`MessageKind::eprint`](crate::text::MessageKind::eprint).
#[macro_export]
macro_rules! eprint_message {
    ($($message:tt)*) => {
        $crate::text::MessageKind::Note.eprint(None, ::std::format_args!($($message)*))
    };
}

/// Formats an error and passes it to [`MessageKind::eprint`](crate::text::MessageKind::eprint).
#[macro_export]
macro_rules! eprint_error {
    ($($message:tt)*) => {
        $crate::text::MessageKind::Error.eprint(None, ::std::format_args!($($message)*))
    };
}

/// Formats a warning and passes it to [`MessageKind::eprint`](crate::text::MessageKind::eprint).
#[macro_export]
macro_rules! eprint_warning {
    ($($message:tt)*) => {
        $crate::text::MessageKind::Warning.eprint(None, ::std::format_args!($($message)*))
    };
}

/// Formats what to do about the message before, for
/// [`MessageKind::eprint`](crate::text::MessageKind::eprint).
#[macro_export]
macro_rules! eprint_help {
    ($($message:tt)*) => {
        $crate::text::MessageKind::Help.eprint(None, ::std::format_args!($($message)*))
    };
}

static JSON: OnceLock<JsonFormat> = OnceLock::new();

/// Makes [`MessageKind::eprint`] write the JSON that `format` returns for a message, for programs
/// that read standard error. Only the first call has an effect.
pub fn set_json_messages(format: JsonFormat) {
    let _ = JSON.set(format); // see above
}

/// Returns `true` after [`set_json_messages`].
pub fn has_json_messages() -> bool {
    JSON.get().is_some()
}

/// Writes JSON to standard error, with control characters in JSON escapes. Errors are ignored, as
/// in [`MessageKind::eprint`].
pub fn eprint_json(json: &str) {
    let _ = io::stderr().lock().write_all(escape_json(json).as_bytes()); // see above
}

/// Writes a note and a line break to standard error, as [`MessageKind::eprint`].
pub fn eprint_message(text: impl std::fmt::Display) {
    MessageKind::Note.eprint(None, text);
}

/// Writes text to standard error without adding a line break. Control characters are escaped,
/// except a carriage return before a line break, which a terminal in raw mode needs. Errors are
/// ignored, as in [`MessageKind::eprint`].
pub fn eprint_escaped(text: &str) {
    let _ = io::stderr().lock().write_all(escape_raw_mode(text).as_bytes()); // see above
}

fn escape_raw_mode(text: &str) -> String {
    text.split("\r\n").map(escape_lines).collect::<Vec<_>>().join("\r\n")
}

/// Writes coloured text to standard error; apart from colours like [`eprint_escaped`].
///
/// Sequences that select a colour or weight (`ESC [ digits m`, ECMA-48 "SGR") are kept, so a
/// renderer must have escaped those of untrusted text itself. All other control characters are
/// escaped.
pub fn eprint_coloured(text: &str) {
    let _ = io::stderr().lock().write_all(escape_except_colours(text).as_bytes()); // see above
}

/// Escapes control characters other than sequences that select a colour.
fn escape_except_colours(text: &str) -> String {
    let mut pieces = text.split("\x1B[");
    let mut safe = escape_lines(pieces.next().unwrap_or_default()).into_owned();
    for piece in pieces {
        let figures = piece.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(piece.len());
        let is_colour = piece[figures..].starts_with('m');
        safe.push_str(if is_colour { "\x1B[" } else { "\\x1B[" });
        safe.push_str(&escape_lines(piece));
    }
    safe
}

/// Writes bytes to standard output unchanged and flushes it. A closed pipe is not an error.
///
/// # Errors
/// Returns the system's error if standard output cannot be written.
pub fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            STDOUT_CLOSED.store(true, Ordering::Relaxed);
            Ok(())
        }
        written => written,
    }
}

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns `true` if [`print_bytes`] found its pipe closed, so that more output has no reader.
pub fn is_stdout_closed() -> bool {
    STDOUT_CLOSED.load(Ordering::Relaxed)
}

/// Returns a command line, quoted for a shell.
pub fn command_line(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    let quoted = |word: &str| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", escape_controls(word).replace('\'', "'\\''")),
    };
    words.into_iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}

/// Replaces the escapes `\r`, `\n`, `\t`, `\\` and `\xHH` in a text; returns its bytes.
///
/// # Errors
/// Returns a message if a backslash does not begin one of these escapes.
///
/// ```
/// assert_eq!(cli_support::text::unescape(r"a\x0D\n"), Ok(b"a\r\n".to_vec()));
/// ```
pub fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend(plain.bytes());
        let (byte, length) = match escape.as_bytes() {
            [b'r', ..] => (b'\r', 1),
            [b'n', ..] => (b'\n', 1),
            [b't', ..] => (b'\t', 1),
            [b'\\', ..] => (b'\\', 1),
            [b'x', digits @ ..] => match digits.get(..2).and_then(parse_hex) {
                Some(byte) => (byte, 3),
                None => return Err("expected two hexadecimal digits after `\\x`".to_owned()),
            },
            _ => return Err("expected `\\r`, `\\n`, `\\t`, `\\\\` or `\\xHH`".to_owned()),
        };
        bytes.push(byte);
        rest = &escape[length..];
    }
    bytes.extend(rest.bytes());
    Ok(bytes)
}

fn parse_hex(digits: &[u8]) -> Option<u8> {
    let digits = digits.iter().map(|digit| char::from(*digit).to_digit(16));
    digits.collect::<Option<Vec<_>>>().map(|digits| (digits[0] * 16 + digits[1]) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A verdict line, a clear screen, a reversal of text, a C1 introducer and a title.
    const HOSTILE: &str = "a\nPASS: all\x1B[2J\u{202E}b\u{9B}31m\x1B]0;x\x07\r\u{200B}\u{E0041}";

    #[test]
    fn a_value_is_one_line_of_characters_that_are_shown() {
        let shown = HOSTILE.escaped();
        assert!(!shown.chars().any(is_unsafe_for_terminals), "{shown}");
        assert_eq!(shown, r"a\nPASS: all\x1B[2J\u{202E}b\u{9B}31m\x1B]0;x\x07\r\u{200B}\u{E0041}");
    }

    #[test]
    fn a_message_keeps_its_lines_and_nothing_else_that_is_hidden() {
        assert_eq!(escape_raw_mode("one\r\ntwo\rthree\n\r\n"), "one\r\ntwo\\rthree\n\r\n");
        let shown = escape_lines("one\n\ttwo\x1B[31m\r\n");
        assert_eq!(shown, "one\n\ttwo\\x1B[31m\\r\n");
    }

    #[test]
    fn a_character_is_escaped_wherever_it_is_in_a_long_text() {
        for before in 0..3 * CHUNK {
            let text = "a".repeat(before) + "\x1B" + &"b".repeat(2 * CHUNK);
            assert_eq!(escape_lines(&text), text.replace('\x1B', "\\x1B"), "{before}");
        }
    }

    #[test]
    fn plain_text_of_any_language_is_left_as_it_is() {
        for text in ["", "FEN 8/8 w - -", "Größe ≠ größer; 中文, ♞ 🙂", "C:\\boards\\one"]
        {
            assert!(matches!(escape_controls(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_shown_by_their_values() {
        assert_eq!(b"a\xFF\x00\xC3\xA9\xC3"[..].escaped(), "a\\xFF\\x00é\\xC3");
    }

    #[cfg(unix)]
    #[test]
    fn file_names_may_be_any_bytes() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(OsStr::from_bytes(b"/tmp/\xFE\x1B[2J\nPASS: 1"));
        assert_eq!(path.escaped(), r"/tmp/\xFE\x1B[2J\nPASS: 1");
        assert_eq!(PathBuf::from("/dev/ttyUSB0").escaped(), "/dev/ttyUSB0");
    }

    #[test]
    fn a_stream_keeps_its_lines_and_shows_every_other_control() {
        assert_eq!(
            escape_stream(b"ok\r\n\t\x1B[2J\x9B\xC3\xA9~"),
            "ok\r\n\t\\x1B[2J\\x9B\\xC3\\xA9~"
        );
    }

    #[test]
    fn json_means_the_same_afterwards() {
        let json = "{\"id\":\"a\u{9B}2J\u{202E}\u{E0041}é\"}\n";
        assert_eq!(escape_json(json), "{\"id\":\"a\\u009b2J\\u202e\\udb40\\udc41é\"}\n");
        assert!(matches!(escape_json("{\"id\":\"é\"}\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn all_control_characters_and_all_marks_of_direction_are_hidden() {
        let controls = (0..0x20).chain(0x7F..0xA0);
        let marks = [0x061C, 0x200E, 0x200F].into_iter().chain(0x202A..=0x202E);
        for code in controls.chain(marks).chain(0x2066..=0x2069) {
            assert!(char::from_u32(code).is_some_and(is_unsafe_for_terminals), "{code:X}");
        }
        assert!(!(0x20..0x7F).filter_map(char::from_u32).any(is_unsafe_for_terminals));
    }

    #[test]
    fn colours_pass_and_other_sequences_do_not() {
        assert_eq!(escape_except_colours("\x1B[1;31mred\x1B[0m\n"), "\x1B[1;31mred\x1B[0m\n");
        assert_eq!(escape_except_colours("\x1B[2Jgone\x1B]0;t\x07"), "\\x1B[2Jgone\\x1B]0;t\\x07");
    }
}
