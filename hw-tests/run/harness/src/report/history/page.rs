//! `history.html`: a page without scripts.

use std::collections::BTreeMap;
use std::fmt::Write;

use askama::Template;

use super::{BoardHistory, CaseHistory, History};
use crate::report::page::STYLE;
use crate::runner::Conclusion;

/// Most cases in a table.
const MAX_CASES_DRAWN: usize = 1000;
/// Height of a trend in its own units; its width is the number of runs.
const TREND_HEIGHT: f64 = 20.0;
/// CSS for history pages, in addition to the style sheet of reports.
const HISTORY_STYLE: &str = include_str!("../page/history.css");

/// The page of a history.
#[derive(Template)]
#[template(path = "history.html")]
pub(crate) struct HistoryPage<'a> {
    history: &'a History,
    problems: Vec<&'a CaseHistory>,
    /// The cases whose T-states changed.
    changed: Vec<&'a CaseHistory>,
    /// The width of drawings: the number of runs.
    width: usize,
}

impl<'a> HistoryPage<'a> {
    /// Creates the page.
    pub(crate) fn new(history: &'a History) -> Self {
        let changed = history.cases.iter().filter(|case| case.t_states.len() > 1).collect();
        let width = history.runs.len().max(1);
        Self { history, problems: history.problems(), changed, width }
    }

    /// Returns the lines of the conclusions of the runs, by class.
    fn conclusions(&self) -> BTreeMap<&'static str, String> {
        let class = |conclusion| match conclusion {
            Conclusion::Pass => "pass",
            Conclusion::Fail => "fail",
            Conclusion::Incomplete => "timeout",
        };
        run_lines(self.history.runs.iter().map(|run| class(run.outcome)).enumerate())
    }
}

/// Returns a path with a line for each of these runs, by their class.
fn run_lines(runs: impl Iterator<Item = (usize, &'static str)>) -> BTreeMap<&'static str, String> {
    let mut paths = BTreeMap::<_, String>::new();
    for (run, class) in runs {
        let _ = write!(paths.entry(class).or_default(), "M{run}.5 0v1");
    }
    paths
}

/// Returns the paths of the runs in which a case did not pass, by verdict.
fn failures(case: &CaseHistory) -> BTreeMap<&'static str, String> {
    run_lines(case.not_passed.iter().map(|(run, verdict)| (*run, verdict.as_str())))
}

/// Values by run, drawn as steps.
struct Trend {
    least: f64,
    most: f64,
    path: String,
}

impl Trend {
    fn new(values: &[(usize, f64)]) -> Self {
        let most = values.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let least = values.iter().map(|(_, value)| *value).fold(most, f64::min);
        let scale = (TREND_HEIGHT - 2.0) / (most - least).max(f64::MIN_POSITIVE);
        let mut path = String::new();
        for (run, value) in values {
            let y = TREND_HEIGHT - 1.0 - (value - least) * scale;
            let _ = match path.is_empty() {
                true => write!(path, "M{run} {y:.1}"),
                false => write!(path, "H{run}V{y:.1}"),
            };
        }
        Self { least, most, path }
    }

    /// Returns the trend of a board's line errors per 1000 requests.
    fn of_line_errors(board: &BoardHistory) -> Self {
        let rate = |&(run, requests, errors): &(usize, u64, u64)| {
            (run, 1000.0 * errors as f64 / requests.max(1) as f64)
        };
        Self::new(&board.line.iter().map(rate).collect::<Vec<_>>())
    }

    /// Returns the trend of a case's T-states, up to the last of `runs` runs.
    fn of_t_states(case: &CaseHistory, runs: usize) -> Self {
        let last = case.t_states.last().map(|(_, t_states)| (runs, *t_states));
        let values = case.t_states.iter().copied().chain(last);
        Self::new(&values.map(|(run, t_states)| (run, t_states as f64)).collect::<Vec<_>>())
    }
}
