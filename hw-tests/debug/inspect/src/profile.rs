//! `hw-inspect profile`: where the T-states of the Z80 code go.

use std::path::PathBuf;

use board_debugger::open_program;
use board_simulator::profiling::{
    CallgrindProfile, StepCounter, annotated_source, comparison_table, flame_graph_svg, line_table,
    line_times, routine_table, routine_times, to_speedscope,
};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, USAGE};
use cli_support::files::write_output;
use firmware::code_map::CodeMap;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use sargon_debugging::open_position;
use serde_json::json;

use super::sampling::Sampling;
use super::target::{TargetArgs, target_error};
use super::workload::Workload;
use crate::ExitResult;
use cli_support::output::{json_line, print};
use sargon_corpus::args::{NamedPosition, PositionStream};

#[derive(Args)]
pub(super) struct ProfileArgs {
    #[command(flatten)]
    workload: Workload,
    #[command(flatten)]
    line: TargetArgs,
    /// Samples to take on a real board
    #[arg(long, value_name = "COUNT", default_value_t = 500)]
    samples: u64,
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
    let profile = args.line.profile()?;
    if args.line.uses_kernel() {
        return sample(args, &profile);
    }
    let behaviours = [args.workload.behaviour].into_iter().chain(args.against);
    let boards: Vec<_> = behaviours.map(|behaviour| (&profile, behaviour)).collect();
    let measured = args.workload.run(&boards)?;
    if let [one, other] = &measured.runs[..] {
        let names = boards.iter().map(|(_, behaviour)| behaviour.to_string()).collect::<Vec<_>>();
        let times = [one, other].map(|(counter, code)| routine_times(counter, code));
        if args.json {
            let of = |at: usize| json!({ "behaviour": names[at], "routines": times[at] });
            print(&json_line(&[of(0), of(1)])?)?;
        } else {
            let count = measured.positions.as_ref().map_or(0, PositionStream::count);
            print(&comparison_table([&names[0], &names[1]], &times, count))?;
        }
        return measured.finish(Ok(0));
    }
    for (counter, code) in &measured.runs {
        for file in &args.annotate {
            find_file(code, file)?;
        }
        let title = format!("{}, T-states", measured.title(&args.workload, &profile));
        write_profiles(args, counter, code, &title)?;
        print(&report(args, counter, code)?)?;
    }
    measured.finish(Ok(0))
}

/// Writes the files for other programs.
fn write_profiles(
    args: &ProfileArgs,
    counter: &StepCounter,
    code: &CodeMap,
    title: &str,
) -> Result<(), CommandError> {
    if let Some(file) = &args.flame {
        write_output(file, flame_graph_svg(counter.calls(), code, title).as_bytes())?;
    }
    if let Some(file) = &args.speedscope {
        write_output(file, json_line(&to_speedscope(counter, code, title))?.as_bytes())?;
    }
    if let Some(file) = &args.callgrind {
        let mut profile = CallgrindProfile::default();
        profile.add(counter, code);
        write_output(file, profile.to_text(title).as_bytes())?;
    }
    Ok(())
}

fn sample(args: &ProfileArgs, profile: &BoardProfile) -> CommandResult {
    let sampling = Sampling { sample_count: args.samples as usize, json: args.json };
    let Workload { positions, behaviour, user } = &args.workload;
    if let Some(program) = args.workload.load(profile)? {
        let kernel = args.line.connect(profile)?;
        let mut debugger = open_program(profile, program, kernel).map_err(target_error)?;
        return sampling.program(&mut debugger, user.send.as_deref().unwrap_or_default());
    }
    let mut positions = positions.open(false)?;
    let mut all = Vec::new();
    positions.for_each(NamedPosition::position, |_, position, _| {
        all.push(position);
        Ok(())
    })?;
    let Some(first) = all.first() else { return positions.finish(Ok(0)) };
    let evaluator = Evaluator { behaviour: *behaviour, own: None };
    let kernel = args.line.connect(profile)?;
    let mut debugger =
        open_position(profile, &evaluator, first, kernel, &mut |_| false).map_err(target_error)?;
    sampling.evaluator(&mut debugger, &all)?;
    positions.finish(Ok(0))
}

fn report(args: &ProfileArgs, counter: &StepCounter, code: &CodeMap) -> ExitResult<String> {
    let routines = routine_times(counter, code);
    let lines = line_times(counter, code);
    if args.json {
        return json_line(&json!({ "routines": routines, "lines": lines }));
    }
    if !args.annotate.is_empty() {
        let annotated = |file: &String| Ok(annotated_source(find_file(code, file)?, counter, code));
        let files: ExitResult<Vec<String>> = args.annotate.iter().map(annotated).collect();
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
