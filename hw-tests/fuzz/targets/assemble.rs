//! Any bytes as a source: it assembles or is refused with messages that can be shown, and both
//! listings can be drawn.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tdlasm::Options;
use tdlasm::asm::run;
use tdlasm::diag::render;
use tdlasm::listing::{TdlOptions, render_modern, render_tdl};
use tdlasm::module::Module;
use tdlasm::object::{read_object, write_object};
use tdlasm::source::MemoryLoader;

fuzz_target!(|source: &[u8]| {
    let loader = MemoryLoader::new().with("fuzz.asm", source);
    let options = Options { listing: true, ..Options::default() };
    let found = run(&loader, &["fuzz.asm".into()], &options);
    assert!(
        !found.has_errors() || !render::human(&found.diagnostics, &found.sources, false).is_empty()
    );
    let _ = render_modern(&found.listing, &found.sources);
    let _ = render_tdl(&found.listing, &found.sources, &found.modules, &TdlOptions::default());
    for module in found.modules.iter().filter(|_| !found.has_errors()) {
        // An ELF object does not keep the order of the source.
        let module = Module { source_order: None, ..module.clone() };
        assert_eq!(read_object(&write_object(&module), "fuzz"), Ok(module));
    }
});
