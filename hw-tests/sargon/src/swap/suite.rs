//! Suites of exchange values, as engines share them: `FEN; move; value; note` on each line.

use std::fmt::Write;

use chess_rules::epd::SuiteMove;
use chess_rules::see::{PieceValues, SeeDefinition, ValuesByDefinition, move_values};
use cli_support::exit::{CommandError, CommandResult, FAILED};
use serde::Serialize;

use super::move_value::DEFAULT_VALUES;
use cli_support::output::{json_line, pluralize, print};
use sargon_corpus::args::{NamedPosition, PositionList};

/// Returns `true` if a line states the value of a move.
pub(super) fn is_suite(positions: &PositionList) -> bool {
    positions.all().any(|named| named.entry.suite.is_some())
}

/// The fields of a line of `--json` besides the position.
#[derive(Serialize)]
struct SuiteLine {
    uci: String,
    san: String,
    #[serde(flatten)]
    value: ValuesByDefinition,
    /// The definitions by which the move has the value that the line states.
    agrees: Vec<SeeDefinition>,
}

#[derive(Default, Serialize)]
struct SuiteCounts {
    lines: usize,
    stated: usize,
    swap: usize,
    swap_promo: usize,
    legal: usize,
    differ: usize,
}

/// Evaluates the move of each line and compares it with the value that the line states.
pub(super) fn judge(
    values: Option<PieceValues>,
    by: Option<SeeDefinition>,
    json: bool,
    positions: &PositionList,
) -> CommandResult {
    let (name, values) = match values {
        Some(values) => ("the given values", values),
        None => best_values(positions),
    };
    let mut counts = SuiteCounts::default();
    positions.for_each(json, |named| {
        let Some(suite) = &named.entry.suite else { return Ok(()) };
        let found = SuiteLine::of(named, suite, values);
        let is_right = counts.add(suite, &found.agrees, by);
        if json { print(&named.json(&found)?) } else { print(&row(named, suite, &found, is_right)) }
    })?;
    let SuiteCounts { stated, differ, .. } = counts;
    if json {
        #[derive(Serialize)]
        struct Total {
            counts: SuiteCounts,
        }
        print(&json_line(&Total { counts })?)?;
    } else {
        print(&summary(&counts, name))?;
    }
    match differ {
        0 => Ok(0),
        _ => Err(CommandError::new(FAILED, format!("{differ} of {stated} stated values differ"))),
    }
}

impl SuiteLine {
    fn of(named: &NamedPosition, suite: &SuiteMove, values: PieceValues) -> Self {
        let position = &named.entry.position;
        let value = move_values(position, suite.played, values);
        let agrees = |definition: &SeeDefinition| suite.value == Some(value.by(*definition));
        Self {
            uci: position.uci(suite.played),
            san: position.san(suite.played),
            value,
            agrees: SeeDefinition::ALL.into_iter().filter(agrees).collect(),
        }
    }
}

impl SuiteCounts {
    /// Counts a line; `false` if its value differs.
    fn add(
        &mut self,
        suite: &SuiteMove,
        agrees: &[SeeDefinition],
        by: Option<SeeDefinition>,
    ) -> bool {
        self.lines += 1;
        if suite.value.is_none() {
            return true;
        }
        self.stated += 1;
        self.swap += usize::from(agrees.contains(&SeeDefinition::Swap));
        self.swap_promo += usize::from(agrees.contains(&SeeDefinition::SwapPromo));
        self.legal += usize::from(agrees.contains(&SeeDefinition::Legal));
        let is_right = by.map_or(!agrees.is_empty(), |by| agrees.contains(&by));
        self.differ += usize::from(!is_right);
        is_right
    }
}

/// Returns the named values with which most lines agree; suites do not name theirs.
fn best_values(positions: &PositionList) -> (&'static str, PieceValues) {
    let right = |values: PieceValues| {
        let agrees = |named: &&NamedPosition| {
            let suite = named.entry.suite.as_ref();
            suite.is_some_and(|suite| !SuiteLine::of(named, suite, values).agrees.is_empty())
        };
        positions.all().filter(agrees).count()
    };
    let mut best = ("wiki", DEFAULT_VALUES);
    let mut most = right(DEFAULT_VALUES);
    for (name, values) in PieceValues::NAMED {
        let count = right(values);
        if count > most {
            most = count;
            best = (name, values);
        }
    }
    best
}

fn row(named: &NamedPosition, suite: &SuiteMove, found: &SuiteLine, is_right: bool) -> String {
    let ValuesByDefinition { swap, swap_promo, legal } = found.value;
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

fn summary(counts: &SuiteCounts, values: &str) -> String {
    let SuiteCounts { lines, stated, swap, swap_promo, legal, differ } = *counts;
    let mut text = format!("{}, {stated} with a value; {values}\n", pluralize(lines, "suite line"));
    for (name, count) in
        [("swap", swap), ("swap_promo", swap_promo), ("legal", legal), ("differ", differ)]
    {
        let _ = writeln!(text, "{name:<12}{count:>6}");
    }
    text
}
