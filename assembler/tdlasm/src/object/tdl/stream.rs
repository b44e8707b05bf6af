//! The stream of a code record: bytes in groups of eight, each group after a control byte with one
//! bit per byte, from the top down. A code of several bits can continue in the next group.

/// A record is closed when its stream has this many bytes, including control bytes.
const FULL: usize = 0x18;

/// An item of a stream, by its control bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// `0`: a byte.
    Byte(u8),
    /// `10`: a word relative to the record's base.
    Word(u16),
    /// `110`: a word relative to another base.
    Based { base: u8, value: u16 },
    /// `111`, PASM only: a byte relative to another base.
    BasedByte { base: u8, value: u8 },
}

#[derive(Debug)]
pub(super) struct Stream {
    bytes: Vec<u8>,
    has_control_bytes: bool,
    /// The index of the last control byte.
    control: usize,
    /// The number of control bits used.
    used: u8,
}

impl Stream {
    /// Creates a stream, or one of the data bytes alone for Intel HEX.
    pub(super) fn new(has_control_bytes: bool) -> Self {
        Self { bytes: Vec::new(), has_control_bytes, control: 0, used: 0 }
    }

    pub(super) fn push_byte(&mut self, byte: u8) {
        self.put(0, byte);
    }

    /// Adds a word relative to a base; if there is none, to the record's base.
    pub(super) fn push_word(&mut self, base: Option<u8>, value: u16) {
        if let Some(base) = base {
            self.put(1, base);
        }
        let [low, high] = value.to_le_bytes();
        self.put(1, low);
        self.put(0, high);
    }

    /// Adds a byte relative to a base.
    pub(super) fn push_based_byte(&mut self, base: u8, value: u8) {
        self.put(1, base);
        self.put(1, value);
        self.put_bit(1);
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= FULL
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    fn put(&mut self, bit: u8, byte: u8) {
        self.put_bit(bit);
        self.bytes.push(byte);
    }

    fn put_bit(&mut self, bit: u8) {
        if !self.has_control_bytes {
            return;
        }
        if self.bytes.is_empty() || self.used == 8 {
            (self.control, self.used) = (self.bytes.len(), 0);
            self.bytes.push(0);
        }
        self.bytes[self.control] |= bit << (7 - self.used);
        self.used += 1;
    }
}

pub(super) fn items(stream: &[u8]) -> Result<Vec<Item>, &'static str> {
    let mut reader = Reader { rest: stream, control: 0, left: 0 };
    let mut items = Vec::new();
    while !reader.rest.is_empty() {
        items.push(reader.item()?);
    }
    Ok(items)
}

struct Reader<'s> {
    rest: &'s [u8],
    /// The control byte, with its next bit on top.
    control: u8,
    /// The number of control bits left.
    left: u8,
}

impl Reader<'_> {
    fn item(&mut self) -> Result<Item, &'static str> {
        let moves = self.bit()?;
        let first = self.byte()?;
        if !moves {
            return Ok(Item::Byte(first));
        }
        let based = self.bit()?;
        let second = self.byte()?;
        if !based {
            return Ok(Item::Word(u16::from_le_bytes([first, second])));
        }
        if self.bit()? {
            return Ok(Item::BasedByte { base: first, value: second });
        }
        Ok(Item::Based { base: first, value: u16::from_le_bytes([second, self.byte()?]) })
    }

    fn bit(&mut self) -> Result<bool, &'static str> {
        if self.left == 0 {
            (self.control, self.left) = (self.byte()?, 8);
        }
        let bit = self.control & 0x80 != 0;
        self.control <<= 1;
        self.left -= 1;
        Ok(bit)
    }

    fn byte(&mut self) -> Result<u8, &'static str> {
        let missing = "its control bits ask for more bytes than it has";
        let (first, rest) = self.rest.split_first().ok_or(missing)?;
        self.rest = rest;
        Ok(*first)
    }
}
