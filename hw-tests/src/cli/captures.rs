//! `hw-tests captures`: the captures of a position as a modern search would order and prune them.

use std::fmt::Write;

use clap::Args;
use cozy_chess::{Color, Piece, Square};
use hw_tests::modern::{
    Capture, Exchange, Ordered, Pieces, Statistics, Values, order_captures, side, soma,
};
use rcflash::exit::{Failure, Outcome};
use serde::Serialize;

use super::positions::{Named, PositionArgs};
use super::{counted, json_line, print};

#[derive(Args)]
pub(super) struct CapturesArgs {
    #[command(flatten)]
    positions: PositionArgs,
    /// What pieces are worth: wiki, tutorial, sargon, or P,N,B,R,Q,K
    #[arg(long, value_name = "VALUES", default_value = "wiki")]
    values: Values,
    /// One line of JSON a position
    #[arg(long)]
    json: bool,
}

pub(super) fn captures(args: &CapturesArgs) -> Outcome {
    let positions = args.positions.positions()?;
    let mut total = Statistics::default();
    for named in &positions {
        let found = Found::of(named, args.values);
        total += found.ordered.statistics;
        if args.json {
            print(&found.json(named)?)?;
        } else if positions.len() == 1 {
            print(&found.text())?;
        }
    }
    if !args.json {
        print(&summary(positions.len(), total))?;
    }
    Ok(0)
}

/// What there is to capture in a position.
struct Found {
    pieces: Pieces,
    ordered: Ordered,
    line: Vec<Exchange>,
}

/// One line of `--json`.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    fen: &'a str,
    captures: Vec<Entry>,
    dropped: Vec<Entry>,
    statistics: Statistics,
    line: Vec<ExchangeEntry>,
}

/// A capture.
#[derive(Serialize)]
struct Entry {
    capture: String,
    gain: i32,
}

/// An exchange of the position's line.
#[derive(Serialize)]
struct ExchangeEntry {
    side: &'static str,
    square: String,
    from: Vec<String>,
    gain: i32,
}

impl Found {
    fn of(named: &Named, values: Values) -> Self {
        let pieces = Pieces::from(&named.position);
        let mover = side(named.position.to_move);
        let ordered = order_captures(&pieces, mover, values);
        let line = soma(&pieces, mover, values);
        Self { pieces, ordered, line }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let row = |text: &mut String, capture: &Capture, note| {
            let _ = writeln!(text, "  {:<8}{:>7}{note}", self.notation(capture), capture.value);
        };
        for capture in &self.ordered.captures {
            row(&mut text, capture, "");
        }
        for capture in &self.ordered.dropped {
            row(&mut text, capture, "  dropped");
        }
        for Exchange { side, square, from, gain } in &self.line {
            let from: Vec<_> = from.iter().map(Square::to_string).collect();
            let (side, from) = (name(*side), from.join(" "));
            let _ = writeln!(text, "exchange on {square}: {side} gains {gain}, taking from {from}");
        }
        text
    }

    fn json(&self, named: &Named) -> Result<String, Failure> {
        let entries = |captures: &[Capture]| {
            let entry = |c: &Capture| Entry { capture: self.notation(c), gain: c.value };
            captures.iter().map(entry).collect()
        };
        let exchange = |exchange: &Exchange| ExchangeEntry {
            side: name(exchange.side),
            square: exchange.square.to_string(),
            from: exchange.from.iter().map(Square::to_string).collect(),
            gain: exchange.gain,
        };
        let line = Line {
            id: &named.id,
            fen: &named.fen,
            captures: entries(&self.ordered.captures),
            dropped: entries(&self.ordered.dropped),
            statistics: self.ordered.statistics,
            line: self.line.iter().map(exchange).collect(),
        };
        json_line(&line)
    }

    /// Such as `Nd3xe5`, pawns without a letter.
    fn notation(&self, capture: &Capture) -> String {
        let letter = match self.pieces.on(capture.from) {
            Some((_, Piece::Pawn)) | None => String::new(),
            Some((_, piece)) => piece.to_string().to_uppercase(),
        };
        format!("{letter}{}x{}", capture.from, capture.to)
    }
}

fn name(side: Color) -> &'static str {
    match side {
        Color::White => "White",
        Color::Black => "Black",
    }
}

fn summary(positions: usize, statistics: Statistics) -> String {
    let Statistics { evaluated, winning, equal, losing, pruned } = statistics;
    let share = |count: usize| 100.0 * count as f64 / evaluated.max(1) as f64;
    let mut text =
        format!("captures evaluated {evaluated:>6} in {}\n", counted(positions, "position"));
    for (what, count) in
        [("winning", winning), ("equal", equal), ("losing", losing), ("pruned", pruned)]
    {
        let _ = writeln!(text, "{what:<18} {count:>6} {:>5.1} %", share(count));
    }
    text
}
