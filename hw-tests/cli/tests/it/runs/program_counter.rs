//! The program counter of a board that did not reply: by its PC report on
//! any board, by its instruments where interrupts are off.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::Instant;

use board_simulator::board_spec;
use board_simulator::{BoardServer, Instrumentation, ServerOptions};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::Request;
use hil_harness::board::BoardKind;
use hil_harness::live::BoardConfig;
use sargon_suite::SargonBoard;

use super::error_messages::{changed, run};
use super::{PATIENCE, run_command};

/// A jump to itself, and the same with interrupts off.
const STUCK: [u8; 2] = [0x18, 0xFE];
const WITHOUT_INTERRUPTS: [u8; 3] = [0xF3, 0x18, 0xFE];

/// A board of which nothing is known but its port.
pub(super) fn over_a_port(
    server: &BoardServer,
    profile: BoardProfile,
    application: Vec<u8>,
) -> SargonBoard {
    let board =
        BoardKind::Serial(rcflash_link::rig::Rig::from_port(&server.path().to_string_lossy()));
    let plan = BoardConfig {
        board,
        application: Some((0x8000, application)),
        ..BoardConfig::simulated(profile)
    };
    SargonBoard::prepare(&plan.into()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_stuck_board_behind_a_port_reports_its_program_counter() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let application = std::fs::read(changed(folder.path(), "XCHNG", 0, &STUCK)).expect("a file");
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let monitor = build(&profile, ProgramKind::Monitor).unwrap_or_else(|e| panic!("{e}"));
    let server = BoardServer::start(board_spec(&profile), &monitor.bytes, ServerOptions::default());
    let server = server.expect("a pseudo-terminal");
    let mut rig = over_a_port(&server, profile, application);
    assert!(rig.live.describe_program_counter().contains(", IDLE+"), "it waits for a request");

    // Requests enough to fill the board's receive ring, so that it holds the host off.
    let request = Request::Exchange { piece: 2, array: [0; 14] };
    let frame = request.frame(1).expect("it fits a frame").encode();
    let line = OpenOptions::new().write(true).open(server.path());
    line.and_then(|mut line| line.write_all(&frame.repeat(60))).expect("the line takes them");
    let began = Instant::now();
    let until = server.clock() + 2_000_000;
    while server.clock() < until {
        assert!(began.elapsed() < PATIENCE, "the board takes them in");
        std::thread::yield_now();
    }
    let at = rig.live.describe_program_counter();
    assert!(at.starts_with("the program counter was at "), "{at}");
    assert!(at.contains("H, XCHNG (") && at.contains("xchng.asm:") && at.ends_with(')'), "{at}");
}

/// Returns the reported location of a run of this application on `--rig direct`, and that of a replay
/// of its transcript does.
fn run_and_replay(code: &[u8]) -> [String; 2] {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let changed = changed(folder.path(), "XCHNG", 0, code);
    let tape = folder.path().join("tape");
    let tape = tape.to_string_lossy();
    let (_, then, _) = run(&changed, &["--rig", "direct", "--record", &tape]);
    let (code, now) = run_command(&["run", "--rig", &format!("replay:{tape}")]);
    assert_eq!(code, Some(3), "{now}");
    [then, now].map(|printed| {
        let line = printed.lines().find(|line| line.contains("no reply")).expect("a timeout");
        let place = ["; the program counter was at ", "; no reply to the program counter query"];
        let place = place.iter().find_map(|words| line.find(words)).expect("a place");
        line[place..].to_owned()
    })
}

#[test]
fn a_transcript_replays_the_reported_program_counter() {
    let [then, now] = run_and_replay(&STUCK);
    assert!(then.contains("H, XCHNG (") && !then.contains("interrupts"), "{then}");
    assert_eq!(then, now);
}

#[test]
fn a_board_without_interrupts_is_probed_or_reported_as_silent() {
    let [seen, silent] = run_and_replay(&WITHOUT_INTERRUPTS);
    assert!(seen.contains("H, XCHNG+1 ("), "{seen}");
    assert!(seen.ends_with("; interrupts are disabled"), "{seen}");
    assert!(
        silent.ends_with("interrupts are disabled, or the line to the board is dead"),
        "{silent}"
    );
}
