//! Suites of exchange values, as engines share them: `FEN; move; value; note` on each line.

use std::fmt::Write;

use chess_rules::epd::Suite;
use chess_rules::see::{ByDefinition, Definition, Values, values_of};
use cli_support::exit::{Failure, Outcome, WRONG};
use serde::Serialize;

use super::{SwapArgs, USUAL};
use cli_support::output::{counted, json_line, print};
use sargon_corpus::args::{Named, Positions};

/// Whether some line asks for the value of a move.
pub(super) fn is_suite(positions: &Positions) -> bool {
    positions.all().any(|named| named.entry.suite.is_some())
}

/// The fields of a line of `--json` besides the position.
#[derive(Serialize)]
struct Found {
    uci: String,
    san: String,
    #[serde(flatten)]
    value: ByDefinition,
    /// The definitions by which the move has the value that the line states.
    agrees: Vec<Definition>,
}

/// Counts over a suite.
#[derive(Default, Serialize)]
struct Counts {
    lines: usize,
    stated: usize,
    swap: usize,
    swap_promo: usize,
    legal: usize,
    differ: usize,
}

/// Evaluates the move of each line and compares it with the value that the line states.
pub(super) fn judge(args: &SwapArgs, positions: &Positions) -> Outcome {
    let (name, values) = match args.values {
        Some(values) => ("the given values", values),
        None => fitting(positions),
    };
    let mut counts = Counts::default();
    positions.each(args.json, |named| {
        let Some(suite) = &named.entry.suite else { return Ok(()) };
        let found = Found::of(named, suite, values);
        let is_right = counts.add(suite, &found.agrees, args.by);
        if args.json {
            print(&named.json(&found)?)
        } else {
            print(&row(named, suite, &found, is_right))
        }
    })?;
    let Counts { stated, differ, .. } = counts;
    if args.json {
        #[derive(Serialize)]
        struct Total {
            counts: Counts,
        }
        print(&json_line(&Total { counts })?)?;
    } else {
        print(&summary(&counts, name))?;
    }
    match differ {
        0 => Ok(0),
        _ => Err(Failure::new(WRONG, format!("{differ} of {stated} stated values differ"))),
    }
}

impl Found {
    fn of(named: &Named, suite: &Suite, values: Values) -> Self {
        let position = &named.entry.position;
        let value = values_of(position, suite.played, values);
        let agrees = |definition: &Definition| suite.value == Some(value.by(*definition));
        Self {
            uci: position.uci(suite.played),
            san: position.san(suite.played),
            value,
            agrees: Definition::ALL.into_iter().filter(agrees).collect(),
        }
    }
}

impl Counts {
    /// Counts a line; `false` if its value differs.
    fn add(&mut self, suite: &Suite, agrees: &[Definition], by: Option<Definition>) -> bool {
        self.lines += 1;
        if suite.value.is_none() {
            return true;
        }
        self.stated += 1;
        self.swap += usize::from(agrees.contains(&Definition::Swap));
        self.swap_promo += usize::from(agrees.contains(&Definition::SwapPromo));
        self.legal += usize::from(agrees.contains(&Definition::Legal));
        let is_right = by.map_or(!agrees.is_empty(), |by| agrees.contains(&by));
        self.differ += usize::from(!is_right);
        is_right
    }
}

/// The named values by which most lines are right: suites are in pawns or in centipawns, and
/// don't say which.
fn fitting(positions: &Positions) -> (&'static str, Values) {
    let right = |values: Values| {
        let agrees = |named: &&Named| {
            let suite = named.entry.suite.as_ref();
            suite.is_some_and(|suite| !Found::of(named, suite, values).agrees.is_empty())
        };
        positions.all().filter(agrees).count()
    };
    let mut best = ("wiki", USUAL);
    let mut most = right(USUAL);
    for (name, values) in Values::NAMED {
        let count = right(values);
        if count > most {
            most = count;
            best = (name, values);
        }
    }
    best
}

fn row(named: &Named, suite: &Suite, found: &Found, is_right: bool) -> String {
    let ByDefinition { swap, swap_promo, legal } = found.value;
    let legal = legal.map_or_else(|| "?".to_owned(), |legal| legal.to_string());
    let stated = suite.value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let mark = if is_right { "" } else { "  differs" };
    let place = format!("{}:{}", named.place.file, named.place.line);
    format!(
        "{place}: {:<8} stated {stated:>6}  swap {swap:>6}  swap_promo {swap_promo:>6}  \
         legal {legal:>6}{mark}\n",
        found.san
    )
}

fn summary(counts: &Counts, values: &str) -> String {
    let Counts { lines, stated, swap, swap_promo, legal, differ } = *counts;
    let mut text = format!("{}, {stated} with a value; {values}\n", counted(lines, "suite line"));
    for (name, count) in
        [("swap", swap), ("swap_promo", swap_promo), ("legal", legal), ("differ", differ)]
    {
        let _ = writeln!(text, "{name:<12}{count:>6}");
    }
    text
}
