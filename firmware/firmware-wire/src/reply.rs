//! The board's replies and their decoding from frames.

use super::count::CountReply;
use super::error::{ErrorReply, MessageError};
use super::exhaust::ExhaustReply;
use super::flash::FlashReply;
use super::identity::Identity;
use super::kernel::StoppedState;
use super::points::PointsReply;
use super::position::{self, PositionEnd, SquareRecord};
use super::status_reply::StatusReply;
use super::trace::StepRecord;
use super::{ERROR_REPLY, FieldError, MAX_BLOCK, MAX_POSITIONS, REPLY_BIT, kind};

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
    /// To CALL.
    Called {
        /// The number of the batch.
        number: u8,
        /// The results of its calls: see [`super::CallBatch::parse_results`].
        results: Vec<u8>,
    },
    /// To COUNT.
    Counted(CountReply),
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
    /// Fields that the board's own firmware fills in are within their ranges in what is returned.
    /// Values that the evaluator under test computes, such as residues, are not checked: they are
    /// what a test judges.
    ///
    /// # Errors
    /// Returns `MessageError` if the type is unknown, or the length or a field invalid.
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
                if !(1..=MAX_BLOCK).contains(&usize::from(count)) {
                    return Err(MessageError::Field(kind_byte, FieldError::BlockLength(count)));
                }
                Self::Written { address: u16::from_le_bytes([low, high]), count }
            }
            (kind::CRC, &[a, b, c, d]) => Self::Crc(u32::from_le_bytes([a, b, c, d])),
            (kind::READ, [low, high, data @ ..]) if (1..=MAX_BLOCK).contains(&data.len()) => {
                Self::Memory { address: u16::from_le_bytes([*low, *high]), data: data.to_vec() }
            }
            (kind::RUN, &[low, high]) => Self::Running(u16::from_le_bytes([low, high])),
            (kind::CHIP..=kind::BOOT, _) => Self::Flash(FlashReply::parse(kind_byte, payload)?),
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
                if !(1..=MAX_POSITIONS).contains(&checks.len()) {
                    return Err(length());
                }
                Self::Checks(checks.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
            }
            (kind::EXHAUST, _) => Self::Exhaust(ExhaustReply::parse(payload).ok_or_else(length)?),
            (kind::TRACE, &[residue, status, ref steps @ ..]) => {
                let steps = StepRecord::all(steps).ok_or_else(length)?;
                Self::Trace { residue, status, steps }
            }
            (kind::CALL, &[number, ref results @ ..]) => {
                Self::Called { number, results: results.to_vec() }
            }
            (kind::COUNT, _) => Self::Counted(CountReply::parse(payload).ok_or_else(length)?),
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
                | kind::CALL
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
    }

    /// Returns the reply to IDENT of a role, with these bytes from an offset of its payload.
    fn identity(role: u8, offset: usize, bytes: &[u8]) -> Result<Reply, MessageError> {
        let mut payload = [role, 1, 0, 0, 0, 0, 248, 0, 0, 0x80, 0xFF, 0xEF, 1, b'n'];
        payload[offset..][..bytes.len()].copy_from_slice(bytes);
        Reply::parse(0x81, &payload)
    }

    #[test]
    fn another_version_is_reported_with_what_to_do() {
        for (version, hint) in [(0, "; put the monitor of"), (2, "a later release"), (255, "later")]
        {
            let error = identity(b'M', 1, &[version]).expect_err("another version");
            assert_eq!(error, MessageError::Version(version));
            let message = error.to_string();
            assert!(message.contains(&format!("version {version} of the protocol")), "{message}");
            assert!(message.contains(hint), "{message}");
        }
    }

    #[test]
    fn an_identity_has_a_window_for_a_frame_and_addresses_in_order() {
        assert!(identity(b'M', 6, &[248, 0]).is_ok());
        for window in [0_u16, 1, 247] {
            let error = FieldError::Window(window);
            let refused = identity(b'A', 6, &window.to_le_bytes());
            assert_eq!(refused, Err(MessageError::Field(0x81, error)));
        }
        let reversed = [0xFF, 0xEF, 0x00, 0x80];
        let error = FieldError::LoadRange { first: 0xEFFF, last: 0x8000 };
        for role in [b'M', b'K'] {
            assert_eq!(identity(role, 8, &reversed), Err(MessageError::Field(0x81, error)));
            assert!(identity(role, 8, &[0, 0x80, 0, 0x80]).is_ok(), "one address");
        }
        assert!(identity(b'A', 8, &[3, 0, 0, 0]).is_ok(), "extended capabilities");
    }

    #[test]
    fn no_character_of_a_name_controls_a_terminal() {
        let name = |byte| match identity(b'M', 13, &[byte]) {
            Ok(Reply::Identity(identity)) => identity.name,
            other => panic!("{other:?}"),
        };
        for byte in 0..=u8::MAX {
            let is_printable = (b' '..=b'~').contains(&byte);
            let expected = if is_printable { char::from(byte) } else { '?' };
            assert_eq!(name(byte), expected.to_string());
        }
    }

    #[test]
    fn counts_of_zero_or_beyond_a_frame_are_rejected() {
        for count in [0, 237] {
            let error = MessageError::Field(0x90, FieldError::BlockLength(count));
            assert_eq!(Reply::parse(0x90, &[0, 0x80, count]), Err(error));
        }
        assert_eq!(Reply::parse(0xA1, &[0, 0]), Err(MessageError::Length(0xA1, 2)));
        for count in [0, 8] {
            let payload = vec![0; 4 * count];
            assert_eq!(Reply::parse(0xA6, &payload), Err(MessageError::Length(0xA6, 4 * count)));
        }
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
