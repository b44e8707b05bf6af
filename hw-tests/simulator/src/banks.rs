//! The memory module with 512 KiB of flash and 512 KiB of RAM: four page registers and their enable
//! bit, after the netlist of RC2014's module (Sergey Kiselev's Zeta 2 scheme).

/// Pages of 16 KiB; 00h to 1Fh are flash, 20h to 3Fh RAM.
pub(super) const PAGE: usize = 0x4000;
/// The first page of RAM.
const RAM: u8 = 0x20;

/// The target of a page number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// Flash, from this offset in the chip on.
    Flash(usize),
    /// RAM, from this offset in the chip on.
    Ram(usize),
}

/// The registers. They can't be read back.
#[derive(Debug, Clone)]
pub struct Banks {
    pages: [u8; 4],
    enabled: bool,
}

impl Banks {
    /// Registers just powered up: disabled, the pages anything.
    #[must_use]
    pub fn new(pages: [u8; 4]) -> Self {
        Self { pages, enabled: false }
    }

    /// A write to a port; whether it is one of the module's. A3 is not decoded, so 70h to 77h are
    /// 78h to 7Fh, and neither are A1 and A0 of the enable bit.
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

    /// /RESET clears the enable bit and nothing else.
    pub fn reset(&mut self) {
        self.enabled = false;
    }

    /// Returns the page that a window of 16 KiB shows. While disabled, all four show the first page
    /// of flash.
    #[must_use]
    pub fn page(&self, window: usize) -> Page {
        let number = if self.enabled { self.pages[window & 3] & 0x3F } else { 0 };
        let offset = |number: u8| usize::from(number) * PAGE;
        if number < RAM { Page::Flash(offset(number)) } else { Page::Ram(offset(number - RAM)) }
    }
}
