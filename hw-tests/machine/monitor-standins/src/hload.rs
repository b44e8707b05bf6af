//! HLOAD of feilipu's BASIC 4.7c: searches for colons, checks a record at its end.

use crate::Memory;

#[derive(Debug, Default)]
pub(super) struct HexLoader {
    /// The digits of a record; `None` while waiting for a colon.
    digits: Option<Vec<u8>>,
    first: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum HexLoadEnd {
    /// An end record was received; the address of the first record, to which USR is set.
    Done(Option<u16>),
    /// A record had a wrong checksum or an invalid digit.
    Invalid,
    /// A record had another type than 00 and 01.
    WrongType,
}

impl HexLoader {
    pub(super) fn receive(&mut self, character: u8, memory: &mut Memory) -> Option<HexLoadEnd> {
        let Some(digits) = &mut self.digits else {
            self.digits = (character == b':').then(Vec::new);
            return None;
        };
        digits.push(character);
        let bytes: Vec<Option<u8>> = digits.chunks_exact(2).map(byte).collect();
        let &[Some(count), Some(high), Some(low), Some(kind), ref data @ ..] = bytes.as_slice()
        else {
            return (bytes.len() >= 4).then_some(HexLoadEnd::Invalid);
        };
        if kind > 1 {
            return Some(HexLoadEnd::WrongType);
        }
        let address = u16::from_be_bytes([high, low]);
        let at = data.len().wrapping_sub(1);
        if at < usize::from(count) && digits.len().is_multiple_of(2) {
            memory.set(address.wrapping_add(at as u16), data[at].unwrap_or(0xFF));
        }
        if data.len() <= usize::from(count) {
            return None;
        }
        let bytes: Option<Vec<u8>> = bytes.into_iter().collect();
        let is_good =
            bytes.is_some_and(|bytes| bytes.iter().fold(0u8, |sum, b| sum.wrapping_add(*b)) == 0);
        self.digits = None;
        match (is_good, kind) {
            (false, _) => Some(HexLoadEnd::Invalid),
            (true, 1) => Some(HexLoadEnd::Done(self.first)),
            (true, _) => {
                self.first = self.first.or(Some(address));
                None
            }
        }
    }
}

fn byte(pair: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()
}
