//! `hw-tests profile`: where the T-states of the Z80 code go.

use std::path::{Path, PathBuf};

use clap::Args;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;
use firmware::wire::Request;
use hw_tests::debug::{CodeMap, Machine};
use hw_tests::encode;
use hw_tests::measure::{Meter, annotated, line_table, lines, routine_table, routines, svg};
use rcflash::exit::{Failure, Outcome, RIG, USAGE};
use rcflash::rig::DEFAULT_BOARD;
use serde_json::json;
use tdlasm::output::write_whole;

use super::positions::PositionArgs;
use super::{json_line, print};

/// T-states that the board may take for a position before it is taken for lost.
const PATIENCE: u64 = 20_000_000;

#[derive(Args)]
pub(super) struct ProfileArgs {
    #[command(flatten)]
    positions: PositionArgs,
    /// The simulated board's profile
    #[arg(long, value_name = "PROFILE", default_value = DEFAULT_BOARD)]
    board: String,
    /// The evaluator's behaviour
    #[arg(long, value_name = "mended|1978", default_value_t)]
    behaviour: Behaviour,
    /// How many lines to show, those with most T-states
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    lines: usize,
    /// Show the listing of a file instead, such as xchng.asm, with the T-states and runs of each line; may be given again
    #[arg(long, value_name = "FILE")]
    annotate: Vec<String>,
    /// Write a flame graph: who called whom, and for how long
    #[arg(long, value_name = "FILE.svg")]
    flame: Option<PathBuf>,
    /// Print all routines and lines as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn profile(args: &ProfileArgs) -> Outcome {
    let positions = args.positions.positions()?;
    let evaluator = Evaluator { behaviour: args.behaviour, own: None };
    let mut machine = Machine::with_application(&Profile::named(&args.board)?, &evaluator)?;
    let code = machine.code();
    for file in &args.annotate {
        check_file(&code, file)?;
    }
    let mut meter = Meter::default();
    for named in &positions {
        machine.send(&Request::Position { squares: encode::squares(&named.position) });
        if !meter.run(&mut machine.board, PATIENCE) || machine.replies().is_empty() {
            return Err(Failure::new(RIG, format!("{}: the board does not answer", named.id)));
        }
    }
    if let Some(file) = &args.flame {
        let title = format!("{} positions on {}, T-states", positions.len(), args.board);
        write_picture(file, &svg(meter.calls(), &code, &title))?;
    }
    print(&shown(args, &meter, &code)?)?;
    Ok(0)
}

/// What goes to standard output.
fn shown(args: &ProfileArgs, meter: &Meter, code: &CodeMap) -> Result<String, Failure> {
    let (routines, lines) = (routines(meter, code), lines(meter, code));
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

fn write_picture(file: &Path, svg: &str) -> Result<(), Failure> {
    write_whole(file, svg.as_bytes())
        .map_err(|error| Failure::new(RIG, format!("can't write {}: {error}", file.display())))
}
