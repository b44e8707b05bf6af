//! Conventions of all commands of all programs: help, completions, manual pages, and plain text
//! without a terminal.

use std::process::{Command, Stdio};

use crate::commands::bench::{Bench, Folder, RunEnd, finish, rcflash};
use crate::programs;
use crate::screen::TerminalSession;

const PROGRAMS: [&str; 5] = ["tdlasm", "rcflash", "hw-tests", "hw-inspect", "sargon"];

fn run(name: &str, arguments: &[&str]) -> RunEnd {
    let mut command = Command::new(programs::path(name));
    command.args(arguments).stdin(Stdio::null());
    RunEnd::from_output(command.output().expect("it starts"))
}

/// The subcommands, by the files of the manual.
fn subcommands(name: &str) -> Vec<String> {
    let folder = Folder::new();
    run(name, &["man", &folder.name("made")]).assert_ends(0, &["pages in"]);
    let files = std::fs::read_dir(folder.path("made")).expect("the pages").flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    let prefix = format!("{name}-");
    names
        .filter_map(|file| Some(file.strip_prefix(&prefix)?.strip_suffix(".1")?.to_owned()))
        .collect()
}

fn check_plain(ended: &RunEnd, what: &str) {
    for text in [&ended.text(), &ended.messages] {
        let control = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        assert_eq!(control, None, "{what}: {text:?}");
    }
}

#[test]
fn every_subcommand_has_a_page_help_with_an_example_and_its_completion() {
    for name in PROGRAMS {
        let scripts: Vec<_> = ["bash", "zsh", "fish"]
            .map(|shell| run(name, &["completions", shell]).assert_ends(0, &[]).text())
            .into();
        let subcommands = subcommands(name);
        assert!(subcommands.len() >= 6, "{name}: {subcommands:?}");
        for subcommand in subcommands {
            let help = run(name, &[&subcommand, "--help"]).assert_ends(0, &[]);
            assert!(help.text().contains("Example"), "{name} {subcommand}");
            assert!(scripts.iter().all(|script| script.contains(&subcommand)), "{subcommand}");
        }
        let page = run(name, &["man"]).assert_ends(0, &[]).text();
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
        run(name, &["man", "/dev/null/pages"]).assert_ends(3, &["manual pages"]);
    }
}

#[test]
fn bash_takes_the_scripts() {
    for name in PROGRAMS {
        let script = run(name, &["completions", "bash"]).text();
        let mut bash = Command::new("bash");
        bash.arg("-n").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ended = finish(bash.spawn().expect("bash is here"), script.as_bytes());
        assert_eq!(ended.assert_ends(0, &[]).messages, "");
    }
}

#[test]
fn without_a_terminal_nothing_but_text_is_printed() {
    for name in PROGRAMS {
        check_plain(&run(name, &[]), name);
        check_plain(&run(name, &["no-such-command"]), name);
        for subcommand in subcommands(name) {
            for option in ["--help", "-h", "--no-such-option"] {
                let what = format!("{name} {subcommand} {option}");
                check_plain(&run(name, &[&subcommand, option]), &what);
            }
        }
    }
    let bench = Bench::classic();
    let folder = Folder::new();
    let wrong = folder.file("wrong.asm", "\tMVI A\n\tNOSUCH\n");
    check_plain(&run("tdlasm", &["asm", &wrong]), "messages");
    check_plain(&rcflash(&["write", "--port", &bench.port]), "progress of an upload");
    let exchange = ["explain", "6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -", "e4"];
    check_plain(&run("sargon", &exchange), "an explanation");
    check_plain(&run("hw-tests", &["run", "--tag", "document"]), "a run");
}

/// Returns what a program prints at a terminal.
fn at_terminal(name: &str, arguments: &[&str], no_color: Option<&str>) -> String {
    let mut command = Command::new(programs::path(name));
    command.args(arguments).env_remove("NO_COLOR").env_remove("CI");
    command.envs(no_color.map(|value| ("NO_COLOR", value)));
    TerminalSession::spawn(command).wait_for_exit().1
}

#[test]
fn no_color_is_respected_at_a_terminal() {
    let folder = Folder::new();
    let wrong = folder.file("wrong.asm", "\tNOSUCH\n");
    for (name, arguments) in [
        ("tdlasm", &["asm", &wrong][..]),
        ("tdlasm", &["--no-such-option"]),
        ("rcflash", &["write", "--no-such-option"]),
        ("hw-tests", &["run", "--no-such-option"]),
    ] {
        let coloured = at_terminal(name, arguments, None);
        assert!(coloured.contains("\x1B["), "{name} colours at a terminal: {coloured:?}");
        let plain = at_terminal(name, arguments, Some("1"));
        assert!(!plain.contains('\x1B'), "{name}: {plain:?}");
        assert!(plain.contains("error"), "{name}: {plain:?}");
    }
}
