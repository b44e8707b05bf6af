//! The factory's CP/M monitor 1.1, after recorded sessions: after power-up it ignores everything
//! but a space, and then executes single keys.

use std::time::Duration;

use crate::{Memory, MonitorModel, ReceiverSpec};

const ACTIVATE: &[u8] = b"\x0cPress [SPACE] to activate console\r\n";
const BANNER: &[u8] =
    b"\x0c\x0c\r\nZ80 SBC Boot ROM 1.1 by G. Searle\r\nRC2014 port by Mitch Lalovic\r\n\
Type ? for options\r\n\r\n>";
const PROMPT: &[u8] = b"\r\n>";

/// The monitor.
pub struct CpmMonitor {
    memory: Memory,
    state: State,
}

enum State {
    /// Everything but a space is ignored.
    NotActivated,
    Prompt,
    /// `Boot CP/M?` waits for an answer.
    ConfirmBoot,
    /// The digits of an Intel HEX record.
    Record(Vec<u8>),
}

impl Default for CpmMonitor {
    fn default() -> Self {
        Self { memory: Memory::new(0x4000..=0xFFFF), state: State::Prompt }
    }
}

impl CpmMonitor {
    /// Creates a monitor just after power-up.
    pub fn not_activated() -> Self {
        Self { state: State::NotActivated, ..Self::default() }
    }

    fn key(&mut self, key: u8, out: &mut Vec<u8>) -> State {
        match key.to_ascii_uppercase() {
            b':' => return State::Record(Vec::new()),
            b'X' => {
                out.push(key);
                out.extend(b"\r\nBoot CP/M?");
                return State::ConfirmBoot;
            }
            b'?' => out.extend(b"?\r\nR, BC, BW, X, : are its keys\r\n\r\n>"),
            0x21..=0x7E => {
                out.extend([key, b'?']);
                out.extend(PROMPT);
            }
            _ => {}
        }
        State::Prompt
    }

    fn digit(&mut self, mut digits: Vec<u8>, character: u8, out: &mut Vec<u8>) -> State {
        digits.push(character);
        let value = |pair: &[u8]| {
            let text = std::str::from_utf8(pair).unwrap_or_default();
            u8::from_str_radix(text, 16).unwrap_or(0)
        };
        let bytes: Vec<u8> = digits.chunks_exact(2).map(value).collect();
        let [count, high, low, kind, data @ ..] = bytes.as_slice() else {
            return State::Record(digits);
        };
        let at = data.len().wrapping_sub(1);
        if at < usize::from(*count) && digits.len().is_multiple_of(2) {
            let address = u16::from_be_bytes([*high, *low]).wrapping_add(at as u16);
            self.memory.set(address, data[at]);
            out.push(b'.');
        }
        if data.len() <= usize::from(*count) {
            return State::Record(digits);
        }
        let is_good = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) == 0;
        out.extend(match (is_good, kind) {
            (false, _) => &b"Checksum error\r\n\r\n>"[..],
            (true, 1) => b"Load complete.\r\n\r\n>",
            (true, _) => PROMPT,
        });
        State::Prompt
    }
}

impl MonitorModel for CpmMonitor {
    fn receive(&mut self, character: u8, out: &mut Vec<u8>) {
        let plain = character & 0x7F;
        self.state = match std::mem::replace(&mut self.state, State::Prompt) {
            State::NotActivated if plain == b' ' => {
                out.extend(BANNER);
                State::Prompt
            }
            State::NotActivated => State::NotActivated,
            State::Prompt => self.key(plain, out),
            State::ConfirmBoot => {
                out.extend(PROMPT);
                State::Prompt
            }
            State::Record(digits) => self.digit(digits, plain, out),
        };
    }

    fn reset(&mut self, out: &mut Vec<u8>) {
        self.state = State::NotActivated;
        out.extend(ACTIVATE);
        out.extend(ACTIVATE);
    }

    fn receiver_spec(&self) -> ReceiverSpec {
        ReceiverSpec { buffer: 60, rts: Some((50, 5)) }
    }

    fn processing_time(&self) -> Duration {
        Duration::from_micros(60)
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        Some(&mut self.memory)
    }
}
