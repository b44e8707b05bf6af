//! The board's replies and their decoding from frames.

use super::error::{ErrorReply, MessageError};
use super::exhaust::ExhaustReply;
use super::flash::FlashReply;
use super::identity::Identity;
use super::kernel::StoppedState;
use super::points::PointsReply;
use super::position::{self, PositionEnd, SquareRecord};
use super::status_reply::StatusReply;
use super::trace::StepRecord;
use super::{ERROR_REPLY, MAX_BLOCK, REPLY_BIT, kind};

/// A reply of the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// To IDENT.
    Identity(Identity),
    /// To RESET.
    Resetting,
    /// To IDLE: how often the program has waited, halted until the next interrupt.
    IdleCount(u32),
    /// To STATUS.
    Status(StatusReply),
    /// To WRITE.
    Written {
        /// First address.
        address: u16,
        /// The number of bytes.
        count: u8,
    },
    /// To CRC: see [`super::memory_checksum`].
    Crc(u32),
    /// To READ.
    Memory {
        /// First address.
        address: u16,
        /// The bytes.
        data: Vec<u8>,
    },
    /// To RUN: the address.
    Running(u16),
    /// To a request about the flash chip.
    Flash(FlashReply),
    /// To EXCHANGE.
    Residue {
        /// Points that the owner of the square loses.
        residue: u8,
        /// Bits of [`super::status`].
        status: u8,
    },
    /// To POSITION: one of several frames of squares.
    Squares {
        /// Index of the frame, from 0.
        part: u8,
        /// In the order of the squares.
        records: Vec<SquareRecord>,
    },
    /// To POSITION, at the end.
    PositionEnd(PositionEnd),
    /// To CHECKS: the CRC-32 of each position's replies.
    Checks(Vec<u32>),
    /// To EXHAUST.
    Exhaust(ExhaustReply),
    /// To POINTS.
    Points(PointsReply),
    /// To TRACE.
    Trace {
        /// The points that the owner of the square loses by XCHNG.
        residue: u8,
        /// Bits of [`super::status`].
        status: u8,
        /// The steps; none without attackers.
        steps: Vec<StepRecord>,
    },
    /// To STATE.
    State(StoppedState),
    /// To SET.
    RegistersSet,
    /// To GO.
    Resumed,
    /// Unsolicited: a program has stopped.
    Stopped(StoppedState),
    /// To the locate sequence: the interrupted program counter.
    ProgramCounter(u16),
    /// The request failed.
    Error(ErrorReply),
}

impl Reply {
    /// Reads the payload of a reply of a type.
    ///
    /// # Errors
    /// Returns `MessageError` if the type is unknown or the length wrong.
    ///
    /// # Examples
    /// ```
    /// use firmware_wire::{REPLY_BIT, Reply, kind};
    ///
    /// let reply = Reply::parse(kind::EXCHANGE + REPLY_BIT, &[3, 0]);
    /// assert_eq!(reply, Ok(Reply::Residue { residue: 3, status: 0 }));
    /// assert!(Reply::parse(kind::EXCHANGE + REPLY_BIT, &[3]).is_err());
    /// ```
    pub fn parse(kind_byte: u8, payload: &[u8]) -> Result<Self, MessageError> {
        let length = || MessageError::Length(kind_byte, payload.len());
        if kind_byte == ERROR_REPLY {
            return ErrorReply::parse(payload).map(Self::Error).ok_or_else(length);
        }
        let kind = kind_byte.checked_sub(REPLY_BIT).ok_or(MessageError::Kind(kind_byte))?;
        let reply = match (kind, payload) {
            (kind::IDENT, _) => return Identity::parse(payload).map(Self::Identity),
            (kind::RESET, []) => Self::Resetting,
            (kind::IDLE, &[a, b, c, d]) => Self::IdleCount(u32::from_le_bytes([a, b, c, d])),
            (kind::STATUS, _) => Self::Status(StatusReply::parse(payload).ok_or_else(length)?),
            (kind::WRITE, &[low, high, count]) => {
                Self::Written { address: u16::from_le_bytes([low, high]), count }
            }
            (kind::CRC, &[a, b, c, d]) => Self::Crc(u32::from_le_bytes([a, b, c, d])),
            (kind::READ, [low, high, data @ ..]) if (1..=MAX_BLOCK).contains(&data.len()) => {
                Self::Memory { address: u16::from_le_bytes([*low, *high]), data: data.to_vec() }
            }
            (kind::RUN, &[low, high]) => Self::Running(u16::from_le_bytes([low, high])),
            (kind::CHIP..=kind::BOOT, _) => {
                Self::Flash(FlashReply::parse(kind_byte, payload).ok_or_else(length)?)
            }
            (kind::EXCHANGE, &[residue, status]) => Self::Residue { residue, status },
            (kind::POSITION, _) => {
                let (part, records) = position::parse_squares(payload).ok_or_else(length)?;
                Self::Squares { part, records }
            }
            (kind::POSITION_END, _) => {
                Self::PositionEnd(PositionEnd::parse(payload).ok_or_else(length)?)
            }
            (kind::CHECKS, checks) => {
                let (checks, []) = checks.as_chunks() else { return Err(length()) };
                Self::Checks(checks.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
            }
            (kind::EXHAUST, _) => Self::Exhaust(ExhaustReply::parse(payload).ok_or_else(length)?),
            (kind::TRACE, &[residue, status, ref steps @ ..]) => {
                let steps = StepRecord::all(steps).ok_or_else(length)?;
                Self::Trace { residue, status, steps }
            }
            (kind::STATE, _) => Self::State(StoppedState::parse(payload).ok_or_else(length)?),
            (kind::STOPPED, _) => Self::Stopped(StoppedState::parse(payload).ok_or_else(length)?),
            (kind::SET, []) => Self::RegistersSet,
            (kind::GO, []) => Self::Resumed,
            (kind::PC_REPORT, &[low, high]) => {
                Self::ProgramCounter(u16::from_le_bytes([low, high]))
            }
            (kind::POINTS, _) => Self::Points(PointsReply::parse(payload).ok_or_else(length)?),
            (
                kind::IDENT..=kind::STATUS
                | kind::WRITE..=kind::RUN
                | kind::EXCHANGE
                | kind::TRACE
                | kind::SET
                | kind::GO
                | kind::PC_REPORT,
                _,
            ) => {
                return Err(length());
            }
            _ => return Err(MessageError::Kind(kind_byte)),
        };
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pin, Role};
    use proptest::prelude::*;

    #[test]
    fn an_identity_is_read_as_the_protocol_lays_it_out() {
        let mut payload = vec![b'M', 1, 0x78, 0x56, 0x34, 0x12, 250, 0, 0, 0x80, 0xFF, 0xEF, 1];
        payload.extend(b"name");
        let Ok(Reply::Identity(identity)) = Reply::parse(0x81, &payload) else { panic!() };
        assert_eq!((identity.role, identity.build_id), (Role::Monitor, 0x1234_5678));
        assert_eq!((identity.window, identity.load_range), (250, (0x8000, 0xEFFF)));
        assert_eq!((identity.capabilities, identity.name.as_str()), (1, "name"));
        payload[1] = 2;
        assert_eq!(Reply::parse(0x81, &payload), Err(MessageError::Version(2)));
    }

    #[test]
    fn pins_keep_the_sign_of_their_step() {
        let payload = [1, 2, 0, 25, 95, 0, 0, 1, 35, 0xF6];
        let Ok(Reply::PositionEnd(end)) = Reply::parse(0xA2, &payload) else { panic!() };
        assert_eq!(end.pins, [Pin { square: 35, step: -10 }]);
        assert_eq!(end.royals, [25, 95, 0, 0]);
        assert_eq!(Reply::parse(0xA2, &payload[..9]), Err(MessageError::Length(0xA2, 9)));
    }

    proptest! {
        #[test]
        fn any_payload_is_read_or_refused(kind in any::<u8>(), payload in prop::collection::vec(any::<u8>(), 0..=240)) {
            let _ = Reply::parse(kind, &payload);
        }
    }
}
