//! Executes the requests of an RFC 2217 client on the port.

use crate::network::comport::{self, control};
use crate::{ControlLine, Transport};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum PortReply {
    None,
    Value(Vec<u8>),
    /// The current state; bytes queued for the port are to be discarded.
    Purged(Vec<u8>),
}

pub(super) struct PortState {
    baud: u32,
    flow_control: bool,
    dtr: bool,
    rts: bool,
    is_break: bool,
}

impl PortState {
    /// The state of a port that was just opened at a speed: all control lines are active.
    pub(super) fn new(baud: u32) -> Self {
        Self { baud, flow_control: true, dtr: true, rts: true, is_break: false }
    }

    /// Executes a request. The reply has the actual state, so that the client sees a failure.
    pub(super) fn execute(
        &mut self,
        port: &mut dyn Transport,
        number: u8,
        value: &[u8],
    ) -> PortReply {
        match (number, value) {
            (comport::SIGNATURE, []) => {
                let name = concat!("rcflash ", env!("CARGO_PKG_VERSION"));
                PortReply::Value(name.as_bytes().to_vec())
            }
            (comport::SET_BAUD, [a, b, c, d]) => {
                let baud = u32::from_be_bytes([*a, *b, *c, *d]);
                if baud != 0 && port.set_baud(baud).is_ok() {
                    self.baud = baud;
                }
                PortReply::Value(self.baud.to_be_bytes().to_vec())
            }
            (comport::SET_DATASIZE, [_]) => PortReply::Value(vec![comport::EIGHT_BITS]),
            (comport::SET_PARITY, [_]) => PortReply::Value(vec![comport::NO_PARITY]),
            (comport::SET_STOPSIZE, [_]) => PortReply::Value(vec![comport::ONE_STOP_BIT]),
            (comport::SET_CONTROL, [value]) => PortReply::Value(vec![self.control(port, *value)]),
            // Unsolicited reports are not supported.
            (comport::SET_LINESTATE_MASK | comport::SET_MODEMSTATE_MASK, [_]) => {
                PortReply::Value(vec![0])
            }
            (comport::PURGE, [selection]) => purge(port, *selection),
            _ => PortReply::None,
        }
    }

    /// Executes SET-CONTROL and returns the state of the addressed setting.
    fn control(&mut self, port: &mut dyn Transport, value: u8) -> u8 {
        match value {
            control::NO_FLOW | control::HARDWARE_FLOW => {
                let enabled = value == control::HARDWARE_FLOW;
                if port.set_flow_control(enabled).is_ok() {
                    self.flow_control = enabled;
                }
            }
            control::BREAK_ON | control::BREAK_OFF => {
                set_control_line(
                    port,
                    ControlLine::Break,
                    value == control::BREAK_ON,
                    &mut self.is_break,
                );
            }
            control::DTR_ON | control::DTR_OFF => {
                set_control_line(port, ControlLine::Dtr, value == control::DTR_ON, &mut self.dtr);
            }
            control::RTS_ON | control::RTS_OFF => {
                set_control_line(port, ControlLine::Rts, value == control::RTS_ON, &mut self.rts);
            }
            _ => {} // a request for the state, or an unsupported setting
        }
        self.state(value)
    }

    fn state(&self, value: u8) -> u8 {
        let select = |state, on, off| if state { on } else { off };
        match value {
            control::REQUEST_BREAK..=control::BREAK_OFF => {
                select(self.is_break, control::BREAK_ON, control::BREAK_OFF)
            }
            control::REQUEST_DTR..=control::DTR_OFF => {
                select(self.dtr, control::DTR_ON, control::DTR_OFF)
            }
            control::REQUEST_RTS..=control::RTS_OFF => {
                select(self.rts, control::RTS_ON, control::RTS_OFF)
            }
            // Flow control from the board is not needed: the port has a buffer of its own.
            control::REQUEST_INBOUND.. => control::NO_INBOUND,
            control::REQUEST_FLOW..control::REQUEST_BREAK => {
                select(self.flow_control, control::HARDWARE_FLOW, control::NO_FLOW)
            }
        }
    }
}

fn set_control_line(port: &mut dyn Transport, line: ControlLine, on: bool, state: &mut bool) {
    if port.set_control_line(line, on).is_ok() {
        *state = on;
    }
}

fn purge(port: &mut dyn Transport, selection: u8) -> PortReply {
    let includes_tx = matches!(selection, comport::PURGE_TO_BOARD | comport::PURGE_BOTH);
    if matches!(selection, comport::PURGE_FROM_BOARD | comport::PURGE_BOTH) {
        discard_received(port);
    }
    if !includes_tx {
        return PortReply::Value(vec![selection]);
    }
    // A port that can't discard sends the bytes.
    let _ = port.discard_unsent();
    PortReply::Purged(vec![selection])
}

/// Discards received bytes. An error is reported by the next read.
fn discard_received(port: &mut dyn Transport) {
    const MAX_READS: usize = 64; // for a board that sends without end
    let mut discarded = [0; 1024];
    for _ in 0..MAX_READS {
        match port.read(&mut discarded, std::time::Duration::ZERO) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::{Duration, Instant};

    use super::*;

    /// A port that records the calls.
    #[derive(Default)]
    struct RecordingPort {
        calls: Vec<String>,
        has_control_lines: bool,
        /// Reads that return a byte.
        unread: usize,
    }

    impl Transport for RecordingPort {
        fn name(&self) -> &str {
            "recording"
        }

        fn read(&mut self, _buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
            let count = self.unread.min(1);
            self.unread -= count;
            Ok(count)
        }

        fn discard_unsent(&mut self) -> io::Result<()> {
            self.calls.push("discard".to_owned());
            Ok(())
        }

        fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
            Ok(())
        }

        fn set_control_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
            self.calls.push(format!("{line:?} {on}"));
            if self.has_control_lines { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) }
        }

        fn set_flow_control(&mut self, enabled: bool) -> io::Result<bool> {
            self.calls.push(format!("flow control {enabled}"));
            Ok(true)
        }

        fn set_baud(&mut self, baud: u32) -> io::Result<()> {
            self.calls.push(format!("baud {baud}"));
            if baud == 9600 { Ok(()) } else { Err(io::ErrorKind::InvalidInput.into()) }
        }
    }

    fn values(port: &mut RecordingPort, requests: &[(u8, &[u8])]) -> Vec<PortReply> {
        let mut state = PortState::new(115_200);
        requests.iter().map(|(number, value)| state.execute(port, *number, value)).collect()
    }

    /// Numbers and values as in RFC 2217, section 3.
    #[test]
    fn requests_are_executed_and_the_reply_has_the_state() {
        let mut port = RecordingPort { has_control_lines: true, ..RecordingPort::default() };
        let baud_9600 = 9600_u32.to_be_bytes();
        let replies = values(
            &mut port,
            &[(1, &baud_9600), (5, &[9]), (5, &[5]), (5, &[6]), (5, &[12]), (5, &[1]), (12, &[2])],
        );
        let value = |value: &[u8]| PortReply::Value(value.to_vec());
        let control_lines = [value(&[9]), value(&[5]), value(&[6]), value(&[12]), value(&[1])];
        assert_eq!(replies[0], value(&baud_9600));
        assert_eq!(replies[1..6], control_lines);
        assert_eq!(replies[6], PortReply::Purged(vec![2]));
        let calls = [
            "baud 9600",
            "Dtr false",
            "Break true",
            "Break false",
            "Rts false",
            "flow control false",
            "discard",
        ];
        assert_eq!(port.calls, calls);
    }

    #[test]
    fn the_state_of_a_new_port_is_reported_and_changes_nothing() {
        let mut port = RecordingPort::default();
        let requests: [(u8, &[u8]); 10] = [
            (2, &[7]),
            (3, &[2]),
            (4, &[2]),
            (10, &[255]),
            (11, &[255]),
            (5, &[0]),
            (5, &[4]),
            (5, &[7]),
            (5, &[10]),
            (5, &[13]),
        ];
        // 8 bits, no parity, 1 stop bit, no reports; RTS/CTS, no break, DTR, RTS, none inbound.
        let expected = [8, 1, 1, 0, 0, 3, 6, 8, 11, 14].map(|state| PortReply::Value(vec![state]));
        assert_eq!(values(&mut port, &requests), expected);
        let signature = values(&mut port, &[(0, &[])]);
        assert!(
            matches!(&signature[..], [PortReply::Value(name)] if name.starts_with(b"rcflash "))
        );
        assert_eq!(port.calls, [""; 0]);
    }

    #[test]
    fn a_purge_discards_what_was_selected_and_ends() {
        let purge = |selection, unread| {
            let mut port = RecordingPort { unread, ..RecordingPort::default() };
            let reply = values(&mut port, &[(12, &[selection])]).pop();
            (reply.expect("a reply"), port.unread, port.calls.len())
        };
        assert_eq!(purge(1, 9), (PortReply::Value(vec![1]), 0, 0));
        assert_eq!(purge(2, 9), (PortReply::Purged(vec![2]), 9, 1));
        assert_eq!(purge(3, 9), (PortReply::Purged(vec![3]), 0, 1));
        assert!(purge(1, 1 << 20).1 > 0, "a board that sends without end");
    }

    #[test]
    fn an_unsupported_request_gets_the_unchanged_state() {
        let mut port = RecordingPort::default();
        let fast = 300_000_u32.to_be_bytes();
        let replies =
            values(&mut port, &[(1, &fast), (1, &[0; 4]), (5, &[9]), (5, &[7]), (5, &[2])]);
        let value = |value: &[u8]| PortReply::Value(value.to_vec());
        let baud = value(&115_200_u32.to_be_bytes());
        let baud_again = value(&115_200_u32.to_be_bytes());
        assert_eq!(replies, [baud, baud_again, value(&[8]), value(&[8]), value(&[3])]);
        assert_eq!(
            port.calls,
            ["baud 300000", "Dtr false"],
            "a request for the state changes nothing"
        );
    }

    #[test]
    fn invalid_requests_get_no_reply() {
        let senseless: [(u8, &[u8]); 5] = [(1, &[1]), (5, &[]), (12, &[]), (77, &[1]), (255, &[])];
        let replies = values(&mut RecordingPort::default(), &senseless);
        assert!(replies.iter().all(|reply| *reply == PortReply::None), "{replies:?}");
    }
}
