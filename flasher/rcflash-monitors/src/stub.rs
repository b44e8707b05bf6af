//! The hex loader for boards with ROM BASIC, assembled for the place where there is room for it.

use tdlasm::image::Image;
use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

/// The loader's source, carried inside the program.
const SOURCE: &str = include_str!("hexldr.asm");
/// Places to try, the one that BASIC's users keep free for such loaders first.
const PLACES: [u16; 5] = [0x8900, 0xF800, 0xC000, 0xA000, 0xE000];

/// The loader at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stub {
    /// Its entry address, which is its first byte.
    pub(super) entry: u16,
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
    /// The last address that it needs.
    pub(super) last: u16,
}

impl Stub {
    /// The loader at the first place where it does not touch the image; `None` when the image is
    /// everywhere.
    pub(super) fn beside(image: &Image) -> Option<Self> {
        let free = |stub: &Self| {
            let mut runs = image.runs().iter();
            runs.all(|run| {
                let last = usize::from(run.address) + run.bytes.len() - 1;
                run.address > stub.last || last < usize::from(stub.entry)
            })
        };
        PLACES.into_iter().map(Self::at).find(free)
    }

    /// Assembles it. Its source is ours and the tests assemble it: it has no errors.
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
    use tdlasm::image::Run;

    fn image(address: u16, count: usize) -> Image {
        Image::new([Run { address, bytes: vec![0; count] }])
    }

    #[test]
    fn it_stays_beside_the_image() {
        let stub = Stub::beside(&image(0x9000, 100)).expect("there is room");
        assert_eq!((stub.entry, stub.bytes.len() < 256), (0x8900, true));
        assert_eq!(usize::from(stub.last), 0x8900 + stub.bytes.len() + 2 + 37 - 1);
        assert_eq!(Stub::beside(&image(0x8800, 0x102)).map(|stub| stub.entry), Some(0xF800));
        assert_eq!(Stub::beside(&image(stub.last, 1)).map(|stub| stub.entry), Some(0xF800));
        assert_eq!(Stub::beside(&image(0x8400, 0x7A00)), None);
    }
}
