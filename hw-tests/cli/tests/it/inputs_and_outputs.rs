//! No command overwrites a file that it reads: each option that names an output is given the file
//! of each option that names an input, by the same path, a symbolic link and a hard link.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::programs::path;

/// A command, with the words of each of its inputs and outputs. `{in}` and `{out}` stand for the
/// file, `{indir}` and `{outdir}` for a folder in which the command would find or make it.
struct Row {
    program: &'static str,
    command: &'static str,
    inputs: &'static [&'static str],
    outputs: &'static [&'static str],
}

const BOARD_INPUTS: &[&str] = &[
    "--rig-file {in} --port bench",
    "--rig {in} --port bench",
    "--sargon-dir {indir}",
    "--listing {in}",
    "--app {in}",
    "--rom {in}",
    "--via {in}",
];

const ROWS: &[Row] = &[
    Row {
        program: "tdlasm",
        command: "asm",
        inputs: &["{in}", "main.asm --layout {in}"],
        outputs: &[
            "-o {out} --format bin",
            "-o main.bin --listing {out}",
            "-o main.bin --depfile {out}",
            "--sarif {out}",
        ],
    },
    Row {
        program: "tdlasm",
        command: "link",
        inputs: &["{in}", "main.o --library {in}", "main.o --layout {in}"],
        outputs: &["-o {out}", "-o main.bin --map {out}", "-o main.bin --symbols {out}"],
    },
    Row {
        program: "tdlasm",
        command: "disasm",
        inputs: &["{in}", "main.bin --symbols {in}"],
        outputs: &["-o {out}"],
    },
    Row {
        program: "tdlasm",
        command: "convert --to zilog",
        inputs: &["{in}"],
        outputs: &["-o {out}"],
    },
    Row {
        program: "rcflash",
        command: "image",
        inputs: &["{in}", "--bank 1={in}", "--application --sargon-dir {indir}"],
        outputs: &["-o {out}"],
    },
    Row {
        program: "rcflash",
        command: "image",
        inputs: &["--application --sargon-dir {indir}"],
        outputs: &["--elf {out}"],
    },
    Row {
        program: "rcflash",
        command: "read",
        inputs: &["--rig-file {in} --port bench --range 8000-80FF"],
        outputs: &["-o {out}"],
    },
    Row {
        program: "rcflash",
        command: "monitor --port bench",
        inputs: &["--rig-file {in}", "--send {in}", "--script {in}"],
        outputs: &["--log {out}"],
    },
    Row {
        program: "hw-tests",
        command: "run",
        inputs: BOARD_INPUTS,
        outputs: &["--record {out}", "--results {out}", "--report-dir {outdir}"],
    },
    Row {
        program: "hw-tests",
        command: "run",
        inputs: &["--corpus {in}", "--replay {in}", "--baseline {in}"],
        outputs: &["--results {out}"],
    },
    Row {
        program: "hw-tests",
        command: "run",
        inputs: &["--corpus {in}", "--replay {in}"],
        outputs: &["--report-dir {outdir}"],
    },
    Row {
        program: "hw-tests",
        command: "test",
        inputs: &[
            "{in}",
            "--contracts {in}",
            "x.test.toml --baseline {in}",
            "x.test.toml --rig-file {in} --port bench",
            "x.test.toml --replay {in}",
        ],
        outputs: &["--results {out}", "--coverage {out}", "--profile {out}", "--cycles {out}"],
    },
    Row {
        program: "hw-tests",
        command: "exhaust",
        inputs: BOARD_INPUTS,
        outputs: &["--record {out}"],
    },
    Row {
        program: "hw-tests",
        command: "report merge",
        inputs: &["{in}"],
        outputs: &["--report-dir {outdir}"],
    },
    Row {
        program: "hw-inspect",
        command: "profile",
        inputs: &["--program {in}"],
        outputs: &["--flame {out}", "--speedscope {out}", "--callgrind {out}"],
    },
    Row {
        program: "hw-inspect",
        command: "debug",
        inputs: &[
            "{in} --port bench",
            "x.asm --port bench --rig {in}",
            "x.asm --port bench --script {in}",
        ],
        outputs: &["--record {out}"],
    },
    Row {
        program: "sargon",
        command: "differences",
        inputs: &["{in}"],
        outputs: &["--html {out}"],
    },
    Row {
        program: "sargon",
        command: "residues",
        inputs: BOARD_INPUTS,
        outputs: &["--record {out}"],
    },
];

/// How the output leads to the input.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Path,
    SymbolicLink,
    HardLink,
}

const CONTENT: &str = "a text that no command made\n";

/// Runs a command, which must not change its input; returns what it printed unless it refused.
fn accepted(row: &Row, input: &str, output: &str, way: Way) -> Option<String> {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = |name: &str| scratch.path().join(name);
    fs::create_dir(folder("in")).expect("a folder");
    fs::create_dir(folder("out")).expect("a folder");
    // A description of a monitor and a source in a folder are recognised by their names.
    let name = if output.contains("{outdir}") && way == Way::Path {
        "report.json"
    } else if input.contains("--via") {
        "in.toml"
    } else {
        "in.asm"
    };
    let file = folder("in").join(name);
    fs::write(&file, CONTENT).expect("a scratch file");
    let (out, out_folder) = match way {
        Way::Path => (folder("out/../in").join(name), folder("in")),
        _ => (folder("out/report.json"), folder("out")),
    };
    match way {
        Way::Path => {}
        Way::SymbolicLink => symlink(&file, &out).expect("a link"),
        Way::HardLink => fs::hard_link(&file, &out).expect("a link"),
    }
    let in_place = |path: &Path| path.to_string_lossy().into_owned();
    let line = format!("{} {input} {output}", row.command);
    let words = line.split(' ').map(|word| {
        word.replace("{indir}", &in_place(&folder("in")))
            .replace("{outdir}", &in_place(&out_folder))
            .replace("{out}", &in_place(&out))
            .replace("{in}", &in_place(&file))
    });
    let mut command = Command::new(path(row.program));
    command.args(words).current_dir(scratch.path()).env("XDG_CONFIG_HOME", "/nonexistent");
    let ended = command.output().expect("it starts");
    let shown = String::from_utf8_lossy(&ended.stderr);
    let described = format!("{} {line}, {way:?}: {shown}", row.program);
    assert_eq!(fs::read_to_string(&file).expect("it is there"), CONTENT, "{described}");
    let is_refused = ended.status.code() == Some(2) && shown.contains("name the same file");
    (!is_refused).then_some(described)
}

/// Returns `true` if a file of this name can be both: not a report that would be read for its
/// ending.
fn is_possible(input: &str, output: &str, way: Way) -> bool {
    let needs_name = input.contains("{indir}") || input.contains("--via");
    !(needs_name && output.contains("{outdir}") && way == Way::Path)
}

#[test]
fn an_output_that_leads_to_an_input_is_refused() {
    let mut failures = Vec::new();
    for row in ROWS {
        for input in row.inputs {
            for output in row.outputs {
                let ways = [Way::Path, Way::SymbolicLink, Way::HardLink];
                for way in ways.into_iter().filter(|way| is_possible(input, output, *way)) {
                    failures.extend(accepted(row, input, output, way));
                }
            }
        }
    }
    assert_eq!(failures, [""; 0]);
}

/// Runs a program in a folder; returns its exit code and messages.
fn run_in(folder: &Path, program: &str, line: &str) -> (Option<i32>, String) {
    let mut command = Command::new(path(program));
    command.args(line.split(' ')).current_dir(folder).env("XDG_CONFIG_HOME", "/nonexistent");
    let ended = command.output().expect("it starts");
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

/// Files that are found while others are read: sources of a test file, included ones, parts of a
/// split image, reports in a folder.
#[test]
fn an_output_that_leads_to_a_file_found_by_the_command_is_refused() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    let files = [
        ("twice.asm", "TWICE::\t.INSERT DOUBLE.ASM\n\tRET\n\t.END\n"),
        ("DOUBLE.ASM", "\tADD\tA\n"),
        (
            "twice.test.toml",
            "sources = [\"twice.asm\"]\n[[case]]\nname = \"x\"\ncall = \"TWICE\"\n",
        ),
        ("rom-1.bin", "1234"),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("a scratch file");
    }
    fs::create_dir(folder.join("shard")).expect("a folder");
    let report = "{\"schema\":1}";
    fs::write(folder.join("shard/report.json"), report).expect("a scratch file");
    let lines = [
        ("tdlasm", "asm twice.asm -o twice.bin --listing DOUBLE.ASM"),
        ("tdlasm", "convert --to zilog twice.asm -o DOUBLE.ASM"),
        ("hw-tests", "test twice.test.toml --results DOUBLE.ASM --force"),
        ("hw-tests", "test . --coverage twice.asm"),
        ("hw-tests", "test . --profile twice.test.toml"),
        ("hw-tests", "report merge shard --report-dir shard"),
        ("rcflash", "image --size 1 --split rom-1.bin -o rom.bin"),
    ];
    for (program, line) in lines {
        let (code, shown) = run_in(folder, program, line);
        assert!(
            code == Some(2) && shown.contains("name the same file"),
            "{line}: {code:?} {shown}"
        );
        for (name, text) in files {
            assert_eq!(fs::read_to_string(folder.join(name)).expect("text"), text, "{line}");
        }
        assert_eq!(
            fs::read_to_string(folder.join("shard/report.json")).expect("text"),
            report,
            "{line}"
        );
    }
}

/// Nothing run is never a pass.
#[test]
fn a_soak_test_without_cases_or_time_is_a_usage_error() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let file =
        "sources = [\"x.asm\"]\n[[case]]\nname = \"x\"\ncall = \"TWICE\"\nskip = \"later\"\n";
    fs::write(scratch.path().join("x.asm"), "TWICE::\tRET\n\t.END\n").expect("a scratch file");
    fs::write(scratch.path().join("x.test.toml"), file).expect("a scratch file");
    for command in ["run", "run --rig direct --rig direct", "test x.test.toml"] {
        for soak in ["--count 0", "--for 0s", "--for 0d"] {
            let (code, shown) = run_in(scratch.path(), "hw-tests", &format!("{command} {soak}"));
            assert_eq!(code, Some(2), "{command} {soak}: {shown}");
        }
    }
    let (code, shown) = run_in(scratch.path(), "hw-tests", "test x.test.toml");
    assert!(code == Some(4) && shown.contains("every selected case is skipped"), "{shown}");
}

/// A baseline in the folder of the report is read before the report replaces it.
#[test]
fn the_report_of_the_last_run_is_a_baseline_for_the_next_in_its_folder() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    let source = "TWICE::\tADD\tA\n\tRET\n\t.END\n";
    fs::write(folder.join("twice.asm"), source).expect("a scratch file");
    let wrong = "sources = [\"twice.asm\"]\n[[case]]\nname = \"x\"\ncall = \"TWICE\"\nin = { A = 2 }\n\
                 expect = { A = 5 }\n";
    fs::write(folder.join("twice.test.toml"), wrong).expect("a scratch file");
    let run = |more: &str| run_in(folder, "hw-tests", &format!("test . --report-dir report{more}"));
    let report = folder.join("report/report.json");
    let read = || fs::read_to_string(&report).expect("it is written");
    assert_eq!(run("").0, Some(1));
    for baseline in [" --baseline report/report.json", " --baseline report/../report/report.json"] {
        let (code, shown) = run(baseline);
        assert_eq!(code, Some(0), "{shown}");
    }
    symlink("report/report.json", folder.join("last.json")).expect("a link");
    assert_eq!(run(" --baseline last.json").0, Some(0));
    fs::copy(&report, folder.join("kept.json")).expect("a copy");
    fs::hard_link(folder.join("kept.json"), folder.join("hard.json")).expect("a link");
    fs::rename(folder.join("hard.json"), &report).expect("it is replaced");
    let kept = read();
    assert_eq!(run(" --baseline kept.json").0, Some(0));
    assert_eq!(fs::read_to_string(folder.join("kept.json")).expect("text"), kept);
    // The report would be written to the baseline outside of the folder.
    fs::remove_file(&report).expect("it is there");
    symlink("../kept.json", &report).expect("a link");
    let (code, shown) = run(" --baseline kept.json");
    assert!(code == Some(2) && shown.contains("--baseline and --report-dir"), "{shown}");
    assert_eq!(read(), kept);
    fs::remove_file(&report).expect("it is there");
    fs::copy(folder.join("kept.json"), &report).expect("a copy");
    // The report may be that of the run itself.
    let resumed = " --results results --resume --baseline report/report.json";
    let (code, shown) = run(resumed);
    assert!(code == Some(2) && shown.contains("--resume continues"), "{shown}");
    assert_eq!(read(), kept);
}
