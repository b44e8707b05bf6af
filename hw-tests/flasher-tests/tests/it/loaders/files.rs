//! Files for CP/M by XMODEM.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use board_simulator::UsbPacketing;
use monitor_standins::{Cpm, FaultOptions, MonitorOptions, MonitorServer};

use rcflash_monitors::FileTransfer;
use tdlasm::image::{Image, ImageRun};

use crate::loaders::programs;

use super::bench::{CommandOutput, faults};
use super::virtual_bench::{VirtualBench, file_transfer};

/// CP/M, and a file for it of 300 bytes: three blocks, the last with filler.
struct Disk {
    server: MonitorServer,
    folder: tempfile::TempDir,
    bytes: Vec<u8>,
}

impl Disk {
    fn new(peer: Cpm, options: MonitorOptions) -> Self {
        Self::with(peer, options, 300)
    }

    fn with(peer: Cpm, options: MonitorOptions, size: usize) -> Self {
        let server = MonitorServer::start(Box::new(peer), options).expect("a pseudo-terminal");
        let folder = tempfile::tempdir().expect("a scratch folder");
        let bytes: Vec<u8> = (0..size).map(|i| (i * 5 + i / 256) as u8).collect();
        std::fs::write(folder.path().join("prog.com"), &bytes).expect("a file");
        Self { server, folder, bytes }
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = programs::rcflash();
        command.args(["write", "--via", "cpm", "--port"]).arg(self.server.path());
        command.args(more).arg(self.folder.path().join("prog.com"));
        command
    }

    fn write(&self, more: &[&str]) -> CommandOutput {
        CommandOutput::from_output(&self.command(more).output().expect("it starts"))
    }

    fn start(&self, more: &[&str]) -> Child {
        let mut command = self.command(more);
        command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts")
    }

    /// Whether the file on CP/M's disk is ours, filled up with 1Ah to whole blocks.
    fn holds(&self, name: &str) -> bool {
        let mut expected = self.bytes.clone();
        expected.resize(expected.len().next_multiple_of(128), 0x1A);
        self.server.file(name) == Some(expected)
    }
}

#[test]
fn a_file_arrives_is_read_back_and_runs() {
    let disk = Disk::new(Cpm::quick(), MonitorOptions::default());
    disk.write(&[]).assert_ends(
        0,
        &[
            "CP/M at its prompt",
            "3 blocks with CRC, 0 retries; verified by reading it back",
            "running PROG",
        ],
    );
    assert!(disk.holds("PROG.COM"));
}

#[test]
fn a_receiver_that_supports_only_checksums_gets_them() {
    let disk = Disk::new(Cpm::quick().with_checksums_only(), MonitorOptions::default());
    disk.write(&["--name", "other.txt"]).assert_ends(0, &["3 blocks with checksum", "verified"]);
    assert!(disk.holds("OTHER.TXT"));
}

#[test]
fn a_pair_of_programs_and_a_longer_name_take_the_place_of_xm() {
    for xm in ["PCGET,PCPUT", "XMODEM", "XM R {},XM S {}"] {
        let bench = VirtualBench::new(Box::new(Cpm::quick()), MonitorOptions::default());
        let bytes = bench.image.runs()[0].bytes.clone();
        let file = FileTransfer { xmodem_program: Some(xm), ..file_transfer(&bytes) };
        bench.send(&file).assert_verified(&[]);
        assert!(bench.has_file("PROG.COM"), "{xm}");
    }
}

#[test]
fn long_blocks_are_sent_to_a_receiver_that_accepts_them() {
    let bytes: Vec<u8> = (0..5000u32).map(|i| (i * 7 + i / 256) as u8).collect();
    let image = Image::new([ImageRun { address: 0x0100, bytes }]);
    let times = [Cpm::quick(), Cpm::quick().with_checksums_only()].map(|peer| {
        let options = MonitorOptions { packets: UsbPacketing::Usb, ..MonitorOptions::default() };
        let bench = VirtualBench::with(Box::new(peer), options, image.clone());
        let mut file = file_transfer(&image.runs()[0].bytes);
        (file.verify, file.run) = (false, false);
        bench.send(&file).assert_ends(0, &[]);
        assert!(bench.has_file("PROG.COM"));
        bench.line.elapsed()
    });
    // Four blocks of 1,024 bytes take the place of 32: 28 times five characters of 87 us are saved.
    let saved = times[1].saturating_sub(times[0]);
    assert!(saved > 28 * 5 * Duration::from_micros(87), "{times:?}");
}

#[test]
fn a_receiver_that_waits_already_gets_the_file_at_once() {
    let disk = Disk::new(Cpm::quick().with_pending_upload("X.COM"), MonitorOptions::default());
    disk.write(&["--waiting"]).assert_ends(0, &["3 blocks with CRC", "not read back"]);
    assert!(disk.holds("X.COM"));
}

#[test]
fn a_receiver_left_running_is_cancelled() {
    let disk = Disk::new(Cpm::quick().with_pending_upload("OLD.COM"), MonitorOptions::default());
    disk.write(&["--no-run"]).assert_ends(0, &["which was ended", "verified"]);
    assert!(disk.holds("PROG.COM"));
}

#[test]
fn lost_and_changed_characters_cause_blocks_to_be_resent() {
    let fault =
        FaultOptions { corruption_odds: Some(60), max_faults: 3, ..FaultOptions::default() };
    // The first two replies and the command line have 25 characters, which this seed does not
    // corrupt.
    let disk = Disk::with(Cpm::quick(), MonitorOptions { seed: 5, ..faults(fault) }, 2000);
    let printed = disk.write(&["--no-verify"]);
    printed.assert_ends(0, &["16 blocks with CRC"]);
    assert!(!printed.text.contains(", 0 sent again"), "{}", printed.text);
    assert!(disk.holds("PROG.COM"));
}

#[test]
fn a_slow_receiver_without_flow_control_gets_its_blocks_slowly() {
    let slow = Cpm::quick().with_processing_time(Duration::from_micros(200));
    let options = MonitorOptions { host_obeys_rts: false, ..MonitorOptions::default() };
    let bench = VirtualBench::new(Box::new(slow), options);
    let words = ["block 1 was refused 3 times", "continuing with 2 ms after each character"];
    bench.write("cpm").assert_verified(&words);
    assert!(bench.has_loaded());
    assert!(bench.line.lost() > 0);
}

#[test]
fn a_full_disk_and_a_bad_one_are_reported() {
    let disk = Disk::new(Cpm::quick().with_room(2), MonitorOptions::default());
    disk.write(&[]).assert_ends(3, &["the XMODEM receiver refused", "XMODEM aborted"]);
    let disk = Disk::new(Cpm::quick().with_bad_disk(), MonitorOptions::default());
    disk.write(&[]).assert_ends(1, &["verify failed", "differs at byte 383 of 384"]);
}

#[test]
fn the_output_of_cpm_is_shown_if_it_does_not_receive() {
    let disk = Disk::new(Cpm::quick(), MonitorOptions::default());
    disk.write(&["--xm", "RX"]).assert_ends(3, &["the XMODEM receiver refused", "RX?"]);
}

#[test]
fn silence_and_invalid_names_in_cpm_are_reported() {
    let silent = faults(FaultOptions { silent: true, ..FaultOptions::default() });
    let bench = VirtualBench::new(Box::new(Cpm::quick()), silent);
    bench.write("cpm").assert_ends(3, &["no reply within", "looking for CP/M's prompt"]);
    let waiting = FileTransfer { xmodem_program: None, ..file_transfer(b"x") };
    let words = ["no reply within 30.0 s while waiting for the receiver's start request"];
    bench.send(&waiting).assert_ends(3, &words);
    let disk = Disk::new(Cpm::quick(), silent);
    disk.write(&["--name", "far-too-long.com"]).assert_ends(2, &["invalid CP/M name"]);
    let mut command = programs::rcflash();
    command.args(["write", "--via", "cpm", "--port", "/dev/nonexistent"]);
    CommandOutput::from_output(&command.output().expect("it starts"))
        .assert_ends(2, &["--via cpm sends a file: name one"]);
}

#[test]
fn a_receiver_that_dies_ends_in_an_error() {
    let dies = faults(FaultOptions { silent_after: Some(200), ..FaultOptions::default() });
    let bench = VirtualBench::new(Box::new(Cpm::quick()), dies);
    bench.write("cpm").assert_ends(3, &["no reply within 30.0 s while sending blocks"]);
}

#[test]
fn an_interruption_makes_the_receiver_give_up() {
    let disk = Disk::with(Cpm::quick(), MonitorOptions::default(), 20_000);
    let mut child = disk.start(&["--pace", "slow"]);
    let mut messages = BufReader::new(child.stderr.take().expect("its messages"));
    let mut text = String::new();
    messages.read_line(&mut text).expect("the name of the monitor");
    assert!(text.contains("CP/M at its prompt"), "{text}");
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it is there");
    messages.read_to_string(&mut text).expect("the reason for its end");
    // After half a command line no receiver runs; `early_end` has each state of a transfer. In
    // CP/M, Ctrl-X deletes the line.
    let states = ["CP/M is at its prompt again", "press Ctrl-X there"];
    assert!(states.iter().any(|state| text.contains(state)), "{text}");
    CommandOutput { code: child.wait().expect("it ends").code(), text, data: String::new() }
        .assert_ends(130, &["interrupted while"]);
    assert_eq!(disk.server.file("PROG.COM"), None);
}

#[test]
fn a_dry_run_prints_the_commands_and_the_number_of_blocks() {
    let disk = Disk::new(Cpm::quick(), MonitorOptions::default());
    let printed = disk.write(&["--dry-run"]);
    printed.assert_ends(0, &["these 5 lines would be sent"]);
    let blocks = "3 blocks of 128 bytes";
    assert_eq!(
        printed.data,
        format!("XM R PROG.COM\nXMODEM, {blocks}\nXM S PROG.COM\nXMODEM back, {blocks}\nPROG\n")
    );
}
