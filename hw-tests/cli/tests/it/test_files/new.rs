//! `hw-tests new --for`, with recorded outputs of the tools.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use tempfile::TempDir;

/// Each tool with the programs of its command; its recorded program, the routine there, and the files
/// that the command makes from a source of that name, as recorded and as made.
type Recorded = (
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

/// The recorded MUL8 of all assemblers is HL = A * E, as the routine that `new` creates; that of SDCC
/// is DE = A * L. Commands are those that made the records (the column of options may be shorter).
const RECORDED: [Recorded; 11] = [
    ("asl", &["asl", "p2hex"], "asl/mul", "MUL8", &[("mul.hex", ".hex"), ("mul.map", ".map")]),
    (
        "gas",
        &["z80-unknown-coff-as", "z80-unknown-coff-ld"],
        "gas/mul",
        "MUL8",
        &[("mul.elf", ".out")],
    ),
    ("pasmo", &["pasmo"], "pasmo/mul", "MUL8", &[("mul.hex", ".hex"), ("mul.sym", ".sym")]),
    ("rasm", &["rasm"], "rasm/mul", "MUL8", &[("mul.bin", ".bin"), ("mul.sym", ".sym")]),
    ("sdcc", &["sdcc"], "sdcc-call1/c-mul", "mul8", &[("mul.ihx", ".ihx"), ("mul.noi", ".noi")]),
    (
        "sjasmplus",
        &["sjasmplus"],
        "sjasmplus/mul",
        "MUL8",
        &[("mul.hex", ".hex"), ("mul.sld", ".sld")],
    ),
    (
        "wla",
        &["wla-z80", "wlalink"],
        "wla-dx/mul",
        "MUL8",
        &[("mul.prog.bin", ".bin"), ("mul.prog.sym", ".sym")],
    ),
    (
        "z80asm",
        &["z80asm"],
        "z80asm/mul",
        "MUL8",
        &[("mul.bin", ".bin"), ("mul.lbl", ".lbl"), ("mul.lst", ".lst")],
    ),
    (
        "z88dk",
        &["z88dk-z80asm"],
        "z88dk-z80asm/mul",
        "MUL8",
        &[("mul_code.bin", "_code.bin"), ("mul.map", ".map")],
    ),
    ("zasm", &["zasm"], "zasm/mul", "MUL8", &[("mul.bin", ".bin"), ("mul.lst", ".lst")]),
    ("zmac", &["zmac"], "zmac/mul", "MUL8", &[("mul.hex", ".hex"), ("mul.bds", ".bds")]),
];

fn corpus(folder: &str) -> PathBuf {
    let corpus = "../../assembler/program-formats/tests/data/toolchains";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(corpus).join(folder);
    folder.canonicalize().expect("the corpus")
}

/// A folder for a project, with programs in `bin` that copy recorded files.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new(programs: &[&str], copied: &[(PathBuf, String)]) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let bin = folder.path().join(".bin");
        fs::create_dir(&bin).expect("a folder");
        let copies = copied.iter().map(|(from, to)| format!("cp '{}' '{to}'\n", from.display()));
        let script = format!("#!/bin/sh\nset -e\n{}", copies.collect::<String>());
        for program in programs {
            let path = bin.join(program);
            fs::write(&path, &script).expect("a program");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
        }
        Self { folder }
    }

    /// Copies recorded files of a tool; those without an extension of `extensions` are left out.
    fn with_files_of(self, recorded: &str, extensions: &[&str]) -> Self {
        for entry in fs::read_dir(corpus(recorded)).expect("the corpus") {
            let path = entry.expect("a file").path();
            let extension = path.extension().and_then(|one| one.to_str()).unwrap_or_default();
            if extensions.contains(&extension) {
                let name = path.file_name().expect("a name");
                fs::copy(&path, self.folder.path().join(name)).expect("a copy");
            }
        }
        self
    }

    /// Runs `hw-tests`; returns the exit code, and both streams together.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = Command::cargo_bin("hw-tests").expect("it is built");
        let path = format!("{}:/usr/bin:/bin", self.folder.path().join(".bin").display());
        command.current_dir(self.folder.path()).args(arguments).env("PATH", path);
        let output = command.output().expect("it starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().expect("a code"), text(&output.stdout) + &text(&output.stderr))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).expect("it is there")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).expect("a file");
    }
}

fn project_of((_, programs, recorded, name, files): &Recorded) -> Project {
    let copied =
        files.iter().map(|(from, to)| (corpus(recorded).join(from), format!("{name}{to}")));
    Project::new(programs, &copied.collect::<Vec<_>>())
}

#[test]
fn a_new_project_passes_with_the_recorded_outputs_of_its_tool() {
    for recorded in &RECORDED {
        let (tool, _, _, name, _) = recorded;
        let project = project_of(recorded);
        let (code, shown) = project.run(&["new", name, "--for", tool]);
        assert_eq!(code, 0, "{tool}: {shown}");
        assert!(!shown.contains("note"), "{tool}: {shown}");
        let tests = format!("{name}.test.toml");
        // The recorded program counts its calls, in a variable that C's start-up would clear.
        if tool.contains("sdcc") {
            let path = project.folder.path().join(&tests);
            let text = fs::read_to_string(&path).expect("it was written");
            fs::write(&path, format!("allow = [\"unwritten\"]\n{text}")).expect("a file");
        }
        let (code, shown) = project.run(&["test", &tests, "--case", "largest product"]);
        assert!(code == 0 && shown.contains("PASS 1 of 1 case"), "{tool}: {shown}");
        let (code, shown) = project.run(&["new", name, "--for", tool]);
        assert!(code == 3 && shown.contains(" exists: choose"), "{tool}: {shown}");
    }
}

/// The files of an sjasmplus project as it is checked out; its assembler makes the others.
fn sjasmplus_project() -> Project {
    let made = ["hex", "sld"]
        .map(|end| (corpus("sjasmplus/mul").join(format!("mul.{end}")), format!("mul.{end}")));
    let project = Project::new(&["sjasmplus"], &made);
    project.write("mul.asm", "; as recorded\n");
    project
}

#[test]
fn an_existing_sjasmplus_project_has_its_first_passing_test_in_two_steps() {
    let built = sjasmplus_project().with_files_of("sjasmplus/mul", &["hex", "sld", "sym", "bin"]);
    for project in [sjasmplus_project(), built] {
        let (code, shown) = project.run(&["new", "mul", "--for", "sjasmplus"]);
        assert_eq!(code, 0, "{shown}");
        assert_eq!(shown, "mul.test.toml\nRun the tests: hw-tests test mul.test.toml\n");
        let (code, shown) = project.run(&["test", "mul.test.toml"]);
        assert!(code == 0 && shown.contains("PASS 1 of 1 case"), "{shown}");
        let tests = project.read("mul.test.toml");
        assert!(tests.contains("program = \"mul.hex\"\nsymbols = [\"mul.sld\"]\n"), "{tests}");
        assert!(tests.contains("build = \"sjasmplus "), "{tests}");
        assert!(tests.contains("name = \"MUL8 returns\"\ncall = \"MUL8\"\n"), "{tests}");
        assert_eq!(project.read("mul.asm"), "; as recorded\n");
    }
}

#[test]
fn outputs_of_each_tool_are_found_by_their_name() {
    let all = [
        "elf", "out", "hex", "ihx", "s19", "bin", "cmd", "cim", "sld", "noi", "cdb", "map", "bds",
        "lst", "sym", "lbl", "def", "rst",
    ];
    let binaries = ["bin", "cim", "sym", "lst", "map", "lbl", "sld", "bds"];
    for (_, _, recorded, ..) in &RECORDED {
        for extensions in [&all[..], &binaries] {
            let project = Project::new(&[], &[]).with_files_of(recorded, extensions);
            let name = if *recorded == "wla-dx/mul" { "mul.prog" } else { "mul" };
            let (code, shown) = project.run(&["new", name]);
            assert_eq!(code, 0, "{recorded} {extensions:?}: {shown}");
            let (code, shown) = project.run(&["test", &format!("{name}.test.toml")]);
            assert!(code == 0 && shown.contains("PASS 1 of 1"), "{recorded}: {shown}");
        }
    }
}

#[test]
fn a_program_and_what_builds_it_can_be_named() {
    let recorded = corpus("vasm/crc16");
    let made = ["bin", "lst"]
        .map(|end| (recorded.join(format!("crc16.{end}")), format!("build/game.{end}")));
    let project = Project::new(&["make"], &made);
    fs::create_dir(project.folder.path().join("build")).expect("a folder");
    project.write("Makefile", "");
    // Nothing is built yet: the build is run, and the address is that from which it has most lines.
    let (code, shown) = project.run(&["new", "tests", "--program", "build/game.bin"]);
    assert_eq!(code, 0, "{shown}");
    let tests = project.read("tests.test.toml");
    let program = "program = \"build/game.bin\"\norigin = 0x8200\nsymbols = [\"build/game.lst\"]\n\
                   build = \"make -s\"\n";
    assert!(tests.starts_with(program), "{tests}");
    let (code, shown) = project.run(&["test", "tests.test.toml"]);
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn without_the_tool_a_message_says_where_to_get_it() {
    let project = Project::new(&[], &[]);
    let (code, shown) = project.run(&["new", "mul", "--for", "rasm"]);
    let note = "note: rasm is not on the path: install it (https://github.com/EdouardBERGE/rasm)";
    assert!(code == 0 && shown.contains(note), "{shown}");
    let (code, shown) = project.run(&["test", "mul.test.toml"]);
    assert!(code == 3 && shown.contains("mul.test.toml:5:9: build: 'rasm mul.asm"), "{shown}");
    let project = Project::new(&[], &[]);
    project.write("mul.asm", "");
    let (code, shown) = project.run(&["new", "mul", "--for", "sjasmplus"]);
    let message = "sjasmplus is not on the path: install it (https://github.com/z00m128/sjasmplus)";
    assert!(code == 3 && shown.contains(message), "{shown}");
    assert!(!project.folder.path().join("mul.test.toml").exists());
}

#[test]
fn what_is_not_known_of_a_program_is_asked_for() {
    let project = Project::new(&[], &[]);
    fs::write(project.folder.path().join("game.bin"), [0xC9, 0, 0]).expect("a file");
    for (arguments, message) in [
        (&["new", "game"][..], "game.bin: a binary, which does not contain its address"),
        (&["new", "game", "--origin", "8000H"], "the program has no labels of code"),
        (&["new", "other", "--build", "true"], "no program named other is here"),
        (&["new", "other", "--build", "false"], "build: 'false' failed"),
    ] {
        let (code, shown) = project.run(arguments);
        assert!(code == 3 && shown.contains(message), "{arguments:?}: {shown}");
    }
    for name in ["add", "HL", "while", "../up", "a-b"] {
        let (code, shown) = project.run(&["new", name, "--for", "sdcc"]);
        assert!(code == 2 && shown.contains("can't be a label"), "{name}: {shown}");
    }
    assert_eq!(fs::read_dir(project.folder.path()).expect("a folder").count(), 2);
}
