//! `sargon captures`: the legal captures of a position with their values, in search order.

use std::fmt::Write;

use chess_rules::see::{
    OrderedCaptures, OrderingStats, PieceValues, SeeDefinition, SomaExchange, ValuedCapture,
    ValuesByDefinition, order_captures, soma_of,
};
use chess_rules::{Color, IllegalReason, Square};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult};
use cli_support::output::{pluralize, print};
use sargon_corpus::args::{Jobs, NamedPosition, OutputForm, PositionArgs, SinglePosition, comment};
use serde::Serialize;

use crate::values::{COLUMNS, DEFAULT_VALUES, columns};

#[derive(Args)]
pub(super) struct CapturesArgs {
    #[command(flatten)]
    positions: PositionArgs,
    #[command(flatten)]
    jobs: Jobs,
    /// Piece values: wiki, tutorial, classic, units, sargon, or whole numbers P,N,B,R,Q,K
    #[arg(long, value_name = "VALUES", default_value_t = DEFAULT_VALUES)]
    values: PieceValues,
    /// Definition by which captures are ordered and pruned
    #[arg(long, value_name = "swap|swap_promo|swap_pins|legal", default_value_t)]
    by: SeeDefinition,
    #[command(flatten)]
    form: OutputForm,
}

pub(super) fn captures(args: &CapturesArgs) -> CommandResult {
    let mut positions = args.positions.open_as(args.form)?.with_jobs(args.jobs);
    let mut total = OrderingStats::default();
    let mut single = SinglePosition::default();
    let evaluate = |named: &NamedPosition| {
        let ordered = order_captures(&named.entry.position, args.values, args.by);
        let line = match args.form {
            OutputForm { json: true, .. } => Some(json(named, &ordered, args.values)),
            OutputForm { epd: true, .. } => Some(Ok(epd(named, &ordered, args.by))),
            _ => None,
        };
        (ordered, line)
    };
    positions.for_each(evaluate, |named, (ordered, line), output| {
        total += ordered.statistics;
        match line {
            Some(line) => output.push_str(&line?),
            None => single.add(|| text(named, &ordered, args.values)),
        }
        Ok(())
    })?;
    if args.form.is_text() {
        print(&(single.text() + &summary(positions.count(), total)))?;
    }
    positions.finish(Ok(0))
}

/// The fields of a line of `--json` besides the position.
#[derive(Serialize)]
struct CapturesLine {
    captures: Vec<CaptureEntry>,
    illegal: Vec<IllegalEntry>,
    statistics: OrderingStats,
    exchanges: Vec<ExchangeEntry>,
}

#[derive(Serialize)]
struct CaptureEntry {
    uci: String,
    san: String,
    #[serde(flatten)]
    value: ValuesByDefinition,
    dropped: bool,
}

/// A pseudo-legal capture that is not legal.
#[derive(Serialize)]
struct IllegalEntry {
    uci: String,
    reason: &'static str,
}

#[derive(Serialize)]
struct ExchangeEntry {
    side: &'static str,
    square: String,
    from: Vec<String>,
    gain: i32,
}

fn json(
    named: &NamedPosition,
    ordered: &OrderedCaptures,
    values: PieceValues,
) -> Result<String, CommandError> {
    let position = &named.entry.position;
    let entry = |capture: &ValuedCapture, dropped| CaptureEntry {
        uci: position.uci(capture.played),
        san: position.san(capture.played),
        value: capture.value,
        dropped,
    };
    let kept = ordered.captures.iter().map(|capture| entry(capture, false));
    let dropped = ordered.dropped.iter().map(|capture| entry(capture, true));
    let illegal = ordered.illegal.iter();
    let exchange = |exchange: &SomaExchange| ExchangeEntry {
        side: name(exchange.side),
        square: exchange.square.to_string(),
        from: exchange.from.iter().map(Square::to_string).collect(),
        gain: exchange.gain,
    };
    let found = CapturesLine {
        captures: kept.chain(dropped).collect(),
        illegal: illegal
            .map(|(m, why)| IllegalEntry { uci: position.uci(*m), reason: reason(*why) })
            .collect(),
        statistics: ordered.statistics,
        exchanges: soma_of(position, ordered, values).iter().map(exchange).collect(),
    };
    named.json(&found)
}

/// Returns the captures with their values, best first, as a comment of EPD.
fn epd(named: &NamedPosition, ordered: &OrderedCaptures, by: SeeDefinition) -> String {
    let captures = ordered.captures.iter().chain(&ordered.dropped);
    let san = |played| named.entry.position.san(played);
    let values = captures.map(|capture| (san(capture.played), capture.value.by(by)));
    named.epd(None, &[comment("see", values)])
}

fn reason(why: IllegalReason) -> &'static str {
    match why {
        IllegalReason::Pin => "pin",
        IllegalReason::King => "king",
        IllegalReason::Check => "check",
        IllegalReason::EnPassant => "ep",
    }
}

fn text(named: &NamedPosition, ordered: &OrderedCaptures, values: PieceValues) -> String {
    let position = &named.entry.position;
    let mut text = String::new();
    if ordered.statistics.evaluated > 0 {
        let _ = writeln!(text, "  {:<10}{COLUMNS}", "");
    }
    let mut row = |capture: &ValuedCapture, note| {
        let san = position.san(capture.played);
        let _ = writeln!(text, "  {san:<10}{}{note}", columns(&capture.value));
    };
    ordered.captures.iter().for_each(|capture| row(capture, ""));
    ordered.dropped.iter().for_each(|capture| row(capture, "  dropped"));
    for SomaExchange { side, square, from, gain } in soma_of(position, ordered, values) {
        let from: Vec<_> = from.iter().map(Square::to_string).collect();
        let from = from.join(" ");
        let side = name(side);
        let _ = writeln!(text, "exchange on {square}: {side} gains {gain}, taking from {from}");
    }
    text
}

fn name(side: Color) -> &'static str {
    match side {
        Color::White => "White",
        Color::Black => "Black",
    }
}

fn summary(positions: usize, statistics: OrderingStats) -> String {
    let OrderingStats { evaluated, winning, equal, losing, pruned } = statistics;
    let share = |count: usize| 100.0 * count as f64 / evaluated.max(1) as f64;
    let mut text =
        format!("captures evaluated {evaluated:>6} in {}\n", pluralize(positions, "position"));
    for (what, count) in
        [("winning", winning), ("equal", equal), ("losing", losing), ("pruned", pruned)]
    {
        let _ = writeln!(text, "{what:<18} {count:>6} {:>5.1} %", share(count));
    }
    text
}
