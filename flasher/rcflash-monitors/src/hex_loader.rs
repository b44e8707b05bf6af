//! The hex loader for ROM BASIC, assembled for a free address.

use tdlasm::image::Image;
use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

const SOURCE: &str = include_str!("hexldr.asm");
/// Addresses to try; BASIC users conventionally leave the first one free for such loaders.
const CANDIDATE_ADDRESSES: [u16; 5] = [0x8900, 0xF800, 0xC000, 0xA000, 0xE000];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HexLoader {
    /// The entry address, which is that of the first byte.
    pub(crate) entry: u16,
    pub(crate) bytes: Vec<u8>,
    /// The last address of its code and variables.
    pub(crate) last: u16,
}

impl HexLoader {
    /// Assembles the loader for the first candidate address outside the image, if there is one.
    pub(crate) fn outside(image: &Image) -> Option<Self> {
        let is_free = |hex_loader: &Self| {
            let mut runs = image.runs().iter();
            runs.all(|run| {
                let last = usize::from(run.address) + run.bytes.len() - 1;
                run.address > hex_loader.last || last < usize::from(hex_loader.entry)
            })
        };
        CANDIDATE_ADDRESSES.into_iter().map(Self::at).find(is_free)
    }

    /// Assembles the loader; its source is built in and tested, so there are no errors.
    fn at(entry: u16) -> Self {
        let loader = MemoryLoader::new().with("hexldr.asm", SOURCE);
        let options = Options { defines: vec![("START".to_owned(), entry)], ..Options::default() };
        let modules = assemble(&loader, &["hexldr.asm".into()], &options)
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
        let hex_loader = HexLoader::outside(&image(0x9000, 100)).expect("there is room");
        assert_eq!((hex_loader.entry, hex_loader.bytes.len() < 256), (0x8900, true));
        assert_eq!(usize::from(hex_loader.last), 0x8900 + hex_loader.bytes.len() + 2 + 37 - 1);
        assert_eq!(
            HexLoader::outside(&image(0x8800, 0x102)).map(|hex_loader| hex_loader.entry),
            Some(0xF800)
        );
        assert_eq!(
            HexLoader::outside(&image(hex_loader.last, 1)).map(|hex_loader| hex_loader.entry),
            Some(0xF800)
        );
        assert_eq!(HexLoader::outside(&image(0x8400, 0x7A00)), None);
    }
}
