//! `hw-inspect profile`: where the T-states of the Z80 code go.

use std::path::PathBuf;

use board_debugger::open_program;
use board_debugger::profiling::{
    CallgrindProfile, StepCounter, annotated_source, comparison_table, flame_graph_svg, line_table,
    line_times, routine_table, routine_times, to_speedscope,
};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, USAGE};
use cli_support::files::write_output;
use firmware::code_map::CodeMap;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use firmware_wire::Request;
use sargon_corpus::encode;
use sargon_debugging::{EvaluatorMachine, open_position};
use serde_json::json;

use super::sampling::Sampling;
use super::target::{TargetArgs, target_error};
use super::workload::Workload;
use cli_support::output::{json_line, print};
use sargon_corpus::args::{NamedPosition, PositionArgs};

/// Maximum T-states of a position.
const MAX_POSITION_T_STATES: u64 = 20_000_000;

#[derive(Args)]
pub(super) struct ProfileArgs {
    #[command(flatten)]
    positions: PositionArgs,
    #[command(flatten)]
    workload: Workload,
    /// The board's profile; the default is that of the rig file, or rc2014-classic
    #[arg(long, value_name = "PROFILE")]
    board: Option<String>,
    #[command(flatten)]
    line: TargetArgs,
    /// Samples to take on a real board
    #[arg(long, value_name = "COUNT", default_value_t = 500)]
    samples: u64,
    /// The evaluator's behaviour
    #[arg(long, value_name = "corrected|original|fast", default_value_t)]
    behaviour: Behaviour,
    /// Also measure this behaviour, and compare the routines of both
    #[arg(
        long,
        value_name = "corrected|original|fast",
        conflicts_with_all = ["connection", "program", "annotate", "flame", "speedscope", "callgrind", "lines"]
    )]
    against: Option<Behaviour>,
    /// Show this number of lines, those with the most T-states
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    lines: usize,
    /// Show the listing of a file instead, such as xchng.asm, with the T-states and runs of each
    /// line; may be given again
    #[arg(long, value_name = "FILE", conflicts_with = "connection")]
    annotate: Vec<String>,
    /// Write a flame graph of calls
    #[arg(long, help_heading = "Output", value_name = "FILE.svg", conflicts_with = "connection")]
    flame: Option<PathBuf>,
    /// Write a profile for speedscope (speedscope.app)
    #[arg(long, help_heading = "Output", value_name = "FILE.json", conflicts_with = "connection")]
    speedscope: Option<PathBuf>,
    /// Write a profile for KCachegrind and callgrind_annotate
    #[arg(long, help_heading = "Output", value_name = "FILE", conflicts_with = "connection")]
    callgrind: Option<PathBuf>,
    /// Print all routines and lines as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub(super) fn profile(args: &ProfileArgs) -> CommandResult {
    let profile = args.line.profile(args.board.as_deref())?;
    if args.workload.program.is_some() && !args.positions.is_empty() {
        return Err(CommandError::new(USAGE, "--program excludes positions; omit one of them"));
    }
    if args.line.uses_kernel() {
        return sample(args, &profile);
    }
    if let Some(against) = args.against {
        return compare(args, &profile, against);
    }
    let mut positions = None;
    let (counter, code, title) = match args.workload.run(&profile)? {
        Some((counter, code)) => {
            (counter, code, format!("{} on {}", args.workload.name(), profile.name))
        }
        None => {
            let positions = positions.insert(args.positions.open(false)?);
            let mut profiler = BehaviourProfiler::new(&profile, args.behaviour)?;
            positions.for_each(|_| (), |named, (), _| profiler.examine(named))?;
            let title = format!("{} positions on {}", positions.count(), profile.name);
            (profiler.counter, profiler.code, title)
        }
    };
    for file in &args.annotate {
        find_file(&code, file)?;
    }
    let title = format!("{title}, T-states");
    if let Some(file) = &args.flame {
        write_output(file, flame_graph_svg(counter.calls(), &code, &title).as_bytes())?;
    }
    if let Some(file) = &args.speedscope {
        write_output(file, json_line(&to_speedscope(&counter, &code, &title))?.as_bytes())?;
    }
    if let Some(file) = &args.callgrind {
        let mut profile = CallgrindProfile::default();
        profile.add(&counter, &code);
        write_output(file, profile.to_text(&title).as_bytes())?;
    }
    print(&report(args, &counter, &code)?)?;
    positions.map_or(Ok(0), |positions| positions.finish(Ok(0)))
}

fn sample(args: &ProfileArgs, profile: &BoardProfile) -> CommandResult {
    let sampling = Sampling { sample_count: args.samples, json: args.json };
    if let Some(program) = args.workload.load(profile)? {
        let kernel = args.line.connect(profile)?;
        let mut debugger = open_program(profile, program, kernel).map_err(target_error)?;
        return sampling.program(&mut debugger, args.workload.send.as_deref().unwrap_or_default());
    }
    let mut positions = args.positions.open(false)?;
    let mut all = Vec::new();
    positions.for_each(NamedPosition::position, |_, position, _| {
        all.push(position);
        Ok(())
    })?;
    let Some(first) = all.first() else { return positions.finish(Ok(0)) };
    let evaluator = Evaluator { behaviour: args.behaviour, own: None };
    let kernel = args.line.connect(profile)?;
    let mut debugger =
        open_position(profile, &evaluator, first, kernel, &mut |_| false).map_err(target_error)?;
    sampling.evaluator(&mut debugger, &all)?;
    positions.finish(Ok(0))
}

fn compare(args: &ProfileArgs, profile: &BoardProfile, against: Behaviour) -> CommandResult {
    let mut positions = args.positions.open(false)?;
    let both = [args.behaviour, against];
    let mut profilers =
        [BehaviourProfiler::new(profile, both[0])?, BehaviourProfiler::new(profile, both[1])?];
    positions.for_each(
        |_| (),
        |named, (), _| profilers.iter_mut().try_for_each(|profiler| profiler.examine(named)),
    )?;
    let times = profilers.map(|profiler| routine_times(&profiler.counter, &profiler.code));
    let names = both.map(|behaviour| behaviour.to_string());
    if args.json {
        let of = |at: usize| json!({ "behaviour": names[at], "routines": times[at] });
        print(&json_line(&[of(0), of(1)])?)?;
    } else {
        let calls = positions.count();
        print(&comparison_table(names.each_ref().map(String::as_str), &times, calls))?;
    }
    positions.finish(Ok(0))
}

/// Profiles the evaluator with one behaviour over positions.
struct BehaviourProfiler {
    machine: EvaluatorMachine,
    counter: StepCounter,
    code: CodeMap,
}

impl BehaviourProfiler {
    fn new(profile: &BoardProfile, behaviour: Behaviour) -> Result<Self, CommandError> {
        let evaluator = Evaluator { behaviour, own: None };
        let machine = EvaluatorMachine::started(profile, &evaluator)?;
        let code = machine.code();
        Ok(Self { machine, counter: StepCounter::new(&code), code })
    }

    fn examine(&mut self, named: &NamedPosition) -> Result<(), CommandError> {
        let Self { machine, counter, .. } = self;
        machine.send(&Request::Position { squares: encode::squares(&named.position()) });
        if counter.run(&mut machine.board, MAX_POSITION_T_STATES)
            && !machine.take_replies().is_empty()
        {
            return Ok(());
        }
        Err(CommandError::new(ENVIRONMENT, format!("{}: the board does not reply", named.id)))
    }
}

fn report(
    args: &ProfileArgs,
    counter: &StepCounter,
    code: &CodeMap,
) -> Result<String, CommandError> {
    let routines = routine_times(counter, code);
    let lines = line_times(counter, code);
    if args.json {
        return json_line(&json!({ "routines": routines, "lines": lines }));
    }
    if !args.annotate.is_empty() {
        let annotated = |file| Ok(annotated_source(find_file(code, file)?, counter, code));
        let files: Result<Vec<String>, CommandError> =
            args.annotate.iter().map(String::as_str).map(annotated).collect();
        return Ok(files?.join("\n"));
    }
    Ok(format!("{}\n{}", routine_table(&routines), line_table(&lines, args.lines, code)))
}

/// Returns the file that the user means.
///
/// # Errors
/// Returns an error if no program has it, or if its text can't be read.
fn find_file<'c>(code: &'c CodeMap, file: &str) -> Result<&'c str, CommandError> {
    let found = code.find_file(file).map_err(|error| CommandError::new(USAGE, error))?;
    if code.text(found).is_empty() {
        return Err(CommandError::new(USAGE, format!("the text of {found} can't be read")));
    }
    Ok(found)
}
