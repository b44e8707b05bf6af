//! The reply to STATUS: what an evaluator may have damaged on the board.

/// The reply to STATUS. The counts start at 0 when the application starts, and wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusReply {
    /// CRC-16 of the program's bytes in memory ([`super::crc16`]).
    pub crc: u16,
    /// How often the receiver lost a byte, by an overrun or because its ring was full.
    pub lost: u16,
    /// How often that was because the ring was full.
    pub ring_full: u16,
    /// How often the evaluator returned with interrupts off or with another register I.
    pub interrupts_off: u16,
    /// Bytes at the end of the stack that were never written; 0 if it was used up.
    pub stack_free: u16,
}

impl StatusReply {
    /// Returns how often a byte was overwritten in the serial chip before it was read.
    pub fn overruns(&self) -> u16 {
        self.lost.wrapping_sub(self.ring_full)
    }

    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let (fields, []) = payload.as_chunks() else { return None };
        let &[crc, lost, ring_full, interrupts_off, stack_free] = fields else { return None };
        Some(Self {
            crc: u16::from_le_bytes(crc),
            lost: u16::from_le_bytes(lost),
            ring_full: u16::from_le_bytes(ring_full),
            interrupts_off: u16::from_le_bytes(interrupts_off),
            stack_free: u16::from_le_bytes(stack_free),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reply;

    #[test]
    fn a_status_is_read_as_the_protocol_lays_it_out() {
        let payload = [0xB1, 0x29, 3, 1, 2, 1, 5, 0, 200, 0];
        let Ok(Reply::Status(status)) = Reply::parse(0x84, &payload) else { panic!() };
        assert_eq!((status.crc, status.lost, status.ring_full), (0x29B1, 0x103, 0x102));
        assert_eq!((status.overruns(), status.interrupts_off, status.stack_free), (1, 5, 200));
        let wrapped = StatusReply { lost: 2, ring_full: 0xFFFF, ..status };
        assert_eq!(wrapped.overruns(), 3);
        assert!(Reply::parse(0x84, &payload[..9]).is_err());
    }
}
