//! What test files measure on a simulated machine: coverage, a profile, and T-states against a
//! baseline.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use board_simulator::profiling::{CallgrindProfile, Coverage, FileCoverage};
use clap::Args;
use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use cli_support::files::{read_input, write_atomic};
use cli_support::output::{pluralize, print};
use cli_support::text::Escape;
use testfile_suite::{
    CycleBaseline, Difference, RoutineMachine, TestCase, TestFile, TestResult, Verdict,
};

/// Heading of the help.
const MEASUREMENTS: &str = "Measurements on the simulated machine";
/// Places that a summary lists.
const MAX_PLACES: usize = 12;

#[derive(Args)]
pub(super) struct MeasureArgs {
    /// Write the lines and branches that ran to an lcov tracefile, for genhtml and editors
    #[arg(long, value_name = "FILE.info", help_heading = MEASUREMENTS)]
    coverage: Option<PathBuf>,
    /// Write the T-states of routines and lines for KCachegrind and callgrind_annotate
    #[arg(long, value_name = "FILE", help_heading = MEASUREMENTS)]
    profile: Option<PathBuf>,
    /// Compare the T-states of each case with those in FILE
    #[arg(long, value_name = "FILE.toml", help_heading = MEASUREMENTS)]
    cycles: Option<PathBuf>,
    /// Write the T-states of the cases that pass to the file of --cycles instead
    #[arg(long, requires = "cycles", help_heading = MEASUREMENTS)]
    write_cycles: bool,
    /// Fail cases that are slower than in the file of --cycles by more than this
    #[arg(
        long,
        requires = "cycles",
        conflicts_with = "write_cycles",
        value_name = "PERCENT",
        value_parser = parse_percent,
        help_heading = MEASUREMENTS
    )]
    max_slower: Option<u32>,
}

/// The measurements of a run.
#[derive(Default)]
pub(super) struct Measurements {
    /// Whether instructions are counted.
    counts_steps: bool,
    coverage: Coverage,
    profile: CallgrindProfile,
    /// The file of T-states, with its path.
    baseline: Option<(PathBuf, CycleBaseline)>,
    writes_baseline: bool,
    max_slower: Option<u32>,
    /// The T-states of the cases that ran.
    cycles: BTreeMap<String, u64>,
}

pub(super) fn lock(measurements: &Mutex<Measurements>) -> MutexGuard<'_, Measurements> {
    measurements.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MeasureArgs {
    /// Reads the baseline.
    pub(super) fn start(&self, names_board: bool) -> Result<Measurements, CommandError> {
        let counts_steps = self.coverage.is_some() || self.profile.is_some();
        if names_board && (counts_steps || self.write_cycles) {
            let why = "--coverage, --profile and --write-cycles need the simulated machine: omit \
                       the board";
            return Err(CommandError::new(USAGE, why));
        }
        let read = |path: &PathBuf| {
            Ok::<_, CommandError>((path.clone(), read_baseline(path, self.write_cycles)?))
        };
        Ok(Measurements {
            counts_steps,
            baseline: self.cycles.as_ref().map(read).transpose()?,
            writes_baseline: self.write_cycles,
            max_slower: self.max_slower,
            ..Measurements::default()
        })
    }

    /// Returns the options that name files to write.
    pub(super) fn outputs(&self) -> [(&'static str, &Option<PathBuf>); 3] {
        [("--coverage", &self.coverage), ("--profile", &self.profile), ("--cycles", &self.cycles)]
    }

    /// Writes the files and prints the summaries.
    pub(super) fn finish(&self, found: &mut Measurements) -> Result<(), CommandError> {
        if let Some(path) = &self.coverage {
            let absolute = |name: &str| match Path::new(name).canonicalize() {
                Ok(path) => path.to_string_lossy().into_owned(),
                Err(_) => name.to_owned(),
            };
            write(path, &found.coverage.lcov(absolute))?;
            print(&coverage_summary(&found.coverage))?;
        }
        if let Some(path) = &self.profile {
            write(path, &found.profile.to_text("hw-tests test"))?;
            let (t_states, path) = (found.profile.t_states(), path.escaped());
            print(&format!("profile: {t_states} T-states, in {path}\n"))?;
        }
        found.finish_cycles()
    }
}

impl Measurements {
    /// Returns a machine for the program of a file, which counts its instructions if needed.
    pub(super) fn machine(&self, file: &TestFile) -> RoutineMachine {
        let mut machine = file.program.machine();
        machine.counter = self.counts_steps.then(|| file.step_counter());
        machine
    }

    /// Adds the counts of a machine that has run the cases of a file.
    pub(super) fn add(&mut self, file: &TestFile, machine: &RoutineMachine) {
        if let Some(counter) = &machine.counter {
            self.coverage.add(counter, &file.program.map);
            self.profile.add(counter, &file.program.map);
        }
        if let Some((_, baseline)) = &mut self.baseline {
            let prefix = format!("{}::", file.path.display());
            let exists = |name: &str| file.headings().any(|heading| heading.name == name);
            baseline.cases.retain(|id, _| id.strip_prefix(&prefix).is_none_or(exists));
        }
    }

    /// Notes the T-states of a case; one that is too slow fails.
    pub(super) fn judge(&mut self, case: &TestCase, found: &mut TestResult) {
        let Some((_, baseline)) = &self.baseline else { return };
        if !case.has_fixed_inputs() || found.verdict != Verdict::Pass {
            return;
        }
        let Some(t_states) = found.details.all_t_states else {
            found.details.not_checked.insert("cycles".to_owned());
            return;
        };
        self.cycles.insert(case.id.clone(), t_states);
        let before = baseline.cases.get(&case.id).filter(|_| !self.writes_baseline);
        let (Some(before), Some(percent)) = (before, self.max_slower) else { return };
        let limit = before.saturating_add(before.saturating_mul(percent.into()) / 100);
        if t_states > limit {
            found.verdict = Verdict::Fail;
            found.differences.push(Difference {
                subject: format!("T-states, {before} before"),
                expected: format!("at most {limit}"),
                actual: t_states.to_string(),
                ..Difference::default()
            });
        }
    }

    /// Writes the baseline, or prints what differs from it.
    fn finish_cycles(&mut self) -> Result<(), CommandError> {
        let Some((path, baseline)) = &mut self.baseline else { return Ok(()) };
        if self.writes_baseline {
            baseline.cases.append(&mut self.cycles);
            write(path, &baseline.to_toml())?;
            let cases = pluralize(baseline.cases.len(), "case");
            return print(&format!("T-states of {cases} in {}\n", path.escaped()));
        }
        let before = |name: &String| baseline.cases.get(name).copied();
        let pairs = self.cycles.iter().map(|(name, now)| (name, before(name), *now));
        let (known, unknown): (Vec<_>, Vec<_>) = pairs.partition(|pair| pair.1.is_some());
        let changes = known.iter().filter_map(|(name, before, now)| change(name, (*before)?, *now));
        let (slower, faster): (Vec<_>, Vec<_>) = changes.partition(|line| line.starts_with('+'));
        let remark = match unknown.len() {
            0 => String::new(),
            count => format!(", {} not in {}", pluralize(count, "case"), path.escaped()),
        };
        let lines = [&slower[..], &faster].concat().concat();
        let (slower, faster) = (slower.len(), faster.len());
        let cases = pluralize(known.len(), "case");
        print(&format!("{lines}T-states: {slower} of {cases} slower, {faster} faster{remark}\n"))
    }
}

/// Formats a change as `+12 T (3.0 %) mul.test.toml::limit`.
fn change(name: &str, before: u64, now: u64) -> Option<String> {
    let difference = now as i64 - before as i64;
    let percent = difference.abs() as f64 * 100.0 / before.max(1) as f64;
    let name = name.escaped();
    (difference != 0).then(|| format!("{difference:+} T ({percent:.1} %) {name}\n"))
}

/// Formats the lines that did not run, and the totals.
fn coverage_summary(coverage: &Coverage) -> String {
    let files = coverage.files();
    let FileCoverage { lines, covered, branches, taken, .. } = FileCoverage::total(&files);
    if lines == 0 {
        return "coverage: no program has a table of source lines\n".to_owned();
    }
    let place = |file: &FileCoverage, (first, last)| match first == last {
        true => format!("{}:{first}", file.file.escaped()),
        false => format!("{}:{first}-{last}", file.file.escaped()),
    };
    let of_file = |file: &FileCoverage| {
        let ranges = coverage.missed_ranges(&file.file);
        ranges.into_iter().map(|range| place(file, range.into_inner())).collect::<Vec<_>>()
    };
    let missed: Vec<String> = files.iter().flat_map(of_file).collect();
    let more = missed.len().saturating_sub(MAX_PLACES);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let shown = missed[..missed.len().min(MAX_PLACES)].join(", ");
    let missed =
        if missed.is_empty() { String::new() } else { format!("not run: {shown}{more}\n") };
    let percent = |part: usize, all: usize| part as f64 * 100.0 / all.max(1) as f64;
    let lines = format!("lines {covered} of {lines} ({:.1} %)", percent(covered, lines));
    let branches = match branches {
        0 => "no branches".to_owned(),
        all => format!("branches {taken} of {all} ({:.1} %)", percent(taken, all)),
    };
    format!("{missed}coverage: {lines}, {branches}\n")
}

/// Reads a baseline; an empty one if it is to be written and does not exist.
fn read_baseline(path: &Path, is_written: bool) -> Result<CycleBaseline, CommandError> {
    let failed = |why: String| CommandError::new(ENVIRONMENT, why);
    let wrong = |_| failed(format!("{}: not UTF-8", path.escaped()));
    if !path.exists() {
        let path = path.escaped();
        let missing = || failed(format!("{path} does not exist: create it by --write-cycles"));
        return is_written.then(CycleBaseline::default).ok_or_else(missing);
    }
    let text = String::from_utf8(read_input(path)?).map_err(wrong)?;
    CycleBaseline::parse(path, &text).map_err(|error| failed(error.to_string()))
}

fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    write_atomic(path, text.as_bytes()).map_err(|error| {
        CommandError::new(ENVIRONMENT, format!("can't write {}: {error}", path.escaped()))
    })
}

/// Parses a number of percent, with or without the sign.
fn parse_percent(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    number.parse().map_err(|_| "expected a whole number of percent, as in 5%".to_owned())
}
