//! `hw-tests batch`: programs that end in every way, one after the other.

mod crashes;
mod start_up;
#[cfg(feature = "system-tests")]
mod system;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assert_cmd::cargo::CommandCargoExt;
use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use tdlasm::image::intel_hex;
use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};
use tempfile::TempDir;

#[cfg(unix)]
use crate::sim::ServedBoard;

/// What all programs have: SEND sends A under every monitor, PRINT the text after its call, and
/// FINISH ends with exit code A if HL is 5AA5H, so that no wild jump there is taken for an end.
const LIBRARY: &str = "
        .SLIST
START:  LXI SP,0D800H
        JMP MAIN
SEND:   PUSH B
        PUSH D
        PUSH H
        MOV E,A
        LDA 5
        CPI 0C3H
        JRNZ ..ROM
        LDA 7
        ORA A
        JP ..ROM
        MVI C,2                 ; CP/M
        CALL 5
        JMPR ..END
..ROM:  MOV A,E
        LXI B,180H
        RST 1
..END:  POP H
        POP D
        POP B
        RET
PRINT:  POP H
..NEXT: MOV A,M
        INX H
        ORA A
        JRZ ..DONE
        CALL SEND
        JMPR ..NEXT
..DONE: PCHL
DIGIT:  ANI 0FH
        ADI 90H
        DAA
        ACI 40H
        DAA
        JMP SEND
FINISH: PUSH PSW
        MOV A,H
        CPI 5AH
        JRNZ .
        MOV A,L
        CPI 0A5H
        JRNZ .
        CALL MARK
        POP PSW
        PUSH PSW
        RRC
        RRC
        RRC
        RRC
        CALL DIGIT
        POP PSW
        CALL DIGIT
        CALL PRINT
        .BYTE 13,10,0
        LXI H,3000
..WAIT: DCX H
        MOV A,H
        ORA L
        JRNZ ..WAIT
        JMP 0
MARK:   MVI A,4                 ; called, so that no copy in a receive buffer sends it once this is wiped
        JMP SEND
MAIN:
";

/// The folder of the programs of a test.
struct Programs(TempDir);

impl Programs {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a scratch folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Assembles a program at 8400H.
    fn add(&self, name: &str, body: &str) {
        self.write(&format!("{name}.ihx"), intel_hex(&image(0x8400, body), None).as_bytes());
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path().join(name), bytes).expect("a scratch file");
    }

    /// Runs the programs of the folder, and returns the exit code and what is printed.
    fn run(&self, options: &[&str]) -> (Option<i32>, String) {
        let output = self.output(options);
        let shown = [&output.stdout[..], &output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&shown).into_owned())
    }

    fn output(&self, options: &[&str]) -> Output {
        let mut command = Command::cargo_bin("hw-tests").expect("it is built");
        command.args(["batch", "."]).args(options).env("XDG_CONFIG_HOME", "/nonexistent");
        command.current_dir(self.path()).output().expect("it starts")
    }

    /// Returns the status of each program in `junit.xml`: `None` for a pass, else its message.
    fn junit(&self, folder: &str) -> Vec<(String, Option<String>)> {
        let text = std::fs::read_to_string(self.path().join(folder).join("junit.xml"));
        let report = Report::deserialize_from_str(&text.expect("a report")).expect("valid XML");
        let suite = report.test_suites.iter().find(|suite| suite.name.as_str() == "cases");
        let cases = suite.expect("cases").test_cases.iter();
        let status = |status: &TestCaseStatus| match status {
            TestCaseStatus::Success { .. } => None,
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, message, .. } => {
                Some(message.as_ref().expect("a message").to_string())
            }
            other => panic!("{other:?}"),
        };
        cases.map(|case| (case.name.to_string(), status(&case.status))).collect()
    }
}

/// Assembles a program.
fn image(origin: u16, body: &str) -> tdlasm::image::Image {
    assembled(format!("\t.LOC {origin}\n{LIBRARY}{body}\n\t.END\n"))
}

fn assembled(source: String) -> tdlasm::image::Image {
    let loader = MemoryLoader::new().with("p.asm", source);
    let assembly = assemble(&loader, &[PathBuf::from("p.asm")], &Options::default());
    let modules = assembly.unwrap_or_else(|error| panic!("{error}")).modules;
    link(&modules, &Layout::default()).unwrap_or_else(|errors| panic!("{errors}")).image
}

fn print(text: &str) -> String {
    let bytes: Vec<_> = text.bytes().map(|byte| byte.to_string()).collect();
    format!("\tCALL PRINT\n\t.BYTE {},0\n", bytes.join(","))
}

/// Ends of programs, and the reasons why they fail.
fn ends() -> Vec<(&'static str, String, Option<&'static str>)> {
    vec![
        ("a-pass", print("hello\r\n") + "\tXRA A\n\tLXI H,5AA5H\n\tJMP FINISH", None),
        ("b-code", "\tMVI A,0A5H\n\tLXI H,5AA5H\n\tJMP FINISH".to_owned(), Some("exit code 165")),
        ("c-hang", "\tJMP .".to_owned(), Some("it hangs")),
        ("d-halt", print("last words") + "\tDI\n\tHLT", Some("it hangs")),
        ("e-restart", "\tJMP 0".to_owned(), Some("returned or crashed to the monitor")),
        (
            "f-endless",
            "\tMVI A,'x'\nLOOP:\tCALL SEND\n\tJMP LOOP".to_owned(),
            Some("not ended in time"),
        ),
        ("g-stack", "\tLXI SP,0\nLOOP:\tPUSH PSW\n\tJMP LOOP".to_owned(), Some("it")),
        ("h-pass", print("after all that") + "\tXRA A\n\tLXI H,5AA5H\n\tJMP FINISH", None),
    ]
}

fn check_ends(options: &[&str]) {
    let programs = Programs::new();
    let ends = ends();
    ends.iter().for_each(|(name, body, _)| programs.add(name, body));
    let limits = ["--silence", "1s", "--timeout", "3s", "--report-dir", "out"];
    let (code, shown) = programs.run(&[options, &limits].concat());
    assert_eq!(code, Some(1), "{shown}");
    let junit = programs.junit("out");
    assert_eq!(junit.len(), ends.len());
    for ((name, _, expected), (found, status)) in ends.iter().zip(&junit) {
        assert_eq!(found, &format!("{name}.ihx"));
        let is_right = match (expected, status) {
            (None, None) => true,
            (Some(expected), Some(message)) => message.contains(expected),
            _ => false,
        };
        assert!(is_right, "{name}: {status:?}\n{shown}");
    }
    let output = std::fs::read_to_string(programs.path().join("out/junit.xml")).expect("a report");
    assert!(output.contains("hello</system-out>"), "{options:?}");
}

#[test]
fn each_end_has_its_verdict_and_none_harms_the_next_program() {
    check_ends(&[]);
}

#[test]
fn through_each_stock_monitor_the_verdicts_are_the_same() {
    for via in ["scm", "romwbw", "basic", "cpm"] {
        check_ends(&["--via", via]);
    }
}

#[test]
fn on_boards_with_other_serial_chips_the_verdicts_are_the_same() {
    for board in ["rc2014-zed", "rc2014-16c550", "sc126"] {
        check_ends(&["--board", board]);
    }
}

#[cfg(unix)]
#[test]
fn behind_a_pseudo_terminal_the_verdicts_are_the_same() {
    check_ends(&["--rig", "simulated"]);
}

#[test]
fn a_program_for_cpm_runs_with_its_bdos() {
    let programs = Programs::new();
    let hello = print("in the TPA\r\n") + "\tXRA A\n\tLXI H,5AA5H\n\tJMP FINISH";
    programs.write("a.com", &image(0x100, &hello).flat(0));
    programs.write("b.com", &image(0x100, "\tMVI A,3\n\tLXI H,5AA5H\n\tJMP FINISH").flat(0));
    let (code, shown) = programs.run(&["--report-dir", "out"]);
    assert_eq!(code, Some(1), "{shown}");
    let expected =
        [("a.com".to_owned(), None), ("b.com".to_owned(), Some("exit code 3".to_owned()))];
    assert_eq!(programs.junit("out"), expected);
}

#[test]
fn lines_and_returns_decide_as_the_options_say() {
    let programs = Programs::new();
    programs.add("a", &(print("1 ok\r\nALL OK\r\nnot ok\r\n") + "\tJMP ."));
    programs.add("b", &(print("1 ok\r\nnot ok\r\nALL OK\r\n") + "\tJMP 0"));
    programs.add("c", &(print("2 ok\r\n") + "\tJMP 0"));
    let verdicts = |options: &[&str]| {
        let (_, shown) = programs.run(options);
        let words = shown.lines().filter(|line| line.ends_with(".ihx"));
        words.map(|line| line[..4].trim_end()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(verdicts(&["--pass", "ALL OK", "--fail", "not ok"]), "ok FAIL FAIL");
    assert_eq!(verdicts(&["--pass", "? ok"]), "ok ok ok");
    assert_eq!(verdicts(&["--return-passes"]), "FAIL ok ok");
    assert_eq!(verdicts(&["--return-passes", "--fail", "not ok"]), "FAIL FAIL ok");
    assert_eq!(verdicts(&[]), "FAIL FAIL FAIL");
}

#[test]
fn t_states_limit_a_program_exactly_enough() {
    let programs = Programs::new();
    // 13 + 100 * 256 * 14 T-states and more, with the output some 420,000.
    programs
        .add("a", "\tMVI C,100\nO:\tMVI B,0\nI:\tDJNZ I\n\tDCR C\n\tJRNZ O\n\tXRA A\n\tLXI H,5AA5H\n\tJMP FINISH");
    assert_eq!(programs.run(&["--t-states", "500000"]).0, Some(0));
    assert_eq!(programs.run(&["--t-states", "300000"]).0, Some(1));
    let (code, shown) = programs.run(&["--t-states", "1", "--rig", "simulated"]);
    assert_eq!(code, Some(2), "{shown}");
}

#[test]
fn a_file_that_is_no_program_or_does_not_fit_leaves_the_others_their_verdicts() {
    let programs = Programs::new();
    programs.add("a", "\tXRA A\n\tLXI H,5AA5H\n\tJMP FINISH");
    programs.write("b.ihx", b"no program\n");
    programs.write("c.ihx", intel_hex(&image(0x100, "\tJMP ."), None).as_bytes());
    let (code, shown) = programs.run(&[]);
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("1 of 3 cases passed"), "{shown}");
    assert!(shown.contains("the program needs 0100h-"), "{shown}");
}

#[test]
fn results_are_resumed_and_shards_and_several_boards_share_the_programs() {
    let programs = Programs::new();
    for index in 0..9 {
        programs.add(
            &format!("p{index}"),
            &format!("\tMVI A,{}\n\tLXI H,5AA5H\n\tJMP FINISH", index / 8),
        );
    }
    let (code, shown) = programs.run(&["--shard", "1/2", "--results", "r.jsonl"]);
    assert_eq!(code, Some(1), "{shown}");
    let (code, shown) = programs.run(&["--shard", "1/2", "--results", "r.jsonl", "--resume"]);
    assert!(code == Some(1) && shown.contains("4 of 5 cases passed"), "{shown}");
    let other = ["--shard", "1/2", "--results", "r.jsonl", "--resume", "--pass", "x"];
    assert_eq!(programs.run(&other).0, Some(2), "other criteria are another run");
    let (code, shown) = programs.run(&["--rig", "direct", "--rig", "direct", "--repeat", "2"]);
    assert!(code == Some(1) && shown.contains("8 of 9 cases passed"), "{shown}");
}

#[test]
fn wrong_command_lines_are_refused() {
    let programs = Programs::new();
    programs.add("a", "\tJMP .");
    let cases: [(&[&str], i32); 4] = [
        (&["--pass", "x", "--return-passes"], 2),
        (&["--silence", "0s"], 2),
        (&["--flash"], 2),
        (&["--case", "none"], 4),
    ];
    for (options, expected) in cases {
        let (code, shown) = programs.run(options);
        assert_eq!(code, Some(expected), "{options:?}: {shown}");
    }
}

#[cfg(unix)]
#[test]
fn a_board_that_only_a_person_can_reset_is_reset_after_a_crash_only() {
    let programs = Programs::new();
    for (name, body) in [
        ("a", "\tXRA A\n\tLXI H,5AA5H\n\tJMP FINISH"),
        ("b", "\tMVI A,2\n\tLXI H,5AA5H\n\tJMP FINISH"),
        ("c", "\tJMP 0"),
        ("d", "\tDI\n\tHLT"),
        ("e", "\tXRA A\n\tLXI H,5AA5H\n\tJMP FINISH"),
    ] {
        programs.add(name, body);
    }
    let mut board = ServedBoard::start(&["--free"]);
    let port = board.path.clone();
    let options = ["--port", &port, "--silence", "1s", "--results", "r.jsonl"];
    let (code, shown) = programs.run(&options);
    assert_eq!(code, Some(1), "{shown}");
    assert!(
        shown.contains("1 of 5 cases passed") && shown.contains("press the board's reset"),
        "{shown}"
    );
    assert!(shown.contains("not-run"), "{shown}");
    let button = board.process.stdin.as_mut().expect("it is piped");
    std::io::Write::write_all(button, b"\n").expect("the board is there");
    let (_, shown) = programs.run(&[&options[..], &["--resume"]].concat());
    assert!(shown.contains("2 of 5 cases passed"), "{shown}");
}

/// On a board at its clock and 115,200 baud, which is not reset between programs.
#[cfg(unix)]
#[test]
fn from_one_program_of_three_kilobytes_to_the_next_takes_at_most_one_and_a_half_seconds() {
    let programs = Programs::new();
    for index in 0..5 {
        let data: Vec<_> =
            (0..3072).map(|i| ((i * 7 + i / 256 + index) % 256).to_string()).collect();
        let lines: String =
            data.chunks(16).map(|row| format!("\t.BYTE {}\n", row.join(","))).collect();
        let end = "\tXRA A\n\tLXI H,5AA5H\n\tJMP FINISH\n";
        programs.add(&format!("p{index}"), &format!("{end}{lines}"));
    }
    let board = ServedBoard::start(&[]);
    let seconds = |pattern: &str| {
        let began = std::time::Instant::now();
        let (code, shown) = programs.run(&["--port", &board.path, "--case", pattern]);
        assert_eq!(code, Some(0), "{shown}");
        began.elapsed().as_secs_f64()
    };
    // The computer may have other things to do: the best of three.
    let each = (0..3).map(|_| {
        let one = seconds("p0.ihx");
        (seconds("p?.ihx") - one) / 4.0
    });
    let each = each.fold(f64::INFINITY, f64::min);
    assert!(each > 0.2 && each <= 1.5, "{each} s: 3 KB take 0.27 s alone");
}
