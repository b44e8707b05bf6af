//! The first contact of the real program with every monitor: `probe` names monitor and version, and
//! changes neither memory nor programs.

use monitor_standins::{Basic, MonitorModel, MonitorOptions, MonitorServer};

use super::bench::CommandOutput;
use super::states::{Row, each_row, is_first, wired_lines};
use crate::loaders::programs;

/// Memory at which no state of the table is at work.
const USERS: std::ops::Range<u16> = 0x9000..0xB000;

/// Probes a monitor in a state; how it ended, and what was changed.
pub(super) fn probe(row: &Row, line: &str, options: MonitorOptions) -> Vec<String> {
    let mut peer = row.prepared();
    // A load that HLOAD has cut short has its own record there.
    let users = if row.state.contains("HLOAD") { 0xA000..USERS.end } else { USERS };
    let memory = |peer: &mut dyn MonitorModel| {
        peer.memory().map(|memory| users.clone().map(|at| memory.get(at)).collect::<Vec<u8>>())
    };
    let before = memory(peer.as_mut());
    let lines = peer.lines();
    let server = MonitorServer::start(peer, options).expect("a pseudo-terminal");
    let mut command = programs::rcflash();
    command.args(["probe", "--port"]).arg(server.path());
    let run = CommandOutput::from_output(&command.output().expect("it starts"));
    let name = format!("{}, {}, {line}", row.monitor, row.state);
    let mut problems = Vec::new();
    if run.data != format!("{} at 115200 baud\n", row.prints) {
        problems.push(format!("{name}: {}{}", run.data, run.text));
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

/// The first state of each monitor on a line with flow control. `virtual_time` has all states on
/// all lines, and `system` all states with the real program.
#[test]
fn every_monitor_is_named_with_its_version_and_left_as_it_was() {
    each_row(is_first, |index, row| {
        let (line, options) = wired_lines()[index % 2];
        probe(row, line, options)
    });
}

/// Starts a BASIC in which a program with these lines runs.
fn running(lines: &[(u16, &str)]) -> MonitorServer {
    let with_line = |peer: Basic, (number, text): &(u16, &str)| peer.with_line(*number, text);
    let mut peer = lines.iter().fold(Basic::default(), with_line);
    b"RUN\r".iter().for_each(|byte| peer.receive(*byte, &mut Vec::new()));
    MonitorServer::start(Box::new(peer), MonitorOptions::default()).expect("a pseudo-terminal")
}

fn rcflash(command: &str, options: &[&str], server: &MonitorServer) -> CommandOutput {
    let mut program = programs::rcflash();
    program.arg(command).arg("--port").arg(server.path()).args(options);
    CommandOutput::from_output(&program.output().expect("it starts"))
}

#[test]
fn a_running_program_is_left_alone_and_the_message_has_advice() {
    let server = running(&[(10, "X=X+1"), (20, "GOTO 10")]);
    let run = rcflash("probe", &[], &server);
    run.assert_ends(3, &["no reply at 115200 baud", "is a program running", "Ctrl-C"]);
    assert_eq!(server.lines(), ["10 X=X+1", "20 GOTO 10"]);
}

#[test]
fn a_program_that_prints_is_not_noise_and_basic_stops_it_for_a_load() {
    let server = running(&[(10, "PRINT \"HELLO WORLD\""), (20, "GOTO 10")]);
    let run = rcflash("probe", &[], &server);
    let text = "a program prints text at 115200 baud: ";
    run.assert_ends(3, &[text, "HELLO WORLD<0D><0A>HELLO WORLD", "Ctrl-C"]);
    assert!(!run.text.contains("ground"), "{}", run.text);
    let run = rcflash("write", &["--via", "scm"], &server);
    run.assert_ends(3, &["a program prints text without end", "HELLO WORLD", "Ctrl-C"]);
    let run = rcflash("write", &["--via", "basic"], &server);
    run.assert_ends(0, &["verified"]);
}
