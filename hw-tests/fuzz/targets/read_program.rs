//! Any bytes as a program, and as a file of symbols or lines, of any assembler or compiler: they are
//! read or refused. The length selects the name, which matters for binaries and listings, so that the
//! seeds are files as they are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use program_formats::{SymbolTable, line_table, read_debug_info, read_program};

const NAMES: [&str; 6] = ["a.bin", "a.hex", "a.cmd", "a.rel", "a.lst", "a.rst"];

fuzz_target!(|content: &[u8]| {
    let name = NAMES[content.len() % NAMES.len()];
    let program = read_program(content, name, Some(0x8000));
    let Ok(mut info) = read_debug_info(content, name) else { return };
    let mut table = SymbolTable::default();
    table.add_all(&info.symbols);
    for symbol in &info.symbols {
        // Its own name is known, though perhaps ambiguous or not an address.
        assert!(!matches!(table.find(&symbol.name), Ok(None)), "{symbol:?}");
    }
    if let Ok(program) = program {
        for line in line_table(&info.lines, &program.image) {
            assert!(line.end() <= 0x1_0000, "{line:?}");
        }
        info.merge(program.debug);
    }
});
