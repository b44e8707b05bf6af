//! End-to-end tests of the command `tdlasm`.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

pub(crate) struct Bench {
    pub(crate) folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("a file in the temporary folder");
        path
    }

    /// Runs the command in the folder; returns exit code, standard output and standard error.
    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::cargo_bin("tdlasm").expect("the command");
        let output =
            command.current_dir(self.folder.path()).args(arguments).output().expect("to run");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn a_program_becomes_a_binary_and_a_hex_file() {
    let bench = Bench::new();
    bench.file("a.asm", " .LOC 100H\nSTART: MVI A,5\n RET\n .END START\n");
    assert_eq!(bench.run(&["asm", "a.asm", "-o", "a.bin"]).0, 0);
    assert_eq!(fs::read(bench.path("a.bin")).expect("the output"), [0x3E, 5, 0xC9]);
    let (code, hex, _) = bench.run(&["asm", "a.asm", "-o", "-", "--format", "hex"]);
    // Checksums by hand: 100H - (03+01+3E+05+C9) = F0H.
    assert!(code == 0 && hex.starts_with(":030100003E05C9F0"), "{hex}");
}

/// A limit on the size of files stops a write halfway, like a full disk.
#[test]
fn a_failed_write_leaves_the_earlier_file_and_no_partial_one() {
    let bench = Bench::new();
    bench.file("a.asm", " NOP\n".repeat(5000) + " .END\n");
    bench.file("a.bin", "before");
    let tdlasm = Command::cargo_bin("tdlasm").expect("the command").get_program().to_owned();
    let limited = "trap '' XFSZ; ulimit -f 2; exec \"$0\" asm a.asm -o a.bin";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", limited]).arg(tdlasm).current_dir(bench.folder.path());
    let output = shell.output().expect("a shell");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.contains("a.bin"), "{printed}");
    assert_eq!(fs::read(bench.path("a.bin")).expect("the output"), b"before");
    assert_eq!(fs::read_dir(bench.folder.path()).expect("the folder").count(), 2);
}

#[test]
fn an_error_leaves_the_earlier_output_alone() {
    let bench = Bench::new();
    bench.file("a.asm", " JMP NOWHERE\n MVI A\n .END\n");
    bench.file("a.bin", "before");
    let (code, stdout, stderr) = bench.run(&["asm", "a.asm", "-o", "a.bin"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.contains("a.asm:1:6") && stderr.contains("a.asm:2:2"), "{stderr}");
    assert_eq!(fs::read(bench.path("a.bin")).expect("the output"), b"before");
    assert_eq!(fs::read_dir(bench.folder.path()).expect("the folder").count(), 2);
}

#[test]
fn exit_codes_distinguish_bad_usage_from_bad_files() {
    let bench = Bench::new();
    bench.file("a.asm", " NOP\n .END\n");
    assert_eq!(bench.run(&["asm", "missing.asm"]).0, 3);
    assert_eq!(bench.run(&["asm", "."]).0, 3);
    assert_eq!(bench.run(&["asm", "a.asm", "-o", "no/such/folder/a.bin"]).0, 3);
    assert_eq!(bench.run(&["asm", "a.asm", "-o", "a.xyz"]).0, 2);
    assert_eq!(bench.run(&["asm", "a.asm", "--define", "1A=2"]).0, 2);
    assert_eq!(bench.run(&["asm"]).0, 2);
}

#[test]
fn symbols_come_from_the_command_line_and_files_from_include_folders() {
    let bench = Bench::new();
    fs::create_dir(bench.path("inc")).expect("a folder");
    bench.file("inc/more.asm", "\t.BYTE VALUE\n");
    bench
        .file("a.asm", " .INSERT MORE\n .INSERT more\nASKED =\\ 'how many'\n .BYTE ASKED\n .END\n");
    fs::write(bench.path("inc/MORE.ASM"), "\t.BYTE VALUE+1\n").expect("a file");
    let arguments = [
        "asm",
        "a.asm",
        "-I",
        "inc",
        "--define",
        "VALUE=0x10",
        "--define",
        "ASKED=1FH",
        "-o",
        "a.bin",
    ];
    let (code, _, stderr) = bench.run(&arguments);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(fs::read(bench.path("a.bin")).expect("the output"), [0x11, 0x10, 0x1F]);
}

#[test]
fn messages_come_in_three_forms() {
    let bench = Bench::new();
    bench.file("a.asm", " MVI A,300\n JMP NOWHERE\n .END\n");
    let (_, _, short) = bench.run(&["asm", "a.asm", "--message-format", "short"]);
    let second = "a.asm:2:6: error[U01]: NOWHER is not defined\n";
    assert!(short.starts_with("a.asm:1:8: warning[Q01]: ") && short.ends_with(second), "{short}");
    let (_, _, json) = bench.run(&["asm", "a.asm", "--message-format", "json"]);
    let objects: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((&objects[1]["code"], &objects[1]["place"]["column"]), (&"U01".into(), &6.into()));
    assert!(bench.run(&["--explain", "u01"]).1.starts_with("U01 (undefined, error)"));
}

#[test]
fn warnings_can_be_errors_or_silent() {
    let bench = Bench::new();
    bench.file("a.asm", " MVI A,300\n .END\n");
    assert_eq!(bench.run(&["asm", "a.asm", "-W", "error=truncated"]).0, 1);
    assert_eq!(
        bench.run(&["asm", "a.asm", "-W", "no-truncated"]),
        (0, String::new(), String::new())
    );
    assert_eq!(bench.run(&["asm", "a.asm", "-W", "no-such"]).0, 2);
}

#[test]
fn lints_are_hidden_denied_and_explained_by_name() {
    let bench = Bench::new();
    bench.file("a.asm", "ONE: MOV A,5\n .END\n");
    let asm = |levels: &[&str]| bench.run(&[&["asm", "a.asm"], levels].concat());
    let (code, _, stderr) = asm(&["--message-format", "short"]);
    let message = "a.asm:1:12: warning[W18]: this number is the register L\n";
    assert_eq!((code, stderr.as_str()), (0, message));
    assert_eq!(asm(&["-W", "no-number-as-register"]), (0, String::new(), String::new()));
    assert_eq!(asm(&["-W", "error=number-as-register"]).0, 1);
    assert_eq!(asm(&["-W", "error=W18", "-W", "no-W18"]).0, 0);
    assert!(asm(&["-W", "all"]).2.contains("the label ONE is not used"));
    assert!(!asm(&["-W", "error"]).2.contains("the label ONE"), "off by default");
    assert_eq!(asm(&["-W", "no-such"]).0, 2);
    let explained = bench.run(&["--explain", "number-as-register"]).1;
    assert!(explained.starts_with("W18 (number-as-register, warning)"), "{explained}");
}

#[test]
fn a_new_program_is_the_manuals_first_and_replaces_no_file() {
    let bench = Bench::new();
    assert_eq!(bench.run(&["new", "hello"]).0, 0);
    let source = fs::read_to_string(bench.path("hello.asm")).expect("the source");
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/LANGUAGE.md");
    let manual = fs::read_to_string(manual).expect("the manual");
    assert!(manual.contains(&format!("```\n{source}```\n")), "{source}");
    let assembled = bench.run(&["asm", "hello.asm", "-o", "hello.hex", "-W", "error"]);
    assert_eq!(assembled, (0, String::new(), String::new()));
    bench.file("hello.asm", "mine");
    let (code, _, stderr) = bench.run(&["new", "hello"]);
    assert!(code == 3 && stderr.contains("cannot write hello.asm"), "{stderr}");
    assert_eq!(fs::read_to_string(bench.path("hello.asm")).expect("the source"), "mine");
}

#[test]
fn a_source_in_zilogs_notation_has_one_message() {
    let bench = Bench::new();
    let lines = " LD A,5\n LD (HL),A\n JR NZ,LOOP\n INC HL\n".repeat(10);
    bench.file("z.asm", format!(" ORG 100H\nN EQU 5\nLOOP:\n{lines} END\n"));
    let (code, _, stderr) = bench.run(&["asm", "z.asm", "-o", "z.bin"]);
    assert_eq!((code, stderr.matches("error").count()), (1, 2), "{stderr}");
    assert!(stderr.contains("assemble it with --zilog, or name the file *.z80"), "{stderr}");
    assert_eq!(bench.run(&["asm", "--zilog", "z.asm", "-o", "y.bin"]).0, 0);
    assert_eq!(bench.run(&["convert", "--to", "tdl", "z.asm", "-o", "t.asm"]).0, 0);
    assert_eq!(bench.run(&["asm", "t.asm", "-o", "z.bin"]).0, 0);
    let bytes = |name| fs::read(bench.path(name)).expect("a program");
    assert!(bytes("z.bin") == bytes("y.bin"));
    // Its name or the project file says as much as the option.
    fs::copy(bench.path("z.asm"), bench.path("z.z80")).expect("to copy it");
    assert_eq!(bench.run(&["asm", "z.z80", "-o", "x.bin"]).0, 0);
    bench.file("tdl.toml", "zilog = true\n");
    assert_eq!(bench.run(&["asm", "z.asm", "-o", "w.bin"]).0, 0);
    assert!(bytes("z.bin") == bytes("x.bin") && bytes("z.bin") == bytes("w.bin"));
    fs::remove_file(bench.path("tdl.toml")).expect("to remove it");
    // A few slips in a TDL source have a message each.
    bench.file("t.asm", " MOV A,B\n SUI 5\n LD A,5\n LD B,5\n MVI C,1\n LD C,5\n STC\n .END\n");
    let (_, _, stderr) = bench.run(&["asm", "t.asm", "--message-format", "short"]);
    assert_eq!(stderr.matches("error[O01]").count(), 3, "{stderr}");
}

#[test]
fn the_dialect_is_that_of_zasm_or_of_pasm() {
    let bench = Bench::new();
    // ZASM loses the last byte before the bracket.
    bench.file("a.asm", " .IFE 0,[.ASCII 'ABC']\n .END\n");
    for (more, bytes) in [(&[][..], "AB"), (&["--dialect", "pasm"], "ABC")] {
        let (code, _, stderr) = bench.run(&[&["asm", "a.asm", "-o", "a.bin"], more].concat());
        assert_eq!(code, 0, "{stderr}");
        assert_eq!(fs::read_to_string(bench.path("a.bin")).expect("the program"), bytes);
    }
}

#[test]
fn the_depfile_names_every_file_that_was_read() {
    let bench = Bench::new();
    bench.file("a.asm", " .INSERT b.inc\n .END\n");
    bench.file("b.inc", " NOP\n");
    let (code, _, stderr) = bench.run(&["asm", "a.asm", "-o", "a.bin", "--depfile", "a.d"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(fs::read_to_string(bench.path("a.d")).expect("the depfile"), "a.bin: a.asm b.inc\n");
    bench.file("c.z80", " INCBIN 'logo.bin'\n END\n");
    bench.file("logo.bin", "logo");
    let (code, _, stderr) = bench.run(&["asm", "c.z80", "-o", "c.bin", "--depfile", "c.d"]);
    assert_eq!(code, 0, "{stderr}");
    let depfile = fs::read_to_string(bench.path("c.d")).expect("the depfile");
    assert_eq!(depfile, "c.bin: c.z80 logo.bin\n");
}

#[test]
fn a_source_comes_from_standard_input() {
    let mut command = Command::cargo_bin("tdlasm").expect("the command");
    let command =
        command.args(["asm", "-", "-o", "-", "--format", "bin"]).write_stdin(" RST 7\n .END\n");
    command.assert().success().stdout(&b"\xFF"[..]);
}

#[test]
fn objects_link_to_what_one_assembly_gives() {
    let bench = Bench::new();
    bench.file("a.asm", "A1:: CALL B1#\n .WORD A1\n .END A1\n");
    bench.file("b.asm", "B1:: JMP A1#\n .END\n");
    for name in ["a", "b"] {
        let (code, _, stderr) =
            bench.run(&["asm", &format!("{name}.asm"), "-o", &format!("{name}.o")]);
        assert_eq!(code, 0, "{stderr}");
    }
    let (code, _, stderr) = bench.run(&["link", "a.o", "b.o", "-o", "ab.bin"]);
    assert_eq!(code, 0, "{stderr}");
    let linked = fs::read(bench.path("ab.bin")).expect("the output");
    assert_eq!(linked, [0xCD, 5, 0, 0, 0, 0xC3, 0, 0]);
    assert_eq!(bench.run(&["link", "a.o", "-o", "a.bin"]).0, 1);
    assert_eq!(bench.run(&["link", "a.asm", "-o", "a.bin"]).0, 1);
    assert_eq!(bench.run(&["link", "none.o", "-o", "a.bin"]).0, 3);
}

#[test]
fn equal_sources_give_equal_objects() {
    let bench = Bench::new();
    bench.file("a.asm", "A1:: CALL B1#\n .DATE\n .END A1\n");
    for output in ["1.o", "2.o"] {
        assert_eq!(bench.run(&["asm", "a.asm", "-o", output]).0, 0);
    }
    let read = |name| fs::read(bench.path(name)).expect("the object");
    assert_eq!(read("1.o"), read("2.o"));
}

/// Compares with the file beside the source; `BLESS=1` rewrites it.
fn golden(path: &Path, found: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, found).expect("to write the golden file");
    }
    assert_eq!(fs::read_to_string(path).expect("the golden file"), found);
}

#[test]
fn the_listing_shows_addresses_bytes_and_t_states() {
    let bench = Bench::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tdlasm/tests/data/listing");
    bench.file("basic.asm", fs::read(data.join("basic.asm")).expect("the source"));
    let (code, listing, stderr) = bench.run(&["asm", "basic.asm", "--listing", "-"]);
    assert_eq!(code, 0, "{stderr}");
    golden(&data.join("basic.lst"), &listing);
}

#[test]
fn a_listing_on_standard_output_shows_the_letters_of_errors() {
    let bench = Bench::new();
    bench.file("a.asm", " JMP NOWHERE\n .END\n");
    let arguments = ["asm", "a.asm", "--listing", "-", "--listing-style", "tdl"];
    let (code, listing, _) = bench.run(&arguments);
    assert_eq!(code, 1);
    assert!(
        listing.contains("U  0000'   C3 0000") && listing.contains("JMP NOWHERE?"),
        "{listing}"
    );
    let to_file = ["asm", "a.asm", "--listing", "a.lst"];
    assert_eq!((bench.run(&to_file).0, bench.path("a.lst").exists()), (1, false));
}

#[test]
fn cycles_of_a_routine_are_printed() {
    let bench = Bench::new();
    bench.file("a.asm", "WAIT: DJNZ WAIT\n RET\n .END\n");
    let (code, stdout, _) = bench.run(&["asm", "a.asm", "--cycles", "WAIT"]);
    let line =
        "WAIT: 18 T-states, 2 instructions, 0000H to 0002H; 1 of them take longer when taken\n";
    assert_eq!((code, stdout.as_str()), (0, line));
    let (code, _, stderr) = bench.run(&["asm", "a.asm", "--cycles", "NONE"]);
    assert!(code == 2 && stderr.contains("no label NONE"), "{stderr}");
}

#[test]
fn messages_for_programs_have_the_line_of_the_call_for_errors_in_macro_text() {
    let bench = Bench::new();
    bench.file("a.asm", ".DEFINE BAD[X]=[\n MVI A,X+\n]\n NOP\n BAD 5\n .END\n");
    let (_, _, short) = bench.run(&["asm", "a.asm", "--message-format", "short"]);
    assert!(
        short.starts_with("a.asm:5:2: error[A01]: ") && short.ends_with("(in the macro BAD)\n")
    );
    let (_, _, json) = bench.run(&["asm", "a.asm", "--message-format", "json"]);
    let object: serde_json::Value = serde_json::from_str(json.trim()).expect("JSON");
    assert_eq!((&object["place"]["file"], &object["place"]["line"]), (&"a.asm".into(), &5.into()));
    assert_eq!(object["notes"][0], "in the macro BAD, from a.asm:5:2");
}

#[test]
fn a_folder_given_as_a_source_is_one_error_and_no_more() {
    let (code, _, stderr) = Bench::new().run(&["asm", ".", "--message-format", "short"]);
    assert!(
        code == 3 && stderr.lines().count() == 1 && stderr.contains("cannot read ."),
        "{stderr}"
    );
}

#[test]
fn relocatable_code_becomes_absolute_on_request() {
    let bench = Bench::new();
    let text = " NOP\nHERE: MVI A,HERE&0FFH\n .LOC 8\n RET\n .LOC .PROG.\n MVI B,HERE/2\n .END\n";
    bench.file("a.asm", text);
    let (code, _, stderr) = bench.run(&["asm", "a.asm", "-o", "a.bin"]);
    assert!(code == 1 && stderr.contains("R01"), "{stderr}");
    assert_eq!(bench.run(&["asm", "--pabs", "a.asm", "-o", "a.bin"]).0, 0);
    let expected = [0, 0x3E, 1, 0x06, 0, 0, 0, 0, 0xC9];
    assert_eq!(fs::read(bench.path("a.bin")).expect("the output"), expected);
}

#[test]
fn a_file_without_end_is_refused() {
    let bench = Bench::new();
    let sparse = fs::File::create(bench.path("huge.asm")).expect("a file");
    sparse.set_len(4 << 30).expect("a size that takes no room");
    let mut huge = vec!["huge.asm"];
    if Path::new("/dev/zero").exists() {
        huge.push("/dev/zero");
    }
    for file in huge {
        for command in [
            &["asm", file][..],
            &["convert", "--to", "zilog", file],
            &["link", file, "-o", "x.bin"],
        ] {
            let (code, _, stderr) = bench.run(command);
            assert!(
                stderr.contains(&format!("cannot read {file}: it has more than 256 MiB")),
                "{stderr}"
            );
            assert_eq!(code, 3, "{command:?}");
        }
    }
}

/// `tdlasm` does not depend on `cli-support`, so both contain the rule for control characters.
#[test]
fn names_in_messages_hide_the_same_characters_as_all_that_is_printed() {
    let hidden_in_names =
        |one: &char| tdlasm::source::visible(&one.to_string()).len() > one.len_utf8();
    let differing = (0..=char::MAX as u32).filter_map(char::from_u32);
    let mut differing = differing
        .filter(|one| hidden_in_names(one) != cli_support::text::is_unsafe_for_terminals(*one));
    assert_eq!(differing.next(), None);
}

#[test]
fn the_help_and_the_manual_page_of_a_command_begin_with_its_line_in_the_list() {
    let bench = Bench::new();
    let (_, help, _) = bench.run(&["--help"]);
    let (_, list) = help.split_once("Commands:\n").expect("a list");
    let lines = list.lines().take_while(|line| !line.is_empty());
    let commands = lines.filter_map(|line| line.trim().split_once(' '));
    let commands: Vec<_> = commands.filter(|(name, _)| *name != "help").collect();
    assert!(commands.len() > 6, "{help}");
    let (code, _, printed) = bench.run(&["man", "pages"]);
    assert_eq!(code, 0, "{printed}");
    for (command, about) in commands {
        let about = about.trim();
        for arguments in [[command, "--help"], ["help", command]] {
            let (_, shown, _) = bench.run(&arguments);
            assert!(shown.starts_with(about), "{arguments:?}: {shown}");
        }
        let page = bench.path(&format!("pages/tdlasm-{command}.1"));
        let page = fs::read_to_string(page).expect("a page").replace("\\-", "-");
        assert!(page.contains(about), "{command}: {page}");
    }
}
