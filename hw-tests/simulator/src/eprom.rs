//! A ROM chip that nothing on the board can write: an EPROM, or a flash chip whose write pin is not
//! connected.

/// A chip.
#[derive(Debug, Clone)]
pub struct Eprom {
    cells: Vec<u8>,
}

impl Eprom {
    /// A blank chip of a size that is a power of two.
    #[must_use]
    pub fn new(size: usize) -> Self {
        Self { cells: vec![0xFF; size.next_power_of_two()] }
    }

    /// Returns the content of the cells.
    #[must_use]
    pub fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// The cells, to be set by an external programmer.
    pub fn cells_mut(&mut self) -> &mut [u8] {
        &mut self.cells
    }

    /// A read cycle. Address lines that the chip lacks are not looked at.
    #[inline]
    #[must_use]
    pub fn read(&self, address: usize) -> u8 {
        self.cells[address & (self.cells.len() - 1)]
    }
}
