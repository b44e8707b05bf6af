//! `sargon prizes`: how the residues of a position are used, on host and board.

use std::cell::Cell;
use std::fmt::Write;

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, FAILED, USAGE};
use cli_support::text;
use firmware_wire::{PointsReply, danger};
use sargon_corpus::analysis::{Prizes, ScoreAdjustment};
use sargon_reference::{Behaviour, Colour, Position, Square, evaluate_as};
use sargon_suite::SargonBoard;
use sargon_suite::compare::compare_points;
use serde::Serialize;

use crate::explain::names::side;
use cli_support::output::{pluralize, print};
use sargon_corpus::args::{
    NamedPosition, PositionArgs, PositionStream, SinglePosition, parse_square,
};
use sargon_suite::args::SargonBoardArgs;

#[derive(Args)]
pub(super) struct PrizesArgs {
    #[command(flatten)]
    positions: PositionArgs,
    #[command(flatten)]
    board: SargonBoardArgs,
    /// Target square of the last move; with a single position only
    #[arg(long, value_name = "SQUARE", value_parser = parse_square)]
    moved: Option<Square>,
    /// Print JSON, one line per position
    #[arg(long)]
    json: bool,
}

/// Bytes among which a second position is found.
const LOOKAHEAD_BYTES: usize = 1 << 20;

pub(super) fn prizes(args: &PrizesArgs) -> CommandResult {
    let mut positions = args.positions.open(args.json)?;
    if args.moved.is_some() && has_several(&mut positions) {
        return Err(CommandError::new(USAGE, "--moved works with a single position only"));
    }
    let mut rig = SargonBoard::prepare(&args.board.plan()?)?;
    let mut wrong = 0;
    let mut single = SinglePosition::default();
    positions.for_each(
        |_| (),
        |named, (), _| {
            let found = PositionPrizes::of(&mut rig, named, args.moved)?;
            let differences = compare_points(&found.host, &found.board);
            wrong += usize::from(!differences.is_empty());
            if args.json {
                print(&named.json(&found.line())?)?;
            } else {
                single.add(|| found.table());
            }
            for difference in &differences {
                text::eprint_message(format!("{} {}: {difference}", named.id, named.fen));
            }
            Ok(())
        },
    )?;
    let count = positions.count();
    print(&single.text())?;
    if !args.json && count > 1 {
        print(&format!("{} compared, {wrong} differ\n", pluralize(count, "position")))?;
    }
    let code = positions.finish(match wrong {
        0 => Ok(0),
        _ => Err(CommandError::new(FAILED, "board and host differ, as reported above")),
    })?;
    rig.live.return_to_monitor()?;
    Ok(code)
}

fn has_several(positions: &mut PositionStream) -> bool {
    let count = Cell::new(0);
    positions.starts_with_any(LOOKAHEAD_BYTES, |_| count.replace(count.get() + 1) > 0)
}

struct PositionPrizes {
    mover: Colour,
    moved: Option<Square>,
    host: Prizes,
    board: PointsReply,
}

/// The fields of a line of `--json` besides the position.
#[derive(Serialize)]
struct PrizesLine {
    moved: Option<String>,
    host: PrizeColumn,
    board: PrizeColumn,
}

#[derive(Serialize)]
struct PrizeColumn {
    lost: u8,
    prizes: [u8; 2],
    article_danger: bool,
    article_lost: f64,
    article_won: f64,
    original_danger: bool,
    original_lost: f64,
    original_won: f64,
}

impl PositionPrizes {
    fn of(
        rig: &mut SargonBoard,
        named: &NamedPosition,
        moved: Option<Square>,
    ) -> Result<Self, CommandError> {
        let position = &named.position();
        let mover = position.to_move.other();
        let board = rig
            .request_points(position, mover, moved)
            .map_err(|e| CommandError::new(ENVIRONMENT, e))?;
        let host = host(position, rig.criteria.behaviour, mover, moved);
        Ok(Self { mover, moved, host, board })
    }

    fn columns(&self) -> [PrizeColumn; 2] {
        let account = |[lost, won]: [u8; 2], parts| ScoreAdjustment { lost, won, parts };
        let Prizes { lost, first, second, article_danger, original_danger } = self.host;
        let host = column(
            lost,
            [first, second],
            [article_danger, original_danger],
            self.host.article(),
            self.host.original(),
        );
        let board = &self.board;
        let dangers = [danger::ARTICLE, danger::ORIGINAL].map(|bit| board.danger & bit != 0);
        let article = account(board.article, 4);
        let original = account(board.original, 2);
        [host, column(board.lost, board.prizes, dangers, article, original)]
    }

    fn line(&self) -> PrizesLine {
        let [host, board] = self.columns();
        let moved = self.moved.map(|square| square.to_string());
        PrizesLine { moved, host, board }
    }

    fn table(&self) -> String {
        let mover = side(self.mover);
        let other = side(self.mover.other());
        let mut text = match self.moved {
            Some(square) => format!("{mover} has just moved to {square}, {other} moves next\n"),
            None => format!("{mover} has just moved, {other} moves next\n"),
        };
        let _ = writeln!(text, "{:<38}{:>8}{:>8}", "points", "host", "board");
        let columns = self.columns();
        let mut row = |name: &str, value: fn(&PrizeColumn) -> String| {
            let [host, board] = columns.each_ref().map(value);
            let _ = writeln!(text, "{name:<38}{host:>8}{board:>8}");
        };
        row(&format!("highest loss of {mover}"), |c| c.lost.to_string());
        row(&format!("highest loss of {other}"), |c| c.prizes[0].to_string());
        row(&format!("second highest loss of {other}"), |c| c.prizes[1].to_string());
        row("article: the piece moved is in danger", |c| yes(c.article_danger));
        row("         lost", |c| c.article_lost.to_string());
        row("         won, 3/4 of the second prize", |c| c.article_won.to_string());
        row("         balance", |c| (c.article_won - c.article_lost).to_string());
        row("program: the piece moved is in danger", |c| yes(c.original_danger));
        row("         lost", |c| c.original_lost.to_string());
        row("         won", |c| c.original_won.to_string());
        row("         balance", |c| (c.original_won - c.original_lost).to_string());
        text
    }
}

fn host(position: &Position, behaviour: Behaviour, mover: Colour, moved: Option<Square>) -> Prizes {
    let verdicts = evaluate_as(position, behaviour).squares;
    let residues = verdicts.into_iter().map(|v| (v.square, v.piece, v.outcome.residue));
    Prizes::gather(mover, moved, residues)
}

fn column(
    lost: u8,
    prizes: [u8; 2],
    [article_danger, original_danger]: [bool; 2],
    article: ScoreAdjustment,
    original: ScoreAdjustment,
) -> PrizeColumn {
    let points = |count: u8, account: ScoreAdjustment| f64::from(count) / f64::from(account.parts);
    PrizeColumn {
        lost,
        prizes,
        article_danger,
        article_lost: points(article.lost, article),
        article_won: points(article.won, article),
        original_danger,
        original_lost: points(original.lost, original),
        original_won: points(original.won, original),
    }
}

fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}
