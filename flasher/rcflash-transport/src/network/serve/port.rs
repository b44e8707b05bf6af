//! The requests of a client of RFC 2217, carried out on the port.

use crate::{ControlLine, Transport};

use crate::network::comport::{self, control};

/// The answer that a request gets.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// No answer.
    None,
    /// The state as it is now.
    Value(Vec<u8>),
    /// The same; what waits for the port is to be forgotten.
    Purged(Vec<u8>),
}

/// The state of the port as clients know it.
pub(super) struct PortRequests {
    baud: u32,
    obeys_rts: bool,
    dtr: bool,
    rts: bool,
    low: bool,
}

impl PortRequests {
    /// A port that was just opened at a speed, with its wires active.
    pub(super) fn new(baud: u32) -> Self {
        Self { baud, obeys_rts: true, dtr: true, rts: true, low: false }
    }

    /// Carries a request out. A client learns by the answer what was not possible: the answer holds
    /// the state, which is then not the one that was asked for.
    pub(super) fn obey(&mut self, port: &mut dyn Transport, number: u8, value: &[u8]) -> Answer {
        match (number, value) {
            (comport::SIGNATURE, []) => {
                let name = concat!("rcflash ", env!("CARGO_PKG_VERSION"));
                Answer::Value(name.as_bytes().to_vec())
            }
            (comport::SET_BAUD, [a, b, c, d]) => {
                let asked = u32::from_be_bytes([*a, *b, *c, *d]);
                if asked != 0 && port.set_baud(asked).is_ok() {
                    self.baud = asked;
                }
                Answer::Value(self.baud.to_be_bytes().to_vec())
            }
            (comport::SET_DATASIZE, [_]) => Answer::Value(vec![comport::EIGHT_BITS]),
            (comport::SET_PARITY, [_]) => Answer::Value(vec![comport::NO_PARITY]),
            (comport::SET_STOPSIZE, [_]) => Answer::Value(vec![comport::ONE_STOP_BIT]),
            (comport::SET_CONTROL, [value]) => Answer::Value(vec![self.control(port, *value)]),
            // Nothing is reported unasked.
            (comport::SET_LINESTATE_MASK | comport::SET_MODEMSTATE_MASK, [_]) => {
                Answer::Value(vec![0])
            }
            (comport::PURGE, [what]) => purge(port, *what),
            _ => Answer::None,
        }
    }

    /// Carries a SET-CONTROL out; returns the state of what it is about.
    fn control(&mut self, port: &mut dyn Transport, value: u8) -> u8 {
        match value {
            control::NO_FLOW | control::HARDWARE_FLOW => {
                let obey = value == control::HARDWARE_FLOW;
                if port.obey_rts(obey).is_ok() {
                    self.obeys_rts = obey;
                }
            }
            control::BREAK_ON | control::BREAK_OFF => {
                set(port, ControlLine::Break, value == control::BREAK_ON, &mut self.low);
            }
            control::DTR_ON | control::DTR_OFF => {
                set(port, ControlLine::Dtr, value == control::DTR_ON, &mut self.dtr);
            }
            control::RTS_ON | control::RTS_OFF => {
                set(port, ControlLine::Rts, value == control::RTS_ON, &mut self.rts);
            }
            _ => {} // a question, or a way that is not known here
        }
        self.state(value)
    }

    fn state(&self, value: u8) -> u8 {
        let choose = |state, on, off| if state { on } else { off };
        match value {
            control::ASK_BREAK..=control::BREAK_OFF => {
                choose(self.low, control::BREAK_ON, control::BREAK_OFF)
            }
            control::ASK_DTR..=control::DTR_OFF => {
                choose(self.dtr, control::DTR_ON, control::DTR_OFF)
            }
            control::ASK_RTS..=control::RTS_OFF => {
                choose(self.rts, control::RTS_ON, control::RTS_OFF)
            }
            // The port's own buffer takes what comes from the board.
            control::ASK_INBOUND.. => control::NO_INBOUND,
            control::ASK_FLOW..control::ASK_BREAK => {
                choose(self.obeys_rts, control::HARDWARE_FLOW, control::NO_FLOW)
            }
        }
    }
}

fn set(port: &mut dyn Transport, line: ControlLine, on: bool, state: &mut bool) {
    if port.set_line(line, on).is_ok() {
        *state = on;
    }
}

fn purge(port: &mut dyn Transport, what: u8) -> Answer {
    let is_to_board = matches!(what, comport::PURGE_TO_BOARD | comport::PURGE_BOTH);
    if matches!(what, comport::PURGE_FROM_BOARD | comport::PURGE_BOTH) {
        forget_heard(port);
    }
    if !is_to_board {
        return Answer::Value(vec![what]);
    }
    // What the port does not forget goes out, as on a port that can't.
    let _ = port.discard_unsent();
    Answer::Purged(vec![what])
}

/// Reads what is there and has not been passed on; a failure shows at the next read.
fn forget_heard(port: &mut dyn Transport) {
    const MOST: usize = 64; // a board that never falls silent
    let mut heard = [0; 1024];
    for _ in 0..MOST {
        match port.read(&mut heard, std::time::Duration::ZERO) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::{Duration, Instant};

    use seeded_fuzz::{Seeds, each};

    use super::*;
    use crate::network::comport::message;
    use crate::network::telnet::{Decoder, Heard, Options};

    /// A port that writes down what is done to it.
    #[derive(Default)]
    struct Noted {
        done: Vec<String>,
        has_wires: bool,
    }

    impl Transport for Noted {
        fn name(&self) -> &str {
            "noted"
        }

        fn read(&mut self, _buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
            Ok(0)
        }

        fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
            Ok(())
        }

        fn set_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
            self.done.push(format!("{line:?} {on}"));
            if self.has_wires { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) }
        }

        fn obey_rts(&mut self, obey: bool) -> io::Result<bool> {
            self.done.push(format!("obey {obey}"));
            Ok(true)
        }

        fn set_baud(&mut self, baud: u32) -> io::Result<()> {
            self.done.push(format!("baud {baud}"));
            if baud == 9600 { Ok(()) } else { Err(io::ErrorKind::InvalidInput.into()) }
        }
    }

    fn values(port: &mut Noted, requests: &[(u8, &[u8])]) -> Vec<Answer> {
        let mut state = PortRequests::new(115_200);
        requests.iter().map(|(number, value)| state.obey(port, *number, value)).collect()
    }

    /// Numbers and values as in RFC 2217, section 3.
    #[test]
    fn requests_are_carried_out_and_answered_with_the_state() {
        let mut port = Noted { has_wires: true, ..Noted::default() };
        let nine_thousand = 9600_u32.to_be_bytes();
        let answers = values(
            &mut port,
            &[
                (1, &nine_thousand),
                (5, &[9]),
                (5, &[5]),
                (5, &[6]),
                (5, &[12]),
                (5, &[1]),
                (12, &[2]),
            ],
        );
        let value = |value: &[u8]| Answer::Value(value.to_vec());
        let wires = [value(&[9]), value(&[5]), value(&[6]), value(&[12]), value(&[1])];
        assert_eq!(answers[0], value(&nine_thousand));
        assert_eq!(answers[1..6], wires);
        assert_eq!(answers[6], Answer::Purged(vec![2]));
        let done =
            ["baud 9600", "Dtr false", "Break true", "Break false", "Rts false", "obey false"];
        assert_eq!(port.done, done);
    }

    #[test]
    fn what_the_port_can_not_do_is_answered_with_the_state_as_it_was() {
        let mut port = Noted::default();
        let fast = 300_000_u32.to_be_bytes();
        let answers =
            values(&mut port, &[(1, &fast), (1, &[0; 4]), (5, &[9]), (5, &[7]), (5, &[2])]);
        let value = |value: &[u8]| Answer::Value(value.to_vec());
        let baud = value(&115_200_u32.to_be_bytes());
        let baud_again = value(&115_200_u32.to_be_bytes());
        assert_eq!(answers, [baud, baud_again, value(&[8]), value(&[8]), value(&[3])]);
        assert_eq!(port.done, ["baud 300000", "Dtr false"], "a question changes nothing");
    }

    #[test]
    fn any_bytes_of_a_client_are_data_requests_or_nothing() {
        let session = [
            &[255, 251, 44, 255, 253, 44, 255, 253, 0][..],
            &message(comport::SET_BAUD, &9600_u32.to_be_bytes()),
            &message(comport::SET_CONTROL, &[control::BREAK_ON]),
            b"a program\xFF\xFF",
            &message(comport::PURGE, &[comport::PURGE_BOTH]),
            &message(comport::SIGNATURE, b""),
        ]
        .concat();
        let words: &[&[u8]] = &[&[255, 250, 44], &[255, 240], &[255, 255], &[255, 254], &[200, 1]];
        let mut answered = 0;
        each(&Seeds { inputs: &[&session], words }, 2000, |bytes| {
            let (mut decoder, mut options) = (Decoder::default(), Options::default());
            let (mut port, mut state) = (Noted::default(), PortRequests::new(115_200));
            for heard in bytes.iter().filter_map(|byte| decoder.push(*byte)) {
                let Heard::Sub(content) = heard else {
                    if let Heard::Option(verb, option) = heard {
                        assert!(options.hear(verb, option).len() <= 3);
                    }
                    continue;
                };
                let Some((number, value)) = comport::parse(&content) else { continue };
                if state.obey(&mut port, number, value) != Answer::None {
                    assert!(number <= u8::MAX - comport::SERVER, "it has no number for the answer");
                    answered += 1;
                }
            }
        });
        assert!(answered > 1000, "{answered}");
    }

    #[test]
    fn requests_that_make_no_sense_get_no_answer() {
        let senseless: [(u8, &[u8]); 5] = [(1, &[1]), (5, &[]), (12, &[]), (77, &[1]), (255, &[])];
        let answers = values(&mut Noted::default(), &senseless);
        assert!(answers.iter().all(|answer| *answer == Answer::None), "{answers:?}");
    }
}
