//! Requests and replies of RFC 2217, subnegotiations of Telnet. A reply's number is 100 more.

use crate::network::telnet::{COM_PORT, subnegotiation};

/// Offset from a client's request number to the server's.
pub(crate) const SERVER_OFFSET: u8 = 100;

pub(crate) const SIGNATURE: u8 = 0;
pub(crate) const SET_BAUD: u8 = 1;
pub(crate) const SET_DATASIZE: u8 = 2;
pub(crate) const SET_PARITY: u8 = 3;
pub(crate) const SET_STOPSIZE: u8 = 4;
pub(crate) const SET_CONTROL: u8 = 5;
pub(crate) const SUSPEND: u8 = 8;
pub(crate) const RESUME: u8 = 9;
pub(crate) const SET_LINESTATE_MASK: u8 = 10;
pub(crate) const SET_MODEMSTATE_MASK: u8 = 11;
pub(crate) const PURGE: u8 = 12;

/// Values of SET-DATASIZE, SET-PARITY and SET-STOPSIZE.
pub(crate) const EIGHT_BITS: u8 = 8;
pub(crate) const NO_PARITY: u8 = 1;
pub(crate) const ONE_STOP_BIT: u8 = 1;

/// Values of SET-CONTROL. The first of each group requests the current state.
pub(crate) mod control {
    pub(crate) const REQUEST_FLOW: u8 = 0;
    pub(crate) const NO_FLOW: u8 = 1;
    pub(crate) const HARDWARE_FLOW: u8 = 3;
    pub(crate) const REQUEST_BREAK: u8 = 4;
    pub(crate) const BREAK_ON: u8 = 5;
    pub(crate) const BREAK_OFF: u8 = 6;
    pub(crate) const REQUEST_DTR: u8 = 7;
    pub(crate) const DTR_ON: u8 = 8;
    pub(crate) const DTR_OFF: u8 = 9;
    pub(crate) const REQUEST_RTS: u8 = 10;
    pub(crate) const RTS_ON: u8 = 11;
    pub(crate) const RTS_OFF: u8 = 12;
    pub(crate) const REQUEST_INBOUND: u8 = 13;
    pub(crate) const NO_INBOUND: u8 = 14;
}

/// Values of PURGE-DATA.
pub(crate) const PURGE_FROM_BOARD: u8 = 1;
pub(crate) const PURGE_TO_BOARD: u8 = 2;
pub(crate) const PURGE_BOTH: u8 = 3;

pub(crate) fn encode(number: u8, value: &[u8]) -> Vec<u8> {
    subnegotiation(COM_PORT, &[&[number], value].concat())
}

/// Returns the number and the value of a subnegotiation of this option.
pub(crate) fn parse(content: &[u8]) -> Option<(u8, &[u8])> {
    match content {
        [COM_PORT, number, value @ ..] => Some((*number, value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2217, section 3: `IAC SB COM-PORT-OPTION SET-BAUD <value(4)> IAC SE`, the most
    /// significant byte first; RFC 855 doubles a 255.
    #[test]
    fn a_speed_is_encoded_as_in_the_standard() {
        let sent = encode(SET_BAUD, &115_200_u32.to_be_bytes());
        assert_eq!(sent, [255, 250, 44, 1, 0, 1, 0xC2, 0, 255, 240]);
        let sent = encode(SET_BAUD, &255_u32.to_be_bytes());
        assert_eq!(sent, [255, 250, 44, 1, 0, 0, 0, 255, 255, 255, 240]);
    }

    #[test]
    fn other_options_are_not_parsed() {
        assert_eq!(parse(&[44, 1]), Some((1, &[][..])));
        assert_eq!(parse(&[24, 1]), None);
        assert_eq!(parse(&[44]), None);
    }
}
