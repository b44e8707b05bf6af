//! Separates the debug kernel's frames from the program's output.
//!
//! A kernel frame may appear anywhere, even inside a frame of the program. It is removed together
//! with both delimiters.

use firmware_wire::{Frame, MAX_ENCODED, Reply};

use super::MAX_PROGRAM_OUTPUT;

/// Splits received bytes into kernel frames and program output.
#[derive(Default)]
pub(super) struct FrameDemux {
    /// The bytes since a zero, which may be a kernel frame.
    open: Option<Vec<u8>>,
    program_output: Vec<u8>,
    /// The sequence number of the request in flight; 0 for none.
    expected: u8,
}

impl FrameDemux {
    /// Treats replies with this sequence number as the kernel's.
    pub(super) fn expect(&mut self, seq: u8) {
        self.expected = seq;
    }

    pub(super) fn push(&mut self, byte: u8) -> Option<(u8, Reply)> {
        match (&mut self.open, byte) {
            (None, 0) => self.open = Some(Vec::new()),
            (None, byte) => self.push_output(&[byte]),
            (Some(open), byte) if byte != 0 => {
                open.push(byte);
                if open.len() > MAX_ENCODED {
                    self.flush_partial();
                }
            }
            (Some(open), _) => {
                let open = std::mem::take(open);
                if let Some(message) = self.message(&open) {
                    self.open = None;
                    return Some(message);
                }
                // This zero may open the next frame.
                self.push_output(&[0]);
                self.push_output(&open);
            }
        }
        None
    }

    /// Moves the bytes of an incomplete frame to the program's output.
    pub(super) fn flush_partial(&mut self) {
        if let Some(open) = self.open.take() {
            self.push_output(&[0]);
            self.push_output(&open);
        }
    }

    pub(super) fn take_program_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.program_output)
    }

    fn push_output(&mut self, bytes: &[u8]) {
        if self.program_output.len() < MAX_PROGRAM_OUTPUT {
            self.program_output.extend(bytes);
        }
    }

    fn message(&self, encoded: &[u8]) -> Option<(u8, Reply)> {
        let frame = Frame::decode(encoded).ok()?;
        let reply = Reply::parse(frame.kind, &frame.payload).ok()?;
        let is_event = matches!(reply, Reply::Stopped(_));
        (is_event || (self.expected != 0 && frame.seq == self.expected))
            .then_some((frame.seq, reply))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firmware_wire::{REPLY_BIT, kind};

    fn receive(demux: &mut FrameDemux, bytes: &[u8]) -> Vec<(u8, Reply)> {
        bytes.iter().filter_map(|byte| demux.push(*byte)).collect()
    }

    fn held() -> Vec<u8> {
        Frame::new(0, kind::STOPPED + REPLY_BIT, vec![7; 29]).expect("it fits").encode()
    }

    #[test]
    fn a_frame_of_the_programs_that_is_parted_by_the_kernel_comes_out_whole() {
        let program =
            Frame::new(3, kind::POINTS + REPLY_BIT, vec![0, 5, 9]).expect("it fits").encode();
        for at in 0..=program.len() {
            let mut demux = FrameDemux::default();
            let (before, after) = program.split_at(at);
            let line = [b"text", before, &held(), after, b"more"].concat();
            let found = receive(&mut demux, &line);
            assert!(matches!(found[..], [(0, Reply::Stopped(_))]), "{at}: {found:?}");
            demux.flush_partial();
            assert_eq!(
                demux.take_program_output(),
                [b"text", &program[..], b"more"].concat(),
                "{at}"
            );
        }
    }

    #[test]
    fn a_reply_is_the_kernels_only_while_it_was_asked() {
        let reply = Frame::new(4, kind::SET + REPLY_BIT, Vec::new()).expect("it fits").encode();
        let mut demux = FrameDemux::default();
        assert_eq!(receive(&mut demux, &reply), []);
        demux.flush_partial();
        assert_eq!(demux.take_program_output(), reply);
        demux.expect(4);
        assert_eq!(receive(&mut demux, &reply), [(4, Reply::RegistersSet)]);
        demux.flush_partial();
        assert!(demux.take_program_output().is_empty());
    }
}
