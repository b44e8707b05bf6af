//! Parts what the debug kernel says from what the program says.
//!
//! The kernel's frames may stand anywhere, also in the midst of a frame of the program's, which
//! goes on afterwards: they are taken out together with both delimiters.

use firmware_wire::{Frame, MAX_ENCODED, Reply};

use super::SAID;

/// Cuts the kernel's frames out of what is heard.
#[derive(Default)]
pub(super) struct Splitter {
    /// The bytes since a zero, which may be a frame of the kernel's.
    open: Option<Vec<u8>>,
    said: Vec<u8>,
    /// The number of the request that is under way; 0 for none.
    expected: u8,
}

impl Splitter {
    /// Takes replies to this request for the kernel's.
    pub(super) fn expect(&mut self, seq: u8) {
        self.expected = seq;
    }

    /// Takes a byte; returns the kernel's message that it completes, if any.
    pub(super) fn push(&mut self, byte: u8) -> Option<(u8, Reply)> {
        match (&mut self.open, byte) {
            (None, 0) => self.open = Some(Vec::new()),
            (None, byte) => self.say(&[byte]),
            (Some(open), byte) if byte != 0 => {
                open.push(byte);
                if open.len() > MAX_ENCODED {
                    self.settle();
                }
            }
            (Some(open), _) => {
                let open = std::mem::take(open);
                if let Some(message) = self.message(&open) {
                    self.open = None;
                    return Some(message);
                }
                // This zero may open the next frame.
                self.say(&[0]);
                self.say(&open);
            }
        }
        None
    }

    /// Takes what was begun for the program's: nothing more comes for now.
    pub(super) fn settle(&mut self) {
        if let Some(open) = self.open.take() {
            self.say(&[0]);
            self.say(&open);
        }
    }

    pub(super) fn take_said(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.said)
    }

    fn say(&mut self, bytes: &[u8]) {
        if self.said.len() < SAID {
            self.said.extend(bytes);
        }
    }

    fn message(&self, encoded: &[u8]) -> Option<(u8, Reply)> {
        let frame = Frame::decode(encoded).ok()?;
        let reply = Reply::parse(frame.kind, &frame.payload).ok()?;
        let is_event = matches!(reply, Reply::Held(_));
        (is_event || (self.expected != 0 && frame.seq == self.expected))
            .then_some((frame.seq, reply))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firmware_wire::{REPLY, kind};

    fn heard(splitter: &mut Splitter, bytes: &[u8]) -> Vec<(u8, Reply)> {
        bytes.iter().filter_map(|byte| splitter.push(*byte)).collect()
    }

    fn held() -> Vec<u8> {
        Frame::new(0, kind::HELD + REPLY, vec![7; 29]).expect("it fits").encode()
    }

    #[test]
    fn a_frame_of_the_programs_that_is_parted_by_the_kernel_comes_out_whole() {
        let program = Frame::new(3, kind::POINTS + REPLY, vec![0, 5, 9]).expect("it fits").encode();
        for at in 0..=program.len() {
            let mut splitter = Splitter::default();
            let (before, after) = program.split_at(at);
            let line = [b"text", before, &held(), after, b"more"].concat();
            let found = heard(&mut splitter, &line);
            assert!(matches!(found[..], [(0, Reply::Held(_))]), "{at}: {found:?}");
            splitter.settle();
            assert_eq!(splitter.take_said(), [b"text", &program[..], b"more"].concat(), "{at}");
        }
    }

    #[test]
    fn a_reply_is_the_kernels_only_while_it_was_asked() {
        let reply = Frame::new(4, kind::SET + REPLY, Vec::new()).expect("it fits").encode();
        let mut splitter = Splitter::default();
        assert_eq!(heard(&mut splitter, &reply), []);
        splitter.settle();
        assert_eq!(splitter.take_said(), reply);
        splitter.expect(4);
        assert_eq!(heard(&mut splitter, &reply), [(4, Reply::Set)]);
        splitter.settle();
        assert!(splitter.take_said().is_empty());
    }
}
