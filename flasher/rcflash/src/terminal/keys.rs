//! Keys: most go to the board, two control the session.

use std::path::PathBuf;

/// Ctrl-], which ends the session.
pub(crate) const QUIT_KEY: u8 = 0x1D;
/// Ctrl-\, which prompts for a file to send, or cancels one that is being sent.
pub(crate) const SEND_FILE_KEY: u8 = 0x1C;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyAction {
    Send(u8),
    Leave,
    StopOrPrompt,
    Echo(String),
    SendFile(PathBuf),
}

/// State of the keyboard: the file name that is being typed, if any.
#[derive(Debug, Default)]
pub(super) struct Keys {
    name: Option<Vec<u8>>,
}

impl Keys {
    /// Starts a prompt for a file name, to which the next keys belong.
    pub(super) fn start_file_prompt(&mut self) {
        self.name = Some(Vec::new());
    }

    pub(super) fn press(&mut self, key: u8) -> KeyAction {
        match (key, self.name.take()) {
            (QUIT_KEY, _) => KeyAction::Leave,
            (SEND_FILE_KEY, None) => KeyAction::StopOrPrompt,
            (key, None) => KeyAction::Send(key),
            (key, Some(name)) => self.type_name(key, name),
        }
    }

    fn type_name(&mut self, key: u8, mut name: Vec<u8>) -> KeyAction {
        match key {
            b'\r' | b'\n' if name.is_empty() => {
                return KeyAction::Echo(" nothing sent\r\n".to_owned());
            }
            b'\r' | b'\n' => return KeyAction::SendFile(path(name)),
            0x03 | 0x1B | SEND_FILE_KEY => return KeyAction::Echo(" nothing sent\r\n".to_owned()),
            _ => {}
        }
        let echo = match key {
            0x08 | 0x7F => {
                let deleted = String::from_utf8_lossy(&name).chars().next_back();
                let left = deleted.map_or(0, |last| name.len().saturating_sub(last.len_utf8()));
                name.truncate(left);
                if deleted.is_some() { "\x08 \x08" } else { "" }.to_owned()
            }
            key if key < b' ' => String::new(),
            key => {
                name.push(key);
                echo(&name)
            }
        };
        self.name = Some(name);
        KeyAction::Echo(echo)
    }
}

/// Returns the last character of the name, once all of its bytes were typed.
fn echo(name: &[u8]) -> String {
    let whole = std::str::from_utf8(name).ok();
    whole.and_then(|name| name.chars().next_back()).map_or_else(String::new, String::from)
}

fn path(name: Vec<u8>) -> PathBuf {
    let name = rcflash_transport::platform::files::path_from_bytes(name);
    match name.to_str().and_then(|name| name.strip_prefix("~/")) {
        Some(rest) => std::env::home_dir().unwrap_or_default().join(rest),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupts_go_to_the_board() {
        let mut keys = Keys::default();
        for key in [0x03, 0x04, 0x1A, 0x1B, b'\r', 0x7F] {
            assert_eq!(keys.press(key), KeyAction::Send(key));
        }
        assert_eq!(keys.press(QUIT_KEY), KeyAction::Leave);
        assert_eq!(keys.press(SEND_FILE_KEY), KeyAction::StopOrPrompt);
    }

    #[test]
    fn a_name_is_typed_with_corrections() {
        let mut keys = Keys::default();
        keys.start_file_prompt();
        for key in b"rox\x7Fm.hey\x08x" {
            assert!(matches!(keys.press(*key), KeyAction::Echo(_)));
        }
        assert_eq!(keys.press(b'\r'), KeyAction::SendFile("rom.hex".into()));
        assert_eq!(keys.press(b'x'), KeyAction::Send(b'x'), "the prompt has ended");
    }

    #[test]
    fn multibyte_characters_are_typed_and_deleted_as_one() {
        let mut keys = Keys::default();
        keys.start_file_prompt();
        for key in "aé".bytes() {
            keys.press(key);
        }
        assert_eq!(keys.press(0x7F), KeyAction::Echo("\x08 \x08".to_owned()));
        assert_eq!(keys.press(b'\r'), KeyAction::SendFile("a".into()));
    }

    #[test]
    fn an_empty_name_and_escape_send_nothing() {
        for end in [b'\r', 0x1B, 0x03] {
            let mut keys = Keys::default();
            keys.start_file_prompt();
            assert_eq!(keys.press(end), KeyAction::Echo(" nothing sent\r\n".to_owned()));
            assert_eq!(keys.press(b'y'), KeyAction::Send(b'y'));
        }
        let mut keys = Keys::default();
        keys.start_file_prompt();
        assert_eq!(keys.press(QUIT_KEY), KeyAction::Leave);
    }
}
