//! Boards as places of labgrid: acquired, used, reset and released, however a run ends.
//! labgrid's coordinator and exporter are the real ones, of `.ci/install/labgrid`.

mod lab;
#[allow(dead_code, reason = "these tests do not cut the network")]
#[path = "../../../../flasher-tests/tests/it/network/proxy.rs"]
mod proxy;
use crate::background_process;
use crate::programs;
use crate::sim;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use hil_harness::runner::{FaultOrigin, Verdict};
use rustix::process::{Pid, Signal, kill_process};
use sargon_suite::Report;

use background_process::BackgroundProcess;
use lab::Lab;
use proxy::Proxy;
use sim::ServedBoard;

/// A command's exit code and all of its output.
fn ended(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

fn report_in(folder: &Path) -> Report {
    let text = std::fs::read_to_string(folder.join("report.json")).expect("a report");
    serde_json::from_str(&text).expect("it is one")
}

#[test]
fn four_places_make_one_run_of_which_one_is_unplugged_one_lies_and_one_is_slow() {
    let good = ServedBoard::start(&[]);
    let liar = ServedBoard::start(&["--stuck", "WACT:0"]);
    let far = ServedBoard::start(&["--listen", "0"]);
    let slow = Proxy::new(far.path.trim_start_matches("tcp://"), Duration::from_millis(150));
    let gone = ServedBoard::start(&["--listen", "0"]);
    let slow = slow.address("tcp");
    let port = gone.path.clone();
    let places = [("good", &good.path), ("liar", &liar.path), ("slow", &slow), ("gone", &port)];
    let places = places.map(|(name, port)| (name, port.as_str()));
    let lab = Lab::with(&places);
    let rigs: Vec<_> = places.iter().map(|(name, _)| format!("labgrid://{name}")).collect();
    let mut words = vec!["run", "--tag", "play", "--reconnect", "1s", "--report-dir", "report"];
    rigs.iter().for_each(|rig| words.extend(["--rig", rig]));
    let mut run = BackgroundProcess::start(lab.hw_tests(&words));
    run.wait_for_message("labgrid://gone: Sargon");
    drop(gone);
    let (output, rest) = run.finish();
    let (code, printed) = ended(&output);
    assert_eq!(code, Some(1), "{printed}{rest}");
    let report = report_in(&lab.path("report"));
    assert_eq!(report.counts.not_run, 0, "{printed}");
    let failed: Vec<_> = report.cases.iter().filter(|it| it.verdict == Verdict::Fail).collect();
    assert!(!failed.is_empty(), "{printed}");
    for case in &failed {
        assert_eq!(
            case.fault,
            Some(FaultOrigin::Boards(vec!["labgrid://liar".to_owned()])),
            "{case:?}"
        );
    }
    let [good, liar, slow, gone] = &report.boards[..] else { panic!("{printed}") };
    assert_eq!((good.ended.as_str(), slow.ended.as_str()), ("complete", "complete"), "{printed}");
    assert!(liar.ended.starts_with("quarantined"), "{printed}");
    assert!(gone.ended.contains("lost") || gone.ended.contains("set-up failed"), "{printed}");
    assert!(good.counts.pass > slow.counts.pass && slow.counts.pass > 0, "{printed}");
    for (place, _) in places {
        lab.is_freed(place);
    }
}

#[test]
fn a_place_is_released_also_after_ctrl_c_and_when_the_program_is_killed() {
    let board = ServedBoard::start(&[]);
    let lab = Lab::with(&[("bench", &board.path)]);
    for (sent, code) in [(Signal::INT, Some(130)), (Signal::KILL, None)] {
        let words = ["run", "--for", "1h", "--port", "labgrid://bench"];
        let mut run = BackgroundProcess::start(lab.hw_tests(&words));
        run.wait_for_message(" on labgrid://bench");
        assert!(lab.is_acquired("bench"));
        kill_process(Pid::from_child(&run.run), sent).expect("it runs");
        assert_eq!(run.finish().0.status.code(), code);
        lab.is_freed("bench");
    }
}

#[test]
fn a_place_acquired_by_another_user_is_reserved_and_waited_for() {
    let board = ServedBoard::start(&[]);
    let lab = Lab::with(&[("bench", &board.path)]);
    lab.client_of("somebody", &["-p", "bench", "acquire"]);
    let words = ["run", "--port", "labgrid://bench", "--wait=10m", "byte.*"];
    let mut run = BackgroundProcess::start(lab.hw_tests(&words));
    run.wait_for_message("waiting: ");
    lab.wait("the reservation", |lab| lab.client(&["reservations"]).contains("name=bench"));
    lab.client_of("somebody", &["-p", "bench", "release"]);
    // Who comes later does not get it first.
    let late = lab.client_of("late", &["-p", "bench", "acquire"]);
    assert!(late.contains("was not reserved for") || late.contains("already acquired"), "{late}");
    let (output, rest) = run.finish();
    assert_eq!(output.status.code(), Some(0), "{rest}");
    lab.is_freed("bench");
    // Nor does a reservation keep others from it.
    assert_eq!(lab.client(&["reservations"]), "");
    lab.client_of("somebody", &["-p", "bench", "acquire"]);
    let words = ["run", "--port", "labgrid://bench", "--wait=10m", "byte.*"];
    let mut run = BackgroundProcess::start(lab.hw_tests(&words));
    run.wait_for_message("waiting: ");
    lab.wait("the reservation", |lab| lab.client(&["reservations"]).contains("name=bench"));
    kill_process(Pid::from_child(&run.run), Signal::INT).expect("it runs");
    assert_eq!(run.finish().0.status.code(), Some(130));
    lab.wait("its end", |lab| lab.client(&["reservations"]).is_empty());
}

#[test]
fn a_place_acquired_by_another_user_is_refused_with_labgrids_message_and_not_released() {
    let board = ServedBoard::start(&[]);
    let lab = Lab::with(&[("bench", &board.path)]);
    lab.client_of("somebody", &["-p", "bench", "acquire"]);
    let run = |port: &str| lab.hw_tests(&["run", "--port", port]).output().expect("it starts");
    let (code, printed) = ended(&run("labgrid://bench"));
    assert_eq!(code, Some(3), "{printed}");
    assert!(
        printed.contains("is already acquired by") && printed.contains("somebody"),
        "{printed}"
    );
    assert!(lab.is_acquired("bench"));
    let (code, printed) = ended(&run("labgrid://attic"));
    assert_eq!(code, Some(3), "{printed}");
    assert!(
        printed.contains("labgrid://attic") && printed.contains("matches nothing"),
        "{printed}"
    );
}

#[test]
fn power_and_reset_are_labgrids_drivers() {
    let board = ServedBoard::start(&[]);
    // Read the banner of the start here, not after the reset.
    let (code, printed) = ended(
        &programs::rcflash().args(["probe", "--port", &board.path]).output().expect("it starts"),
    );
    assert_eq!(code, Some(0), "{printed}");
    let lab = Lab::with(&[("bench", &board.path)]);
    let done = lab.path("done");
    let note = |word: &str| format!("sh -c \"echo {word} >> {}\"", done.display());
    let text = std::fs::read_to_string(example("environment.yaml")).expect("it ships");
    let words = ["on", "off", "cycle"].map(|word| (format!("cmd_{word}: \"true\""), word));
    let text = words.iter().fold(text, |text, (before, word)| {
        text.replace(before, &format!("cmd_{word}: '{}'", note(word)))
    });
    std::fs::write(lab.path("env.yaml"), text).expect("a file");
    let mut reset = lab.in_lab(programs::rcflash());
    reset.args(["reset", "--patience", "1s", "--port", "labgrid://bench"]);
    // The power switch is not connected, so the board does not restart and prints no banner.
    let (code, printed) = ended(&reset.env("LG_ENV", "env.yaml").output().expect("it starts"));
    assert_eq!(code, Some(3), "{printed}");
    assert!(printed.contains("received nothing from the board's monitor"), "{printed}");
    assert_eq!(std::fs::read_to_string(&done).expect("a file"), "on\ncycle\n");
    lab.is_freed("bench");
}

/// A file of the example in the book.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lab").join(name)
}

#[test]
fn the_example_for_pytest_runs_the_regression_on_two_places() {
    let boards = [ServedBoard::start(&[]), ServedBoard::start(&["--listen", "0"])];
    let places = [("bench", boards[0].path.as_str()), ("attic", boards[1].path.as_str())];
    let lab = Lab::with(&places);
    for name in ["environment.yaml", "test_boards.py"] {
        std::fs::copy(example(name), lab.path(name)).expect("a copy");
    }
    lab.client(&["-c", "environment.yaml", "acquire"]);
    let mut pytest = lab.in_lab(Command::new("pytest"));
    pytest.args(["-p", "no:cacheprovider", "--lg-env", "environment.yaml", "test_boards.py"]);
    pytest.env("HW_TESTS", env!("CARGO_BIN_EXE_hw-tests")).env("HW_TESTS_CASES", "play.00*");
    pytest.env("LG_ENV", "environment.yaml").env("LG_USERNAME", "tester");
    let (code, printed) = ended(&pytest.output().expect("it starts"));
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("2 passed"), "{printed}");
    assert!(places.iter().all(|(place, _)| lab.is_acquired(place)), "they are left as they were");
}
