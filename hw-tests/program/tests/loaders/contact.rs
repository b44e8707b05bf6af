//! The first contact with every monitor in every state of the records: `probe` names monitor and
//! version within five seconds, and changes neither memory nor programs. The table in
//! docs/LOADERS.md is this one.

use std::path::Path;
use std::time::{Duration, Instant};

use board_simulator::Packets;
use board_simulator::standin::{
    Basic, Cpm, CpmMonitor, Options, Peer, Romwbw, Romwbw2, Scm, ScmRelease, StandIn,
};

use super::bench::Ran;
use crate::programs;

/// The longest that a probe may take at the right speed.
const LONGEST: Duration = Duration::from_secs(5);
const HALF_A_RECORD: &str = ":1082000044444444444";
const A_RECORD: &str = ":018300005527\r";

/// A row of the table: the monitor, what was typed there before, and what `probe` prints.
struct Row {
    monitor: &'static str,
    state: &'static str,
    peer: fn() -> Box<dyn Peer>,
    typed: &'static str,
    prints: &'static str,
}

const fn row(
    monitor: &'static str,
    state: &'static str,
    peer: fn() -> Box<dyn Peer>,
    typed: &'static str,
    prints: &'static str,
) -> Row {
    Row { monitor, state, peer, typed, prints }
}

fn scm10() -> Box<dyn Peer> {
    Box::new(Scm::new(ScmRelease::R1))
}

fn scm13() -> Box<dyn Peer> {
    Box::new(Scm::new(ScmRelease::S2V13))
}

fn loader35() -> Box<dyn Peer> {
    Box::<Romwbw>::default()
}

fn monitor35() -> Box<dyn Peer> {
    Box::new(Romwbw::in_monitor())
}

fn basic35() -> Box<dyn Peer> {
    Box::new(Romwbw::in_basic())
}

fn loader29() -> Box<dyn Peer> {
    Box::<Romwbw2>::default()
}

fn monitor29() -> Box<dyn Peer> {
    Box::new(Romwbw2::in_monitor())
}

fn searle() -> Box<dyn Peer> {
    Box::new(Basic::default().with_line(10, "PRINT 7"))
}

fn searle_top() -> Box<dyn Peer> {
    Box::new(Basic::default().asking_for_top())
}

fn searle_question() -> Box<dyn Peer> {
    Box::new(Basic::default().with_line(10, "PRINT 7").asking_how_to_start())
}

fn feilipu() -> Box<dyn Peer> {
    Box::new(Basic::feilipu().with_line(10, "PRINT 7"))
}

fn feilipu_question() -> Box<dyn Peer> {
    Box::new(Basic::feilipu().with_line(10, "PRINT 7").asking_how_to_start())
}

fn cpm() -> Box<dyn Peer> {
    Box::new(Cpm::quick())
}

fn xm() -> Box<dyn Peer> {
    Box::new(Cpm::quick().receiving("T.COM"))
}

fn deaf() -> Box<dyn Peer> {
    Box::new(CpmMonitor::waiting_for_a_blank())
}

fn cpm_monitor() -> Box<dyn Peer> {
    Box::<CpmMonitor>::default()
}

const SCM10: &str = "Small Computer Monitor 1.0.0";
const SCM13: &str = "Small Computer Monitor 1.3.0";
const ROMWBW35: &str = "RomWBW 3.5.1's debug monitor";
const LOADER35: &str = "RomWBW 3.5's boot loader";
const ROMWBW29: &str = "RomWBW 2.9.1's debug monitor";
const LOADER29: &str = "RomWBW 2.9's boot loader";
const SEARLE: &str = "ROM BASIC 4.7b (G. Searle's)";
const FEILIPU: &str = "ROM BASIC 4.7c (feilipu's)";

const TABLE: [Row; 38] = [
    row("SCM 1.0.0", "prompt", scm10, "", SCM10),
    row("SCM 1.0.0", "half a line", scm10, "G 900", SCM10),
    row("SCM 1.0.0", "a dump waits for a key", scm10, "M 8000\r", SCM10),
    row("SCM 1.0.0", "between two records", scm10, A_RECORD, SCM10),
    row("SCM 1.0.0", "half a record", scm10, HALF_A_RECORD, SCM10),
    row("SCM 1.0.0", "assembler", scm10, "A 8000\r", SCM10),
    row("SCM 1.3.0", "prompt", scm13, "", SCM13),
    row("SCM 1.3.0", "half a line", scm13, "F 8000 9000 5", SCM13),
    row("SCM 1.3.0", "a dump waits for a key", scm13, "M 8000\r", SCM13),
    row("SCM 1.3.0", "between two records", scm13, A_RECORD, SCM13),
    row("SCM 1.3.0", "half a record", scm13, HALF_A_RECORD, SCM13),
    row("RomWBW 3.5.1", "boot loader", loader35, "", LOADER35),
    row("RomWBW 3.5.1", "boot loader, half a line", loader35, "R", LOADER35),
    row("RomWBW 3.5.1", "debug monitor", monitor35, "", ROMWBW35),
    row("RomWBW 3.5.1", "half a line", monitor35, "F 8000 9000 5", ROMWBW35),
    row("RomWBW 3.5.1", "a load waits", monitor35, "L\r", ROMWBW35),
    row("RomWBW 3.5.1", "half a record", monitor35, "L\r:1082000044444444444", ROMWBW35),
    row("RomWBW 3.5.1", "its BASIC", basic35, "\r", "RomWBW's ROM BASIC 4.7b"),
    row("RomWBW 2.9.1", "boot loader", loader29, "", LOADER29),
    row("RomWBW 2.9.1", "debug monitor", monitor29, "", ROMWBW29),
    row("RomWBW 2.9.1", "half a line", monitor29, "F 8000 9000 5", ROMWBW29),
    row("RomWBW 2.9.1", "a load waits", monitor29, "H\r", ROMWBW29),
    row("RomWBW 2.9.1", "between two records", monitor29, "H\r:018300005527\r", ROMWBW29),
    row("RomWBW 2.9.1", "half a record", monitor29, "H\r:1082000044444444444", ROMWBW29),
    row("BASIC 4.7b", "`Memory top?`", searle_top, "", SEARLE),
    row("BASIC 4.7b", "`Ok`", searle, "", SEARLE),
    row("BASIC 4.7b", "half a line", searle, "10 PRINT 5", SEARLE),
    row("BASIC 4.7b", "`Cold or warm start`", searle_question, "", SEARLE),
    row("BASIC 4.7b", "output switched off", searle, "\x0F", SEARLE),
    row("BASIC 4.7c", "`Ok`", feilipu, "", FEILIPU),
    row("BASIC 4.7c", "`Cold \\| Warm start`", feilipu_question, "", FEILIPU),
    row("BASIC 4.7c", "HLOAD waits", feilipu, "HLOAD\r", FEILIPU),
    row("BASIC 4.7c", "HLOAD, half a record", feilipu, "HLOAD\r:1092000044444444444", FEILIPU),
    row("CP/M 2.2", "prompt", cpm, "", "CP/M 2.2"),
    row("CP/M 2.2", "half a line", cpm, "ERA *.", "CP/M 2.2"),
    row("CP/M 2.2", "XM 12.5 waits", xm, "", "an XMODEM receiver"),
    row("CP/M monitor 1.1", "waits for a blank", deaf, "", "the factory's CP/M monitor 1.1"),
    row("CP/M monitor 1.1", "prompt", cpm_monitor, "", "the factory's CP/M monitor 1.1"),
];

/// Memory at which no state of the table is at work.
const USERS: std::ops::Range<u16> = 0x9000..0xB000;

/// Probes a monitor in a state; how it ended, and what was changed.
fn probe(row: &Row, options: Options) -> Vec<String> {
    let mut peer = (row.peer)();
    let mut said = Vec::new();
    for byte in row.typed.bytes() {
        peer.hurry();
        peer.hear(byte, &mut said);
    }
    // A load that HLOAD has cut short has its own record there.
    let users = if row.state.contains("HLOAD") { 0xA000..USERS.end } else { USERS };
    let memory = |peer: &mut dyn Peer| {
        peer.memory().map(|memory| users.clone().map(|at| memory.get(at)).collect::<Vec<u8>>())
    };
    let before = memory(peer.as_mut());
    let lines = peer.lines();
    let server = StandIn::start(peer, options).expect("a pseudo-terminal");
    let mut command = programs::rcflash();
    command.args(["probe", "--port"]).arg(server.path());
    let began = Instant::now();
    let run = Ran::of(&command.output().expect("it starts"));
    let took = began.elapsed();
    let name = format!("{}, {}, {:?}", row.monitor, row.state, options.packets);
    let mut problems = Vec::new();
    if run.data != format!("{} at 115200 baud\n", row.prints) {
        problems.push(format!("{name}: {}{}", run.data, run.text));
    }
    if took > LONGEST {
        problems.push(format!("{name}: took {took:?}"));
    }
    let after = server.memory(users.start, users.end - users.start);
    if before.is_some_and(|before| before != after) {
        problems.push(format!("{name}: memory changed"));
    }
    if server.lines() != lines {
        problems.push(format!("{name}: the program changed to {:?}", server.lines()));
    }
    problems
}

/// Probes the whole table, some at a time.
fn probe_all(options: Options) {
    let problems: Vec<String> = std::thread::scope(|scope| {
        let shares: Vec<_> = TABLE
            .chunks(TABLE.len().div_ceil(6))
            .map(|rows| {
                scope.spawn(move || {
                    rows.iter().flat_map(|row| probe(row, options)).collect::<Vec<_>>()
                })
            })
            .collect();
        shares.into_iter().flat_map(|share| share.join().expect("no test panics")).collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_monitor_is_named_with_its_version_in_every_state_and_left_as_it_was() {
    probe_all(Options::default());
}

#[test]
fn the_same_through_an_adapter_that_sends_packets() {
    probe_all(Options { packets: Packets::Usb, ..Options::default() });
}

#[test]
fn the_same_without_flow_control() {
    probe_all(Options { host_obeys_rts: false, ..Options::default() });
}

#[test]
fn a_program_that_runs_is_left_alone_and_the_message_says_what_to_do() {
    let mut peer = Basic::default().with_line(10, "PRINT 7").with_line(20, "GOTO 10");
    let mut said = Vec::new();
    b"RUN\r".iter().for_each(|byte| peer.hear(*byte, &mut said));
    let server = StandIn::start(Box::new(peer), Options::default()).expect("a pseudo-terminal");
    let mut command = programs::rcflash();
    command.args(["probe", "--port"]).arg(server.path());
    let run = Ran::of(&command.output().expect("it starts"));
    run.ends(3, &["silence at 115200 baud", "does a program run", "Ctrl-C"]);
    assert_eq!(server.lines(), ["10 PRINT 7", "20 GOTO 10"]);
}

#[test]
fn the_page_of_the_loaders_has_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/LOADERS.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for Row { monitor, state, prints, .. } in &TABLE {
        let row = format!("| {monitor} | {state} | {prints} |");
        assert!(page.contains(&row), "no row {row}");
    }
}
