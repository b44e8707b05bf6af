//! Telnet as far as serial ports need it: data with doubled 255s, options that are agreed on, and
//! subnegotiations (RFC 854, 855).
//!
//! What comes from the network may be anything: nothing here fails or grows without limit.

/// Interpret as command.
const IAC: u8 = 255;
const DONT: u8 = 254;
const DO: u8 = 253;
const WONT: u8 = 252;
const WILL: u8 = 251;
const SB: u8 = 250;
const SE: u8 = 240;

/// Bytes of eight bits (RFC 856).
pub(crate) const BINARY: u8 = 0;
/// No signal after each transmission (RFC 858).
const SUPPRESS_GO_AHEAD: u8 = 3;
/// Control of a serial port (RFC 2217).
pub(crate) const COM_PORT: u8 = 44;

/// Most bytes of a subnegotiation that are kept; a signature is the longest.
const MOST: usize = 300;

/// A part of what was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A byte of data.
    Data(u8),
    /// One of WILL, WONT, DO and DONT, with the option.
    Option(u8, u8),
    /// A subnegotiation, with the option in front.
    Sub(Vec<u8>),
}

/// Divides what is heard.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    state: State,
    sub: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Data,
    Command,
    Option(u8),
    Sub,
    SubCommand,
}

impl Decoder {
    /// Takes a byte; returns what it completes.
    pub(crate) fn push(&mut self, byte: u8) -> Option<Heard> {
        let (state, heard) = match (self.state, byte) {
            (State::Data, IAC) => (State::Command, None),
            (State::Data, _) => (State::Data, Some(Heard::Data(byte))),
            (State::Command, IAC) => (State::Data, Some(Heard::Data(IAC))),
            (State::Command, WILL..=DONT) => (State::Option(byte), None),
            (State::Command, SB) => {
                self.sub.clear();
                (State::Sub, None)
            }
            (State::Command, _) => (State::Data, None), // NOP and others ask for nothing
            (State::Option(verb), _) => (State::Data, Some(Heard::Option(verb, byte))),
            (State::Sub, IAC) => (State::SubCommand, None),
            (State::Sub, _) | (State::SubCommand, IAC) => {
                if self.sub.len() < MOST {
                    self.sub.push(byte);
                }
                (State::Sub, None)
            }
            (State::SubCommand, SE) => {
                (State::Data, Some(Heard::Sub(std::mem::take(&mut self.sub))))
            }
            // Another command ends what was not ended.
            (State::SubCommand, WILL..=DONT) => (State::Option(byte), None),
            (State::SubCommand, _) => (State::Data, None),
        };
        self.state = state;
        heard
    }
}

/// Data as it is sent.
pub(crate) fn escape(data: &[u8]) -> Vec<u8> {
    let mut sent = Vec::with_capacity(data.len() + 8);
    for byte in data {
        sent.push(*byte);
        if *byte == IAC {
            sent.push(IAC);
        }
    }
    sent
}

/// A subnegotiation as it is sent.
pub(crate) fn sub(option: u8, content: &[u8]) -> Vec<u8> {
    [&[IAC, SB, option], &escape(content)[..], &[IAC, SE]].concat()
}

/// The options that both sides agree on.
#[derive(Debug, Default)]
pub(crate) struct Options {
    ours: [Side; USED.len()],
    theirs: [Side; USED.len()],
}

/// The options that are used; all others are refused.
const USED: [u8; 3] = [BINARY, SUPPRESS_GO_AHEAD, COM_PORT];

/// The state of an option for one side.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Side {
    #[default]
    Off,
    /// Asked for and not answered.
    Asked,
    On,
    Refused,
}

impl Options {
    /// The requests with which a side begins.
    pub(crate) fn begin(&mut self) -> Vec<u8> {
        self.ours = [Side::Asked; USED.len()];
        self.theirs = [Side::Asked; USED.len()];
        USED.iter().flat_map(|option| [IAC, WILL, *option, IAC, DO, *option]).collect()
    }

    /// Whether this side uses an option; `None` while that is not answered.
    pub(crate) fn ours(&self, option: u8) -> Option<bool> {
        decided(self.ours[index(option)?])
    }

    /// The same for the other side.
    pub(crate) fn theirs(&self, option: u8) -> Option<bool> {
        decided(self.theirs[index(option)?])
    }

    /// Takes a word of the other side; returns the answer, which is empty if none is due: an answer
    /// to an answer would have no end.
    pub(crate) fn hear(&mut self, verb: u8, option: u8) -> Vec<u8> {
        let (yes, no) = if matches!(verb, DO | DONT) { (WILL, WONT) } else { (DO, DONT) };
        let is_wanted = matches!(verb, DO | WILL);
        let Some(index) = index(option) else {
            return if is_wanted { vec![IAC, no, option] } else { Vec::new() };
        };
        let side = match yes {
            WILL => &mut self.ours[index],
            _ => &mut self.theirs[index],
        };
        let before = std::mem::replace(side, if is_wanted { Side::On } else { Side::Refused });
        match (before, is_wanted) {
            (Side::Off | Side::Refused, true) => vec![IAC, yes, option],
            (Side::On, false) => vec![IAC, no, option],
            _ => Vec::new(),
        }
    }
}

fn index(option: u8) -> Option<usize> {
    USED.iter().position(|used| *used == option)
}

fn decided(side: Side) -> Option<bool> {
    match side {
        Side::Off | Side::Asked => None,
        Side::On => Some(true),
        Side::Refused => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(bytes: &[u8]) -> Vec<Heard> {
        let mut decoder = Decoder::default();
        bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
    }

    #[test]
    fn every_byte_comes_back_from_data_and_from_subnegotiations() {
        let all: Vec<u8> = (0..=255).collect();
        let data: Vec<Heard> = all.iter().map(|byte| Heard::Data(*byte)).collect();
        assert_eq!(heard(&escape(&all)), data);
        let content = [&[COM_PORT], &all[..]].concat();
        assert_eq!(heard(&sub(COM_PORT, &all)), [Heard::Sub(content)]);
    }

    /// The example of RFC 855: IAC DO, IAC SB ... IAC SE between data; NOP means nothing.
    #[test]
    fn commands_are_taken_out_of_data() {
        let bytes = [b'a', 255, 253, 44, b'b', 255, 241, 255, 250, 44, 1, 255, 240, b'c'];
        assert_eq!(
            heard(&bytes),
            [
                Heard::Data(b'a'),
                Heard::Option(253, 44),
                Heard::Data(b'b'),
                Heard::Sub(vec![44, 1]),
                Heard::Data(b'c'),
            ]
        );
    }

    #[test]
    fn a_subnegotiation_without_end_takes_no_memory() {
        let mut decoder = Decoder::default();
        for byte in [IAC, SB].into_iter().chain(std::iter::repeat_n(7, 100_000)) {
            assert_eq!(decoder.push(byte), None);
        }
        assert!(decoder.sub.len() <= MOST);
    }

    #[test]
    fn two_sides_that_both_ask_fall_silent() {
        let (mut one, mut other) = (Options::default(), Options::default());
        let mut to_other = one.begin();
        let mut to_one = other.begin();
        for _ in 0..3 {
            let answer = |side: &mut Options, words: &[u8]| -> Vec<u8> {
                words.chunks(3).flat_map(|word| side.hear(word[1], word[2])).collect()
            };
            let from_other = answer(&mut other, &std::mem::take(&mut to_other));
            to_other = answer(&mut one, &std::mem::take(&mut to_one));
            to_one = from_other;
        }
        assert!(to_one.is_empty() && to_other.is_empty());
        assert_eq!((one.ours(COM_PORT), one.theirs(BINARY)), (Some(true), Some(true)));
    }

    #[test]
    fn other_options_are_refused_once() {
        let mut options = Options::default();
        assert_eq!(options.hear(WILL, 1), [IAC, DONT, 1]);
        assert_eq!(options.hear(DO, 31), [IAC, WONT, 31]);
        assert!(options.hear(WONT, 1).is_empty() && options.hear(DONT, 31).is_empty());
    }
}
