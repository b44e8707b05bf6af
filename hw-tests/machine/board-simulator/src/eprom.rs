//! A ROM chip that the board cannot write: an EPROM, or flash without its write pin.

/// A read-only chip.
#[derive(Debug, Clone)]
pub struct Eprom {
    cells: Vec<u8>,
}

impl Eprom {
    /// Creates a blank chip. `size` in bytes is rounded up to a power of two.
    pub fn new(size: usize) -> Self {
        Self { cells: vec![0xFF; size.next_power_of_two()] }
    }

    /// Returns the content of the cells.
    pub fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// Returns the cells for changing, as an external programmer does.
    pub fn cells_mut(&mut self) -> &mut [u8] {
        &mut self.cells
    }

    /// Performs a read cycle. Address bits beyond the size of the chip are ignored.
    #[inline]
    pub fn read(&self, address: usize) -> u8 {
        self.cells[address & (self.cells.len() - 1)]
    }
}
