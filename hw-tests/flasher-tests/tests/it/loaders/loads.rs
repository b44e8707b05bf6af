//! The real programs with every monitor: `write --via` loads a program, and `run --via` runs the
//! corpus and gives the board back.

use monitor_standins::{MonitorOptions, MonitorServer};

use super::bench::{Bench, CommandOutput, run_via};
use super::states::{ExpectedResult, Row, TABLE, each_row, is_first, wired_lines};

/// The problems of a command that was to load a program.
fn problems(name: &str, way: ExpectedResult, ran: &CommandOutput, words: &[&str]) -> Vec<String> {
    let is_run = name.ends_with(": run");
    let (code, words) = match way {
        ExpectedResult::Refused(_, text) => (3, vec![text]),
        ExpectedResult::Z180(..) if is_run => (3, vec!["the board has a Z180"]),
        ExpectedResult::Reset(_) if is_run => (3, words.to_vec()),
        _ => (0, words.to_vec()),
    };
    let printed = format!("{}{}", ran.data, ran.text);
    let missing = words.iter().filter(|word| !printed.contains(**word));
    let mut problems: Vec<_> =
        missing.map(|word| format!("{name}: no '{word}' in: {printed}")).collect();
    if ran.code != Some(code) {
        problems.push(format!("{name}: exit code {:?}: {printed}", ran.code));
    }
    problems
}

pub(super) fn write(row: &Row, line: &str, options: MonitorOptions) -> Vec<String> {
    let name = format!("{}, {}, {line}: write", row.monitor, row.state);
    let bench = Bench::new(row.prepared(), options);
    let ran = bench.write(row.way.loader(), &["--no-run"]);
    problems(&name, row.way, &ran, &["verified by reading it back"])
}

pub(super) fn run(row: &Row, line: &str, options: MonitorOptions) -> Vec<String> {
    let name = format!("{}, {}, {line}: run", row.monitor, row.state);
    let server = MonitorServer::start(row.prepared(), options).expect("a pseudo-terminal");
    let mut command = run_via(&server, row.way.loader());
    // A position with pins, one that overflows, an array.
    command.args(["byte.figure4", "odd.overflow", "array.unguarded"]);
    let ran = CommandOutput::from_output(&command.output().expect("it starts"));
    let back = match row.way {
        ExpectedResult::Back(_, peer) => format!("back in {peer}"),
        ExpectedResult::Reset(_) => "did not reappear: press the board's reset button".to_owned(),
        ExpectedResult::Refused(..) | ExpectedResult::Z180(..) => String::new(),
    };
    problems(&name, row.way, &ran, &["3 of 3 cases passed", &back])
}

/// The first state of each monitor on a line with flow control. `virtual_time` has all states on
/// all lines, and `system` all states with the real programs.
#[test]
fn programs_are_loaded_and_read_back_by_every_monitor() {
    each_row(is_first, |index, row| {
        let (line, options) = wired_lines()[index % 2];
        write(row, line, options)
    });
}

/// As above, without RomWBW 2.9: it takes a character at a time, a minute for this program.
#[test]
fn the_corpus_runs_on_every_monitor_and_the_board_is_released() {
    let is_quick = |index: usize| !TABLE[index].monitor.ends_with("2.9.1");
    each_row(
        |index| is_first(index) && is_quick(index),
        |index, row| {
            let (line, options) = wired_lines()[index % 2];
            run(row, line, options)
        },
    );
}
