//! Test files and calls on boards whose caller a stock monitor loads, or which have it in flash.

use std::path::Path;

use monitor_standins::{
    Basic, Cpm, MonitorModel, MonitorOptions, MonitorServer, Romwbw, Scm, ScmRelease,
};
use serde_json::json;

use super::call::replies_on;
use super::{CASES, hw_tests, project};
#[path = "../../../../flasher-tests/tests/it/loaders/descriptions.rs"]
mod descriptions;

fn standin(peer: Box<dyn MonitorModel>) -> (MonitorServer, String) {
    let server = MonitorServer::start(peer, MonitorOptions::default()).expect("a pseudo-terminal");
    let port = server.path().to_string_lossy().into_owned();
    (server, port)
}

/// Runs the cases, of which one fails, in a folder with descriptions of monitors; returns the
/// messages.
fn test(options: &[&str]) -> String {
    let folder = project(CASES);
    for (name, text) in [("scm.toml", descriptions::scm()), ("romwbw.toml", descriptions::ROMWBW)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let (code, shown, errors) =
        hw_tests(folder.path(), &[&["test", "twice.test.toml"], options].concat());
    let failure = "FAIL  twice.test.toml:8: large\n      A: expected 1, got 0\n";
    assert!(code == 1 && shown.contains(failure), "{options:?}: {code} {shown}{errors}");
    assert!(shown.contains("\nFAIL: 1 of 2 cases passed, 2 calls compared, in "), "{shown}");
    errors
}

#[test]
fn test_files_run_through_each_stock_monitor() {
    let peers: [(Box<dyn MonitorModel>, &str, &str); 8] = [
        (Box::<Scm>::default(), "scm.toml", "back in the described monitor"),
        (Box::new(Romwbw::in_monitor()), "romwbw.toml", "back in RomWBW's boot loader"),
        (Box::<Scm>::default(), "scm", "back in the Small Computer Monitor"),
        (Box::new(Romwbw::in_monitor()), "romwbw", "back in RomWBW"),
        (Box::<Basic>::default(), "basic", "back in a ROM BASIC"),
        (Box::new(Cpm::quick()), "cpm", "back in CP/M"),
        (Box::new(Scm::new(ScmRelease::S6V13)), "scm --board sc126", "back in the Small Computer"),
        (Box::new(Romwbw::default().on_z180()), "romwbw --board sc131", "back in RomWBW's boot"),
    ];
    std::thread::scope(|scope| {
        for (peer, via, back) in peers {
            scope.spawn(move || {
                let (_server, port) = standin(peer);
                let options: Vec<_> = via.split(' ').chain(["--port", &port]).collect();
                let messages = test(&[&["--via"], &options[..]].concat());
                assert!(messages.contains(back), "{via}: {messages}");
            });
        }
    });
}

#[test]
fn after_an_opcode_that_a_z180_traps_the_caller_is_loaded_again() {
    let traps = "[[case]]\nname = \"traps\"\ncall = 0x9000\ntimeout = 50000\nmemory = [{ at = \
                 0x9000, bytes = [0xDD, 0x24, 0xC9] }]\n";
    let folder = project(&format!("{traps}{CASES}"));
    let (_server, port) = standin(Box::new(Scm::new(ScmRelease::S6V13)));
    let options = ["twice.test.toml", "--via", "scm", "--board", "sc126", "--port", &port];
    let (code, shown, errors) = hw_tests(folder.path(), &[&["test"], &options[..]].concat());
    assert!(code == 1 && shown.contains("FAIL: 1 of 3 cases passed"), "{code} {shown}{errors}");
}

#[test]
fn a_program_that_does_not_fit_beside_the_monitor_is_refused_before_anything_is_sent() {
    let (_server, port) = standin(Box::<Scm>::default());
    let via = ["--via", "scm", "--port", &port];
    let folder = project(&format!("origin = 0x8000\n{CASES}"));
    let (code, shown, messages) =
        hw_tests(folder.path(), &[&["test", "twice.test.toml"][..], &via].concat());
    let room = "the caller on the board leaves 8400H to B3FFH to programs";
    assert!(code == 3 && messages.contains(room), "{code} {shown}{messages}");
    assert!(!messages.contains("Small Computer Monitor"), "{messages}");
}

#[test]
fn the_examples_of_the_manual_run_through_a_stock_monitor_as_they_are() {
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples"));
    let (_server, port) = standin(Box::<Scm>::default());
    let files = ["mul16.test.toml", "crc16.test.toml", "decimal.test.toml"];
    let via = ["--via", "scm", "--port", &port];
    let (code, shown, messages) = hw_tests(examples, &[&["test"], &files[..], &via].concat());
    assert_eq!(code, 0, "{shown}{messages}");
}

#[test]
fn sessions_of_calls_run_through_a_stock_monitor() {
    let (server, port) = standin(Box::<Scm>::default());
    let load = json!({ "load": { "sources": ["mul16.asm"] } });
    let call = json!({ "call": "MUL16", "in": { "BC": 300, "DE": 300 }, "outputs": ["HL"] });
    let made = replies_on(&["--via", "scm", "--port", &port], &[load, call]);
    // 300 * 300 is 15F90H.
    assert_eq!((&made[0]["machine"], &made[1]["out"]["HL"]), (&json!(port), &json!(0x5F90)));
    drop(server);
}

#[test]
fn without_via_the_message_names_the_option() {
    let (_server, port) = standin(Box::<Scm>::default());
    let folder = project(CASES);
    let arguments = ["test", "twice.test.toml", "--port", &port];
    let (code, _, errors) = hw_tests(folder.path(), &arguments);
    let message = "found Small Computer Monitor 1.3.0 instead of this project's monitor; to load \
                   through it, use `--via scm`";
    assert!(code == 3 && errors.contains(message), "{code} {errors}");
}

#[test]
fn the_caller_runs_from_flash_and_starts_again_after_a_reset() {
    let stuck = "[[case]]\nname = \"stuck\"\ncall = 0x9000\ntimeout = 50000\nmemory = [{ at = \
                 0x9000, bytes = [0x18, 0xFE] }]\n";
    let folder = project(&format!("{stuck}{}", CASES.replace("A = 1,", "A = 0,")));
    let flash = |board| {
        let arguments = ["test", "twice.test.toml", "--rig", "direct", "--flash", "--board", board];
        hw_tests(folder.path(), &arguments)
    };
    let (code, shown, errors) = flash("rc2014-zed");
    let finding = "did not return within 50000 T-states; last at 9000H";
    assert!(code == 1 && shown.contains(finding), "{code} {shown}{errors}");
    assert!(shown.contains("FAIL: 2 of 3 cases"), "{shown}");
    let (code, _, errors) = flash("rc2014-classic");
    let message = "rc2014-classic has no flash that it can write";
    assert!(code == 2 && errors.contains(message), "{code} {errors}");
}
