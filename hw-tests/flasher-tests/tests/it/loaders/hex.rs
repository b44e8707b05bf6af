//! Monitors that take Intel HEX: loads that succeed, lines that lose, memory that does not keep,
//! and whoever does not answer.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use monitor_standins::{FaultOptions, MonitorModel, MonitorOptions, MonitorServer, Romwbw, Scm};
use rcflash_monitors::{LoadRequest, Pace};
use tdlasm::image::{Image, ImageRun};

use crate::loaders::programs;

use super::bench::{Bench, CommandOutput, faults};
use super::virtual_bench::VirtualBench;

/// More characters than the first contact and the trial of the flow control have.
const AFTER_TRIAL: u64 = 150;
/// The values of `--via` but for files.
const LOADERS: [&str; 5] = ["monitor", "scm", "romwbw", "basic", "cpm"];

fn scm() -> Box<dyn MonitorModel> {
    Box::<Scm>::default()
}

fn romwbw() -> Box<dyn MonitorModel> {
    Box::new(Romwbw::in_monitor())
}

fn peer(via: &str) -> Box<dyn MonitorModel> {
    match via {
        "scm" => scm(),
        "romwbw" => romwbw(),
        _ => unreachable!("no stand-in for {via}"),
    }
}

#[test]
fn scm_takes_a_program_shows_it_and_starts_it() {
    let bench = Bench::new(scm(), MonitorOptions::default());
    bench.write("scm", &[]).assert_ends(
        0,
        &[
            "Small Computer Monitor 1.3.0",
            "was received correctly",
            "700 bytes, verified by reading it back",
            "started at 9000h",
        ],
    );
    assert!(bench.has_loaded());
    bench.write("scm", &["--no-run"]).assert_ends(0, &["verified"]);
}

#[test]
fn the_built_in_application_runs_beside_the_small_computer_monitor() {
    let server = MonitorServer::start(scm(), MonitorOptions::default()).expect("a pseudo-terminal");
    let mut command = programs::rcflash();
    command.args(["write", "--via", "scm", "--port"]).arg(server.path());
    CommandOutput::from_output(&command.output().expect("it starts")).assert_ends(
        0,
        &["verified by reading it back", "running at 8400h: Sargon exchange evaluator"],
    );
}

#[test]
fn romwbw_takes_a_program_from_the_boot_loader_on() {
    let bench = Bench::new(Box::<Romwbw>::default(), MonitorOptions::default());
    let printed = bench.write("romwbw", &[]);
    printed.assert_ends(
        0,
        &[
            "RomWBW 3.5.1's debug monitor",
            "at full speed was received correctly",
            "started at 9000h",
        ],
    );
    assert!(bench.has_loaded());
    assert_eq!(bench.server.lost(), 0);
}

#[test]
fn without_flow_control_romwbw_loses_a_burst_and_gets_pieces() {
    let options = MonitorOptions { host_obeys_rts: false, ..MonitorOptions::default() };
    let bench = VirtualBench::new(romwbw(), options);
    let words = ["flow control is ineffective", "sending in pieces of 16 characters"];
    bench.write("romwbw").assert_verified(&words);
    assert!(bench.has_loaded());
    assert!(bench.line.lost() > 0);
}

#[test]
fn romwbw_executes_nothing_but_whole_commands_however_much_is_lost() {
    // As commands, `B` boots, `F` fills memory, `D` and `C` dump and copy it.
    let bytes: Vec<u8> = (0..1500).map(|i| [0xBF, 0xFD, 0xDB, 0xCB][i % 4]).collect();
    let image = Image::new([ImageRun { address: 0x9000, bytes }]);
    for (pace, loss_odds) in [(Some(Pace::FULL), None), (None, Some(40)), (None, Some(150))] {
        let first_fault_after = AFTER_TRIAL;
        let faults = FaultOptions {
            loss_odds,
            first_fault_after,
            max_faults: 20,
            ..FaultOptions::default()
        };
        let options = MonitorOptions { host_obeys_rts: false, faults, ..MonitorOptions::default() };
        let bench = VirtualBench::with(romwbw(), options, image.clone());
        bench.load("romwbw", &LoadRequest { pace, entry: None, ..bench.request() });
        let executed = bench.line.with_monitor(|peer| peer.typed_at_prompt().to_vec());
        let executed = String::from_utf8(executed).expect("ASCII");
        let is_whole = |line: &str| line == "L" || line.starts_with("D ") && line.len() == 11;
        assert!(executed.contains("L\r"), "{executed:?}");
        assert!(executed.split_terminator('\r').all(is_whole), "{loss_odds:?}: {executed:?}");
    }
}

#[test]
fn without_flow_control_romwbw_gets_900_bytes_a_second() {
    let bytes: Vec<u8> = (0..9000u32).map(|i| (i * 7 + i / 256) as u8).collect();
    let image = Image::new([ImageRun { address: 0x9000, bytes }]);
    let options = MonitorOptions { host_obeys_rts: false, ..MonitorOptions::default() };
    let bench = VirtualBench::with(romwbw(), options, image);
    let request = LoadRequest { verify: false, entry: None, ..bench.request() };
    bench.load("romwbw", &request).assert_ends(0, &[]);
    assert!(bench.has_loaded());
    // Ten seconds for the program, and two for the test of the flow control and the burst.
    assert!(bench.line.elapsed() < Duration::from_secs(12), "{:?}", bench.line.elapsed());
}

#[test]
fn a_dry_run_prints_the_lines_and_opens_no_port() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("prog.hex");
    let text = ":10900000214601360121470136007EFE09D21901B1\n:00000001FF\n";
    std::fs::write(&file, text).expect("a file");
    let run = |via: &str| {
        let mut command = programs::rcflash();
        command.args(["write", "--dry-run", "--port", "/dev/nonexistent", "--via", via]).arg(&file);
        CommandOutput::from_output(&command.output().expect("it starts"))
    };
    let printed = run("scm");
    printed.assert_ends(0, &["these 3 lines would be sent; no port was opened"]);
    assert_eq!(printed.data, format!("{text}G 9000\n"));
    let printed = run("romwbw");
    printed.assert_ends(0, &["these 4 lines would be sent"]);
    assert_eq!(printed.data, format!("L\n{text}R 9000\n"));
    let printed = run("basic");
    printed.assert_ends(0, &["lines would be sent; no port was opened"]);
    assert!(printed.data.starts_with("POKE"), "the hex loader comes first: {}", printed.data);
    let lines = text.lines().next().expect("a record").to_owned() + "\n:009000016F\n";
    assert!(printed.data.ends_with(&lines), "the program, and its start: {}", printed.data);
    run("monitor").assert_ends(0, &["16 bytes would go to 9000h-900Fh; no port was opened"]);
}

#[test]
fn skipped_verification_is_not_reported_as_done() {
    for via in ["scm", "romwbw"] {
        let bench = Bench::new(peer(via), MonitorOptions::default());
        bench.write(via, &["--no-verify", "--no-run"]).assert_ends(0, &["700 bytes, not verified"]);
        assert!(bench.has_loaded());
    }
}

#[track_caller]
fn memory_that_keeps_its_byte_fails(via: &str) {
    let mut peer = peer(via);
    peer.memory().expect("it has some").protect(0x9123..=0x9123);
    let bench = Bench::new(peer, MonitorOptions::default());
    bench.write(via, &["--pace", "full"]).assert_ends(
        1,
        &["verify failed: 1 of 700 bytes differ, first at 9123h in line 19", "write-protected"],
    );
    assert!(!bench.has_loaded());
}

#[test]
fn memory_that_keeps_what_it_holds_is_named_by_scm() {
    memory_that_keeps_its_byte_fails("scm");
}

#[test]
fn memory_that_keeps_what_it_holds_is_named_by_romwbw() {
    memory_that_keeps_its_byte_fails("romwbw");
}

/// A few characters of a load go wrong; all of it has to be there in the end.
#[track_caller]
fn arrives_despite(via: &str, fault: FaultOptions) {
    let bench = VirtualBench::new(peer(via), faults(FaultOptions { max_faults: 2, ..fault }));
    bench.write(via).assert_verified(&["continuing in pieces of 16 characters"]);
    assert!(bench.has_loaded());
}

#[test]
fn characters_lost_in_transit_to_scm_are_detected_and_resent() {
    arrives_despite("scm", FaultOptions { loss_odds: Some(200), ..FaultOptions::default() });
}

#[test]
fn characters_changed_in_transit_to_scm_are_detected_and_resent() {
    arrives_despite("scm", FaultOptions { corruption_odds: Some(200), ..FaultOptions::default() });
}

#[test]
fn characters_lost_in_transit_to_romwbw_are_detected_and_resent() {
    arrives_despite(
        "romwbw",
        FaultOptions {
            loss_odds: Some(200),
            first_fault_after: AFTER_TRIAL,
            ..FaultOptions::default()
        },
    );
}

#[test]
fn characters_changed_in_transit_to_romwbw_are_detected_and_resent() {
    arrives_despite(
        "romwbw",
        FaultOptions {
            corruption_odds: Some(200),
            first_fault_after: AFTER_TRIAL,
            ..FaultOptions::default()
        },
    );
}

/// Returns what is being tried when a monitor is given up that died.
fn dies_while(via: &str) -> &'static str {
    match via {
        "scm" => "getting back to the prompt",
        _ => "ending an interrupted load",
    }
}

#[track_caller]
fn dies_in_mid_load(via: &str) {
    let bench = VirtualBench::new(
        peer(via),
        faults(FaultOptions { silent_after: Some(600), ..FaultOptions::default() }),
    );
    bench.write(via).assert_ends(3, &["no reply within", dies_while(via)]);
    let took = bench.line.elapsed();
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
fn an_scm_that_stops_replying_ends_in_an_error_soon() {
    dies_in_mid_load("scm");
}

#[test]
fn a_romwbw_that_stops_replying_ends_in_an_error_soon() {
    dies_in_mid_load("romwbw");
}

#[track_caller]
fn interrupted(via: &str) {
    let bench = Bench::new(peer(via), MonitorOptions::default());
    let mut child = bench.start(via, &["--pace", "slow"]);
    bench.wait_for_first_line(&mut child);
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it is there");
    let printed = CommandOutput::from_output(&child.wait_with_output().expect("it ends"));
    printed.assert_ends(130, &["interrupted while sending lines; the monitor is at its prompt"]);
    assert!(!bench.has_loaded());
    bench.write(via, &["--pace", "full"]).assert_ends(0, &["verified"]);
}

#[test]
fn an_interruption_leaves_scm_at_its_prompt() {
    interrupted("scm");
}

#[test]
fn an_interruption_leaves_romwbw_at_its_prompt() {
    interrupted("romwbw");
}

#[track_caller]
fn killed_in_mid_load(via: &str) {
    let bench = Bench::new(peer(via), MonitorOptions::default());
    let mut child = bench.start(via, &["--pace", "slow"]);
    bench.wait_for_first_line(&mut child);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    bench.write(via, &["--pace", "full"]).assert_ends(0, &["verified"]);
    assert!(bench.has_loaded());
}

#[test]
fn after_rcflash_was_killed_scm_takes_the_next_load() {
    killed_in_mid_load("scm");
}

#[test]
fn after_rcflash_was_killed_romwbw_takes_the_next_load() {
    killed_in_mid_load("romwbw");
}

#[test]
fn programs_that_do_not_fit_and_options_that_do_not_apply_are_refused() {
    let low = Image::new([ImageRun { address: 0x7FFF, bytes: vec![0, 0] }]);
    let bench = Bench::with(scm(), MonitorOptions::default(), low);
    bench.write("scm", &[]).assert_ends(
        3,
        &["the program needs 7FFFh-8000h, but the monitor leaves 8000h-FBFFh to programs"],
    );
    bench
        .write("monitor", &["--pace", "full"])
        .assert_ends(2, &["--pace works with stock monitors only"]);
    bench
        .write("scm", &["--pace", "crawl"])
        .assert_ends(2, &["invalid pace 'crawl': expected full (at full speed)"]);
}

#[test]
fn a_slow_monitor_without_a_buffer_gets_a_pause_after_each_character() {
    let bytes = (0..100).map(|i| i * 2 + 1).collect();
    let image = Image::new([ImageRun { address: 0x8000, bytes }]);
    let slow = Box::new(Scm::with_load_character_time(Duration::from_micros(500)));
    let bench = VirtualBench::with(slow, MonitorOptions::default(), image);
    let words = ["at full speed, ", "continuing with 2 ms after each character"];
    bench.load("scm", &LoadRequest { entry: None, ..bench.request() }).assert_verified(&words);
    assert!(bench.has_loaded());
}

#[test]
fn the_page_of_the_loaders_names_every_pace_and_loader() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/LOADERS.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for pace in Pace::ALL {
        let row = format!("| `{}` | {} bytes", pace.name, pace.record_bytes);
        assert!(page.contains(&row), "no row {row}");
    }
    for loader in LOADERS {
        assert!(page.contains(&format!("| `{loader}`")), "no row {loader}");
    }
}

#[test]
fn every_program_takes_the_same_loaders() {
    for (program, command) in
        [("rcflash", "write"), ("rcflash", "run"), ("hw-tests", "run"), ("hw-tests", "test")]
    {
        let run = |arguments: &[&str]| {
            let output = Command::new(programs::path(program)).args(arguments).output();
            CommandOutput::from_output(&output.expect("it starts"))
        };
        let help = run(&[command, "--help"]);
        for loader in LOADERS {
            assert!(help.data.contains(&format!("- {loader}:")), "{program}: {}", help.data);
        }
        let expected = "expected monitor, scm, romwbw, basic, cpm or FILE.toml";
        run(&[command, "x.asm", "--via", "xmodem"]).assert_ends(2, &[expected]);
    }
}
