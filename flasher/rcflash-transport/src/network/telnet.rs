//! The subset of Telnet that serial ports need: data with doubled 255s, negotiated options and
//! subnegotiations (RFC 854, 855).
//!
//! Input is untrusted: nothing here fails or grows without limit.

/// Interpret as command.
pub(crate) const IAC: u8 = 255;
const DONT: u8 = 254;
const DO: u8 = 253;
const WONT: u8 = 252;
const WILL: u8 = 251;
const SB: u8 = 250;
const SE: u8 = 240;

/// 8-bit data (RFC 856).
pub(crate) const BINARY: u8 = 0;
/// Half-duplex turn signals are suppressed (RFC 858).
const SUPPRESS_GO_AHEAD: u8 = 3;
/// Control of a serial port (RFC 2217).
pub(crate) const COM_PORT: u8 = 44;

/// The maximum number of bytes stored of a subnegotiation; a signature is the longest.
const MAX_SUBNEGOTIATION: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TelnetEvent {
    Data(u8),
    /// A verb (WILL, WONT, DO or DONT) and its option.
    Option(u8, u8),
    /// A subnegotiation, beginning with the option.
    Subnegotiation(Vec<u8>),
}

#[derive(Debug, Default)]
pub(crate) struct Decoder {
    state: State,
    subnegotiation: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Data,
    Command,
    Option(u8),
    Subnegotiation,
    SubnegotiationCommand,
}

impl Decoder {
    /// Decodes a byte; returns the item that it completes.
    pub(crate) fn push(&mut self, byte: u8) -> Option<TelnetEvent> {
        let (state, event) = match (self.state, byte) {
            (State::Data, IAC) => (State::Command, None),
            (State::Data, _) => (State::Data, Some(TelnetEvent::Data(byte))),
            (State::Command, IAC) => (State::Data, Some(TelnetEvent::Data(IAC))),
            (State::Command, WILL..=DONT) => (State::Option(byte), None),
            (State::Command, SB) => {
                self.subnegotiation.clear();
                (State::Subnegotiation, None)
            }
            (State::Command, _) => (State::Data, None), // NOP and others need no action
            (State::Option(verb), _) => (State::Data, Some(TelnetEvent::Option(verb, byte))),
            (State::Subnegotiation, IAC) => (State::SubnegotiationCommand, None),
            (State::Subnegotiation, _) | (State::SubnegotiationCommand, IAC) => {
                if self.subnegotiation.len() < MAX_SUBNEGOTIATION {
                    self.subnegotiation.push(byte);
                }
                (State::Subnegotiation, None)
            }
            (State::SubnegotiationCommand, SE) => (
                State::Data,
                Some(TelnetEvent::Subnegotiation(std::mem::take(&mut self.subnegotiation))),
            ),
            // Another command ends an unterminated subnegotiation.
            (State::SubnegotiationCommand, WILL..=DONT) => (State::Option(byte), None),
            (State::SubnegotiationCommand, _) => (State::Data, None),
        };
        self.state = state;
        event
    }
}

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

pub(crate) fn subnegotiation(option: u8, content: &[u8]) -> Vec<u8> {
    [&[IAC, SB, option], &escape(content)[..], &[IAC, SE]].concat()
}

/// Negotiates the options of both sides.
#[derive(Debug, Default)]
pub(crate) struct OptionNegotiation {
    local: [OptionState; SUPPORTED.len()],
    remote: [OptionState; SUPPORTED.len()],
}

/// The supported options; all others are refused.
const SUPPORTED: [u8; 3] = [BINARY, SUPPRESS_GO_AHEAD, COM_PORT];

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum OptionState {
    #[default]
    Off,
    /// Requested, without a reply yet.
    Requested,
    On,
    Refused,
}

impl OptionNegotiation {
    pub(crate) fn initial_requests(&mut self) -> Vec<u8> {
        self.local = [OptionState::Requested; SUPPORTED.len()];
        self.remote = [OptionState::Requested; SUPPORTED.len()];
        SUPPORTED.iter().flat_map(|option| [IAC, WILL, *option, IAC, DO, *option]).collect()
    }

    /// Returns whether this side uses an option; `None` before the reply.
    pub(crate) fn is_local_enabled(&self, option: u8) -> Option<bool> {
        enabled(self.local[index(option)?])
    }

    /// Returns whether the remote side uses an option; `None` before the reply.
    pub(crate) fn is_remote_enabled(&self, option: u8) -> Option<bool> {
        enabled(self.remote[index(option)?])
    }

    /// Handles a verb of the remote side; confirmations have no reply, or replies would not end.
    pub(crate) fn negotiate(&mut self, verb: u8, option: u8) -> Vec<u8> {
        let (yes, no) = if matches!(verb, DO | DONT) { (WILL, WONT) } else { (DO, DONT) };
        let is_request = matches!(verb, DO | WILL);
        let Some(index) = index(option) else {
            return if is_request { vec![IAC, no, option] } else { Vec::new() };
        };
        let side = match yes {
            WILL => &mut self.local[index],
            _ => &mut self.remote[index],
        };
        let before = std::mem::replace(
            side,
            if is_request { OptionState::On } else { OptionState::Refused },
        );
        match (before, is_request) {
            (OptionState::Off | OptionState::Refused, true) => vec![IAC, yes, option],
            (OptionState::On, false) => vec![IAC, no, option],
            _ => Vec::new(),
        }
    }
}

fn index(option: u8) -> Option<usize> {
    SUPPORTED.iter().position(|supported| *supported == option)
}

fn enabled(side: OptionState) -> Option<bool> {
    match side {
        OptionState::Off | OptionState::Requested => None,
        OptionState::On => Some(true),
        OptionState::Refused => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(bytes: &[u8]) -> Vec<TelnetEvent> {
        let mut decoder = Decoder::default();
        bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
    }

    #[test]
    fn every_byte_comes_back_from_data_and_from_subnegotiations() {
        let all: Vec<u8> = (0..=255).collect();
        let data: Vec<TelnetEvent> = all.iter().map(|byte| TelnetEvent::Data(*byte)).collect();
        assert_eq!(event(&escape(&all)), data);
        let content = [&[COM_PORT], &all[..]].concat();
        assert_eq!(event(&subnegotiation(COM_PORT, &all)), [TelnetEvent::Subnegotiation(content)]);
    }

    /// The example of RFC 855: IAC DO, IAC SB ... IAC SE between data; NOP means nothing.
    #[test]
    fn commands_are_separated_from_data() {
        let bytes = [b'a', 255, 253, 44, b'b', 255, 241, 255, 250, 44, 1, 255, 240, b'c'];
        assert_eq!(
            event(&bytes),
            [
                TelnetEvent::Data(b'a'),
                TelnetEvent::Option(253, 44),
                TelnetEvent::Data(b'b'),
                TelnetEvent::Subnegotiation(vec![44, 1]),
                TelnetEvent::Data(b'c'),
            ]
        );
    }

    #[test]
    fn an_endless_subnegotiation_does_not_exhaust_memory() {
        let mut decoder = Decoder::default();
        for byte in [IAC, SB].into_iter().chain(std::iter::repeat_n(7, 100_000)) {
            assert_eq!(decoder.push(byte), None);
        }
        assert!(decoder.subnegotiation.len() <= MAX_SUBNEGOTIATION);
    }

    #[test]
    fn negotiation_ends_when_both_sides_begin() {
        let (mut one, mut other) = (OptionNegotiation::default(), OptionNegotiation::default());
        let mut to_other = one.initial_requests();
        let mut to_one = other.initial_requests();
        for _ in 0..3 {
            let reply = |side: &mut OptionNegotiation, commands: &[u8]| -> Vec<u8> {
                commands
                    .chunks(3)
                    .flat_map(|command| side.negotiate(command[1], command[2]))
                    .collect()
            };
            let from_other = reply(&mut other, &std::mem::take(&mut to_other));
            to_other = reply(&mut one, &std::mem::take(&mut to_one));
            to_one = from_other;
        }
        assert!(to_one.is_empty() && to_other.is_empty());
        assert_eq!(
            (one.is_local_enabled(COM_PORT), one.is_remote_enabled(BINARY)),
            (Some(true), Some(true))
        );
    }

    #[test]
    fn an_option_is_unknown_until_the_reply_and_may_change_later() {
        let mut options = OptionNegotiation::default();
        options.initial_requests();
        let enabled = |options: &OptionNegotiation| {
            (options.is_local_enabled(BINARY), options.is_remote_enabled(BINARY))
        };
        assert_eq!(enabled(&options), (None, None));
        assert!(options.negotiate(DO, BINARY).is_empty(), "the reply to the request");
        assert!(options.negotiate(WONT, BINARY).is_empty(), "the reply to the request");
        assert_eq!(enabled(&options), (Some(true), Some(false)));
        assert_eq!(options.negotiate(DONT, BINARY), [IAC, WONT, BINARY]);
        assert_eq!(options.negotiate(WILL, BINARY), [IAC, DO, BINARY]);
        assert_eq!(enabled(&options), (Some(false), Some(true)));
        assert_eq!(options.is_local_enabled(1), None, "it is not supported");
    }

    #[test]
    fn other_options_are_refused_once() {
        let mut options = OptionNegotiation::default();
        assert_eq!(options.negotiate(WILL, 1), [IAC, DONT, 1]);
        assert_eq!(options.negotiate(DO, 31), [IAC, WONT, 31]);
        assert!(options.negotiate(WONT, 1).is_empty() && options.negotiate(DONT, 31).is_empty());
    }
}
