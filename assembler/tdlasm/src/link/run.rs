//! Bytes at their final addresses, before they are joined into the image.

/// A run of bytes at its final address, and the module that owns it.
pub(super) struct PlacedRun {
    pub(super) module: usize,
    pub(super) address: u16,
    pub(super) bytes: Vec<u8>,
}

impl PlacedRun {
    pub(super) fn end(&self) -> u32 {
        u32::from(self.address) + self.bytes.len() as u32
    }
}
