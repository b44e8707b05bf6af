//! `hw-tests explain`: how the residue of one square comes about, on host and board.

mod follow;
mod show;

use std::fmt::Display;

use clap::Args;
use cli_support::exit::{Failure, NOTHING, Outcome, RIG, USAGE, WRONG};
use firmware_wire::StepRecord;
use hil_harness::live::{LiveBoard, Plan};
use sargon_analysis::{revalued, trace};
use sargon_corpus::encode;
use sargon_reference::{
    AttackersArray, Colour, Examination, Kind, Piece, Pin, Position, Square, Verdict, examine_as,
};

use super::BoardArgs;
use cli_support::output::print;
use follow::Followed;
use sargon_corpus::args::position;
use sargon_corpus::args::square_name;

#[derive(Args)]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// The position, in FEN with 4 or 6 fields
    #[arg(value_name = "FEN")]
    fen: String,
    /// The square, such as e4
    #[arg(value_name = "SQUARE", value_parser = square_name)]
    square: Square,
    /// The worth of pieces, each 1 to 15: P,N,B,R,Q,K. A third knight on one side goes for a bishop
    #[arg(long, value_name = "VALUES", default_value = "1,3,3,5,9,10")]
    values: PointValues,
}

/// The worth of each kind of piece, in numbers that the attackers array can hold.
#[derive(Clone, Copy)]
struct PointValues([u8; 6]);

impl std::str::FromStr for PointValues {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<u8>> = (text.split(','))
            .map(|number| number.trim().parse::<u8>().ok().filter(|value| (1..=15).contains(value)))
            .collect();
        let six = numbers.and_then(|numbers| numbers.try_into().ok());
        six.map(Self).ok_or_else(|| "six numbers from 1 to 15 with commas between".to_owned())
    }
}

impl PointValues {
    fn of(self, kind: Kind) -> u8 {
        self.0[kind as usize]
    }
}

/// The battle for a square, by host and board.
struct Battle {
    position: Position,
    square: Square,
    piece: Piece,
    values: PointValues,
    pins: Vec<Pin>,
    host: Findings,
    board: Findings,
    /// XCHNG's own residue on the board, for the same values.
    xchng: u8,
    /// XCHNG itself, where the board can be looked into.
    followed: Option<Followed>,
}

/// The findings of host or board.
struct Findings {
    /// With Sargon's values.
    array: AttackersArray,
    steps: Vec<StepRecord>,
}

impl Findings {
    fn residue(&self) -> u8 {
        self.steps.last().map_or(0, |step| step.residue)
    }
}

pub(super) fn explain(args: &ExplainArgs) -> Outcome {
    let position = position(&args.fen)?;
    if position.on(args.square).is_none() {
        return Err(empty(args.square));
    }
    let plan = Plan { watch_exchanges: true, ..args.board.plan()? };
    let mut rig = LiveBoard::prepare(&plan)?;
    let battle = Battle::fight(&mut rig, position, args.square, args.values)?;
    print(&show::battle(&battle))?;
    let board = &battle.board;
    if battle.host.array != board.array || battle.host.steps != board.steps {
        return Err(Failure::new(WRONG, "host and board differ"));
    }
    if battle.xchng != battle.host.residue() {
        return Err(Failure::new(WRONG, battle.wrong_residue()));
    }
    Ok(0)
}

impl Battle {
    fn fight(
        rig: &mut LiveBoard,
        position: Position,
        square: Square,
        values: PointValues,
    ) -> Result<Self, Failure> {
        let Examination { pins, verdicts, .. } = examine_as(&position, rig.behaviour());
        let verdict = verdicts.into_iter().find(|verdict| verdict.square == square);
        let Some(Verdict { piece, array, .. }) = verdict else {
            return Err(empty(square));
        };
        if promises_too_much(&array) {
            let problem = "as in 1978, the array promises more pieces than it holds, and the exchange runs \
                           on into other memory: that can't be explained";
            return Err(Failure::new(USAGE, format!("{square}: {problem}")));
        }
        // The exchange comes before the position: one that never ends is seen by itself then.
        let mut played = Played::ask(rig, piece, &array, values)?;
        let seen = rig.position(&position).map_err(|error| stuck(rig, &error))?;
        let record = seen.squares.iter().find(|record| record.square == encode::square(square));
        let Some(record) = record else {
            return Err(Failure::new(WRONG, format!("the board takes {square} for empty")));
        };
        let there = AttackersArray::from_bytes(&record.array);
        if there != array {
            played = Played::ask(rig, piece, &there, values)?;
        }
        let host = Findings { array, steps: host_steps(piece, &array, values) };
        let board = Findings { array: there, steps: played.steps };
        let Played { xchng, followed, .. } = played;
        Ok(Self { position, square, piece, values, pins, host, board, xchng, followed })
    }

    /// Describes XCHNG's residue, which is wrong, and where it goes wrong.
    fn wrong_residue(&self) -> String {
        let wrong = self.xchng;
        let right = self.host.residue();
        let first = match self.followed.as_ref().and_then(Followed::first_difference) {
            Some(row) => format!(": it first differs in row {} of XCHNG's own steps", row + 1),
            None => String::new(),
        };
        format!("the board's XCHNG returns a residue of {wrong}, not {right}{first}")
    }
}

/// An exchange that the board has played out.
struct Played {
    xchng: u8,
    steps: Vec<StepRecord>,
    followed: Option<Followed>,
}

impl Played {
    /// Has the board play an exchange out. If it does not come to an end, what was seen of it is
    /// printed.
    fn ask(
        rig: &mut LiveBoard,
        piece: Piece,
        array: &AttackersArray,
        values: PointValues,
    ) -> Result<Self, Failure> {
        let worth = revalued(array, |kind| values.of(kind));
        let stake = values.of(piece.kind);
        let answer = rig.steps(piece, stake, &worth);
        let followed = rig.take_followed().map(|seen| Followed::new(piece, stake, &worth, seen));
        match answer {
            Ok((xchng, _, steps)) => Ok(Self { xchng, steps, followed }),
            Err(error) => {
                print(&followed.as_ref().map_or(String::new(), follow::text))?;
                Err(stuck(rig, &error))
            }
        }
    }
}

fn empty(square: Square) -> Failure {
    Failure::new(NOTHING, format!("{square} is empty: nothing can be lost there"))
}

/// Returns the failure of a board that did not answer, with the place where its program is.
fn stuck(rig: &mut LiveBoard, error: &dyn Display) -> Failure {
    Failure::new(RIG, format!("{error}; {}", rig.whereabouts()))
}

/// Whether a count is higher than the entries of its section.
fn promises_too_much(array: &AttackersArray) -> bool {
    let is_short = |colour| array.in_order(colour).len() < usize::from(array.count(colour));
    is_short(Colour::White) || is_short(Colour::Black)
}

fn host_steps(piece: Piece, array: &AttackersArray, values: PointValues) -> Vec<StepRecord> {
    let array = revalued(array, |kind| values.of(kind));
    let [attackers, defenders] =
        [piece.colour.other(), piece.colour].map(|colour| array.in_order(colour));
    trace(values.of(piece.kind), &attackers, &defenders).iter().map(encode::step).collect()
}
