//! The keys: most go to the board, two are the terminal's own.

use std::path::PathBuf;

/// Ctrl-], which leaves the terminal.
pub(crate) const LEAVE: u8 = 0x1D;
/// Ctrl-\, which asks for a file to send, and stops one that is being sent.
pub(crate) const SEND_FILE: u8 = 0x1C;

/// The action after a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// It goes to the board.
    Send(u8),
    /// The session ends.
    Leave,
    /// The file that is being sent is stopped, or else one is asked for.
    StopOrAsk,
    /// This is shown to the user, who is typing a name.
    Echo(String),
    /// The file of this name is sent.
    SendFile(PathBuf),
}

/// The user's keys, and the name that they may be typing.
#[derive(Debug, Default)]
pub(super) struct Keys {
    name: Option<Vec<u8>>,
}

impl Keys {
    /// Asks for a file's name: the keys that follow are its letters.
    pub(super) fn ask(&mut self) {
        self.name = Some(Vec::new());
    }

    /// Returns the action of a key.
    pub(super) fn press(&mut self, key: u8) -> Act {
        match (key, self.name.take()) {
            (LEAVE, _) => Act::Leave,
            (SEND_FILE, None) => Act::StopOrAsk,
            (key, None) => Act::Send(key),
            (key, Some(name)) => self.type_name(key, name),
        }
    }

    fn type_name(&mut self, key: u8, mut name: Vec<u8>) -> Act {
        match key {
            b'\r' | b'\n' if name.is_empty() => {
                return Act::Echo(" nothing is sent\r\n".to_owned());
            }
            b'\r' | b'\n' => return Act::SendFile(path(name)),
            0x03 | 0x1B | SEND_FILE => return Act::Echo(" nothing is sent\r\n".to_owned()),
            _ => {}
        }
        let echo = match key {
            0x08 | 0x7F => {
                let gone = String::from_utf8_lossy(&name).chars().next_back();
                let left = gone.map_or(0, |last| name.len().saturating_sub(last.len_utf8()));
                name.truncate(left);
                if gone.is_some() { "\x08 \x08" } else { "" }.to_owned()
            }
            key if key < b' ' => String::new(),
            key => {
                name.push(key);
                echo(&name)
            }
        };
        self.name = Some(name);
        Act::Echo(echo)
    }
}

/// The name's last character once all of its bytes are there.
fn echo(name: &[u8]) -> String {
    let whole = std::str::from_utf8(name).ok();
    whole.and_then(|name| name.chars().next_back()).map_or_else(String::new, String::from)
}

fn path(name: Vec<u8>) -> PathBuf {
    let name = host_platform::files::path_of(name);
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
            assert_eq!(keys.press(key), Act::Send(key));
        }
        assert_eq!(keys.press(LEAVE), Act::Leave);
        assert_eq!(keys.press(SEND_FILE), Act::StopOrAsk);
    }

    #[test]
    fn a_name_is_typed_with_corrections() {
        let mut keys = Keys::default();
        keys.ask();
        for key in b"rox\x7Fm.hey\x08x" {
            assert!(matches!(keys.press(*key), Act::Echo(_)));
        }
        assert_eq!(keys.press(b'\r'), Act::SendFile("rom.hex".into()));
        assert_eq!(keys.press(b'x'), Act::Send(b'x'), "the name is over");
    }

    #[test]
    fn letters_of_several_bytes_are_typed_and_taken_back_whole() {
        let mut keys = Keys::default();
        keys.ask();
        for key in "aé".bytes() {
            keys.press(key);
        }
        assert_eq!(keys.press(0x7F), Act::Echo("\x08 \x08".to_owned()));
        assert_eq!(keys.press(b'\r'), Act::SendFile("a".into()));
    }

    #[test]
    fn an_empty_name_and_escape_send_nothing() {
        for end in [b'\r', 0x1B, 0x03] {
            let mut keys = Keys::default();
            keys.ask();
            assert_eq!(keys.press(end), Act::Echo(" nothing is sent\r\n".to_owned()));
            assert_eq!(keys.press(b'y'), Act::Send(b'y'));
        }
        let mut keys = Keys::default();
        keys.ask();
        assert_eq!(keys.press(LEAVE), Act::Leave);
    }
}
