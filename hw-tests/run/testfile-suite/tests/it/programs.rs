//! Programs that other assemblers and compilers built.

use std::fs;
use std::path::{Path, PathBuf};

use tdlasm::source::DiskLoader;
use testfile_suite::{FileErrors, TestFile, run_build};

use crate::run;

/// Outputs of other tools, from the tests of the crate that reads them.
pub(crate) fn corpus(path: &str) -> PathBuf {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../assembler/program-formats/tests/data/toolchains"
    );
    Path::new(folder).canonicalize().expect("the corpus").join(path)
}

/// Returns the findings of the cases of a test file.
pub(crate) fn findings(path: &Path, text: &str) -> Result<Vec<String>, FileErrors> {
    let file = TestFile::parse(path, text, &DiskLoader)?;
    let mut machine = file.program.machine();
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

#[test]
fn a_line_ends_where_the_data_after_it_begins() {
    let text = format!(
        "program = '{}'\nsymbols = '{}'\n",
        corpus("sjasmplus/mul/mul.hex").display(),
        corpus("sjasmplus/mul/mul.sld").display(),
    );
    let file = TestFile::parse(Path::new("a.test.toml"), &text, &DiskLoader);
    let map = file.unwrap_or_else(|error| panic!("{error}")).program.map;
    // RET at 8031H is line 50, and the table SQTAB at 8032H has no line.
    assert_eq!(map.line_at(0x8031).map(|line| (line.place.line, line.size)), Some((50, 1)));
    assert_eq!(map.line_at(0x8032), None);
    assert_eq!(map.describe_address(0x8031), "8031H, SQUARE.same+4 (mul.asm:50)");
}

#[test]
fn locations_name_the_page_of_a_program_with_several() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("paged.bin");
    // LD A,4; RET in page 4, from C000H; page 6 has LD A,6 there.
    fs::write(&path, [0x3E, 4, 0xC9]).expect("a file");
    let sld = corpus("sjasmplus/banks/paged.sld");
    let text = |call: &str| {
        format!(
            "program = '{}'\norigin = \"C000H\"\nsymbols = '{}'\n[[case]]\nname = \"a\"\n\
             call = \"{call}\"\nexpect.A = 5\n",
            path.display(),
            sld.display()
        )
    };
    let file = TestFile::parse(Path::new("a.test.toml"), &text("paged4"), &DiskLoader);
    let notes = file.unwrap_or_else(|error| panic!("{error}")).program.notes;
    let note = "pages share addresses: labels and lines of pages 2, 4 are shown, not those of 6";
    assert_eq!(notes, [note]);
    for call in ["paged4", "paged6", "0xC000"] {
        let found = findings(Path::new("a.test.toml"), &text(call));
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        assert!(found[0].ends_with("C000H on page 4, paged4 (paged.asm:17)"), "{found:?}");
    }
}

/// A program whose routines have names of several tools: INC A; RET for each.
const NAMES: [&str; 12] = [
    "_twice",
    "other@inner",
    "what?",
    "n\u{e4}me",
    "MUL8.loop",
    "0>again",
    "@AGAINR0R2",
    "?b0000",
    ".inner$10",
    "Fmul$twice$0$0",
    "10$",
    "Mod::entry",
];

#[test]
fn labels_are_called_by_the_names_that_tools_give_them() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write =
        |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("a file");
    write("a.bin", &[0x3C, 0xC9].repeat(NAMES.len()));
    let symbols = (0x8000..).step_by(2).zip(NAMES);
    let symbols = symbols.map(|(address, name)| format!("{address:08x} T {name}\n"));
    write("a.nm", symbols.collect::<String>().as_bytes());
    // Contracts are found by the same names; INC A takes 4 T-states and RET 10.
    let contract = |name| format!("; {name} - increments A.\n;   Clobbers: F\n;   Cycles:   9\n");
    write("a.asm", NAMES.map(contract).concat().as_bytes());
    let header = "program = \"a.bin\"\norigin = 0x8000\nsymbols = \"a.nm\"\n";
    for name in NAMES {
        let text =
            format!("{header}[[case]]\nname = \"a\"\ncall = \"{name}\"\nin.A = 1\nexpect.A = 2\n");
        let path = folder.path().join("a.test.toml");
        let found = findings(&path, &text);
        assert_eq!(found.unwrap_or_else(|error| panic!("{name}: {error}")), [""; 0], "{name}");
        let file = TestFile::parse(&path, &text, &DiskLoader);
        let file = file.unwrap_or_else(|error| panic!("{name}: {error}"));
        let source = folder.path().join("a.asm");
        let contracts = file.contracts(&source).expect("a source").expect("one of the program's");
        let called: Vec<_> = contracts.iter().filter(|one| file.calls(one)).collect();
        assert_eq!(called.len(), 1, "{name}");
        assert_eq!(called[0].name, name);
    }
}

#[test]
fn sources_must_be_sources_of_tdl() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("a.test.toml");
    let write =
        |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("a file");
    write("a.asm", "START:\tRET ; z\u{e4}hlt\n.END\n".as_bytes());
    write("latin.asm", b"START:\tRET ; z\xE4hlt\n.END\n");
    write("a.bin", &[0x3E, 5, 0xC9]);
    write("z80.asm", "  ld a,5\n".repeat(9).as_bytes());
    let parse = |source: &str| {
        let parsed = TestFile::parse(&path, &format!("sources = [\"{source}\"]\n"), &DiskLoader);
        parsed.map(drop).map_err(|errors| errors.0[0].message.clone())
    };
    assert_eq!((parse("a.asm"), parse("latin.asm")), (Ok(()), Ok(())));
    let error = parse("a.bin").expect_err("a binary");
    assert!(error.ends_with(
        "a.bin is not TDL source, but a program or object: name it by program or objects"
    ));
    let error = parse("z80.asm").expect_err("another dialect");
    assert_eq!(error.matches("ld is not an instruction").count(), 1, "{error}");
    assert!(
        error.contains("z80.asm is not in TDL's dialect: name what its assembler makes"),
        "{error}"
    );
}

#[test]
fn variables_with_initial_values_are_data_where_a_listing_has_lines_for_them() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write =
        |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).expect("a file");
    // As z80asm 1.8 lists it.
    let source = "        org  8000H\nbump:   ld   hl,count\n        inc  (hl)\n        ret\n\
                  count:  db   0\n";
    let listing = "# File v.asm\n0000\t\t\t        org  8000H \n\
                   8000 21 05 80\t\tbump:   ld   hl,count \n8003 34\t\t\t        inc  (hl) \n\
                   8004 c9\t\t\t        ret \n8005 00\t\t\tcount:  db   0 \n# End of file v.asm\n8006\n";
    write("v.asm", source.as_bytes());
    write("v.lst", listing.as_bytes());
    write("v.lbl", b"bump:\tequ $8000\ncount:\tequ $8005\n");
    write("v.bin", &[0x21, 5, 0x80, 0x34, 0xC9, 0]);
    let case = |at: &str| {
        format!(
            "program = \"v.bin\"\norigin = 0x8000\nsymbols = [\"v.lbl\", \"v.lst\"]\n[[case]]\n\
             name = \"a\"\ncall = \"bump\"\nmemory = [{{ at = \"bump+1\", words = [\"{at}\"] }}]\n"
        )
    };
    let path = folder.path().join("v.test.toml");
    let found = |at| findings(&path, &case(at)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found("count"), [""; 0]);
    let written = found("bump");
    assert!(written[0].contains("in program memory, 8000H, bump (v.asm:2)"), "{written:?}");
}

#[test]
fn sources_are_assembled_with_the_settings_of_their_project() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    let path = folder.path().join("a.test.toml");
    let case = |name| {
        let more = format!("call = \"{name}\"\nin.A = 2\nexpect.A = 3\n");
        format!("sources = [\"a.asm\"]\n[[case]]\nname = \"a\"\n{more}")
    };
    write("a.asm", "COUNTER:: ADI STEPS\n\tRET\nCOUNTED:: DCR A\n\tRET\n.END\n");
    let error = findings(&path, &case("COUNTER")).expect_err("six letters count");
    assert!(error.to_string().contains("COUNTE is already defined"), "{error}");
    write("tdl.toml", "long-symbols = true\n[define]\nSTEPS = 1\n");
    assert_eq!(findings(&path, &case("COUNTER")), Ok(Vec::new()));
    let error = findings(&path, &case("COUNTERS")).expect_err("all letters count").to_string();
    assert!(error.contains("unknown name 'COUNTERS'"), "{error}");
}

#[test]
fn a_source_in_zilogs_notation_is_tested_like_any_other() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("a.z80", "STEPS EQU 1\n\tPUBLIC COUNTER_UP\nCOUNTER_UP:\n\tADD A,STEPS\n\tRET\n");
    let path = folder.path().join("a.test.toml");
    let text = "sources = [\"a.z80\"]\n[[case]]\nname = \"a\"\ncall = \"COUNTER_UP\"\n\
                in.A = 2\nexpect.A = 3\n";
    assert_eq!(findings(&path, text), Ok(Vec::new()));
}

#[test]
fn no_letters_are_dropped_from_labels_of_other_tools() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write =
        |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).expect("a file");
    write("a.bin", &[0xC9]);
    write("a.nm", b"00008000 T buffer\n");
    let text = |call: &str| {
        let header = "program = \"a.bin\"\norigin = 0x8000\nsymbols = \"a.nm\"\n";
        format!("{header}[[case]]\nname = \"a\"\ncall = \"{call}\"\n")
    };
    let path = folder.path().join("a.test.toml");
    assert_eq!(findings(&path, &text("buffer")), Ok(Vec::new()));
    let error = findings(&path, &text("buffer_end")).expect_err("another name").to_string();
    assert!(
        error.contains(
            "unknown name 'buffer_end': expected a number such as 1FH, or a label such as buffer"
        ),
        "{error}"
    );
    write("a.nm", b"00000005 a NUMBER\n");
    let error = findings(&path, &text("main")).expect_err("no labels").to_string();
    assert!(
        error.contains("for which the program's files have no labels: name its symbols"),
        "{error}"
    );
}
