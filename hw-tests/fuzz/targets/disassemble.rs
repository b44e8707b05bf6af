//! Any bytes as an image: the source that comes out assembles to the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tdlasm::disasm::disassemble;
use tdlasm::image::{Image, ImageRun};
use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

fuzz_target!(|bytes: &[u8]| {
    if bytes.is_empty() || bytes.len() > 0x1000 {
        return;
    }
    let image = Image::new([ImageRun { address: 0x4000, bytes: bytes.to_vec() }]);
    let source = disassemble(&image, &[]);
    let loader = MemoryLoader::new().with("fuzz.asm", source.as_str());
    let assembly = assemble(&loader, &["fuzz.asm".into()], &Options::default())
        .unwrap_or_else(|failure| panic!("{failure}\n{source}"));
    let program = link(&assembly.modules, &Layout::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.image, image);
});
