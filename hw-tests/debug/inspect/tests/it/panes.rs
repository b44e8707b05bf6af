//! Panes of a project file and of a test file, in scripts, on a terminal and in an editor.

use board_debugger::{ProgramFile, open_program};
use firmware::profile::BoardProfile;
use serde_json::{Value, json};

use crate::any::Bench;
use crate::dap::Client;
use crate::hw_tests;
use crate::owned_view::View;

/// Counts in memory; a character, a word and bytes follow.
const PROGRAM: &str = "\
START:\tLXI H,COUNT
LOOP:\tINR M
\tJMPR LOOP
COUNT:\t.BYTE 250
LETTER:\t.ASCII 'Q'
TOTAL:\t.WORD 1234H
\t.END START
";
const PANE: &str = r#"
[[pane]]
name = "counts"
title = "What is counted"
rows = [
    { name = "count", value = "[COUNT]", format = "decimal" },
    { name = "signed", value = "sb([COUNT])", format = "decimal" },
    { name = "bits", value = "[COUNT]", format = "binary" },
    { value = "{TOTAL}", format = "hex" },
    { name = "letter", value = "[LETTER]", format = "character" },
    { value = "[COUNT;2]" },
    { value = "HL" },
    { value = "NOWHERE" },
]
"#;

fn bench(project: &str) -> Bench {
    let bench = Bench::new();
    bench.write("count.asm", PROGRAM);
    bench.write("tdl.toml", project);
    bench
}

#[test]
fn a_script_shows_a_pane_by_its_name_and_help_lists_it() {
    let bench = bench(PANE);
    let out = bench.script(&bench.path("count.asm"), "step 2\ncounts\nhelp counts\n", &[]);
    let lines: Vec<&str> = out.lines().skip(1).collect();
    let expected = [
        "count      251",
        "signed     -5",
        "bits       11111011",
        "{TOTAL}    1234H",
        "letter     Q",
        "[COUNT;2]  8006H: FB 51  .Q",
        "HL         8006H (32774)",
    ];
    assert_eq!(lines[..expected.len()], expected);
    assert!(lines[7].starts_with("NOWHERE    unknown name"), "{out}");
    assert!(lines[8].contains("counts") && lines[8].contains("What is counted"), "{out}");
    let help = bench.script(&bench.path("count.asm"), "help\n", &[]);
    assert!(help.contains("What is counted") && !help.contains("ttackers"), "Sargon's: {help}");
}

#[test]
fn a_terminal_shows_a_pane_at_the_right_and_by_tab() {
    let bench = bench(PANE);
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let file = ProgramFile { path: bench.path("count.asm"), ..Default::default() };
    let program = file.load(&profile).unwrap_or_else(|error| panic!("{error}"));
    let debugger = open_program(&profile, program, None).unwrap_or_else(|error| panic!("{error}"));
    let mut view = View::new(debugger);
    let right = view.text(100, 40);
    assert!(right.contains("What is counted") && right.contains("│count      250"), "{right}");
    assert!(!right.contains("Stack"), "it is in the place of calls and stack: {right}");
    for _ in 0..6 {
        view.handle_key(ratatui::crossterm::event::KeyCode::Tab);
    }
    assert_eq!(view.text(100, 40).matches("What is counted").count(), 2);
    assert_eq!(view.screen.layout_command().as_deref(), Some("counts"));
}

#[test]
fn an_editor_shows_sets_and_watches_the_values_of_a_pane() {
    let bench = bench(PANE);
    let mut client = Client::start();
    client.ask("initialize", json!({ "adapterID": "z80" }));
    client.ask("launch", json!({ "program": bench.path("count.asm") }));
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    let scopes = client.ask("scopes", json!({ "frameId": 0 }))["scopes"].clone();
    let names: Vec<&Value> =
        scopes.as_array().expect("a list").iter().map(|scope| &scope["name"]).collect();
    assert_eq!(names, ["Registers", "Flags", "What is counted", "Machine"]);
    let scope = scopes[2]["variablesReference"].clone();
    let all = client.ask("variables", json!({ "variablesReference": scope }))["variables"].clone();
    assert_eq!((&all[0]["name"], &all[0]["value"]), (&json!("count"), &json!("250")));
    assert_eq!(all[0]["memoryReference"], "0x8006");
    let change = json!({ "variablesReference": scope, "name": "count", "value": "7" });
    client.ask("setVariable", change);
    let all = client.ask("variables", json!({ "variablesReference": scope }))["variables"].clone();
    assert_eq!(all[0]["value"], "7");
    let watched = json!({ "variablesReference": scope, "name": "{TOTAL}" });
    let info = client.ask("dataBreakpointInfo", watched);
    assert_eq!(info["description"], "2 bytes at 8008H (TOTAL)");
    for wrong in ["signed", "[COUNT;2]", "NOWHERE", "nothing"] {
        let change = json!({ "variablesReference": scope, "name": wrong, "value": "1" });
        assert_eq!(client.response("setVariable", change)["success"], false, "{wrong}");
    }
}

#[test]
fn a_test_file_has_panes_for_its_cases() {
    let bench = bench("");
    let tests = "sources = [\"count.asm\"]\n[[case]]\nname = \"a\"\ncall = \"START\"\n\
                 timeout = 100\n";
    let path = bench.write("count.test.toml", &format!("{tests}{PANE}")).display().to_string();
    let script = bench.write("script", "counts\n").display().to_string();
    let (code, out, printed) = hw_tests(&["debug", &path, "a", "--script", &script]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(out.contains("count      250"), "{out}");
}

#[test]
fn a_pane_that_can_not_be_shown_is_an_error_of_its_file() {
    let row = "rows = [{ value = \"A\" }]";
    for (pane, problem) in [
        (format!("name = \"step\"\n{row}"), "pane 'step': a command of the debugger has this name"),
        (format!("name = \"two words\"\n{row}"), "expected letters, digits, - and _"),
        ("name = \"a\"\nrows = [{ value = \"A\", format = \"octal\" }]".to_owned(), "of `hex`"),
        ("name = \"a\"".to_owned(), "rows"),
    ] {
        let bench = bench(&format!("[[pane]]\n{pane}\n"));
        let program = bench.path("count.asm").display().to_string();
        let (code, _, printed) = hw_tests(&["debug", "--script", "/dev/null", &program]);
        assert_eq!(code, Some(2), "{pane}: {printed}");
        assert!(printed.contains(problem), "{pane}: {printed}");
    }
}
