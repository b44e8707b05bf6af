//! `hw-tests profile`: where the T-states of the Z80 code go.

use cli_support::text::Show;
use std::path::{Path, PathBuf};

use board_debugger::Machine;
use board_debugger::profiling::{
    RoutineTime, StepCounter, annotated, callgrind, compared_table, line_table, lines,
    routine_table, routines, speedscope, svg,
};
use clap::Args;
use cli_support::exit::{Failure, Outcome, RIG, USAGE};
use cli_support::files::write_whole;
use firmware::code::CodeMap;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;
use firmware_wire::Request;
use sargon_corpus::encode;
use serde_json::json;

use super::sampling::Sampling;
use super::target::TargetArgs;
use super::workload::Workload;
use cli_support::output::{json_line, print};
use sargon_corpus::args::{Named, PositionArgs};

/// T-states that the board may take for a position before it is taken for lost.
const PATIENCE: u64 = 20_000_000;

#[derive(Args)]
pub(super) struct ProfileArgs {
    #[command(flatten)]
    positions: PositionArgs,
    #[command(flatten)]
    workload: Workload,
    /// The board's profile; rc2014-classic if nothing names another
    #[arg(long, value_name = "PROFILE")]
    board: Option<String>,
    #[command(flatten)]
    line: TargetArgs,
    /// The number of samples to take on a board at the end of a line
    #[arg(long, value_name = "COUNT", default_value_t = 500)]
    samples: u64,
    /// The evaluator's behaviour
    #[arg(long, value_name = "mended|1978|fast", default_value_t)]
    behaviour: Behaviour,
    /// Measure this behaviour, too, and show the routines of both beside each other
    #[arg(
        long,
        value_name = "mended|1978|fast",
        conflicts_with_all = ["way", "program", "annotate", "flame", "speedscope", "callgrind", "lines"]
    )]
    against: Option<Behaviour>,
    /// The number of lines to show, those with most T-states
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    lines: usize,
    /// Show the listing of a file instead, such as xchng.asm, with the T-states and runs of each
    /// line; may be given again
    #[arg(long, value_name = "FILE", conflicts_with = "way")]
    annotate: Vec<String>,
    /// Write a flame graph: who called whom, and for how long
    #[arg(long, value_name = "FILE.svg", conflicts_with = "way")]
    flame: Option<PathBuf>,
    /// Write a profile for speedscope (speedscope.app)
    #[arg(long, value_name = "FILE.json", conflicts_with = "way")]
    speedscope: Option<PathBuf>,
    /// Write a profile for KCachegrind and callgrind_annotate
    #[arg(long, value_name = "FILE", conflicts_with = "way")]
    callgrind: Option<PathBuf>,
    /// Print all routines and lines as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn profile(args: &ProfileArgs) -> Outcome {
    let profile = args.line.profile(args.board.as_deref())?;
    if args.workload.is_some() && !args.positions.is_empty() {
        return Err(Failure::new(USAGE, "--program runs a program; leave the positions out"));
    }
    if args.line.has_line() {
        return sample(args, &profile);
    }
    if let Some(against) = args.against {
        return compare(args, &profile, against);
    }
    let mut positions = None;
    let Measured { meter, code, title } = match args.workload.run(&profile)? {
        Some((meter, code)) => {
            let title = format!("{} on {}", args.workload.name(), profile.name);
            Measured { meter, code, title }
        }
        None => {
            let positions = positions.insert(args.positions.read(false)?);
            let mut bench = Bench::new(&profile, args.behaviour)?;
            positions.each(false, |named| bench.examine(named))?;
            let title = format!("{} positions on {}", positions.count(), profile.name);
            Measured { meter: bench.meter, code: bench.code, title }
        }
    };
    for file in &args.annotate {
        check_file(&code, file)?;
    }
    let title = format!("{title}, T-states");
    if let Some(file) = &args.flame {
        write(file, &svg(meter.calls(), &code, &title))?;
    }
    if let Some(file) = &args.speedscope {
        write(file, &json_line(&speedscope(&meter, &code, &title))?)?;
    }
    if let Some(file) = &args.callgrind {
        write(file, &callgrind(&meter, &code, &title))?;
    }
    print(&shown(args, &meter, &code)?)?;
    positions.map_or(Ok(0), |positions| positions.conclude(Ok(0)))
}

/// Takes samples on a board at the end of a line.
fn sample(args: &ProfileArgs, profile: &Profile) -> Outcome {
    let sampling = Sampling { wanted: args.samples, json: args.json };
    let board = args.board.as_deref();
    if let Some(program) = args.workload.load(profile)? {
        return sampling.program(args.line.reach(board)?, program, args.workload.input());
    }
    let positions = args.positions.read(false)?;
    let evaluator = Evaluator { behaviour: args.behaviour, own: None };
    sampling.evaluator(args.line.reach(board)?, &evaluator, &positions)
}

/// The measurements.
struct Measured {
    meter: StepCounter,
    code: CodeMap,
    title: String,
}

/// Measures two behaviours over the same positions.
fn compare(args: &ProfileArgs, profile: &Profile, against: Behaviour) -> Outcome {
    let positions = args.positions.read(false)?;
    let both = [args.behaviour, against];
    let [mut first, mut second] = [Bench::new(profile, both[0])?, Bench::new(profile, both[1])?];
    positions.each(false, |named| {
        first.examine(named)?;
        second.examine(named)
    })?;
    let times = [first.routines(), second.routines()];
    let names = both.map(|behaviour| behaviour.to_string());
    if args.json {
        let of = |at: usize| json!({ "behaviour": names[at], "routines": times[at] });
        print(&json_line(&[of(0), of(1)])?)?;
    } else {
        let calls = positions.count();
        print(&compared_table(names.each_ref().map(String::as_str), &times, calls))?;
    }
    positions.conclude(Ok(0))
}

/// An application that answers positions and is measured.
struct Bench {
    machine: Machine,
    meter: StepCounter,
    code: CodeMap,
}

impl Bench {
    fn new(profile: &Profile, behaviour: Behaviour) -> Result<Self, Failure> {
        let evaluator = Evaluator { behaviour, own: None };
        let machine = Machine::with_application(profile, &evaluator)?;
        let code = machine.code();
        Ok(Self { machine, meter: StepCounter::new(&code), code })
    }

    fn examine(&mut self, named: &Named) -> Result<(), Failure> {
        let Self { machine, meter, .. } = self;
        machine.send(&Request::Position { squares: encode::squares(&named.position) });
        if meter.run(&mut machine.board, PATIENCE) && !machine.replies().is_empty() {
            return Ok(());
        }
        Err(Failure::new(RIG, format!("{}: the board does not answer", named.id)))
    }

    fn routines(&self) -> Vec<RoutineTime> {
        routines(&self.meter, &self.code)
    }
}

/// The text for standard output.
fn shown(args: &ProfileArgs, meter: &StepCounter, code: &CodeMap) -> Result<String, Failure> {
    let routines = routines(meter, code);
    let lines = lines(meter, code);
    if args.json {
        return json_line(&json!({ "routines": routines, "lines": lines }));
    }
    if !args.annotate.is_empty() {
        let files: Vec<String> =
            args.annotate.iter().map(|file| annotated(file, meter, code)).collect();
        return Ok(files.join("\n"));
    }
    Ok(format!("{}\n{}", routine_table(&routines), line_table(&lines, args.lines, code)))
}

fn check_file(code: &CodeMap, file: &str) -> Result<(), Failure> {
    if !code.text(file).is_empty() {
        return Ok(());
    }
    let known = code.files().join(", ");
    Err(Failure::new(
        USAGE,
        format!("no program on the board is made of {file}; there are {known}"),
    ))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    write_whole(file, text.as_bytes())
        .map_err(|error| Failure::new(RIG, format!("can't write {}: {error}", file.shown())))
}
