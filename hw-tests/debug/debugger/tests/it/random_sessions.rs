//! Random sessions: commands, and what clients request while the board runs and searches.
//!
//! After any session a recorded step has the state that a fresh run to it has, and all breakpoints
//! are those that were set. Sessions are numbered, and each number always has the same course;
//! `PROPTEST_CASES=10000 cargo test -p board-debugger --test it random_sessions` plays more.

mod kernel;
mod simulated;

use board_debugger::commands::execute;
use board_debugger::{Debugger, LoadedProgram, ProgramFile, StopId};
use firmware::profile::BoardProfile;

/// Sessions of each kind.
const SESSIONS: u64 = 150;

fn session_count() -> u64 {
    let given = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(SESSIONS)
}

/// Assembles a program.
fn program(text: &str, profile: &BoardProfile) -> LoadedProgram {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("program.asm");
    std::fs::write(&path, text).expect("it is written");
    let file = ProgramFile { path, ..ProgramFile::default() };
    file.load(profile).unwrap_or_else(|error| panic!("{error}"))
}

/// Marsaglia's xorshift64.
struct Random(u64);

impl Random {
    fn new(session: u64) -> Self {
        let mut random = Self((session + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        (0..8).for_each(|_| _ = random.next());
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 16) % end
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn choose<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// The breakpoints and watchpoints that the session has set.
#[derive(Default)]
struct Expected {
    stops: Vec<u32>,
}

fn stop_ids(debugger: &Debugger) -> Vec<StopId> {
    debugger.stops.iter().map(|(id, _)| id).collect()
}

impl Expected {
    /// Sets or deletes a breakpoint or watchpoint by a command. The debugger may refuse it.
    fn change(&mut self, debugger: &mut Debugger, random: &mut Random) {
        if random.one_in(4) && !self.stops.is_empty() {
            let id = self.stops.remove(random.below(self.stops.len() as u64) as usize);
            run(debugger, &format!("delete {id}"));
            return;
        }
        let place = random.choose(&["LOOP", "COUNT", "LOOP+1", "START", "PC"]);
        let condition =
            random.choose(&["", " if B & 1", " if B == 7 && HL > 3", " if [TABLE] > 9"]);
        let hits = random.choose(&["", " hits 3", " hits % 4", " hits == 2"]);
        let steps = debugger.step_count();
        let action = match random.below(6) {
            0 => " log {B} do".to_owned(),
            1 => " do print HL".to_owned(),
            2 => format!(" do print HL; {}", motion(random, steps)),
            _ => String::new(),
        };
        let line = match random.below(4) {
            0 => format!("watch {}{condition}{hits}", random.choose(&["TABLE", "TABLE,4 rw", "B"])),
            _ => format!("break {place}{condition}{hits}{action}"),
        };
        let before = stop_ids(debugger);
        run(debugger, &line);
        self.stops.extend(stop_ids(debugger).into_iter().filter(|id| !before.contains(id)));
    }

    fn check(&self, debugger: &Debugger) {
        let mut expected = self.stops.clone();
        expected.sort_unstable();
        assert_eq!(stop_ids(debugger), expected, "no breakpoint is lost, and none appears");
    }
}

/// Executes a command that does not run the board, or is stopped at its first poll.
fn run(debugger: &mut Debugger, line: &str) {
    let _ = execute(debugger, line, &mut |_| true);
}

/// A command that moves the board.
fn motion(random: &mut Random, steps: u64) -> String {
    let number = match random.below(3) {
        0 => 1,
        1 => 1 + random.below(40),
        _ => 1 + random.below(steps.max(1) + 10),
    };
    match random.below(16) {
        0 | 1 => format!("step {number}"),
        2 => "over".to_owned(),
        3 => format!("next {}", 1 + number % 8),
        4 => format!("into {}", 1 + number % 8),
        5 => "out".to_owned(),
        6 | 7 => "run".to_owned(),
        8 => format!("to {}", random.choose(&["LOOP", "COUNT", "START"])),
        9 => format!("until B == {}", number % 256),
        10 | 11 => format!("back {number}"),
        12 => format!("rnext {}", 1 + number % 4),
        13 => "rrun".to_owned(),
        14 => format!("rto {}", random.choose(&["LOOP", "COUNT+1", "START"])),
        _ => format!("lastchange {}", random.choose(&["TABLE", "TABLE+3", "0FEFEH"])),
    }
}
