//! Layout of programs in a ROM chip: in pages that jumpers select, the rest filled.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChipContent {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LayoutError {
    #[error("invalid page size {1} for a chip of {0}: expected a power of two, from 1 KiB to the \
    whole chip", Size(*.chip), Size(*.page))]
    Page { chip: usize, page: usize },
    #[error("{0} is empty")]
    Empty(String),
    #[error("{name} has {length} bytes, the chip {chip}: {} too many; use a larger chip, or \
    --split over several", length - chip)]
    PassesChip { name: String, length: usize, chip: usize },
    #[error("{name} has {length} bytes, the chip {room} from bank {bank}: {} too \
    many", length - room)]
    PassesEnd { name: String, length: usize, bank: usize, room: usize },
    #[error("invalid bank {bank}: the chip has {}", Banks(*.banks))]
    NoBank { bank: usize, banks: usize },
    #[error("{name} takes {pages} pages, so jumpers can select it only at multiples of {}, not at \
    bank {bank}", pages.next_power_of_two())]
    Unaligned { name: String, pages: usize, bank: usize },
    #[error("{name} and {other} are both to be in bank {bank}")]
    BankTaken { name: String, other: String, bank: usize },
    #[error("{name} has {length} bytes, too many for pages of {}: set --page to the size that the \
    jumpers select, or --bank to its first page", Size(*.page))]
    PassesPage { name: String, length: usize, page: usize },
}

/// Displays a size in KiB or bytes.
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

/// The image of a chip, in pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChipLayout {
    page: usize,
    bytes: Vec<u8>,
    owners: Vec<Option<String>>,
    used: usize,
}

impl ChipLayout {
    /// Creates a blank image: every byte is `fill`.
    pub(crate) fn new(chip: usize, page: usize, fill: u8) -> Result<Self, LayoutError> {
        if !page.is_power_of_two() || page < 1024 || chip == 0 || !chip.is_multiple_of(page) {
            return Err(LayoutError::Page { chip, page });
        }
        Ok(Self { page, bytes: vec![fill; chip], owners: vec![None; chip / page], used: 0 })
    }

    /// Places content in a bank, and in the following ones if it is longer than a page.
    pub(crate) fn place(&mut self, bank: usize, content: &ChipContent) -> Result<(), LayoutError> {
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
            return Err(LayoutError::BankTaken { name, other, bank });
        }
        self.bytes[at..at + length].copy_from_slice(&content.bytes);
        self.owners[room].fill(Some(name));
        self.used += length;
        Ok(())
    }

    /// Places content in every free bank, for any jumper setting.
    pub(crate) fn fill_free_banks(&mut self, content: &ChipContent) -> Result<(), LayoutError> {
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
            self.place(bank, content)?;
        }
        Ok(())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of bytes that are not fill.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    pub(crate) fn owners(&self) -> &[Option<String>] {
        &self.owners
    }

    /// Returns the jumper settings for a bank, such as `A15=0 A14=1`; nothing for one page.
    pub(crate) fn jumpers(&self, bank: usize) -> String {
        let lowest = self.page.trailing_zeros();
        let lines = (0..self.owners.len().next_power_of_two().trailing_zeros()).rev();
        let stand = lines.map(|line| format!("A{}={}", lowest + line, bank >> line & 1));
        stand.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests;
