//! The disassembler's output assembles to the bytes that it read.

use proptest::prelude::*;

use tdlasm::disasm::disassemble;
use tdlasm::image::{Image, ImageRun};
use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

fn assembled(source: &str) -> Image {
    let loader = MemoryLoader::new().with("back.asm", source);
    let assembly = assemble(&loader, &["back.asm".into()], &Options::default())
        .unwrap_or_else(|failure| panic!("{failure}\n{source}"));
    link(&assembly.modules, &Layout::default()).expect("an absolute program").image
}

fn check(runs: Vec<ImageRun>) {
    let image = Image::new(runs);
    assert_eq!(assembled(&disassemble(&image, &[])), image);
}

proptest! {
    #[test]
    fn any_bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 1..200), address in 0u16..0xFF00) {
        check(vec![ImageRun { address, bytes }]);
    }

    #[test]
    fn bytes_behind_prefixes_come_back(
        tails in prop::collection::vec((prop::sample::select(vec![0xCBu8, 0xDD, 0xED, 0xFD]), any::<[u8; 3]>()), 1..40),
    ) {
        let bytes = tails.into_iter().flat_map(|(prefix, tail)| [prefix, tail[0], tail[1], tail[2]]).collect();
        check(vec![ImageRun { address: 0x100, bytes }]);
    }
}

#[test]
fn several_runs_and_names_come_back() {
    let image = Image::new([
        ImageRun { address: 0x100, bytes: vec![0xC3, 0x00, 0x02, 0x21, 0x34, 0x12] },
        ImageRun { address: 0x200, bytes: vec![0x18, 0xFE, 0xDD] },
    ]);
    let names = [(0x200, "ENTRY".to_owned()), (0x1234, "BUFFER".to_owned())];
    let source = disassemble(&image, &names);
    assert!(source.contains("JMP\tENTRY") && source.contains("LXI\tH,BUFFER"), "{source}");
    assert_eq!(assembled(&source), image);
}

#[test]
fn names_that_would_not_assemble_are_left_out() {
    let image =
        Image::new([ImageRun { address: 0x100, bytes: vec![0xC3, 0x03, 0x01, 0x18, 0xFB] }]);
    let given = ["_START", "A", "MOV", "..L", "9TO5", "L0103", "LABELS1", "LABELS2", ""];
    for name in given {
        let names = [(0x100, name.to_owned()), (0x103, "LABELS3".to_owned())];
        assert_eq!(assembled(&disassemble(&image, &names)), image, "{name}");
    }
}

proptest! {
    #[test]
    fn any_names_come_back(
        bytes in prop::collection::vec(any::<u8>(), 1..60),
        names in prop::collection::vec((0u16..80, "[A-Z.$%_0-9]{0,8}"), 0..20),
    ) {
        let image = Image::new([ImageRun { address: 8, bytes }]);
        prop_assert_eq!(assembled(&disassemble(&image, &names)), image);
    }
}
