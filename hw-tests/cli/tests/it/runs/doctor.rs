//! `doctor`.

use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;

use super::run_command;

#[test]
fn the_doctor_passes_a_good_board_and_measures_its_clock() {
    let (code, shown) = run_command(&["doctor", "--rig", "direct"]);
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
        (&["--rig", "direct", "--rom", &rom], "BAD ROM", "program the current image"),
    ];
    for (arguments, what, advice) in cases {
        let (code, shown) = run_command(&[&["doctor"], arguments].concat());
        assert!(shown.contains(what) && shown.contains(advice), "{shown}");
        assert_eq!(code, Some(3), "{shown}");
    }
}
