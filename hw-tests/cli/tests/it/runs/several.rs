//! One run on several boards, by the command line.

use std::io::{BufRead, BufReader};
use std::net::ToSocketAddrs;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use sargon_suite::Record;

use super::reports::WrittenReport;
use super::{command, records, run_command};
use crate::background_process::BackgroundProcess;
use crate::sim::ServedBoard;

#[test]
fn two_boards_share_a_run_and_the_table_shows_the_work_of_each() {
    let written = WrittenReport::from_run(&["--rig", "direct", "--rig", "direct", "--tag", "play"]);
    let printed = String::from_utf8_lossy(&written.output.stdout).into_owned();
    assert_eq!(written.output.status.code(), Some(0), "{printed}");
    let report = written.report();
    let rows: Vec<_> = report.boards.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(rows, ["direct", "direct 2"]);
    for row in &report.boards {
        let line = printed.lines().find(|line| line.starts_with(&format!("{} ", row.name)));
        assert!(line.is_some_and(|line| line.ends_with("  complete")), "{printed}");
    }
    assert!(written.text("report.md").contains("| direct 2 |"));
    assert!(written.text("junit.xml").contains("name=\"boards\" value=\"direct, direct 2\""));
}

#[test]
fn two_boards_repeat_the_cases_until_so_many_have_run_and_for_a_time() {
    let two = ["run", "--rig", "direct", "--rig", "direct", "byte.*"];
    let (code, printed) = run_command(&[&two[..], &["--count", "10"]].concat());
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("PASS: 10 of 10 cases passed"), "{printed}");
    let (code, printed) = run_command(&[&two[..], &["--for", "1s"]].concat());
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("\ndirect 2 ") && printed.contains("PASS: "), "{printed}");
}

#[test]
fn the_boards_of_the_rig_file_with_a_tag_are_one_fleet() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let rig = folder.path().join("rig.toml");
    let entry = |name: &str, tags: &str| {
        format!("[boards.{name}]\nport = \"/dev/no-{name}\"\ntags = [{tags}]\n")
    };
    // No board is simulated in the place of a real one that has such a name.
    let text = entry("direct", "\"simulated\"")
        + &entry("one", "\"classic\"")
        + &entry("two", "")
        + &entry("three", "\"x\", \"classic\"");
    std::fs::write(&rig, text).expect("a file");
    let rig = rig.to_string_lossy();
    let (code, printed) =
        run_command(&["run", "--rig-file", &rig, "--rig-tag", "classic", "byte.*"]);
    assert_eq!(code, Some(3), "{printed}");
    assert!(printed.contains("/dev/no-one") && printed.contains("/dev/no-three"), "{printed}");
    assert!(!printed.contains("no-two"), "{printed}");
    let (code, printed) = run_command(&["run", "--rig-file", &rig, "--rig-tag", "zed", "byte.*"]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("has the tag 'zed'"), "{printed}");
    let (code, printed) =
        run_command(&["run", "--rig-file", &rig, "--rig-tag", "simulated", "byte.*"]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("rename it in the rig file"), "{printed}");
}

#[test]
fn a_missing_board_is_reported_and_the_others_do_its_work() {
    let written =
        WrittenReport::from_run(&["--rig", "direct", "--rig", "/dev/no-such-board", "byte.*"]);
    assert_eq!(written.output.status.code(), Some(0));
    let report = written.report();
    assert_eq!(report.counts.pass, 4);
    assert!(report.boards[1].ended.starts_with("set-up failed: "), "{:?}", report.boards);
    let talk = String::from_utf8_lossy(&written.output.stderr).into_owned();
    assert!(talk.contains("/dev/no-such-board: set-up failed"), "{talk}");
    let printed = String::from_utf8_lossy(&written.output.stdout).into_owned();
    let last = printed.lines().last().unwrap_or_default();
    assert!(last.starts_with("missing: /dev/no-such-board (set-up failed: "), "{printed}");
    let page = written.text("junit.xml");
    assert!(
        page.contains(r#"<testsuite name="boards" tests="2" skipped="0" errors="1""#),
        "{page}"
    );
}

#[test]
fn a_run_fails_without_the_boards_that_are_required() {
    let rows: [(&[&str], i32); 4] = [
        (&["--min-boards", "all"], 3),
        (&["--min-boards", "2"], 3),
        (&["--min-boards", "1"], 0),
        (&["--min-boards", "most"], 2),
    ];
    let two = ["run", "--rig", "direct", "--rig", "/dev/no-such-board", "byte.figure4"];
    for (options, expected) in rows {
        let (code, printed) = run_command(&[&two[..], options].concat());
        assert_eq!(code, Some(expected), "{options:?}: {printed}");
        let is_named = printed.contains("the board is lost: /dev/no-such-board (set-up failed");
        assert_eq!(is_named, expected == 3, "{options:?}: {printed}");
    }
    let there = ["run", "--rig", "direct", "--rig", "direct", "byte.figure4", "--min-boards=all"];
    assert_eq!(run_command(&there).0, Some(0));
    for (rigs, named) in [(&there[..1], 1), (&there[..5], 2)] {
        let (code, printed) = run_command(&[rigs, &["--min-boards", "3"]].concat());
        assert_eq!(code, Some(2), "{printed}");
        assert!(
            printed.contains(&format!("--min-boards 3: expected at most {named},")),
            "{printed}"
        );
    }
}

#[test]
fn what_is_for_one_board_is_refused_with_a_reason() {
    let two = ["--rig", "direct", "--rig", "direct"];
    let refused = [
        (vec!["--resume", "--results", "r", "--for", "1s"], "'--resume' cannot be used with"),
        (vec!["--record", "tape"], "--record works with a single board only"),
        (vec!["--faults", "1"], "--faults works with a single board only"),
        (vec!["--rig", "mame"], "--rig mame works with a single board only"),
        (vec!["--rig", "replay:tape"], "--rig replay:FILE works with a single board only"),
    ];
    for (more, why) in refused {
        let (code, printed) = run_command(&[&["run", "byte.*"], &two[..], &more[..]].concat());
        assert_eq!(code, Some(2), "{printed}");
        assert!(printed.contains(why), "{printed}");
    }
    let (code, printed) = run_command(&["run", "--rig", "/dev/a", "--rig", "/dev/a"]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("'/dev/a' is given twice"), "{printed}");
    let (code, printed) = run_command(&[&["doctor"], &two[..]].concat());
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("needs a single board"), "{printed}");
}

#[test]
fn one_rig_is_one_board_like_a_port() {
    let (code, printed) = run_command(&["run", "--rig", "direct", "byte.*"]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("within this program") && !printed.contains("at fault"), "{printed}");
}

#[test]
fn ctrl_c_ends_all_boards_and_leaves_whole_lines_that_are_continued() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("results.jsonl");
    let name = file.to_string_lossy().into_owned();
    let few = ["play.00*"];
    let boards = ["run", "--rig", "real-time", "--rig", "real-time", "--results", &name];
    let boards = [&boards[..], &few].concat();
    let mut run = command(&boards);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut talk = BufReader::new(run.stderr.take().expect("it is piped"));
    let mut line = String::new();
    while !line.contains(" on simulated") {
        line.clear();
        assert!(talk.read_line(&mut line).expect("text") > 0, "it ended early");
    }
    kill_process(Pid::from_child(&run), Signal::INT).expect("it runs");
    assert_eq!(run.wait().expect("it ends").code(), Some(130));
    let before = records(&file);
    assert!(matches!(before.last(), Some(Record::End(end)) if !end.complete), "{before:?}");
    let report = folder.path().join("report");
    let out = ["--report-dir", &report.to_string_lossy()];
    // Other boards with another build, then some with the same.
    let other = [&["--results", &name, "--resume", "--behaviour", "fast"][..], &out].concat();
    let direct = ["run", "--rig", "direct", "--rig", "direct", "play.00*"];
    assert_eq!(run_command(&[&direct[..], &other].concat()).0, Some(2));
    let other = [&["--results", &name, "--resume", "--board", "rc2014-zed"][..], &out].concat();
    let (code, printed) = run_command(&[&direct[..], &other].concat());
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("is of another run: the application is "), "{printed}");
    let again = [&["--results", &name, "--resume", "--repeat", "2"][..], &out].concat();
    assert_eq!(run_command(&[&direct[..], &again].concat()).0, Some(2), "another run");
    let whole = [&["--results", &name, "--resume"][..], &out].concat();
    let (code, printed) = run_command(&[&direct[..], &whole].concat());
    assert_eq!(code, Some(0), "{printed}");
    let text = std::fs::read_to_string(report.join("report.json")).expect("a report");
    let report: sargon_suite::Report = serde_json::from_str(&text).expect("a report");
    assert_eq!(report.earlier_boards, ["real-time", "real-time 2"]);
    assert_eq!(report.counts.pass, report.counts.cases);
}

#[test]
fn a_run_waits_for_a_board_in_use_and_ctrl_c_ends_the_wait() {
    let board = ServedBoard::start(&[]);
    let run = |arguments: &[&str]| {
        BackgroundProcess::start(command(&[&["run", "--port", &board.path], arguments].concat()))
    };
    let end = |run: &BackgroundProcess| {
        kill_process(Pid::from_child(&run.run), Signal::INT).expect("it runs");
    };
    let mut first = run(&["--for", "1h", "--tag", "play"]);
    first.wait_for_message(" on ");
    let mut stopped = run(&["--wait", "byte.*"]);
    stopped.wait_for_message("in use by `hw-tests");
    end(&stopped);
    assert_eq!(stopped.finish().0.status.code(), Some(130));
    let late = run(&["--wait=1s", "byte.*"]).finish();
    assert_eq!(late.0.status.code(), Some(3), "{}", late.1);
    // Boards that wait are not needed once the others have run all cases.
    let rigs = ["run", "--rig", "direct", "--rig", &board.path, "--wait", "byte.*"];
    let (code, printed) = run_command(&rigs);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("was not ready before the run was over"), "{printed}");
    let mut second = run(&["--wait", "byte.*"]);
    second.wait_for_message("waiting: ");
    end(&first);
    assert_eq!(first.finish().0.status.code(), Some(130));
    let (output, rest) = second.finish();
    assert_eq!(output.status.code(), Some(0), "{rest}");
}

#[test]
fn one_board_under_two_names_is_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let device = folder.path().join("ttyUSB0");
    let link = folder.path().join("by-id");
    std::fs::write(&device, "").expect("a file");
    std::os::unix::fs::symlink(&device, &link).expect("a link");
    let [device, link] = [device, link].map(|path| path.to_string_lossy().into_owned());
    let (named, numbered) = ("tcp://localhost:9", "rfc2217://127.0.0.1:9");
    let local = ("localhost", 9).to_socket_addrs().expect("it is this computer").next();
    let numbered = match local.expect("an address").is_ipv4() {
        true => numbered,
        false => "rfc2217://[::1]:9",
    };
    for [one, other] in [[device.as_str(), &link], [named, numbered]] {
        let (code, printed) = run_command(&["run", "--rig", one, "--rig", other, "byte.*"]);
        assert_eq!(code, Some(2), "{printed}");
        let expected = format!("'{one}' and '{other}' are the same board: omit one of them");
        assert!(printed.contains(&expected), "{printed}");
    }
}

#[test]
fn port_and_rig_exclude_each_other() {
    let (code, printed) = run_command(&["run", "--port", "bench", "--rig", "direct", "byte.*"]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("'--port <NAME|DEVICE|ADDRESS>' cannot be used with"), "{printed}");
}

/// Options that name a board make no sense with some of the words of --rig.
#[test]
fn options_that_do_not_work_with_a_rig_are_refused_with_a_reason() {
    let refused = [
        (["--rig", "direct", "--via", "scm"], "--via needs a real board"),
        (["--rig", "/dev/a", "--rom", "x"], "--rom needs a simulated board or MAME's"),
        (["--rig", "replay:x", "--rom", "x"], "--rom needs a simulated board or MAME's"),
        (["--rig", "replay:x", "--faults", "1"], "--faults does not work with a replay"),
        (
            ["--rig", "dirct", "--repeat", "1"],
            "--rig also takes direct, simulated, real-time, mame",
        ),
    ];
    for (options, why) in refused {
        let (code, printed) = run_command(&[&["run", "byte.*"], &options[..]].concat());
        assert!(matches!(code, Some(2 | 3)), "{printed}");
        assert!(printed.contains(why), "{printed}");
    }
    for flag in ["--flash", "--full"] {
        let (code, printed) = run_command(&["run", "byte.*", "--rig", "replay:x", flag]);
        assert_eq!(code, Some(2), "{printed}");
        assert!(printed.contains(flag), "{printed}");
    }
}
