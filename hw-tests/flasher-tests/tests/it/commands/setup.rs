//! `rcflash setup`: from an unknown board to its entry in the rig file and its first cases.

use board_simulator::Pace;
use monitor_standins::{
    Basic, Cpm, CpmMonitor, MonitorModel, MonitorOptions, MonitorServer, Romwbw, Romwbw2, Scm,
    ScmRelease,
};
use serde_json::Value;

use crate::commands::bench::{Bench, Folder, RunEnd, program, rcflash};
use crate::commands::interrupted::interrupt;
use crate::loaders::states::each_row;
use crate::screen::TerminalSession;

fn setup(folder: &Folder, port: &str, more: &[&str]) -> RunEnd {
    let rig = folder.name("rig.toml");
    rcflash(&[&["setup", "--yes", "--rig-file", &rig, "--port", port], more].concat())
}

fn report(end: &RunEnd) -> Value {
    serde_json::from_str(&end.text()).unwrap_or_else(|_| panic!("{}{}", end.text(), end.messages))
}

#[test]
fn a_board_with_our_monitor_is_recognized_named_and_runs_ten_cases() {
    for board in ["rc2014-classic", "rc2014-zed"] {
        let folder = Folder::new();
        let bench = Bench::new(board, Pace::Free);
        let end = setup(&folder, &bench.port, &[]).assert_ends(0, &["PASS: 10 of 10 cases"]);
        let text = end.text();
        assert!(text.contains(&format!("board profile {board}\nnamed bench in ")), "{text}");
        assert!(text.contains("Next:\n  rcflash monitor --port bench\n"), "{text}");
        let rig = std::fs::read_to_string(folder.name("rig.toml")).expect("it was written");
        let entry = format!("[boards.\"bench\"]\nport = \"{}\"\nboard = \"{board}\"\n", bench.port);
        assert!(rig.contains(&entry), "{rig}");
        // The name is known now.
        let rig = folder.name("rig.toml");
        rcflash(&["probe", "--rig-file", &rig, "--port", "bench"]).assert_ends(0, &[]);
    }
}

#[test]
fn each_stock_monitor_is_named_with_its_loader() {
    let cases: [(Box<dyn MonitorModel>, &str, Value); 9] = [
        (Box::<Scm>::default(), "Small Computer Monitor 1.3.0", "scm".into()),
        (Box::new(Scm::new(ScmRelease::R1)), "Small Computer Monitor 1.0.0", "scm".into()),
        (Box::<Romwbw>::default(), "RomWBW 3.5's boot loader", "romwbw".into()),
        (Box::new(Romwbw::in_monitor()), "RomWBW 3.5.1's debug monitor", "romwbw".into()),
        (Box::<Romwbw2>::default(), "RomWBW 2.9's boot loader", "romwbw".into()),
        (Box::<Basic>::default(), "ROM BASIC 4.7b (G. Searle's)", "basic".into()),
        (Box::new(Basic::feilipu()), "ROM BASIC 4.7c (feilipu's)", "basic".into()),
        (Box::<Cpm>::default(), "CP/M 2.2", "cpm".into()),
        (Box::<CpmMonitor>::default(), "the factory's CP/M monitor 1.1", "cpm".into()),
    ];
    for (monitor, program, via) in cases {
        let folder = Folder::new();
        let server = MonitorServer::start(monitor, MonitorOptions::default()).expect("a terminal");
        let port = server.path().to_string_lossy().into_owned();
        let found = report(&setup(&folder, &port, &["--json", "--no-run"]).assert_ends(0, &[]));
        assert_eq!((&found["program"], &found["via"]), (&program.into(), &via), "{found}");
        assert_eq!((&found["name"], &found["passed"]), (&"bench".into(), &Value::Null), "{found}");
    }
}

/// Starts `rcflash setup` at a terminal.
fn at_terminal(folder: &Folder, server: &MonitorServer) -> TerminalSession {
    let mut command = program();
    command.args(["setup", "--no-run", "--rig-file", &folder.name("rig.toml"), "--port"]);
    command.arg(server.path());
    TerminalSession::spawn(command)
}

/// Runs `rcflash setup` at a terminal with this monitor, and gives each answer after the text that
/// is expected before it.
fn answered(
    folder: &Folder,
    monitor: Box<dyn MonitorModel>,
    dialogue: &[(&str, &str)],
) -> (Option<i32>, String) {
    let server = MonitorServer::start(monitor, MonitorOptions::default()).expect("a terminal");
    let mut session = at_terminal(folder, &server);
    for (question, answer) in dialogue {
        session.expect(question);
        session.press(answer.as_bytes());
    }
    session.wait_for_exit()
}

const WHICH_BOARD: &str = "number or name of the board or its profile [rc2014-classic]: ";

#[test]
fn at_a_terminal_the_board_is_asked_for_until_one_is_named() {
    for (answers, board) in [
        (&["\n"][..], "rc2014-classic"),
        (&[" rc2014-zed \n"], "rc2014-zed"),
        (&["zx81\n", "99\n", "0\n", "grant searle's nine chips\n"], "rc2014-classic"),
        (&["sc\n", "SC130\n"], "sc130"),
        (&["1\n"], "rc2014-16c550"),
    ] {
        let folder = Folder::new();
        let dialogue: Vec<_> = answers.iter().map(|answer| (WHICH_BOARD, *answer)).collect();
        let (code, seen) = answered(&folder, Box::<Scm>::default(), &dialogue);
        assert_eq!(code, Some(0), "{seen}");
        let found = seen.find("Small Computer Monitor 1.3.0 at 115200 baud").expect("it is found");
        assert!(found < seen.find("RC2014 Classic II (rc2014-classic)").expect("a list"), "{seen}");
        assert!(seen.contains("hw-tests run --port bench --via scm"), "{seen}");
        let rig = std::fs::read_to_string(folder.name("rig.toml")).expect("it was written");
        assert!(rig.contains(&format!("board = \"{board}\"\n")), "{rig}");
    }
}

/// Wrong answers to both questions, each of which is asked again, a no to a proposed board, and a
/// right one.
const ANSWERS: &str = "zx81\nn\n99\nSC131\n";

#[test]
fn each_recorded_monitor_in_each_state_is_set_up_after_wrong_answers() {
    each_row(
        |_| true,
        |_, row| {
            let folder = Folder::new();
            let dialogue = [("at 115200 baud", ANSWERS)];
            let (code, seen) = answered(&folder, row.prepared(), &dialogue);
            let rig = std::fs::read_to_string(folder.name("rig.toml")).unwrap_or_default();
            let is_named = seen.contains(row.prints.trim_end_matches(" (guessed)"));
            let asks_again = seen.contains("no board of the list is called '99'");
            let is_right = code == Some(0) && rig.contains("board = \"sc131\"\n");
            let name = format!("{}, {}: {code:?} {seen}", row.monitor, row.state);
            if is_named && asks_again && is_right { Vec::new() } else { vec![name] }
        },
    );
}

#[test]
fn a_board_that_its_monitor_names_is_proposed() {
    let scm = || Box::new(Scm::new(ScmRelease::S6V13));
    let question = "Small Computer Monitor 1.3.0 names the board: use the profile sc126 (SC126, \
                    SC111 with SC119)? [Y/n] ";
    for (dialogue, board) in [
        (&[(question, "\n")][..], "sc126"),
        (&[(question, "what\n"), (question, "y\n")], "sc126"),
        (&[(question, "n\n"), (WHICH_BOARD, "SC131\n")], "sc131"),
    ] {
        let folder = Folder::new();
        let (code, seen) = answered(&folder, scm(), dialogue);
        assert_eq!(code, Some(0), "{seen}");
        let rig = std::fs::read_to_string(folder.name("rig.toml")).expect("it was written");
        assert!(rig.contains(&format!("board = \"{board}\"\n")), "{rig}");
    }
    // Where nobody is asked, it is taken.
    let folder = Folder::new();
    let server = MonitorServer::start(scm(), MonitorOptions::default()).expect("a terminal");
    let port = server.path().to_string_lossy().into_owned();
    let found = report(&setup(&folder, &port, &["--json", "--no-run"]).assert_ends(0, &[]));
    assert_eq!(found["board"], "sc126");
}

#[test]
fn the_first_interruption_at_a_question_ends_the_command_and_nothing_is_written() {
    let folder = Folder::new();
    let options = MonitorOptions::default();
    let server = MonitorServer::start(Box::<Scm>::default(), options).expect("a terminal");
    let mut session = at_terminal(&folder, &server);
    session.expect(WHICH_BOARD);
    interrupt(&session.child);
    let (code, seen) = session.wait_for_exit();
    assert_eq!(code, Some(130), "{seen}");
    assert!(!std::path::Path::new(&folder.name("rig.toml")).exists(), "nothing is written");
}

#[test]
fn a_board_whose_first_cases_fail_is_not_written() {
    let folder = Folder::new();
    let server =
        MonitorServer::start(Box::new(Scm::new(ScmRelease::S6V13)), MonitorOptions::default())
            .expect("a terminal");
    let port = server.path().to_string_lossy().into_owned();
    // The SC126 has a Z180, and the program of this profile is for a Z80.
    let end = setup(&folder, &port, &["--board", "rc2014-classic"]);
    let end = end.assert_ends(1, &["did not pass; the rig file was not changed", "--board"]);
    assert!(!end.text().contains("named bench"), "{}", end.text());
    assert!(!std::path::Path::new(&folder.name("rig.toml")).exists(), "nothing is written");
}

#[test]
fn the_first_cases_run_through_each_monitor_that_takes_a_program() {
    let monitors: [Box<dyn MonitorModel>; 4] = [
        Box::<Scm>::default(),
        Box::<Romwbw>::default(),
        Box::<Basic>::default(),
        Box::new(Cpm::quick()),
    ];
    std::thread::scope(|scope| {
        for monitor in monitors {
            scope.spawn(move || {
                let folder = Folder::new();
                let options = MonitorOptions::default();
                let server = MonitorServer::start(monitor, options).expect("a terminal");
                let port = server.path().to_string_lossy().into_owned();
                let end = setup(&folder, &port, &["--json"]);
                let end = end.assert_ends(0, &["PASS: 10 of 10 cases"]);
                assert_eq!(report(&end)["passed"], true);
            });
        }
    });
}

#[test]
fn a_speed_and_a_name_that_are_not_the_defaults_are_kept() {
    let folder = Folder::new();
    let options = MonitorOptions { baud: 9600, ..MonitorOptions::default() };
    let server = MonitorServer::start(Box::<Scm>::default(), options).expect("a terminal");
    let port = server.path().to_string_lossy().into_owned();
    folder.file("rig.toml", "# mine\n[boards.bench]\nport = \"/dev/null\"");
    let more = ["--no-run", "--name", "attic", "--board", "rc2014-zed"];
    setup(&folder, &port, &more).assert_ends(0, &[]);
    let rig = std::fs::read_to_string(folder.name("rig.toml")).expect("it is there");
    assert!(rig.starts_with("# mine\n[boards.bench]\nport = \"/dev/null\"\n"), "{rig}");
    assert!(rig.ends_with("board = \"rc2014-zed\"\nbaud = 9600\n"), "{rig}");
    // The port has a name now, which is kept unless another is given.
    let again = report(&setup(&folder, &port, &["--no-run", "--json"]).assert_ends(0, &[]));
    assert_eq!((&again["name"], &again["baud"]), (&"attic".into(), &9600.into()));
}

#[test]
fn a_name_that_is_taken_is_refused_before_the_board_is_probed() {
    let folder = Folder::new();
    folder.file("rig.toml", "[boards.attic]\nport = \"/dev/null\"");
    let end = setup(&folder, "/dev/ttyNONE", &["--name", "attic"]);
    let end = end.assert_ends(3, &["boards.attic: the name is taken"]);
    assert!(!end.messages.contains("probing"), "{}", end.messages);
    for name in ["", "/dev/attic", "a/b"] {
        let end = setup(&folder, "/dev/ttyNONE", &["--name", name]).assert_ends(3, &["--name"]);
        assert!(!end.messages.contains("probing"), "{name}: {}", end.messages);
    }
}

#[test]
fn a_port_that_is_not_there_and_a_bad_rig_file_are_named() {
    let folder = Folder::new();
    setup(&folder, "/dev/ttyNONE", &[]).assert_ends(3, &["/dev/ttyNONE"]);
    let rig = folder.file("rig.toml", "[boards");
    setup(&folder, "/dev/ttyNONE", &[]).assert_ends(3, &[&rig]);
    let folder = Folder::new();
    setup(&folder, "/dev/ttyNONE", &["--board", "none"]).assert_ends(2, &["none"]);
}
