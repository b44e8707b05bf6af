//! The hosted application on boards that MAME emulates, and all states of all monitors on all
//! lines with flow control, which takes minutes.

use std::process::Command;

use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use tdlasm::image::intel_hex;

use super::bench::CommandOutput;
use super::states::{each_row, wired_lines};
use super::{contact, loads};
use crate::programs;

/// The profiles with either chip, and MAME's machines.
const BOARDS: [(&str, &str); 2] = [("rc2014-classic", "rc2014mini"), ("rc2014-zed", "rc2014zedp")];

#[test]
fn the_application_for_boards_that_keep_their_rom_runs_on_mames_chips() {
    assert!(hil_harness::board::mame().is_some(), "no MAME: Debian's package mame has it");
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (name, machine) in BOARDS {
        let profile = BoardProfile::named(name).expect("it ships");
        let built = build(&profile, ProgramKind::HostedApplication);
        let image = built.unwrap_or_else(|error| panic!("{error}")).program.image;
        let file = folder.path().join(format!("{name}.hex"));
        std::fs::write(&file, intel_hex(&image, None)).expect("a file");
        let mut command = Command::new(programs::path("hw-tests"));
        command.args([
            "run",
            "--board",
            name,
            "--rig",
            &format!("mame:{machine}"),
            "--count",
            "10",
        ]);
        command.arg("--app").arg(file).env_remove("RCFLASH_RIG");
        let ran = CommandOutput::from_output(&command.output().expect("it starts"));
        assert_eq!(ran.code, Some(0), "{machine}: {}{}", ran.data, ran.text);
        assert!(ran.data.contains("PASS: 10 of 10 cases"), "{machine}: {}", ran.data);
    }
}

#[test]
fn programs_are_loaded_and_read_back_in_every_state_on_every_wired_line() {
    for (line, options) in wired_lines() {
        each_row(|_| true, |_, row| loads::write(row, line, options));
    }
}

#[test]
fn the_corpus_runs_in_every_state_and_the_board_is_released() {
    each_row(
        |_| true,
        |index, row| {
            let (line, options) = wired_lines()[index % 2];
            loads::run(row, line, options)
        },
    );
}

#[test]
fn every_monitor_is_named_in_every_state_on_every_wired_line() {
    for (line, options) in wired_lines() {
        each_row(|_| true, |_, row| contact::probe(row, line, options));
    }
}
