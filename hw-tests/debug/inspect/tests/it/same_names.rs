//! A program whose files are named like files of the monitor, in the folder in which the command
//! runs: each front end shows the user's text, and the monitor's under its own path.

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use serde_json::json;

use crate::dap::Client;

const CRC16: &str = "; MINE\n\t.INTERN START\n\t.LOC .PROG.\nSTART:\tCALL MYCRC\n\tJMP START\n\
    MYCRC:\tNOP\n\tRET\nNEVER:\tRET\n\t.END START\n";

/// Runs the program in a folder with `crc16.asm`; returns the exit code and what it prints.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    std::fs::write(folder.join("crc16.asm"), CRC16).expect("a file");
    let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
    let output = command.current_dir(folder).args(arguments).output().expect("it starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn the_debugger_shows_the_users_text_and_stops_in_the_users_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let commands = "list\nbreak crc16.asm:6\nlist C16INI\nbreak firmware:/crc16.asm:1\n";
    std::fs::write(folder.path().join("script"), commands).expect("a file");
    let (code, shown) = run(folder.path(), &["debug", "--script", "script", "crc16.asm"]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("; MINE") && shown.contains("MYCRC:"), "{shown}");
    assert!(shown.contains("breakpoint 1 at 8006H, MYCRC (crc16.asm:6)"), "{shown}");
    let own = firmware::source("crc16.asm").expect("it ships");
    let entry = own.lines().find(|line| line.starts_with("C16INI:")).expect("its entry");
    assert!(shown.contains(entry.split_whitespace().next().expect("a label")), "{shown}");
    assert!(shown.contains("monitor.C16INI (firmware:/crc16.asm:"), "{shown}");
}

#[test]
fn profile_and_coverage_tell_the_two_files_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let annotated = ["profile", "--program", "crc16.asm", "--annotate", "crc16.asm"];
    let (code, shown) = run(folder.path(), &annotated);
    assert!(code == Some(0) && shown.contains("; MINE"), "{shown}");
    let annotated = ["profile", "--program", "crc16.asm", "--annotate", "firmware:/crc16.asm"];
    let (code, shown) = run(folder.path(), &annotated);
    assert!(code == Some(0) && shown.contains("C16INI:") && !shown.contains("MINE"), "{shown}");
    let measured = ["coverage", "--program", "crc16.asm", "--lcov", "all.info"];
    let (code, shown) = run(folder.path(), &measured);
    assert!(code == Some(0) && !shown.contains("firmware:/"), "the user's files alone: {shown}");
    let info = std::fs::read_to_string(folder.path().join("all.info")).expect("the tracefile");
    assert_eq!(info.matches("SF:").count(), 1, "{info}");
    let (code, shown) = run(folder.path(), &[&measured[..], &["--monitor"]].concat());
    let places = ["  crc16.asm\n", "  firmware:/crc16.asm\n"].map(|file| shown.find(file));
    assert!(places[0].is_some() && places[0] < places[1], "the user's first: {shown}");
    assert!(code == Some(0) && shown.contains("not run: crc16.asm:8: NEVER:\tRET"), "{shown}");
    assert!(shown.contains("  firmware:/crc16.asm\n"), "{shown}");
    let info = std::fs::read_to_string(folder.path().join("all.info")).expect("the tracefile");
    let files: Vec<_> = info.lines().filter_map(|line| line.strip_prefix("SF:")).collect();
    let folder = folder.path().canonicalize().expect("the folder");
    for (path, text) in [
        ("crc16.asm", CRC16),
        ("all.sources/firmware/crc16.asm", firmware::source("crc16.asm").expect("it ships")),
    ] {
        let path = folder.join(path);
        assert!(files.contains(&&*path.display().to_string()), "{path:?} in {files:?}");
        assert_eq!(std::fs::read_to_string(&path).expect("a source"), text);
    }
}

#[test]
fn an_editor_gets_the_path_of_a_program_that_it_names_relative_to_its_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("crc16.asm"), CRC16).expect("a file");
    let path = folder.path().join("crc16.asm").canonicalize().expect("the file");
    let mut client = Client::start_in(folder.path());
    client.ask("initialize", json!({ "adapterID": "z80" }));
    client.ask("launch", json!({ "program": "crc16.asm" }));
    let lines = json!({ "source": { "path": path }, "breakpoints": [{ "line": 6 }] });
    let set = client.ask("setBreakpoints", lines)["breakpoints"][0].clone();
    assert_eq!((&set["verified"], &set["source"]["path"]), (&json!(true), &json!(path)), "{set}");
    let sources = client.ask("loadedSources", json!({}))["sources"].clone();
    let named = |one: &&serde_json::Value| one["name"] == "crc16.asm";
    let both: Vec<_> = sources.as_array().expect("a list").iter().filter(named).collect();
    let paths: Vec<_> = both.iter().map(|one| one["path"].as_str().expect("a path")).collect();
    assert_eq!(both.len(), 2, "{sources}");
    assert!(
        paths.contains(&"firmware:/crc16.asm") && paths.contains(&path.to_str().expect("text"))
    );
    for (path, part) in [("crc16.asm", "; MINE"), ("firmware:/crc16.asm", "C16INI:")] {
        let text = client.ask("source", json!({ "source": { "path": path } }));
        assert!(text["content"].as_str().is_some_and(|text| text.contains(part)), "{text}");
    }
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    client.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(client.event("stopped")["body"]["reason"], "breakpoint");
    let frame = client.frames()[0].clone();
    assert_eq!((&frame["source"]["path"], &frame["line"]), (&json!(path), &json!(6)), "{frame}");
}
