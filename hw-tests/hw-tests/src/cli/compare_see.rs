//! `hw-tests compare-see`: exchange values of a user's own engine or script beside ours.

mod peer;
mod table;

use std::time::Duration;

use chess_rules::see::{ByDefinition, Definition, Values, values_of};
use chess_rules::{Move, Position};
use clap::{Args, ValueEnum};
use cli_support::exit::{Failure, Outcome, RIG, USAGE, WRONG};
use cli_support::text;
use sargon_analysis::{AfterMove, after_move};
use serde::Serialize;
use serde_json::json;

use cli_support::output::{counted, json_line, print};
use peer::Peer;
use sargon_corpus::args::{Named, PositionArgs};
use table::{Counts, row, summary};

#[derive(Args)]
pub(super) struct CompareArgs {
    /// The command; a shell runs it. It gets a line for each move and answers each with a line
    #[arg(value_name = "CMD")]
    command: String,
    #[command(flatten)]
    positions: PositionArgs,
    /// The worth of pieces: wiki, tutorial, classic, units, sargon, or P,N,B,R,Q,K
    #[arg(long, value_name = "VALUES", default_value = "units")]
    values: Values,
    /// The definition by which the command is judged
    #[arg(long, value_name = "swap|swap_promo|legal", default_value_t)]
    by: Definition,
    /// The form of the command's input: `FEN; MOVE`, or an object with fen, move, san and values
    #[arg(long, value_name = "FORM", default_value = "text")]
    input: Input,
    /// Ask for captures only
    #[arg(long)]
    captures: bool,
    /// Seconds that an answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u64,
    /// Print every move whose value differs, not the first 20
    #[arg(long, conflicts_with = "json")]
    list: bool,
    /// One line of JSON a move, and a last one with the counts
    #[arg(long)]
    json: bool,
}

/// The form of the lines that the command gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Input {
    Text,
    Json,
}

/// The rows of a table that is not asked for in full.
const FIRST: usize = 20;
/// The longest time that an answer may be given, in seconds.
const LONGEST: u64 = 3600;

/// A move with its value by the command and by every evaluator here.
#[derive(Serialize)]
struct Asked<'a> {
    id: &'a str,
    fen: &'a str,
    uci: String,
    san: String,
    /// `None` if the command declined to give one.
    theirs: Option<i64>,
    #[serde(flatten)]
    ours: ByDefinition,
    /// In Sargon's points, scaled to the values where they have the same proportions.
    minimax: Option<i32>,
    sargon: Option<i32>,
}

pub(super) fn compare(args: &CompareArgs) -> Outcome {
    if !(1..=LONGEST).contains(&args.timeout) {
        let problem = format!("--timeout is from 1 to {LONGEST} seconds");
        return Err(Failure::new(USAGE, problem));
    }
    let positions = args.positions.read(args.json)?;
    let mut peer = Peer::start(&args.command, Duration::from_secs(args.timeout))
        .map_err(|error| Failure::new(RIG, error))?;
    let mut counts = Counts::default();
    let asked = positions.each(args.json, |named| ask_all(args, named, &mut peer, &mut counts));
    // What was answered before a failure is shown all the same.
    if args.json {
        #[derive(Serialize)]
        struct Total<'a> {
            counts: &'a Counts,
        }
        print(&json_line(&Total { counts: &counts })?)?;
    } else {
        print(&summary(&counts))?;
    }
    for note in peer.notes() {
        text::tell(note);
    }
    asked?;
    peer.finish().map_err(|error| Failure::new(RIG, error))?;
    positions.conclude(match counts.differing(args.by) {
        0 => Ok(0),
        differ => {
            let values = counted(differ, "value");
            Err(Failure::new(WRONG, format!("{values} of the command differ from {}", args.by)))
        }
    })
}

/// Asks for the moves of one position.
fn ask_all(
    args: &CompareArgs,
    named: &Named,
    peer: &mut Peer,
    counts: &mut Counts,
) -> Result<(), Failure> {
    let position = &named.entry.position;
    let moves = if args.captures { position.legal_captures() } else { position.legal_moves() };
    for m in moves {
        let theirs = peer.ask(&question(args, named, m)).map_err(|error| {
            let played = position.uci(m);
            Failure::new(RIG, format!("{error}, asked for {} {played}", named.fen))
        })?;
        let asked = Asked::of(args.values, named, m, theirs);
        let differs = counts.add(&asked, args.by);
        if args.json {
            print(&json_line(&asked)?)?;
        } else if differs && (args.list || counts.differing(args.by) <= FIRST) {
            print(&row(&asked))?;
        }
    }
    Ok(())
}

fn question(args: &CompareArgs, named: &Named, m: Move) -> String {
    let position = &named.entry.position;
    let uci = position.uci(m);
    match args.input {
        Input::Text => format!("{}; {uci}\n", named.fen),
        Input::Json => {
            let values = &args.values.0;
            let san = position.san(m);
            let line = json!({ "fen": named.fen, "move": uci, "san": san, "values": values });
            format!("{line}\n")
        }
    }
}

impl<'a> Asked<'a> {
    fn of(values: Values, named: &'a Named, m: Move, theirs: Option<i64>) -> Self {
        let position: &Position = &named.entry.position;
        let points = scale(values).map(|scale| (scale, after_move(position, m)));
        let scaled = |value: fn(&AfterMove) -> i32| {
            points.as_ref().map(|(scale, after)| scale * value(after))
        };
        Self {
            id: &named.id,
            fen: &named.fen,
            uci: position.uci(m),
            san: position.san(m),
            theirs,
            ours: values_of(position, m, values),
            minimax: scaled(|after| after.minimax),
            sargon: scaled(|after| after.sargon),
        }
    }
}

/// The worth of one of Sargon's points; `None` if the values have other proportions.
fn scale(values: Values) -> Option<i32> {
    let pawn = values.0[0];
    let same =
        values.0.iter().zip(Values::SARGON.0).take(5).all(|(own, points)| *own == pawn * points);
    same.then_some(pawn)
}
