//! Routines of the host that run on the board, assembled for a free address.

use tdlasm::image::Image;
use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

/// The hex loader for ROM BASIC.
const HEX_LOADER: &str = include_str!("hexldr.asm");
/// What both insert.
const PUT_HEX: &str = include_str!("puthex.asm");
/// The checksum routine for the Small Computer Monitor.
const CHECKSUM: &str = include_str!("checksum.asm");
/// Addresses to try; BASIC users conventionally leave the first one free for such loaders.
const CANDIDATE_ADDRESSES: [u16; 5] = [0x8900, 0xF800, 0xC000, 0xA000, 0xE000];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Routine {
    /// The entry address, which is that of the first byte.
    pub(crate) entry: u16,
    pub(crate) bytes: Vec<u8>,
    /// The last address of its code and variables.
    pub(crate) last: u16,
}

impl Routine {
    /// Returns the hex loader beside an image, if there is room.
    pub(crate) fn hex_loader(image: &Image) -> Option<Self> {
        Self::outside(image, HEX_LOADER, &[])
    }

    /// Returns the routine that sends the checksum of an image, if there is room beside that.
    pub(crate) fn checksum(image: &Image) -> Option<Self> {
        let ranges = image.runs().iter().flat_map(|run| [run.bytes.len() as u16, run.address]);
        let table: Vec<u8> = ranges.chain([0]).flat_map(u16::to_le_bytes).collect();
        Self::outside(image, CHECKSUM, &table)
    }

    /// Assembles a routine, which `table` follows, for the first candidate address outside the
    /// image.
    fn outside(image: &Image, source: &str, table: &[u8]) -> Option<Self> {
        let is_free = |routine: &Self| {
            let mut runs = image.runs().iter();
            runs.all(|run| {
                let last = usize::from(run.address) + run.bytes.len() - 1;
                run.address > routine.last || last < usize::from(routine.entry)
            })
        };
        let routines = CANDIDATE_ADDRESSES.into_iter().map(|entry| {
            let mut routine = Self::at(source, entry);
            routine.bytes.extend(table);
            routine.last += table.len() as u16;
            routine
        });
        routines.into_iter().find(is_free)
    }

    /// Assembles a routine; the sources are built in and tested, so there are no errors.
    fn at(source: &str, entry: u16) -> Self {
        let loader = MemoryLoader::new().with("routine.asm", source).with("puthex.asm", PUT_HEX);
        let options = Options { defines: vec![("START".to_owned(), entry)], ..Options::default() };
        let modules = assemble(&loader, &["routine.asm".into()], &options)
            .unwrap_or_else(|errors| unreachable!("{errors}"))
            .modules;
        let program =
            link(&modules, &Layout::default()).unwrap_or_else(|errors| unreachable!("{errors}"));
        let room = program.symbol("ROOM").unwrap_or(entry);
        let mut bytes = program.image.flat(0);
        bytes.truncate(usize::from(program.symbol("TAIL").unwrap_or(entry) - entry));
        Self { entry, bytes, last: room.wrapping_sub(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdlasm::image::ImageRun;

    fn image(address: u16, count: usize) -> Image {
        Image::new([ImageRun { address, bytes: vec![0; count] }])
    }

    #[test]
    fn it_stays_beside_the_image() {
        let hex_loader = Routine::hex_loader(&image(0x9000, 100)).expect("there is room");
        assert_eq!((hex_loader.entry, hex_loader.bytes.len() < 256), (0x8900, true));
        assert_eq!(usize::from(hex_loader.last), 0x8900 + hex_loader.bytes.len() + 2 + 37 - 1);
        assert_eq!(
            Routine::hex_loader(&image(0x8800, 0x102)).map(|hex_loader| hex_loader.entry),
            Some(0xF800)
        );
        assert_eq!(
            Routine::hex_loader(&image(hex_loader.last, 1)).map(|hex_loader| hex_loader.entry),
            Some(0xF800)
        );
        assert_eq!(Routine::hex_loader(&image(0x8400, 0x7A00)), None);
    }
}
