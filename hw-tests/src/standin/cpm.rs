//! CP/M's part: a prompt, and a program XM that receives and sends files by XMODEM.

use std::collections::BTreeMap;
use std::time::Duration;

use super::xmodem::{Outcome, XmodemReceiver, XmodemSender};
use super::{Peer, Wiring};

const PROMPT: &[u8] = b"\r\nA>";
/// A sector that is filled: CP/M's end of a text.
const FILLER: u8 = 0x1A;

/// CP/M with a disk in memory.
pub struct Cpm {
    files: BTreeMap<String, Vec<u8>>,
    state: State,
    line: Vec<u8>,
    by_crc: bool,
    busy: Duration,
    room: usize,
    /// Whether what is sent back is not what is on the disk.
    bad_disk: bool,
}

enum State {
    Prompt,
    Receiving(String, XmodemReceiver),
    Sending(XmodemSender),
}

impl Default for Cpm {
    fn default() -> Self {
        Self {
            files: BTreeMap::new(),
            state: State::Prompt,
            line: Vec::new(),
            by_crc: true,
            busy: Duration::from_micros(20),
            room: usize::MAX,
            bad_disk: false,
        }
    }
}

impl Cpm {
    /// One whose XM knows only checksums.
    #[must_use]
    pub fn by_checksum() -> Self {
        Self { by_crc: false, ..Self::default() }
    }

    /// One that takes this long for a character.
    #[must_use]
    pub fn taking(busy: Duration) -> Self {
        Self { busy, ..Self::default() }
    }

    /// One whose disk has room for so many sectors.
    #[must_use]
    pub fn with_room(sectors: usize) -> Self {
        Self { room: sectors, ..Self::default() }
    }

    /// One whose disk does not keep what is written.
    #[must_use]
    pub fn with_bad_disk() -> Self {
        Self { bad_disk: true, ..Self::default() }
    }

    /// One whose XM already waits for a file of this name.
    #[must_use]
    pub fn receiving(name: &str) -> Self {
        let state = State::Receiving(name.to_owned(), XmodemReceiver::new(true));
        Self { state, ..Self::default() }
    }

    fn type_in(&mut self, character: u8, say: &mut Vec<u8>) {
        match character {
            b'\r' => {
                say.extend(b"\r\n");
                let typed = std::mem::take(&mut self.line);
                self.execute(String::from_utf8_lossy(&typed).trim(), say);
            }
            0x20..=0x7E => {
                self.line.push(character);
                say.push(character);
            }
            _ => {}
        }
    }

    fn execute(&mut self, command: &str, say: &mut Vec<u8>) {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["XM", "R", name] => {
                say.extend(b"XMODEM v12.5 - Send Ctrl-X to Cancel\r\nCreating file\r\n");
                let receiver = XmodemReceiver::new(self.by_crc).with_room(self.room);
                receiver.call(say);
                self.state = State::Receiving((*name).to_owned(), receiver);
                return;
            }
            ["XM", "S", name] => match self.files.get(*name) {
                Some(file) => {
                    say.extend(b"File open\r\n");
                    self.state = State::Sending(XmodemSender::new(self.as_read(file)));
                    return;
                }
                None => say.extend(b"No such file\r\n"),
            },
            [name] if self.files.contains_key(&format!("{name}.COM")) => {
                say.extend(format!("{name} runs\r\n").bytes());
            }
            [name, ..] => say.extend(format!("{name}?\r\n").bytes()),
        }
        say.extend(PROMPT);
    }

    /// A file as the disk gives it back.
    fn as_read(&self, file: &[u8]) -> Vec<u8> {
        let mut read = file.to_vec();
        if let (true, Some(last)) = (self.bad_disk, read.last_mut()) {
            *last = !FILLER;
        }
        read
    }

    /// What follows from a transfer's end.
    fn ended(&mut self, name: Option<String>, outcome: Outcome, say: &mut Vec<u8>) -> State {
        match (name, outcome) {
            (Some(name), Outcome::Done(file)) => {
                say.extend(b"\r\nTransfer complete\r\n");
                self.files.insert(name, file);
            }
            (None, Outcome::Done(_)) => say.extend(b"\r\nTransfer complete\r\n"),
            (_, Outcome::Cancelled) => say.extend(b"\r\nTransfer cancelled\r\n"),
        }
        say.extend(PROMPT);
        State::Prompt
    }
}

impl Peer for Cpm {
    fn hear(&mut self, character: u8, say: &mut Vec<u8>) {
        let mut state = std::mem::replace(&mut self.state, State::Prompt);
        let (name, outcome) = match &mut state {
            State::Prompt => {
                self.type_in(character, say);
                return;
            }
            State::Receiving(name, receiver) => (Some(name.clone()), receiver.hear(character, say)),
            State::Sending(sender) => (None, sender.hear(character, say)),
        };
        self.state = match outcome {
            Some(outcome) => self.ended(name, outcome, say),
            None => state,
        };
    }

    fn idle(&mut self, since: Duration, say: &mut Vec<u8>) -> bool {
        if let State::Receiving(_, receiver) = &mut self.state {
            receiver.idle(since, say);
        }
        false
    }

    /// As RomWBW's driver: a buffer of 32; RTS rises at 16 and falls again below 8.
    fn wiring(&self) -> Wiring {
        Wiring { buffer: 32, rts: Some((16, 8)) }
    }

    fn busy(&self) -> Duration {
        self.busy
    }

    fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(Vec::as_slice)
    }
}
