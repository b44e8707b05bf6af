//! Contents of memory.

/// Bytes at an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// The address of the first byte; the others follow modulo 64 KiB.
    pub address: u16,
    /// The bytes.
    pub bytes: Vec<u8>,
}
