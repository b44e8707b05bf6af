//! Programs that the real SDCC compiles, with the start-up of `docs/examples`.

use std::path::Path;
use std::process::Command;

use super::{Programs, crashes};

const COUNT: usize = 200;

/// Runs a tool in a folder.
fn run(folder: &Path, tool: &str, arguments: &str) {
    let output = Command::new(tool).args(arguments.split_whitespace()).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{tool}: {error}"));
    assert!(output.status.success(), "{tool} {arguments}: {output:?}");
}

/// Compiles `NAME.c` and links it with the start-up.
fn compile(programs: &Programs, name: &str, source: &str) {
    programs.write(&format!("{name}.c"), source.as_bytes());
    run(programs.path(), "sdcc", &format!("-mz80 -c {name}.c"));
    let link = "-mz80 --no-std-crt0 --code-loc 0x8400 --data-loc 0";
    run(programs.path(), "sdcc", &format!("{link} -o {name}.ihx crt0.rel {name}.rel"));
}

fn start_up(programs: &Programs) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/crt0.s");
    programs.write("crt0.s", &std::fs::read(source).expect("an example"));
    run(programs.path(), "sdasz80", "-o crt0.rel crt0.s");
}

/// Returns the text of a program, and why it fails if it does.
fn program(index: usize) -> (String, Option<String>) {
    let code = index * 37 % 256;
    let why = |why: &str| Some(why.to_owned());
    let exit = || (code != 0).then(|| format!("exit code {code}"));
    let (body, expected) = match index % 8 {
        0 => (format!("printf(\"%d %lx %s\\n\", {index}, 0x12345678L, words[1]); return 0;"), None),
        1 => (format!("return {code};"), exit()),
        2 => (format!("deep(20, {code}); return 1;"), exit()),
        3 => ("puts(\"waiting\"); for (;;) ;".to_owned(), why("hangs")),
        4 if index % 16 == 4 => ("return endless(1);".to_owned(), why("it ")),
        4 => ("((void (*)(void))0x2000)(); return 0;".to_owned(), why("it ")),
        5 => ("int i; for (i = 0; i < 200; i++) puts(line); return 0;".to_owned(), None),
        6 => ("puts(\"1..2\\nok 1\\nnot ok 2\"); return 0;".to_owned(), why("not ok 2")),
        _ => {
            // The host's own product, by Rust.
            let (a, b) = (index as u32 * 7919, 65_537 - index as u32);
            let product = a.wrapping_mul(b);
            (format!("a = {a}UL; b = {b}UL; return a * b == {product}UL ? zero : 1;"), None)
        }
    };
    let source = format!(
        "#include <stdio.h>\nvoid exit(int);\nint zero, one = 1;\nvolatile unsigned long a, b;\n\
         const char *words[] = {{ \"first\", \"second\" }};\n\
         char line[] = \"0123456789012345678901234567890123456789\";\n\
         void deep(char n, int code) {{ if (n) deep(n - 1, code); else exit(code); }}\n\
         int endless(int n) {{ return endless(n + 1) + one; }}\n\
         int main(void) {{ if (zero || one != 1) return 99; {{ {body} }} }}\n"
    );
    (source, expected)
}

fn compiled() -> (Programs, Vec<Option<String>>) {
    let programs = Programs::new();
    start_up(&programs);
    let compile = |index| {
        let (source, expected) = program(index);
        compile(&programs, &format!("p{index:03}"), &source);
        expected
    };
    let expected = (0..COUNT).map(compile).collect();
    (programs, expected)
}

fn check(programs: &Programs, expected: &[Option<String>], options: &[&str]) {
    let limits = ["--fail", "not ok", "--report-dir", "out", "--timeout", "20s"];
    let (code, shown) = programs.run(&[options, &limits].concat());
    assert_eq!(code, Some(1), "{options:?}: {shown}");
    let junit = programs.junit("out");
    assert_eq!(junit.len(), expected.len());
    for (expected, (name, status)) in expected.iter().zip(&junit) {
        let is_right = match (expected, status) {
            (None, None) => true,
            (Some(expected), Some(why)) => why.contains(expected.as_str()),
            _ => false,
        };
        assert!(is_right, "{options:?}, {name}: expected {expected:?}, found {status:?}");
    }
}

#[test]
fn two_hundred_programs_of_sdcc_have_their_verdicts_under_each_monitor() {
    let (programs, expected) = compiled();
    for options in [&[][..], &["--via", "scm"], &["--via", "romwbw"], &["--via", "cpm"]] {
        check(&programs, &expected, &[options, &["--silence", "1s"]].concat());
    }
    check(&programs, &expected, &["--rig", "real-time", "--silence", "1s"]);
    // MAME takes seconds to start again for each program: twenty have all kinds of ends.
    let twenty = ["--case", "p00?.ihx", "--case", "p01?.ihx"];
    let mame = [&["--rig", "mame", "--silence", "300ms"], &twenty[..]].concat();
    check(&programs, &expected[..20], &mame);
}

#[test]
fn programs_with_sdccs_own_start_up_run_simulated() {
    let programs = Programs::new();
    for code in [0, 5] {
        let source = format!(
            "#include <stdio.h>\n__sfr __at 0xff port;\n\
             int putchar(int c) {{ port = 'p'; port = c; return c; }}\n\
             int zero, code = {code};\n\
             int main(void) {{ printf(\"%d\\n\", 6 * 7); return zero + code; }}\n"
        );
        programs.write(&format!("p{code}.c"), source.as_bytes());
        run(programs.path(), "sdcc", &format!("-mz80 p{code}.c"));
    }
    assert_eq!(programs.run(&["--report-dir", "out"]).0, Some(1));
    let expected = [None, Some("exit code 5".to_owned())];
    let found = programs.junit("out");
    assert_eq!(found.iter().map(|(_, status)| status.clone()).collect::<Vec<_>>(), expected);
    assert_eq!(programs.run(&["--pass", "42"]).0, Some(0));
}

#[test]
fn ten_thousand_programs_that_crash_at_random_have_their_verdicts() {
    crashes::check(54, 10_000, &[]);
}

/// Six on MAME, which starts again for each program, or as many as the variable says.
#[test]
fn two_hundred_programs_that_crash_at_random_have_their_verdicts_on_the_paced_board_and_mame() {
    crashes::check(55, 200, &["--rig", "real-time"]);
    let count = std::env::var("MAME_CRASHES").map_or(6, |count| count.parse().expect("a number"));
    crashes::check(56, count, &["--rig", "mame"]);
}
