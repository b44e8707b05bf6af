//! Programs that other assemblers and compilers built.

use std::fs;
use std::path::{Path, PathBuf};

use tdlasm::source::DiskLoader;
use testfile_suite::{FileErrors, SimulatedMachine, TestFile, run_build};

use crate::run;

/// Outputs of other tools, from the tests of the crate that reads them.
fn corpus(path: &str) -> PathBuf {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../assembler/program-formats/tests/data/toolchains"
    );
    Path::new(folder).canonicalize().expect("the corpus").join(path)
}

/// Returns the findings of the cases of a test file.
fn findings(path: &Path, text: &str) -> Result<Vec<String>, FileErrors> {
    let file = TestFile::parse(path, text, &DiskLoader)?;
    let mut machine = SimulatedMachine::new(&file.program);
    let mut found = Vec::new();
    let ran =
        run(&file, &mut machine, &Default::default(), &mut |result| {
            found.extend(result.differences.iter().map(|one| {
                format!("{one} at {}", result.details.location.as_deref().unwrap_or("?"))
            }));
        });
    ran.unwrap_or_else(|error| panic!("{error}"));
    Ok(found)
}

#[test]
fn routines_of_every_tool_are_called_by_their_names() {
    // MUL8: HL = A * E, in all of them.
    for (program, symbols, routine, more) in [
        ("sjasmplus/mul/mul.hex", "sjasmplus/mul/mul.sld", "MUL8", ""),
        ("sjasmplus/mul/mul.bin", "sjasmplus/mul/mul.sym", "mul8", "origin = 0x8000"),
        ("pasmo/mul/mul.hex", "pasmo/mul/mul.sym", "MUL8", ""),
        ("z80asm/mul/mul.bin", "z80asm/mul/mul.lbl", "MUL8", "origin = \"8000H\""),
        ("rasm/mul/mul.bin", "rasm/mul/mul.sym", "MUL8", "origin = 0x8000"),
        ("wla-dx/mul/mul.prog.bin", "wla-dx/mul/mul.prog.sym", "MUL8", "origin = 0x8000"),
        ("z88dk-z80asm/mul/mul.ihx", "z88dk-z80asm/mul/mul.map", "MUL8", ""),
        ("sdas/mul/mul.ihx", "sdas/mul/mul.noi", "MUL8", ""),
        ("zmac/mul/mul.hex", "zmac/mul/mul.lst", "MUL8", ""),
        ("zmac/mul/mul.cmd", "zmac/mul/mul.bds", "MUL8", ""),
        ("asl/mul/mul.hex", "asl/mul/mul.map", "MUL8", ""),
        ("gas/mul/mul.elf", "gas/mul/mul.nm", "MUL8", ""),
        ("gas/mul/mul.srec", "gas/mul/mul.map", "MUL8", ""),
        ("zasm/mul/mul.hex", "zasm/mul/mul.lst", "MUL8", ""),
    ] {
        let (program, symbols) = (corpus(program), corpus(symbols));
        let text = format!(
            "program = '{}'\nsymbols = ['{}']\n{more}\n[[case]]\nname = \"a\"\ncall = \"{routine}\"\n\
             in = {{ A = 7, E = 6 }}\nexpect.HL = 42\n",
            program.display(),
            symbols.display(),
        );
        let found = findings(Path::new("a.test.toml"), &text);
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", symbols.display()));
        assert_eq!(found, [""; 0], "{}", symbols.display());
    }
}

#[test]
fn programs_of_c_run_whole_with_all_guards() {
    // They print the results of their own checks, and halt after main.
    for tool in ["sdcc-call0", "z88dk-sccz80"] {
        let folder = corpus(tool).join("c-check");
        let symbols = if tool == "sdcc-call0" { "check.noi" } else { "check.map" };
        let text = format!(
            "program = '{}'\nsymbols = '{}'\nconsole = {{ port = 0x81 }}\n\
             stack = {{ top = 0xF000, size = 2000 }}\n[[case]]\nname = \"a\"\ncall = \"start\"\n\
             until = \"exit\"\nports = {{ 80H = [2, \"...\"], 81H = [] }}\nexpect.HL = 1\n",
            folder.join("check.ihx").display(),
            folder.join(symbols).display(),
        );
        let found = findings(Path::new("a.test.toml"), &text);
        assert_eq!(found, Ok(vec![]), "{tool}");
    }
}

#[test]
fn a_variable_between_the_lines_of_a_listing_is_no_code() {
    // As z80asm 1.8 writes them.
    let listing = "# File a.asm\n8000 3a 08 80\t\t  ld a,(count) \n8003 3c\t\t  inc a \n8004 32 08 80\
                   \t\t  ld (count),a \n8007 c9\t\t  ret \n8008\t\tcount: \n8008 00\t\t  db 0 \n";
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write =
        |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("a file");
    write("a.bin", &[0x3A, 8, 0x80, 0x3C, 0x32, 8, 0x80, 0xC9, 0]);
    write("a.lst", listing.as_bytes());
    write("a.lbl", b"RUN:\tequ $8000\ncount:\tequ $8008\n");
    let text = "program = \"a.bin\"\norigin = 0x8000\nsymbols = [\"a.lbl\", \"a.lst\"]\n[[case]]\n\
                name = \"a\"\ncall = \"RUN\"\ncheck = \"[count] == 1\"";
    let path = folder.path().join("a.test.toml");
    assert_eq!(findings(&path, text), Ok(vec![]));
    write("a.bin", &[0x3A, 8, 0x80, 0x3C, 0x32, 8, 0x80, 0, 0]);
    let found = findings(&path, text).expect("a test file");
    assert!(found[0].starts_with("executed data at 8008H, count (a.asm:6): look for"), "{found:?}");
}

#[test]
fn variables_of_c_need_no_writes_and_failures_name_its_lines() {
    let (program, symbols) =
        (corpus("sdcc-call1/c-sort/sort.ihx"), corpus("sdcc-call1/c-sort/sort.noi"));
    let test = |expected: u32| {
        let text = format!(
            "program = '{}'\nsymbols = '{}'\n[[case]]\nname = \"a\"\ncall = \"exchange\"\n\
             in = {{ HL = 0xA000, DE = 0xA002 }}\n\
             memory = [{{ at = 0xA000, bytes = [1, 2, 3, 4] }}, {{ at = \"swaps\", bytes = [0, 0] }}]\n\
             expect.memory = [{{ at = 0xA000, bytes = [3, 4, 1, {expected}] }}]\n",
            program.display(),
            symbols.display(),
        );
        findings(Path::new("a.test.toml"), &text).unwrap_or_else(|error| panic!("{error}"))
    };
    assert_eq!(test(2), [""; 0], "swaps is in _DATA");
    let found = test(9);
    assert!(found.len() == 1 && found[0].contains("_exchange (sort.c:"), "{found:?}");
}

#[test]
fn what_a_program_is_not_is_said_at_its_line() {
    for (program, more, expected) in [
        ("sdas/mul/mul.rel", "", "an object of sdas: link it with sdcc"),
        ("gas/mul/mul.o", "", "an object file: link it first"),
        ("sjasmplus/mul/mul.bin", "", "give the origin"),
        ("sjasmplus/mul/mul.hex", "origin = 0x8000", "contains its addresses: omit the origin"),
    ] {
        let text = format!("# first line\nprogram = '{}'\n{more}\n", corpus(program).display());
        let error = findings(Path::new("a.test.toml"), &text).expect_err(program).to_string();
        assert!(error.starts_with("a.test.toml:2:11: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn a_build_runs_in_the_folder_of_the_file_and_shows_its_output_if_it_fails() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("a.test.toml");
    let build = |build: &str| {
        fs::write(&path, format!("\n{build}\nprogram = \"a.hex\"\n")).expect("a test file");
        run_build(&path).map_err(|errors| errors.to_string())
    };
    // `cargo` is there wherever these tests are.
    let cargo = env!("CARGO");
    assert_eq!(build(&format!("build = ['{cargo}', \"--version\"]")), Ok(()));
    assert_eq!(build(&format!("build = '\"{cargo}\" init --vcs none --name made made'")), Ok(()));
    assert!(folder.path().join("made/Cargo.toml").is_file());
    let error = build(&format!("build = ['{cargo}', \"nosuch\"]")).expect_err("it fails");
    assert!(error.contains("a.test.toml:2:9: build: '") && error.contains("failed ("), "{error}");
    assert!(error.contains("\n  error: no such command: `nosuch`"), "{error}");
    let error = build("build = [\"/no/such/program\"]").expect_err("it is missing");
    assert!(error.contains("can't be started"), "{error}");
    let error = build("build = 5").expect_err("a number");
    assert!(error.contains("build: expected a string such as \"make -s\""), "{error}");
    let error = build("build = \"make\"\nbuild_timeout = \"soon\"").expect_err("no time");
    assert!(error.contains(":3:17: "), "{error}");
    assert_eq!(build("sources = [\"a.asm\"]\nother = 1"), Ok(()), "reported with the tests");
}

#[test]
fn a_build_that_takes_too_long_is_stopped() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("a.test.toml");
    // It waits for standard input, which is empty, and then for ever.
    let command = "while true; do :; done";
    let text = format!(
        "build = [\"sh\", \"-c\", \"echo at work; {command}\"]\nbuild_timeout = \"50ms\"\n"
    );
    fs::write(&path, text).expect("a test file");
    let error = run_build(&path).expect_err("it never ends").to_string();
    assert!(error.contains("was stopped after 0.05 s; build_timeout ="), "{error}");
}
