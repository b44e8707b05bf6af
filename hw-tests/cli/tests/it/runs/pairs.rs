//! `diff` of two boards, and `doctor`.

use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;

use super::run_command;

#[test]
fn boards_of_two_kinds_agree_to_the_t_state() {
    let boards = ["--board", "direct", "--board", "direct,profile=rc2014-zed"];
    let (code, shown) = run_command(&[&["diff", "byte.*", "odd.*"], &boards[..]].concat());
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("PASS: A, B and the reference agree on "), "{shown}");
    assert!(!shown.contains("compared on 0"), "{shown}");
}

#[test]
fn the_first_difference_is_shown() {
    let original = "direct,behaviour=original";
    let (code, shown) = run_command(&["diff", "--board", "direct", "--board", original]);
    assert_eq!(code, Some(1), "{shown}");
    assert!(
        shown.contains("FAIL: ") && shown.contains(": A ") && shown.contains(", B "),
        "{shown}"
    );
}

#[test]
fn boards_that_are_not_two_are_refused() {
    for arguments in [&["diff", "--board", "direct"][..], &["diff", "--board", "direct,speed=9"]] {
        assert_eq!(run_command(arguments).0, Some(2), "{arguments:?}");
    }
}

#[test]
fn the_doctor_passes_a_good_board_and_measures_its_clock() {
    let (code, shown) = run_command(&["doctor", "--direct"]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("ok  clock        7.373 MHz; 7.3728 in the profile"), "{shown}");
    assert!(shown.contains("ok  ROM") && shown.contains("ok  line"), "{shown}");
}

#[test]
fn the_doctor_reports_faults_with_advice() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let rom = folder.path().join("rom.bin");
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let monitor = build(&profile, ProgramKind::Monitor).unwrap_or_else(|e| panic!("{e}"));
    let mut stale = monitor.bytes.clone();
    stale[usize::from(monitor.program.symbol("BUILD").expect("a build id"))] ^= 0xFF;
    std::fs::write(&rom, stale).expect("a scratch file");
    let rom = rom.to_string_lossy();
    let cases: [(&[&str], &str, &str); 3] = [
        (&["--port", "/dev/nonexistent"], "BAD port", "`rcflash ports` lists the available ports"),
        (&["--port", "/dev/null"], "BAD port", "is not a serial port"),
        (&["--direct", "--rom", &rom], "BAD ROM", "program the current image"),
    ];
    for (arguments, what, advice) in cases {
        let (code, shown) = run_command(&[&["doctor"], arguments].concat());
        assert!(shown.contains(what) && shown.contains(advice), "{shown}");
        assert_eq!(code, Some(3), "{shown}");
    }
}
