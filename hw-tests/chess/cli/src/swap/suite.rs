//! Judges suites of exchange values, as engines keep them.

mod reading;

use std::fmt::Write;

use chess_rules::see::{PieceValues, SeeDefinition, ValuesByDefinition, move_values};
use chess_rules::suite::SuiteMove;
use chess_rules::{FenError, Position};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, FAILED, NOTHING_SELECTED};
use cli_support::output::{pluralize, print, print_totals};
use cli_support::text::escape_controls;
use sargon_corpus::args::{NamedPosition, OutputForm, ParsedLine, PositionStream, Reporter};
use serde::Serialize;

use super::scaled::{ScaledValues, ValueTable};
use reading::{Claim, FileReading};

pub(super) use reading::SuiteReading;

/// Largest suite, all lines of which are in memory.
const MAX_SUITE_LINES: usize = 1_000_000;

/// How suites are judged.
pub(super) struct Judge {
    /// By default the named values with which most lines are right.
    pub(super) values: Option<ScaledValues>,
    /// By default any definition.
    pub(super) by: Option<SeeDefinition>,
    pub(super) reading: Option<SuiteReading>,
    pub(super) form: OutputForm,
}

/// The fields of a line of `--json` besides the position.
#[derive(Serialize)]
struct SuiteLine {
    uci: String,
    san: String,
    #[serde(flatten)]
    values: ValueTable,
    states: Claim,
    /// The definitions by which the line is right.
    agrees: Vec<SeeDefinition>,
    /// `None` if the line states nothing.
    right: Option<bool>,
}

/// Counts of lines. `lines` are those judged, unstated and refused; those judged are right or
/// wrong.
#[derive(Default, Serialize)]
struct SuiteCounts {
    lines: usize,
    judged: usize,
    right: usize,
    wrong: usize,
    refused: usize,
    unstated: usize,
    #[serde(flatten)]
    by: DefinitionCounts,
}

/// The number of lines that are right by each definition.
#[derive(Default, Serialize)]
struct DefinitionCounts {
    swap: usize,
    swap_promo: usize,
    swap_pins: usize,
    legal: usize,
}

impl Judge {
    /// Evaluates the move of each line and compares it with what the line states.
    pub(super) fn run(&self, positions: &mut PositionStream) -> CommandResult {
        let mut lines = Vec::new();
        positions.for_each_line(
            |_| (),
            |line, _, _| match lines.len() {
                MAX_SUITE_LINES => {
                    let problem = format!("a suite has at most {MAX_SUITE_LINES} lines; split it");
                    Err(CommandError::new(ENVIRONMENT, problem))
                }
                _ => {
                    lines.push(line);
                    Ok(())
                }
            },
        )?;
        self.judge_all(&lines, &positions.reporter())
    }

    fn judge_all(&self, lines: &[ParsedLine<()>], reporter: &Reporter) -> CommandResult {
        let positions: Vec<_> = lines.iter().filter_map(ParsedLine::position).collect();
        let readings = FileReading::of_all(&positions, self.reading);
        let (values, description) = match self.values {
            Some(values) => (values, "the given values".to_owned()),
            None => self.best_values(&positions, &readings),
        };
        let mut counts = SuiteCounts::default();
        for line in lines {
            counts.lines += 1;
            let refused = match line {
                ParsedLine::Refused(place, error) => Err((place, error.clone())),
                ParsedLine::Position(named, ()) => {
                    let judged = self.judge(named, &readings, values);
                    judged.map(|judged| (named, judged)).map_err(|error| (&named.place, error))
                }
            };
            match refused {
                Ok((named, judged)) => {
                    let suite = judged.suite;
                    let line = judged.line(&named.entry.position, values);
                    counts.add(&line);
                    print(&match self.form {
                        OutputForm { json: true, .. } => named.json(&line)?,
                        OutputForm { epd: true, .. } => self.epd(named, suite, &line),
                        _ => row(named, &line),
                    })?;
                }
                Err((place, error)) => {
                    counts.refused += 1;
                    reporter.report(place, &error)?;
                }
            }
        }
        if !self.form.epd {
            print_totals(self.form.json, &counts, |counts| {
                summary(counts, &readings, &description)
            })?;
        }
        counts.outcome()
    }

    /// Returns a line as EPD: the move, its value, what is stated of it, and whether that is right.
    fn epd(&self, named: &NamedPosition, suite: &SuiteMove, line: &SuiteLine) -> String {
        let value = line.values.by(self.by.unwrap_or_default());
        let value = value.map(|value| format!("see={value}"));
        let right = line.right.map(|right| format!("stated={}, right={right}", line.states));
        let comments: Vec<_> = value.into_iter().chain(right).chain(suite.note.clone()).collect();
        named.epd(Some(suite.played), &comments)
    }

    /// Evaluates the move of a line.
    fn judge<'a>(
        &self,
        named: &'a NamedPosition,
        readings: &[FileReading],
        values: ScaledValues,
    ) -> Result<JudgedMove<'a>, FenError> {
        let file = readings.iter().find(|reading| *reading.file == *named.place.file);
        let file = file.expect("each position's file has a reading");
        let suite = file.suite_of(&named.entry)?;
        let found = move_values(&named.entry.position, suite.played, values.pieces);
        let states = file.claim(suite, |kind| values.piece(kind));
        let is_right = |definition: &SeeDefinition| {
            states.holds_for(values.units(found.by(*definition))) == Some(true)
        };
        let agrees: Vec<_> = SeeDefinition::ALL.into_iter().filter(is_right).collect();
        let right = self.by.map_or(!agrees.is_empty(), |by| agrees.contains(&by));
        let right = (states != Claim::Nothing).then_some(right);
        Ok(JudgedMove { suite, found, states, agrees, right })
    }

    /// Returns the named values with which most lines that state values are right, since suites do
    /// not name theirs. Thresholds fit too many.
    fn best_values(
        &self,
        positions: &[&NamedPosition],
        readings: &[FileReading],
    ) -> (ScaledValues, String) {
        let right = |values: PieceValues| {
            let is_right = |named: &&&NamedPosition| {
                let judged = self.judge(named, readings, values.into());
                judged.is_ok_and(|judged| {
                    matches!(judged.states, Claim::Value(_)) && judged.right == Some(true)
                })
            };
            positions.iter().filter(is_right).count()
        };
        let mut named = PieceValues::NAMED.map(|(name, values)| (right(values), name, values));
        // Of several the classic ones are taken, which most suites have.
        named.sort_by_key(|(count, name, _)| (std::cmp::Reverse(*count), *name != "classic"));
        let [(most, name, values), (next, other, _), ..] = named;
        let description = match most {
            0 => format!("{name} values"),
            _ => format!("{name} values, with which {most} values are right; {other}: {next}"),
        };
        (values.into(), description)
    }
}

/// The move of a line, evaluated.
struct JudgedMove<'a> {
    suite: &'a SuiteMove,
    found: ValuesByDefinition,
    states: Claim,
    agrees: Vec<SeeDefinition>,
    right: Option<bool>,
}

impl JudgedMove<'_> {
    fn line(self, position: &Position, values: ScaledValues) -> SuiteLine {
        SuiteLine {
            uci: position.uci(self.suite.played),
            san: position.san(self.suite.played),
            values: ValueTable::of(self.found, values),
            states: self.states,
            agrees: self.agrees,
            right: self.right,
        }
    }
}

impl SuiteCounts {
    fn add(&mut self, line: &SuiteLine) {
        match line.right {
            None => self.unstated += 1,
            Some(right) => {
                self.judged += 1;
                self.right += usize::from(right);
                self.wrong += usize::from(!right);
            }
        }
        let by = |definition| usize::from(line.agrees.contains(&definition));
        self.by.swap += by(SeeDefinition::Swap);
        self.by.swap_promo += by(SeeDefinition::SwapPromo);
        self.by.swap_pins += by(SeeDefinition::SwapPins);
        self.by.legal += by(SeeDefinition::Legal);
    }

    /// Returns success only if every line that states something was judged and is right.
    fn outcome(&self) -> CommandResult {
        let Self { judged, wrong, refused, unstated, .. } = *self;
        let refused_text = format!("{} could not be judged", pluralize(refused, "line"));
        let wrong_text = format!("{wrong} of {judged} judged lines are wrong");
        match (wrong, refused) {
            (0, 0) => Ok(0),
            (0, _) if judged + unstated == 0 => {
                Err(CommandError::new(NOTHING_SELECTED, "no line could be judged"))
            }
            (0, _) => Err(CommandError::new(ENVIRONMENT, format!("{refused_text}, as reported"))),
            (_, 0) => Err(CommandError::new(FAILED, wrong_text)),
            _ => Err(CommandError::new(FAILED, format!("{wrong_text}, and {refused_text}"))),
        }
    }
}

fn row(named: &NamedPosition, line: &SuiteLine) -> String {
    let ValueTable { swap, swap_promo, swap_pins, legal, .. } = &line.values;
    let legal = legal.map_or_else(|| "?".to_owned(), |legal| legal.to_string());
    let mark = if line.right == Some(false) { "  wrong" } else { "" };
    let place = format!("{}:{}", escape_controls(&named.place.file), named.place.line);
    format!(
        "{place}: {:<8} stated {:>7}  swap {swap:>6}  swap_promo {swap_promo:>6}  \
         swap_pins {swap_pins:>6}  legal {legal:>6}{mark}\n",
        line.san, line.states
    )
}

fn summary(counts: &SuiteCounts, readings: &[FileReading], values: &str) -> String {
    let SuiteCounts { lines, judged, right, wrong, refused, unstated, by } = counts;
    let mut text = String::new();
    for reading in readings {
        let _ = writeln!(text, "{}: {reading}", escape_controls(&reading.file));
    }
    let lines = pluralize(*lines, "line");
    let _ = writeln!(
        text,
        "{lines}: {judged} judged, {right} right, {wrong} wrong; {refused} refused; {unstated} \
         without a value"
    );
    let DefinitionCounts { swap, swap_promo, swap_pins, legal } = by;
    if *judged > 0 {
        let _ = writeln!(
            text,
            "right by swap {swap}, swap_promo {swap_promo}, swap_pins {swap_pins}, legal {legal}; \
             {values}"
        );
    }
    text
}
