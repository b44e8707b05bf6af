//! The environment of simulations: programs that are built once, and the simulation of a scenario
//! from its first run to its last.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use board_simulator::Probe;
use cli_support::exit::CommandError;
use firmware::ProgramKind;
use firmware::build::{BuildError, build, build_with_sources};
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use rcflash_link::Link;
use rcflash_link::loader::identify;
use sargon_corpus::{Case, builtin_corpus};
use sargon_suite::{
    CaseResult, FinishedRun, Member, Record, RunContext, SargonBoard, SargonConfig, SargonSuite,
    run_cases,
};

use super::SimulationStats;
use super::invariants::{
    check_header, check_monitor_unreachable, check_outcome, check_report, check_results,
    check_unrelated_files, parse_records,
};
use super::operator::{EventScript, ScriptedBoard, ScriptedEvent, after_power_cut};
use super::scenario::{Episode, Scenario};
use crate::broken_exchange::exchange_with;
use crate::simulated_disk::SimulatedDisk;
use hil_harness::board::{Board, InProcessBoard, Instrumentation, RecordOptions};
use hil_harness::campaign::{self, Observer, RunConfig};
use hil_harness::file_system::has_magic;
use hil_harness::live::{BoardConfig, Programs};
use hil_harness::report::incomplete_reason;
use hil_harness::runner::{RunOptions, Verdict};

/// One in this many generated positions is used.
const POSITION_STRIDE: usize = 25;
/// The longest simulated time of a run: some cases, each given up after three losses of the board.
const MAX_RUN_TIME: Duration = Duration::from_secs(4 * 3600);
/// Most calls of the port in a run.
const MAX_PORT_CALLS: u64 = 3_000_000;

/// The first bytes of a results file.
const RESULTS_MAGIC: &[u8] = b"{\"head\":{\"results\":";
/// The first bytes of a transcript.
const TRANSCRIPT_MAGIC: &[u8] = b"{\"transcript\":";
const RESULTS_PATH: &str = "run/results";
const TRANSCRIPT_PATH: &str = "run/tape";
const REPORT_PATH: &str = "run/report";
const UNRELATED_PATH: &str = "precious";
/// The content of a file that the run must not change.
const UNRELATED_CONTENT: &[u8] = b"a file of another program";

/// A board with an application, and the expected verdicts.
pub struct Program {
    plan: SargonConfig,
    programs: Arc<Programs>,
    expected_verdicts: BTreeMap<String, Verdict>,
    /// Whether its evaluator damages the board, so that no case may pass.
    damages_board: bool,
}

/// What XCHNG does first in the programs that damage the board while their values are right:
/// interrupts off, a changed byte of the program, a stack that grows, a restart.
const DAMAGE: [&str; 4] = [
    "DI",
    "PUSH H\n LXI H,MARK\n INR M\n POP H\n JMP GOOD\nMARK: .BYTE 0\nGOOD: NOP",
    "MVI B,126\nGROW: PUSH H\n DJNZ GROW\n MVI B,126\nBACK: POP H\n DJNZ BACK",
    "RST 0",
];

/// The programs and cases of simulations.
pub struct SimulationEnv {
    programs: Vec<Program>,
    cases: Vec<Case>,
}

/// One run and its files.
pub struct SingleRun {
    /// Its outcome.
    pub outcome: Result<FinishedRun, CommandError>,
    /// Its statistics.
    pub stats: SimulationStats,
    /// Its files.
    pub disk: SimulatedDisk,
}

impl SingleRun {
    /// Returns the exit code.
    pub fn exit_code(&self) -> u8 {
        self.outcome.as_ref().map_or_else(|failure| failure.code, FinishedRun::exit_code)
    }

    /// Returns the reason for an incomplete run; empty if it is complete.
    pub fn reason(&self) -> String {
        reason(&self.outcome)
    }
}

/// Error returned if the environment can't be built.
#[derive(Debug, thiserror::Error)]
pub enum SimulationSetupError {
    /// The programs could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A board without faults could not be prepared.
    #[error(transparent)]
    Setup(#[from] hil_harness::live::SetupError),
    /// A shipped file is missing.
    #[error("{0}")]
    Missing(String),
}

impl SimulationEnv {
    /// Builds the programs: for both shipped boards, one in flash, and one with a bug.
    pub fn build() -> Result<Self, SimulationSetupError> {
        let missing = |what: String| SimulationSetupError::Missing(what);
        let cases = chosen_cases()?;
        let mut plans = Vec::new();
        for name in ["rc2014-classic", "rc2014-zed"] {
            let profile = BoardProfile::named(name).map_err(|error| missing(error.to_string()))?;
            let board = hil_harness::board::BoardKind::InProcess;
            plans.push(BoardConfig { board, ..BoardConfig::simulated(profile) });
        }
        plans.push(BoardConfig { in_flash: true, ..plans[1].clone() });
        let wrong = with_cheap_rook(&plans[0].clone().into())?;
        plans.push(BoardConfig { application: Some(wrong), ..plans[0].clone() });
        let programs = plans.into_iter().map(|plan| Program::new(plan.into(), &cases));
        Ok(Self { programs: programs.collect::<Result<_, _>>()?, cases })
    }

    /// Builds programs whose evaluators return the right values and damage the board. No run of
    /// them passes, whether the board is observed by its guard or only through its line.
    pub fn with_damaging_programs() -> Result<Self, SimulationSetupError> {
        let mut cases = chosen_cases()?;
        cases.retain(|case| case.id != "odd.empty"); // XCHNG is not called
        let programs = DAMAGE.map(Program::with_damage).into_iter().collect::<Result<_, _>>()?;
        Ok(Self { programs, cases })
    }

    /// Returns the programs.
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// The cases from which scenarios choose.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Runs only the first run of a scenario, and checks the invariants after it.
    pub fn run_once(&self, scenario: &Scenario) -> Result<SingleRun, String> {
        let mut simulation = Simulation::new(&self.programs[scenario.program], scenario);
        let nothing = Episode::default();
        simulation.run(scenario.episodes.first().unwrap_or(&nothing), false)?;
        let outcome = simulation.outcome.take().ok_or("it has no outcome")?;
        Ok(SingleRun { outcome, stats: simulation.stats, disk: simulation.disk })
    }

    /// Runs a scenario: its runs one after the other, then one without faults.
    pub fn run_scenario(&self, scenario: &Scenario) -> Result<SimulationStats, String> {
        let program = &self.programs[scenario.program];
        let mut simulation = Simulation::new(program, scenario);
        for (number, episode) in scenario.episodes.iter().enumerate() {
            simulation.run(episode, false).map_err(|what| format!("run {number}: {what}"))?;
        }
        simulation.last_run().map_err(|what| format!("the last run: {what}"))?;
        Ok(simulation.stats)
    }
}

/// Returns the cases of the corpus from which scenarios choose.
fn chosen_cases() -> Result<Vec<Case>, SimulationSetupError> {
    let missing = |error: &dyn ToString| SimulationSetupError::Missing(error.to_string());
    let all = builtin_corpus().map_err(|error| missing(&error))?;
    let is_chosen = |(at, case): &(usize, Case)| {
        !case.tags.iter().any(|tag| tag == "play") || at.is_multiple_of(POSITION_STRIDE)
    };
    Ok(all.into_iter().enumerate().filter(is_chosen).map(|(_, case)| case).collect())
}

/// Returns an application with a bug: a rook is worth 4 points instead of 5.
fn with_cheap_rook(plan: &SargonConfig) -> Result<(u16, Vec<u8>), SimulationSetupError> {
    let programs = plan.programs()?;
    let image = &programs.application;
    let symbol = |name| image.program.symbol(name);
    let offset = symbol("TBASE").zip(symbol("PVALUE"));
    let offset = offset.map(|(base, values)| base.wrapping_sub(image.address) + values + 4);
    let offset = offset.map(usize::from).filter(|at| image.bytes.get(*at) == Some(&5));
    let offset =
        offset.ok_or_else(|| SimulationSetupError::Missing("the value of a rook".to_owned()))?;
    let mut bytes = image.bytes.clone();
    bytes[offset] = 4;
    Ok((image.address, bytes))
}

impl Program {
    /// Builds the program, and runs each case without faults for the expected verdict.
    fn new(plan: SargonConfig, cases: &[Case]) -> Result<Self, SimulationSetupError> {
        let programs = Arc::new(plan.programs()?);
        let mut live = SargonBoard::prepare_with(
            &plan,
            Arc::clone(&programs),
            &SimulatedDisk::new(0),
            |board| board,
        )?;
        let mut expected_verdicts = BTreeMap::new();
        let never = AtomicBool::new(false);
        let options =
            RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &never };
        run_cases(&mut live, cases.iter().cloned(), options, |result| {
            expected_verdicts.insert(result.id, result.verdict);
        });
        Ok(Self { plan, programs, expected_verdicts, damages_board: false })
    }

    /// Builds a program whose XCHNG does something else first.
    fn with_damage(damage: &str) -> Result<Self, SimulationSetupError> {
        let profile = BoardProfile::named("rc2014-classic")
            .map_err(|error| SimulationSetupError::Missing(error.to_string()))?;
        let text = exchange_with(damage);
        let evaluator = Evaluator::default();
        let replaced = [("xchng.asm", text.as_str())];
        let application =
            build_with_sources(&profile, ProgramKind::Application, &evaluator, &replaced)?;
        let monitor = build(&profile, ProgramKind::Monitor)?;
        let board = hil_harness::board::BoardKind::InProcess;
        let plan = BoardConfig { board, ..BoardConfig::simulated(profile) }.into();
        let programs = Arc::new(Programs { monitor, application });
        let expected_verdicts = BTreeMap::new();
        Ok(Self { plan, programs, expected_verdicts, damages_board: true })
    }

    /// Checks the results in a file.
    fn check_results(&self, records: &[Record], cases: &[Case]) -> Result<Vec<CaseResult>, String> {
        let results = check_results(records, cases, &self.expected_verdicts)?;
        match results.iter().find(|one| self.damages_board && one.verdict == Verdict::Pass) {
            Some(pass) => Err(format!("{} passes while the board is damaged", pass.id)),
            None => Ok(results),
        }
    }

    fn board(&self) -> InProcessBoard {
        let profile = &self.plan.board.profile;
        let programs = &self.programs;
        InProcessBoard::new(profile, &programs.monitor.bytes, self.plan.probe(programs))
    }
}

/// An observer that ignores all events.
struct NullObserver;

impl Observer<SargonSuite> for NullObserver {}

/// Returns `true` if a run failed with a message to press reset.
fn requests_reset(outcome: &Result<FinishedRun, CommandError>) -> bool {
    reason(outcome).contains("press reset")
}

/// Returns `true` if a run failed because the board restarted during each request.
fn requests_another_run(outcome: &Result<FinishedRun, CommandError>) -> bool {
    reason(outcome).contains("has just started; try again")
}

/// Returns the reason for an incomplete run; empty if it is complete.
fn reason(outcome: &Result<FinishedRun, CommandError>) -> String {
    match outcome {
        Ok(done) => incomplete_reason(&done.summary.ended).unwrap_or_default(),
        Err(failure) => failure.message.clone(),
    }
}

struct Simulation<'a> {
    program: &'a Program,
    scenario: &'a Scenario,
    disk: SimulatedDisk,
    board: InProcessBoard,
    /// Simulated time that passed in failed calls.
    lost: Duration,
    stats: SimulationStats,
    /// Disk accesses that failed in earlier runs.
    failed: u64,
    /// The outcome of the previous run.
    outcome: Option<Result<FinishedRun, CommandError>>,
    /// Whether the operator has followed the message of a failed last run.
    operator_intervened: bool,
}

impl<'a> Simulation<'a> {
    fn new(program: &'a Program, scenario: &'a Scenario) -> Self {
        let disk = SimulatedDisk::new(scenario.seed);
        disk.insert_synced(Path::new(UNRELATED_PATH), UNRELATED_CONTENT);
        let stats = SimulationStats { seeds: 1, ..SimulationStats::default() };
        let board = program.board();
        let lost = Duration::ZERO;
        Self {
            program,
            scenario,
            disk,
            board,
            lost,
            stats,
            failed: 0,
            outcome: None,
            operator_intervened: false,
        }
    }

    /// Runs the harness without faults. After a power cut between upload and start the board may
    /// execute random RAM and only reset helps: the operator presses it once, if the
    /// message advises.
    fn last_run(&mut self) -> Result<(), String> {
        self.run(&Episode::default(), true)?;
        if self.outcome.as_ref().is_some_and(requests_reset) {
            if let Some(press) = self.board.reset_fn() {
                press();
            }
            self.stats.count("operator reset as requested", 1);
        } else if self.outcome.as_ref().is_some_and(requests_another_run) {
            self.stats.count("operator tried again as requested", 1);
        } else {
            return Ok(());
        }
        self.operator_intervened = true;
        self.run(&Episode::default(), true)
    }

    /// Runs the harness once, and checks the invariants.
    fn run(&mut self, episode: &Episode, is_last: bool) -> Result<(), String> {
        self.inject_disk_fault(episode);
        let stop = Arc::new(AtomicBool::new(false));
        let events = episode.events.clone();
        let script = EventScript::new(events, &self.disk, &stop, self.lost);
        let before = self.board.now() + self.lost;
        let config = self.config(is_last);
        let outcome = self.run_harness(&config, &script, stop, is_last);
        self.lost = script.lost();
        let took = (self.board.now() + self.lost).saturating_duration_since(before);
        self.record(&outcome, &script, took);
        self.check_bounds(&script, took)?;
        let had_faults =
            script.happened().iter().any(|event| matches!(event, ScriptedEvent::Disk(..)))
                || episode.disk.is_some();
        self.disk.clear_fault();
        if !script.is_killed() {
            check_outcome(&outcome, self.scenario.cases.len())?;
            if !had_faults {
                let path = Path::new(REPORT_PATH).join("report.json");
                check_report(self.disk.content(&path), &outcome)?;
            }
        }
        if episode.power_cut {
            self.disk.cut_power();
        }
        self.check_files()?;
        if requests_reset(&outcome) && !self.may_be_fault_of_line(&script, &outcome, is_last) {
            self.stats.count("reset requested without faults of the line", 1);
            check_monitor_unreachable(&self.board, self.program.plan.board.profile.uart.baud)?;
        }
        if script.happened().contains(&ScriptedEvent::PowerCut) || self.program.plan.board.in_flash
        {
            self.check_boots()?;
        }
        let asks = requests_reset(&outcome) || requests_another_run(&outcome);
        if is_last && (self.operator_intervened || !asks) {
            self.check_end(&outcome)?;
        }
        self.outcome = Some(outcome);
        Ok(())
    }

    fn inject_disk_fault(&mut self, episode: &Episode) {
        if let Some((first, count, fault)) = episode.disk {
            self.disk.inject_fault(self.disk.accesses() + first, count, fault);
        }
    }

    fn config(&self, is_last: bool) -> RunConfig {
        let scenario = self.scenario;
        RunConfig {
            profile: self.program.plan.board.profile.name.clone(),
            behaviour: "corrected".to_owned(),
            faults: scenario.line,
            repeat: scenario.repeat,
            fail_fast: scenario.fail_fast && !is_last,
            results: Some(RESULTS_PATH.into()),
            resume: true,
            report: scenario.report.then(|| REPORT_PATH.into()),
            ..RunConfig::default()
        }
    }

    /// Runs the harness as the program does, but in the simulated environment.
    fn run_harness(
        &self,
        config: &RunConfig,
        script: &EventScript,
        stop: Arc<AtomicBool>,
        is_last: bool,
    ) -> Result<FinishedRun, CommandError> {
        let mut plan = self.program.plan.clone();
        plan.board.fault_seed = self.scenario.line.filter(|_| !is_last);
        let file = TRANSCRIPT_PATH.into();
        plan.board.recording = (self.scenario.record).then_some(RecordOptions {
            file,
            cases: Vec::new(),
            force: false,
        });
        let prepare = |plan: &SargonConfig| {
            let programs = Arc::clone(&self.program.programs);
            SargonBoard::prepare_with(plan, programs, &self.disk, |_| {
                let board = ScriptedBoard::new(self.board.clone(), script.clone());
                // With an odd seed the damage is seen only through the line.
                let is_outside = self.program.damages_board && self.scenario.seed % 2 == 1;
                Box::new(if is_outside { board.without_instrumentation() } else { board })
            })
        };
        let board = self.board.clone();
        let clocked = script.clone();
        let ctx = RunContext {
            file_system: &self.disk,
            clock: Arc::new(move || board.now() + clocked.lost()),
            stop,
            prepare: &prepare,
            observer: &mut NullObserver,
        };
        let members = [Member { name: String::new(), plan: Ok(plan) }];
        campaign::run(config, &self.scenario.cases, &members, ctx)
    }

    fn record(
        &mut self,
        outcome: &Result<FinishedRun, CommandError>,
        script: &EventScript,
        took: Duration,
    ) {
        self.stats.episodes += 1;
        self.stats.time += took;
        self.stats.calls += script.calls();
        let earlier = std::mem::replace(&mut self.stats.accesses, self.disk.accesses());
        let failed = self.disk.faults() - std::mem::replace(&mut self.failed, self.disk.faults());
        self.stats.count("accesses to the disk failed", failed);
        let faults = outcome.as_ref().ok().and_then(|done| done.faults);
        if let Some(faults) = faults {
            self.stats.count_line_faults(&faults);
        }
        script.happened().iter().for_each(|event| self.stats.count_event(*event));
        let code = outcome.as_ref().map_or_else(|failure| failure.code, FinishedRun::exit_code);
        self.stats.count(&format!("exit code {code}"), u64::from(!script.is_killed()));
        let content = self.disk.content(Path::new(RESULTS_PATH)).unwrap_or_default();
        let facts = [u64::from(code), script.calls(), earlier, took.as_nanos() as u64];
        for word in facts {
            self.trace(&word.to_le_bytes());
        }
        self.trace(&content);
    }

    /// Hashes bytes into the trace (FNV-1a, 64 bits).
    fn trace(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.stats.trace = (self.stats.trace ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        }
    }

    /// Checks that the run ended within its bounds.
    fn check_bounds(&self, script: &EventScript, took: Duration) -> Result<(), String> {
        let calls = script.calls();
        if took > MAX_RUN_TIME || calls > MAX_PORT_CALLS {
            return Err(format!("it took {took:?} and {calls} calls on the port"));
        }
        Ok(())
    }

    fn check_files(&self) -> Result<(), String> {
        let ours = [RESULTS_PATH, TRANSCRIPT_PATH, REPORT_PATH].map(Path::new);
        check_unrelated_files(&self.disk, &ours, (Path::new(UNRELATED_PATH), UNRELATED_CONTENT))?;
        let content = self.disk.content(Path::new(RESULTS_PATH)).unwrap_or_default();
        // A power cut may leave zeros in place of lines that were not synced.
        let Ok(records) = parse_records(&content) else { return Ok(()) };
        let cases = &self.scenario.cases;
        check_header(&records, cases.len())?;
        self.program.check_results(&records, cases).map(|_| ())
    }

    /// Returns `true` if faults of the line may explain that the board did not reply.
    fn may_be_fault_of_line(
        &self,
        script: &EventScript,
        outcome: &Result<FinishedRun, CommandError>,
        is_last: bool,
    ) -> bool {
        // Injected faults start when the board is ready.
        let had_faults = !is_last && self.scenario.line.is_some() && outcome.is_ok();
        had_faults || script.happened().iter().any(|event| matches!(event, ScriptedEvent::Line(..)))
    }

    /// Checks that the board boots after a power cut, to the monitor or a complete program.
    fn check_boots(&self) -> Result<(), String> {
        let profile = &self.program.plan.board.profile;
        let model = after_power_cut(&self.board.state().board);
        let mut board = InProcessBoard::with_model(profile, model, Probe::default());
        let line = board.open().map_err(|error| error.to_string())?;
        let mut link = Link::new(line, self.program.plan.board.profile.uart.baud);
        identify(&mut link).map(|_| ()).map_err(|error| format!("it does not boot: {error}"))
    }

    /// Checks that a run without faults completed with the expected verdicts.
    fn check_end(&mut self, outcome: &Result<FinishedRun, CommandError>) -> Result<(), String> {
        let done = match outcome {
            Ok(done) => done,
            Err(failure) => {
                // A file may only be refused if it lost its header or a line in a power cut.
                if let Some(file) = self.damaged_file() {
                    self.stats.count(&format!("{file} refused after a power cut"), 1);
                    return Ok(());
                }
                let at = self.board.instrumentation().map_or(0, Instrumentation::program_counter);
                let reason = &failure.message;
                return Err(format!("it failed: {reason}; the program counter is at {at:04X}H"));
            }
        };
        let counts = done.totals.counts;
        if counts.not_run > 0 {
            return Err(format!("cases are not run: {counts:?}"));
        }
        let content = self.disk.content(Path::new(RESULTS_PATH)).unwrap_or_default();
        let records = parse_records(&content)?;
        let cases = &self.scenario.cases;
        let results = self.program.check_results(&records, cases)?;
        if results.len() != cases.len() {
            return Err(format!("{} of {} cases have a result", results.len(), cases.len()));
        }
        results.iter().for_each(|result| self.stats.count_verdict(result.verdict));
        Ok(())
    }

    /// Returns the file that a power cut has damaged, if any.
    fn damaged_file(&self) -> Option<&'static str> {
        if !self.scenario.episodes.iter().any(|episode| episode.power_cut) {
            return None;
        }
        let content = |path| self.disk.content(Path::new(path)).unwrap_or_default();
        let results = content(RESULTS_PATH);
        if parse_records(&results).is_err() || !has_magic(&results, RESULTS_MAGIC) {
            return Some("results");
        }
        (!has_magic(&content(TRANSCRIPT_PATH), TRANSCRIPT_MAGIC)).then_some("transcript")
    }
}
