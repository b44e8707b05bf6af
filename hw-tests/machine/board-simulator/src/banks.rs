//! The memory module with 512 KiB of flash and 512 KiB of RAM: four page registers and their enable
//! bit, after the netlist of RC2014's module (Sergey Kiselev's Zeta 2 scheme).

/// Bytes in a page. Pages 00h to 1Fh are flash, 20h to 3Fh are RAM.
pub(super) const PAGE_BYTES: usize = 0x4000;
/// The number of the first page of RAM.
const FIRST_RAM_PAGE: u8 = 0x20;

/// The memory that a page number selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BankedPage {
    /// A page of flash, with its offset in the chip.
    Flash(usize),
    /// A page of RAM, with its offset in the chip.
    Ram(usize),
}

/// The page registers and the enable bit. They are write-only.
#[derive(Debug, Clone)]
pub struct Banks {
    pages: [u8; 4],
    enabled: bool,
}

impl Banks {
    /// Creates registers as after power-up: disabled, with the given random pages.
    pub fn new(pages: [u8; 4]) -> Self {
        Self { pages, enabled: false }
    }

    /// Writes to a port. Returns `true` if the port is one of the module's. A3 is not decoded, so
    /// that 70h to 77h equal 78h to 7Fh; nor are A1 and A0 for the enable bit.
    pub fn write(&mut self, port: u8, value: u8) -> bool {
        if port & 0xF0 != 0x70 {
            return false;
        }
        if port & 4 == 0 {
            self.pages[usize::from(port & 3)] = value;
        } else {
            self.enabled = value & 1 != 0;
        }
        true
    }

    /// Applies /RESET, which clears only the enable bit.
    pub fn reset(&mut self) {
        self.enabled = false;
    }

    /// Returns the page that is mapped to one of the four windows of 16 KiB. While disabled, that
    /// is the first page of flash for all four.
    pub fn page(&self, window: usize) -> BankedPage {
        let number = if self.enabled { self.pages[window & 3] & 0x3F } else { 0 };
        let offset = |number: u8| usize::from(number) * PAGE_BYTES;
        if number < FIRST_RAM_PAGE {
            BankedPage::Flash(offset(number))
        } else {
            BankedPage::Ram(offset(number - FIRST_RAM_PAGE))
        }
    }
}
