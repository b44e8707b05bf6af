//! Corrupted test files are refused with a place, or read, but never fatal.

#[path = "../../../../../assembler/tdlasm/tests/it/corrupted_input.rs"]
mod corrupted_input;

use std::cell::Cell;

use corrupted_input::for_each_corrupted;
use tdlasm::source::DiskLoader;
use testfile_suite::TestFile;

use crate::folder;

const SEED: &str = r#"sources = ["prog.asm"]
boards = ["rc2014-classic"]
stack = { top = 0xF000, size = 64 }
setup = [{ call = "RUN" }]
[[case]]
name = "all"
tags = ["fast"]
call = "RUN"
in = { A = -1, HL = "DATA+2", "BC'" = 7, flags = "C NZ" }
memory = [{ at = "DATA", bytes = [1, "'A'"] }, { at = 0x9000, fill = 0, size = 16 }]
ports = { 10H = [1, 2] }
mock.DATA = { returns = [{ A = 1, flags = "Z" }] }
writes = [{ at = "DATA", size = 4 }]
timeout = 1000
interrupt = [{ at = "0..9", kind = "nmi", bus = 7, period = 50, handler = "RUN" }]
until = "DATA"
check = ["A == in.A + 1 && !FZ", "{DATA} != [DATA+1] * 2"]
[case.expect]
A = { ge = 1, lt = 9, mask = 0x7F }
DE = { any_of = [1, 2] }
flags = "NC"
cycles = { le = 100 }
stack = 2
clobbers = "AF HL'"
calls = { DATA = 0 }
memory = [{ at = "DATA", words = [{ ne = 5 }] }]
[[case]]
name = "table"
call = "RUN"
rows = [["in.A", "expect.A"], [1, 5]]
[[property]]
name = "p"
call = "RUN"
args = { A = "u8", HL = "0..1000", B = [1, 2] }
arrays = [{ at = "DATA", length = "0..=4", byte = "u8", count_in = "C" }]
assume = "A > 3"
same_as = "RUN"
outputs = ["A", "FC"]
cases = 10
seed = 3
"#;

#[test]
fn any_test_file_is_refused_with_a_place_or_read() {
    let folder = folder("RUN:\tMVI A,5\n\tRET\nDATA:\t.BLKB 4");
    let path = folder.path().join("prog.test.toml");
    if let Err(error) = TestFile::parse(&path, SEED, &DiskLoader) {
        panic!("the seed is valid: {error}");
    }
    let words: &'static [&'static [u8]] = &[
        b"99999999999999999999",
        b"-70000",
        b"0x10000",
        b"[[case]]\n",
        b"[[property]]\n",
        b"{}",
        b"[]",
        b"\"\"",
        b"((((((((((((((((((((((((((((((((((((((((",
        b"RUN",
        b"exhaustive = true\n",
        b"\xC3\xA9",
    ];
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    for_each_corrupted(&[SEED], words, 500, |input| {
        let text = String::from_utf8_lossy(input);
        match TestFile::parse(&path, &text, &DiskLoader) {
            Ok(file) => {
                accepted.set(accepted.get() + 1);
                let _ = file.program.machine();
            }
            Err(errors) => {
                refused.set(refused.get() + 1);
                let lines = text.lines().count().max(1);
                assert!(!errors.0.is_empty());
                for error in errors.0 {
                    // An error at the end is on the line after the last.
                    assert!((1..=lines + 1).contains(&error.line), "{error}");
                    assert!(error.column >= 1 && !error.message.is_empty(), "{error}");
                }
            }
        }
    });
    assert!(accepted.get() > 10 && refused.get() > 10, "{accepted:?}, {refused:?}");
}
