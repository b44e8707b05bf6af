//! Layout of programs in a ROM chip: in pages that the board's jumpers choose, the rest filled.

use std::fmt;

/// The content of a chip: bytes that the processor finds from 0000h on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    /// The name for people.
    pub(crate) name: String,
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
}

/// Error returned for content that can't be put into a chip.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LayoutError {
    /// The page is no page of the chip.
    #[error("a chip of {} has no pages of {}: a page is 1 KiB to the whole chip, in powers of \
    two", Size(*.chip), Size(*.page))]
    Page {
        /// The chip's bytes.
        chip: usize,
        /// The page's.
        page: usize,
    },
    /// There is nothing to put there.
    #[error("{0} is empty: there is nothing to put into the chip")]
    Empty(String),
    /// It is larger than the chip.
    #[error("{name} has {length} bytes, and the chip {chip}: {} too many; take a larger chip, or \
    --split over several", length - chip)]
    PassesChip {
        /// The program that was to be put there.
        name: String,
        /// Its bytes.
        length: usize,
        /// The chip's.
        chip: usize,
    },
    /// It passes the end of the chip.
    #[error("{name} has {length} bytes, and the chip {room} from bank {bank} on: {} too \
    many", length - room)]
    PassesEnd {
        /// The program that was to be put there.
        name: String,
        /// Its bytes.
        length: usize,
        /// The place.
        bank: usize,
        /// Bytes from there to the chip's end.
        room: usize,
    },
    /// There is no such bank.
    #[error("there is no bank {bank}: the chip has {}", Banks(*.banks))]
    NoBank {
        /// The number.
        bank: usize,
        /// The number that exists.
        banks: usize,
    },
    /// Something of several pages is where jumpers can't reach it.
    #[error("{name} takes {pages} pages, so it starts at a multiple of {}, not at bank {bank}: \
    jumpers choose so", pages.next_power_of_two())]
    Unaligned {
        /// The program that was to be put there.
        name: String,
        /// The number of pages that it needs.
        pages: usize,
        /// The place.
        bank: usize,
    },
    /// The bank is taken.
    #[error("{name} and {other} are both to be in bank {bank}")]
    Taken {
        /// The program that was to be put there.
        name: String,
        /// The value that is there.
        other: String,
        /// The place.
        bank: usize,
    },
    /// It does not go into every page.
    #[error("{name} has {length} bytes, too many for pages of {}: give --page the size that the \
    jumpers are set to, or --bank the first of its pages", Size(*.page))]
    PassesPage {
        /// The program that was to be put there.
        name: String,
        /// Its bytes.
        length: usize,
        /// The page's.
        page: usize,
    },
}

/// Bytes for people.
pub(super) struct Size(pub(super) usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes.is_multiple_of(1024) => write!(f, "{} KiB", bytes / 1024),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

struct Banks(usize);

impl fmt::Display for Banks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => write!(f, "only bank 0"),
            count => write!(f, "banks 0 to {}", count - 1),
        }
    }
}

/// A chip being filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    page: usize,
    bytes: Vec<u8>,
    owners: Vec<Option<String>>,
    used: usize,
}

impl Layout {
    /// A chip of a size in pages of a size, blank: every byte is `fill`.
    ///
    /// # Errors
    /// The chip has no such pages.
    pub(crate) fn new(chip: usize, page: usize, fill: u8) -> Result<Self, LayoutError> {
        if !page.is_power_of_two() || page < 1024 || chip == 0 || !chip.is_multiple_of(page) {
            return Err(LayoutError::Page { chip, page });
        }
        Ok(Self { page, bytes: vec![fill; chip], owners: vec![None; chip / page], used: 0 })
    }

    /// Puts something into a bank, and into those behind it if it is longer than a page.
    ///
    /// # Errors
    /// It does not go there.
    pub(crate) fn put(&mut self, bank: usize, content: &Content) -> Result<(), LayoutError> {
        let length = content.bytes.len();
        let name = content.name.clone();
        let banks = self.owners.len();
        let at = bank.saturating_mul(self.page);
        let pages = length.div_ceil(self.page);
        if length == 0 {
            return Err(LayoutError::Empty(name));
        }
        let room = match self.bytes.len().checked_sub(at) {
            None | Some(0) => return Err(LayoutError::NoBank { bank, banks }),
            Some(room) if length > room => {
                return Err(LayoutError::PassesEnd { name, length, bank, room });
            }
            Some(_) => bank..bank + pages,
        };
        if !bank.is_multiple_of(pages.next_power_of_two()) {
            return Err(LayoutError::Unaligned { name, pages, bank });
        }
        let taken = room.clone().find_map(|bank| Some((bank, self.owners[bank].clone()?)));
        if let Some((bank, other)) = taken {
            return Err(LayoutError::Taken { name, other, bank });
        }
        self.bytes[at..at + length].copy_from_slice(&content.bytes);
        self.owners[room].fill(Some(name));
        self.used += length;
        Ok(())
    }

    /// Puts something into every bank that is free, so that it is found wherever the jumpers stand.
    ///
    /// # Errors
    /// It is longer than a page.
    pub(crate) fn put_elsewhere(&mut self, content: &Content) -> Result<(), LayoutError> {
        let length = content.bytes.len();
        let page = self.page;
        let chip = self.bytes.len();
        let name = || content.name.clone();
        match length {
            0 => return Err(LayoutError::Empty(name())),
            _ if length > chip => {
                return Err(LayoutError::PassesChip { name: name(), length, chip });
            }
            _ if length > page => {
                return Err(LayoutError::PassesPage { name: name(), length, page });
            }
            _ => {}
        }
        let free = (0..self.owners.len()).filter(|bank| self.owners[*bank].is_none());
        for bank in free.collect::<Vec<_>>() {
            self.put(bank, content)?;
        }
        Ok(())
    }

    /// The chip's bytes.
    #[must_use]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of its bytes that are not filling.
    #[must_use]
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Returns the content of each bank.
    #[must_use]
    pub(crate) fn owners(&self) -> &[Option<String>] {
        &self.owners
    }

    /// Returns the jumper settings for a bank, highest address line first, such as
    /// `A15=0 A14=1 A13=1`; nothing when the chip is one page.
    #[must_use]
    pub(crate) fn jumpers(&self, bank: usize) -> String {
        let lowest = self.page.trailing_zeros();
        let lines = (0..self.owners.len().next_power_of_two().trailing_zeros()).rev();
        let stand = lines.map(|line| format!("A{}={}", lowest + line, bank >> line & 1));
        stand.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests;
