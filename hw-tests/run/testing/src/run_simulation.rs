//! Simulation of whole runs on one to five scripted boards: set-up, queue, confirmation, signals,
//! results file, report, exit code.
//!
//! A seed gives the scenario: what each board does with which case, when a signal arrives, how slow
//! the consumer of the results is, which accesses to the disk fail. Time is virtual: a step of a
//! board takes a millisecond. Boards run in threads, so that the order of their steps is that of the
//! machine; the invariants hold in any order. A run that was broken off is continued on boards
//! without faults, and must complete.

mod boards;
mod invariants;
mod scenario;

#[allow(missing_docs, reason = "it is an example for the documentation")]
#[path = "../../../../docs/library/suite.rs"]
pub mod suite;

pub use invariants::RunStats;
pub use scenario::{BoardScript, RunScenario, Setup};

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use cli_support::exit::CommandError;
use hil_harness::campaign::{self, FinishedRun, Member, Observer, RunConfig, RunContext};
use hil_harness::suite::{CaseResult, Verdict};

use crate::simulated_disk::SimulatedDisk;
use crate::simulation::InvariantViolation;
use boards::{ScriptedBoard, World};
use suite::{Factors, Products};

/// How long a run may take in real time, in which a machine makes millions of steps.
const MAX_REAL_TIME: Duration = Duration::from_secs(120);
const RESULTS_PATH: &str = "run/results";
const REPORT_PATH: &str = "run/report";
const UNRELATED_PATH: &str = "precious";
/// The content of a file that no run may change.
const UNRELATED_CONTENT: &[u8] = b"a file of another program";

/// A run, and what was seen of it.
struct SimulatedRun {
    scenario: RunScenario,
    world: Arc<World>,
    disk: SimulatedDisk,
    outcome: Result<FinishedRun<Products>, CommandError>,
    /// The verdicts in the order in which the observer received them.
    verdicts: Vec<(String, Verdict)>,
    /// The lengths of the rounds that the observer was told of.
    rounds: Vec<usize>,
}

/// Runs the scenario of a seed.
///
/// # Errors
/// Returns the invariant that is violated.
pub fn simulate(seed: u64) -> Result<RunStats, InvariantViolation> {
    simulate_scenario(RunScenario::from_seed(seed))
}

/// Runs a scenario, and continues it if it writes results.
///
/// # Errors
/// Returns the invariant that is violated.
pub fn simulate_scenario(scenario: RunScenario) -> Result<RunStats, InvariantViolation> {
    let seed = scenario.seed;
    let (sender, ended) = channel();
    // In a thread of its own, so that one that does not end is reported with its seed.
    std::thread::spawn(move || sender.send(run_and_continue(scenario)));
    let checked = ended.recv_timeout(MAX_REAL_TIME);
    let checked = checked.unwrap_or_else(|_| Err("the run does not end, or panicked".to_owned()));
    checked.map_err(|what| InvariantViolation { seed, what })
}

fn run_and_continue(scenario: RunScenario) -> Result<RunStats, String> {
    let disk = SimulatedDisk::new(scenario.seed);
    disk.insert_synced(Path::new(UNRELATED_PATH), UNRELATED_CONTENT);
    if let Some((first, count, fault)) = scenario.disk {
        disk.inject_fault(first, count, fault);
    }
    let first = run(scenario, disk.clone(), false);
    let mut stats = invariants::check(&first)?;
    if disk.content(Path::new(RESULTS_PATH)).is_some_and(|file| !file.is_empty()) {
        disk.clear_fault();
        let rest = run(first.scenario.without_faults(), disk, true);
        let continued = invariants::check_continued(&rest);
        stats.add(&continued.map_err(|what| format!("continued: {what}"))?);
    }
    Ok(stats)
}

fn run(scenario: RunScenario, disk: SimulatedDisk, resume: bool) -> SimulatedRun {
    let world = Arc::new(World::new(&scenario));
    let cases: Vec<_> = (0..scenario.cases).map(case).collect();
    let members = members(&scenario);
    let is_named = scenario.is_named;
    let names = members.iter().map(|member| member.name.clone());
    let config = RunConfig {
        repeat: 1,
        fail_fast: scenario.fail_fast,
        time: scenario.time,
        count: scenario.count,
        seed: scenario.count.map(|_| scenario.seed),
        min_boards: scenario.min_boards,
        boards: names.filter(|_| is_named).collect(),
        results: scenario.has_results.then(|| RESULTS_PATH.into()),
        report: Some(REPORT_PATH.into()),
        resume,
        ..RunConfig::default()
    };
    let mut observer =
        SlowObserver { world: Arc::clone(&world), verdicts: Vec::new(), rounds: Vec::new() };
    let clock = Arc::clone(&world);
    let builder = Arc::clone(&world);
    let context = RunContext {
        file_system: &disk,
        clock: Arc::new(move || clock.now()),
        stop: Arc::clone(&world.stop),
        prepare: &move |plan: &usize| ScriptedBoard::prepare(*plan, &builder),
        observer: &mut observer,
    };
    let outcome = campaign::run::<ScriptedBoard>(&config, &cases, &members, context);
    let SlowObserver { verdicts, rounds, .. } = observer;
    SimulatedRun { scenario, world, disk, outcome, verdicts, rounds }
}

fn case(index: usize) -> Factors {
    Factors { id: format!("case {index}"), factors: [index as u8, 1] }
}

/// The boards, each planned by its index.
fn members(scenario: &RunScenario) -> Vec<Member<usize>> {
    let plan = |(index, board): (usize, &BoardScript)| match board.setup {
        Setup::NoPlan(code) => Err(CommandError::new(code, "there is no plan")),
        _ => Ok(index),
    };
    let member = |(index, board)| Member { name: name(index), plan: plan((index, board)) };
    scenario.boards.iter().enumerate().map(member).collect()
}

fn name(board: usize) -> String {
    format!("board {board}")
}

/// Receives results, and stalls.
struct SlowObserver {
    world: Arc<World>,
    verdicts: Vec<(String, Verdict)>,
    rounds: Vec<usize>,
}

impl Observer<Products> for SlowObserver {
    fn on_iteration_start(&mut self, cases: usize) {
        self.rounds.push(cases);
        self.world.step();
    }

    fn on_result(&mut self, result: &CaseResult<Products>) {
        self.verdicts.push((result.id.clone(), result.verdict));
        self.world.step();
        (0..self.world.stall).for_each(|_| std::thread::yield_now());
    }
}

impl SimulatedRun {
    fn exit_code(&self) -> u8 {
        self.outcome.as_ref().map_or_else(|failure| failure.code, FinishedRun::exit_code)
    }

    /// Returns what the boards delivered of a case, in order.
    fn delivered(&self, case: &str) -> Vec<(usize, Verdict)> {
        let delivered = self.world.delivered.lock().unwrap_or_else(PoisonError::into_inner);
        let of_case = delivered.iter().filter(|(_, id, _)| id == case);
        of_case.map(|(board, _, verdict)| (*board, *verdict)).collect()
    }

    fn is_any_lost(&self) -> bool {
        self.world.is_lost.iter().any(|is_lost| is_lost.load(Ordering::Relaxed))
    }

    fn is_stopped(&self) -> bool {
        self.world.is_signalled.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_some_hundred_seeds_keep_the_invariants() {
        for seed in 0..400 {
            simulate(seed).unwrap_or_else(|violation| panic!("{violation}"));
        }
    }

    #[test]
    fn a_signal_at_any_step_ends_a_run_on_one_board_and_on_several() {
        for boards in [1, 3] {
            for step in 0..60 {
                let mut scenario = RunScenario::faultless(8, boards);
                scenario.boards[0].wrong = vec![1, 4];
                scenario.stop_at = Some(step);
                simulate_scenario(scenario).unwrap_or_else(|what| panic!("{step}: {what}"));
            }
        }
    }
}
