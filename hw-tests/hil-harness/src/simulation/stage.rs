//! The stage of stories: programs that are built once, and the play of a scenario from its first
//! run to its last.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cli_support::exit::Failure;
use firmware::build::BuildError;
use firmware::profile::Profile;
use rcflash_link::Link;
use rcflash_link::loader::identify;
use sargon_corpus::{Case, shipped};

use super::Story;
use super::invariants::{
    begins_with_its_head, ended_well, needs_reset, only_our_files, records, report_agrees,
    results_are_right,
};
use super::operator::{Event, OperatedBoard, Script};
use super::scenario::{Episode, Scenario};
use crate::board::{Board, DirectBoard, Instruments, MARK as TAPE_MARK, Recording};
use crate::campaign::{self, Done, Observer, Settings, Surroundings};
use crate::disk::{SimulatedDisk, is_marked};
use crate::live::{LiveBoard, Plan, Programs};
use crate::report::incomplete;
use crate::results::MARK as RESULTS_MARK;
use crate::runner::{Options, Verdict, run_cases};

/// Every so many of the generated positions are on the stage.
const EVERY: usize = 25;
/// The longest time that a run may take by its own clock: some cases, each given up after three
/// losses.
const LONGEST: Duration = Duration::from_secs(4 * 3600);
/// Most calls on the port in a run.
const MOST_CALLS: u64 = 3_000_000;

const RESULTS: &str = "run/results";
const TAPE: &str = "run/tape";
const REPORT: &str = "run/report";
const PRECIOUS: &str = "precious";
/// The content of a file that is not the run's.
const LETTER: &[u8] = b"a letter that nobody may change";

/// A board with an application, and the verdicts that its answers deserve.
pub struct Program {
    plan: Plan,
    programs: Arc<Programs>,
    right: BTreeMap<String, Verdict>,
}

/// The stage that stories are played on.
pub struct Stage {
    programs: Vec<Program>,
    cases: Vec<Case>,
}

/// A run, and what it left.
pub struct Once {
    /// Its outcome.
    pub outcome: Result<Done, Failure>,
    /// Its figures.
    pub story: Story,
    /// Its files.
    pub disk: SimulatedDisk,
}

impl Once {
    /// Returns the exit code.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.outcome.as_ref().map_or_else(|failure| failure.code, Done::exit_code)
    }

    /// Returns the reason for an incomplete run; empty if it is complete.
    #[must_use]
    pub fn why(&self) -> String {
        why(&self.outcome)
    }
}

/// An error in setting the stage.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The programs could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A quiet board could not be made ready.
    #[error(transparent)]
    Setup(#[from] crate::live::SetupError),
    /// A shipped file is missing.
    #[error("{0}")]
    Missing(String),
}

impl Stage {
    /// Sets the stage: both boards that ship, a program in flash, and a program that is wrong.
    ///
    /// # Errors
    /// A program could not be built, or a quiet run failed.
    pub fn set() -> Result<Self, StageError> {
        let missing = |what: String| StageError::Missing(what);
        let all = shipped().map_err(|error| missing(error.to_string()))?;
        let is_chosen = |(at, case): &(usize, Case)| {
            !case.tags.iter().any(|tag| tag == "play") || at.is_multiple_of(EVERY)
        };
        let chosen = all.into_iter().enumerate().filter(is_chosen);
        let cases: Vec<Case> = chosen.map(|(_, case)| case).collect();
        let mut plans = Vec::new();
        for name in ["rc2014-classic", "rc2014-zed"] {
            let profile = Profile::named(name).map_err(|error| missing(error.to_string()))?;
            let board = crate::board::Choice::Direct { rom: None };
            plans.push(Plan { board, ..Plan::simulated(profile) });
        }
        plans.push(Plan { in_flash: true, ..plans[1].clone() });
        let wrong = with_a_cheap_rook(&plans[0])?;
        plans.push(Plan { application: Some(wrong), ..plans[0].clone() });
        let programs = plans.into_iter().map(|plan| Program::new(plan, &cases));
        Ok(Self { programs: programs.collect::<Result<_, _>>()?, cases })
    }

    /// The programs.
    #[must_use]
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// The cases from which stories choose.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Plays the first run of a scenario alone, and checks the invariants after it.
    ///
    /// # Errors
    /// The first invariant that did not hold.
    pub fn play_once(&self, scenario: &Scenario) -> Result<Once, String> {
        let mut play = Play::new(&self.programs[scenario.program], scenario);
        let nothing = Episode::default();
        play.run(scenario.episodes.first().unwrap_or(&nothing), false)?;
        let outcome = play.outcome.take().ok_or("it has no outcome")?;
        Ok(Once { outcome, story: play.story, disk: play.disk })
    }

    /// Plays a scenario: its runs one after the other, then one without faults.
    ///
    /// # Errors
    /// The first invariant that did not hold.
    pub fn play(&self, scenario: &Scenario) -> Result<Story, String> {
        let program = &self.programs[scenario.program];
        let mut play = Play::new(program, scenario);
        for (number, episode) in scenario.episodes.iter().enumerate() {
            play.run(episode, false).map_err(|what| format!("run {number}: {what}"))?;
        }
        play.last_run().map_err(|what| format!("the last run: {what}"))?;
        Ok(play.story)
    }
}

/// The application with a rook that is worth 4 points and should be worth 5.
fn with_a_cheap_rook(plan: &Plan) -> Result<(u16, Vec<u8>), StageError> {
    let programs = Programs::build(plan)?;
    let image = &programs.application;
    let symbol = |name| image.program.symbol(name);
    let place = symbol("TBASE").zip(symbol("PVALUE"));
    let place = place.map(|(base, values)| base.wrapping_sub(image.address) + values + 4);
    let place = place.map(usize::from).filter(|at| image.bytes.get(*at) == Some(&5));
    let place = place.ok_or_else(|| StageError::Missing("the value of a rook".to_owned()))?;
    let mut bytes = image.bytes.clone();
    bytes[place] = 4;
    Ok((image.address, bytes))
}

impl Program {
    /// Builds the program, and has a quiet board answer each case.
    fn new(plan: Plan, cases: &[Case]) -> Result<Self, StageError> {
        let programs = Arc::new(Programs::build(&plan)?);
        let mut live = LiveBoard::prepare_with(
            &plan,
            Arc::clone(&programs),
            &SimulatedDisk::new(0),
            |board| board,
        )?;
        let mut right = BTreeMap::new();
        let never = AtomicBool::new(false);
        let options = Options { repeat: 1, fail_fast: false, baseline: None, interrupted: &never };
        run_cases(&mut live, cases.iter().cloned(), options, |result| {
            right.insert(result.id, result.verdict);
        });
        Ok(Self { plan, programs, right })
    }

    fn board(&self) -> DirectBoard {
        let profile = &self.plan.profile;
        let programs = &self.programs;
        DirectBoard::new(profile, &programs.monitor.bytes, programs.probe())
    }
}

/// Nobody looks on.
struct Nobody;

impl Observer for Nobody {}

/// Whether a run failed with the advice to press the reset button.
fn asks_for_reset(outcome: &Result<Done, Failure>) -> bool {
    why(outcome).contains("press reset")
}

/// Whether it failed since the board was started anew in the midst of each question.
fn asks_for_another_run(outcome: &Result<Done, Failure>) -> bool {
    why(outcome).contains("started meanwhile: try again")
}

/// The reason for an incomplete run; empty if it is complete.
fn why(outcome: &Result<Done, Failure>) -> String {
    match outcome {
        Ok(done) => incomplete(&done.course.ended).unwrap_or_default(),
        Err(failure) => failure.message.clone(),
    }
}

/// A story under way.
struct Play<'a> {
    program: &'a Program,
    scenario: &'a Scenario,
    disk: SimulatedDisk,
    board: DirectBoard,
    /// Time that passed in calls that failed.
    lost: Duration,
    story: Story,
    /// Accesses to the disk that failed in earlier runs.
    failed: u64,
    /// The end of the last run.
    outcome: Option<Result<Done, Failure>>,
    /// Whether the operator has done once what the message of the last run says.
    is_helped: bool,
}

impl<'a> Play<'a> {
    fn new(program: &'a Program, scenario: &'a Scenario) -> Self {
        let disk = SimulatedDisk::new(scenario.seed);
        disk.put(Path::new(PRECIOUS), LETTER);
        let story = Story { seeds: 1, ..Story::default() };
        let board = program.board();
        let lost = Duration::ZERO;
        Self {
            program,
            scenario,
            disk,
            board,
            lost,
            story,
            failed: 0,
            outcome: None,
            is_helped: false,
        }
    }

    /// Has the harness run without faults. A power cut between upload and start leaves the board in
    /// a program that is not there any more, out of anybody's reach but the reset button's: the
    /// operator presses it if the message says so, once.
    fn last_run(&mut self) -> Result<(), String> {
        self.run(&Episode::default(), true)?;
        if self.outcome.as_ref().is_some_and(asks_for_reset) {
            if let Some(press) = self.board.button() {
                press();
            }
            self.story.count("operator reset as the message says", 1);
        } else if self.outcome.as_ref().is_some_and(asks_for_another_run) {
            self.story.count("operator tried again as the message says", 1);
        } else {
            return Ok(());
        }
        self.is_helped = true;
        self.run(&Episode::default(), true)
    }

    /// Has the harness run once, and checks what came of it.
    fn run(&mut self, episode: &Episode, is_last: bool) -> Result<(), String> {
        self.begin(episode);
        let stop = Arc::new(AtomicBool::new(false));
        let events = episode.events.clone();
        let script = Script::new(events, &self.disk, &stop, self.lost);
        let before = self.board.now() + self.lost;
        let settings = self.settings(is_last);
        let outcome = self.harness(&settings, &script, stop, is_last);
        self.lost = script.lost();
        let took = (self.board.now() + self.lost).saturating_duration_since(before);
        self.note(&outcome, &script, took);
        self.check_bounds(&script, took)?;
        let had_faults = script.happened().iter().any(|event| matches!(event, Event::Disk(..)))
            || episode.disk.is_some();
        self.disk.mend();
        if !script.is_killed() {
            ended_well(&outcome, self.scenario.cases.len())?;
            if !had_faults {
                let path = Path::new(REPORT).join("report.json");
                report_agrees(self.disk.content(&path), &outcome)?;
            }
        }
        if episode.power_cut {
            self.disk.cut_power();
        }
        self.check_files()?;
        if asks_for_reset(&outcome) && !self.is_line_to_blame(&script, &outcome, is_last) {
            self.story.count("reset asked for on a quiet line", 1);
            needs_reset(&self.board, self.program.plan.profile.uart.baud)?;
        }
        if script.happened().contains(&Event::PowerCut) || self.program.plan.in_flash {
            self.check_boots()?;
        }
        let asks = asks_for_reset(&outcome) || asks_for_another_run(&outcome);
        if is_last && (self.is_helped || !asks) {
            self.check_end(&outcome)?;
        }
        self.outcome = Some(outcome);
        Ok(())
    }

    fn begin(&mut self, episode: &Episode) {
        if let Some((first, count, fault)) = episode.disk {
            self.disk.fail(self.disk.accesses() + first, count, fault);
        }
    }

    fn settings(&self, is_last: bool) -> Settings {
        let scenario = self.scenario;
        Settings {
            cases: scenario.cases.clone(),
            profile: self.program.plan.profile.name.clone(),
            behaviour: "mended".to_owned(),
            faults: scenario.line,
            repeat: scenario.repeat,
            fail_fast: scenario.fail_fast && !is_last,
            results: Some(RESULTS.into()),
            resume: true,
            report: scenario.report.then(|| REPORT.into()),
            ..Settings::default()
        }
    }

    /// The harness itself, as the program runs it, but in this world.
    fn harness(
        &self,
        settings: &Settings,
        script: &Script,
        stop: Arc<AtomicBool>,
        is_last: bool,
    ) -> Result<Done, Failure> {
        let mut plan = self.program.plan.clone();
        plan.faults = self.scenario.line.filter(|_| !is_last);
        let file = TAPE.into();
        plan.recording =
            (self.scenario.record).then_some(Recording { file, cases: Vec::new(), force: false });
        let prepare = |plan: &Plan| {
            let programs = Arc::clone(&self.program.programs);
            LiveBoard::prepare_with(plan, programs, &self.disk, |_| {
                Box::new(OperatedBoard::new(self.board.clone(), script.clone()))
            })
        };
        let board = self.board.clone();
        let clocked = script.clone();
        let here = Surroundings {
            disk: &self.disk,
            clock: Arc::new(move || board.now() + clocked.lost()),
            stop,
            prepare: &prepare,
            observer: &mut Nobody,
        };
        campaign::run(settings, Ok(plan), here)
    }

    fn note(&mut self, outcome: &Result<Done, Failure>, script: &Script, took: Duration) {
        self.story.episodes += 1;
        self.story.time += took;
        self.story.calls += script.calls();
        let earlier = std::mem::replace(&mut self.story.accesses, self.disk.accesses());
        let failed = self.disk.faults() - std::mem::replace(&mut self.failed, self.disk.faults());
        self.story.count("accesses to the disk failed", failed);
        let faults = outcome.as_ref().ok().and_then(|done| done.faults);
        if let Some(faults) = faults {
            self.story.count_line_faults(&faults);
        }
        script.happened().iter().for_each(|event| self.story.count_event(*event));
        let code = outcome.as_ref().map_or_else(|failure| failure.code, Done::exit_code);
        self.story.count(&format!("exit code {code}"), u64::from(!script.is_killed()));
        let content = self.disk.content(Path::new(RESULTS)).unwrap_or_default();
        let facts = [u64::from(code), script.calls(), earlier, took.as_nanos() as u64];
        for word in facts {
            self.trace(&word.to_le_bytes());
        }
        self.trace(&content);
    }

    /// Mixes bytes into the trace (FNV-1a, 64 bits).
    fn trace(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.story.trace = (self.story.trace ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        }
    }

    /// Every wait ends.
    fn check_bounds(&self, script: &Script, took: Duration) -> Result<(), String> {
        let calls = script.calls();
        if took > LONGEST || calls > MOST_CALLS {
            return Err(format!("it took {took:?} and {calls} calls on the port"));
        }
        Ok(())
    }

    fn check_files(&self) -> Result<(), String> {
        let ours = [RESULTS, TAPE, REPORT].map(Path::new);
        only_our_files(&self.disk, &ours, (Path::new(PRECIOUS), LETTER))?;
        let content = self.disk.content(Path::new(RESULTS)).unwrap_or_default();
        // A power cut may leave zeros in the place of lines that were not flushed.
        let Ok(records) = records(&content) else { return Ok(()) };
        let cases = &self.scenario.cases;
        begins_with_its_head(&records, cases.len())?;
        results_are_right(&records, cases, &self.program.right).map(|_| ())
    }

    /// Whether the board may have been silent to the harness alone.
    fn is_line_to_blame(
        &self,
        script: &Script,
        outcome: &Result<Done, Failure>,
        is_last: bool,
    ) -> bool {
        // Faults of the line begin when the board is ready.
        let had_faults = !is_last && self.scenario.line.is_some() && outcome.is_ok();
        had_faults || script.happened().iter().any(|event| matches!(event, Event::Line(..)))
    }

    /// A board whose power is cut now answers when it comes back: its monitor, or a whole program.
    fn check_boots(&self) -> Result<(), String> {
        let board = self.board.after_power_cut();
        let line = board.clone().open().map_err(|error| error.to_string())?;
        let mut link = Link::new(line, self.program.plan.profile.uart.baud);
        identify(&mut link).map(|_| ()).map_err(|error| format!("it does not boot: {error}"))
    }

    /// A run without faults comes to its end, with a verdict for each case that its answer
    /// deserves.
    fn check_end(&mut self, outcome: &Result<Done, Failure>) -> Result<(), String> {
        let done = match outcome {
            Ok(done) => done,
            Err(failure) => {
                // Only a file that lost its head or a line to a power cut is refused.
                if let Some(file) = self.damaged_file() {
                    self.story.count(&format!("{file} refused after a power cut"), 1);
                    return Ok(());
                }
                let at = self.board.instruments().map_or(0, Instruments::program_counter);
                let why = &failure.message;
                return Err(format!("it failed: {why}; the program counter is at {at:04X}H"));
            }
        };
        let counts = done.overview.counts();
        if counts.not_run > 0 {
            return Err(format!("cases are not run: {counts:?}"));
        }
        let content = self.disk.content(Path::new(RESULTS)).unwrap_or_default();
        let records = records(&content)?;
        let cases = &self.scenario.cases;
        let results = results_are_right(&records, cases, &self.program.right)?;
        if results.len() != cases.len() {
            return Err(format!("{} of {} cases have a result", results.len(), cases.len()));
        }
        results.iter().for_each(|result| self.story.count_verdict(result.verdict));
        Ok(())
    }

    /// The file that a power cut has spoilt, if any.
    fn damaged_file(&self) -> Option<&'static str> {
        if !self.scenario.episodes.iter().any(|episode| episode.power_cut) {
            return None;
        }
        let content = |path| self.disk.content(Path::new(path)).unwrap_or_default();
        let results = content(RESULTS);
        if records(&results).is_err() || !is_marked(&results, RESULTS_MARK) {
            return Some("results");
        }
        (!is_marked(&content(TAPE), TAPE_MARK)).then_some("transcript")
    }
}
