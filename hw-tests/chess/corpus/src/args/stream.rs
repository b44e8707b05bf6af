//! Positions as a stream: read, evaluated on several threads, and used in the order of the input,
//! in constant memory.

use std::collections::VecDeque;
use std::io::{IsTerminal, stdout};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use chess_rules::FenError;
use chess_rules::epd::{self, EpdEntry, EpdLine};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, NOTHING_SELECTED};
use cli_support::output::{json_line, pluralize, print};
use cli_support::text;
use indicatif::{ProgressBar, ProgressStyle};

use super::source::{Batch, Source};
use super::{ImpossibleTally, Jobs, NamedPosition, OutputForm, RejectedLine, SourceLocation};
use crate::with_location;

/// Batches in flight for each thread.
const BATCHES_PER_JOB: usize = 3;

/// A line with a position and what a command made of it, or an invalid line.
pub enum ParsedLine<R> {
    /// A position.
    Position(Box<NamedPosition>, R),
    /// An invalid line.
    Refused(SourceLocation, FenError),
}

/// The positions of a command, and the invalid lines among them.
pub struct PositionStream {
    batches: Receiver<Result<Batch, CommandError>>,
    /// Batches that were read to look ahead.
    ahead: VecDeque<Result<Batch, CommandError>>,
    jobs: usize,
    reporter: Reporter,
    positions: usize,
    refused: usize,
    /// Positions that no game reaches; `None` if they are not reported.
    impossible: Option<ImpossibleTally>,
}

/// Reports invalid lines.
#[derive(Clone)]
pub struct Reporter {
    is_strict: bool,
    form: OutputForm,
    progress: ProgressBar,
}

/// A batch to evaluate, and the receiver of its lines.
type Job<R> = (Result<Batch, CommandError>, SyncSender<Result<Vec<ParsedLine<R>>, CommandError>>);

impl<R> ParsedLine<R> {
    /// Returns the position.
    pub fn position(&self) -> Option<&NamedPosition> {
        match self {
            Self::Position(named, _) => Some(named),
            Self::Refused(..) => None,
        }
    }
}

impl Batch {
    pub(super) fn parse<R>(
        &self,
        form: OutputForm,
        work: impl Fn(&NamedPosition) -> R,
    ) -> Vec<ParsedLine<R>> {
        let read = match self.first_line {
            1 => epd::read(&self.text),
            _ => epd::read_further(&self.text),
        };
        let lines = (self.first_line..).zip(read).filter_map(|(line, read)| {
            let place = || SourceLocation { file: self.file.clone(), line };
            match read {
                EpdLine::Blank => None,
                EpdLine::Position(entry) => {
                    let named = Box::new(NamedPosition::of(place(), *entry, form));
                    let result = work(&named);
                    Some(ParsedLine::Position(named, result))
                }
                EpdLine::Invalid(error) => Some(ParsedLine::Refused(place(), error)),
            }
        });
        lines.collect()
    }
}

impl PositionStream {
    pub(super) fn new(
        sources: Vec<Source>,
        is_strict: bool,
        form: OutputForm,
        warns: bool,
    ) -> Self {
        let (sender, batches) = sync_channel(1);
        // Not joined: it may wait for input that no one needs any more.
        thread::spawn(move || sources.into_iter().for_each(|source| source.send(&sender)));
        let ahead = VecDeque::new();
        let reporter = Reporter { is_strict, form, progress: progress() };
        let impossible = warns.then(ImpossibleTally::default);
        Self { batches, ahead, jobs: 1, reporter, positions: 0, refused: 0, impossible }
    }

    /// Sets the number of threads.
    #[must_use]
    pub fn with_jobs(mut self, jobs: Jobs) -> Self {
        let processors = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.jobs = jobs.jobs.map_or_else(processors, usize::from);
        self
    }

    /// Returns `true` if one of the first lines has a property, of at least `limit` bytes.
    pub fn starts_with_any(&mut self, limit: usize, is_such: impl Fn(&EpdEntry) -> bool) -> bool {
        let mut length = 0;
        while length < limit {
            let Ok(batch) = self.batches.recv() else { return false };
            let found = batch.as_ref().is_ok_and(|batch| {
                length += batch.text.len();
                let lines = batch.parse(OutputForm::default(), |named| is_such(&named.entry));
                lines.iter().any(|line| matches!(line, ParsedLine::Position(_, true)))
            });
            self.ahead.push_back(batch);
            if found {
                return true;
            }
        }
        false
    }

    /// Calls `work` for each position on several threads, then `act` with the result and the
    /// output, in the order of the input. Invalid lines are reported.
    ///
    /// A closed standard output ends this early.
    ///
    /// # Errors
    /// Returns the first error of `act`; fails if a file can't be read, if there is no position,
    /// and with `--strict` at the first invalid line.
    pub fn for_each<R: Send>(
        &mut self,
        work: impl Fn(&NamedPosition) -> R + Sync,
        mut act: impl FnMut(&NamedPosition, R, &mut String) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        self.for_each_line(work, |line, output, reporter| match line {
            ParsedLine::Position(named, result) => act(&named, result, output),
            ParsedLine::Refused(place, error) => {
                print(&std::mem::take(output))?;
                reporter.report(&place, &error)
            }
        })
    }

    /// As [`PositionStream::for_each`], with the invalid lines, which `act` may report.
    ///
    /// # Errors
    /// As [`PositionStream::for_each`].
    pub fn for_each_line<R: Send>(
        &mut self,
        work: impl Fn(&NamedPosition) -> R + Sync,
        act: impl FnMut(ParsedLine<R>, &mut String, &Reporter) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let (jobs, queue) = sync_channel(self.jobs * BATCHES_PER_JOB);
        let queue = Mutex::new(queue);
        let form = self.reporter.form;
        let read = thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(|| evaluate_batches(&queue, form, &work));
            }
            let used = self.use_results(&jobs, act);
            drop(jobs); // ends the threads
            used
        });
        self.reporter.progress.finish_and_clear();
        read?;
        match (self.positions, self.refused) {
            (0, 0) => Err(CommandError::new(NOTHING_SELECTED, "no position was given; see --help")),
            (0, _) => {
                let problem = "no line is a valid position, as reported above";
                Err(CommandError::new(ENVIRONMENT, problem))
            }
            _ => Ok(()),
        }
    }

    /// Has batches evaluated, and uses the results in order.
    fn use_results<R>(
        &mut self,
        jobs: &SyncSender<Job<R>>,
        mut act: impl FnMut(ParsedLine<R>, &mut String, &Reporter) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let mut pending = VecDeque::new();
        while !text::is_stdout_closed() {
            while pending.len() < self.jobs * BATCHES_PER_JOB
                && let Some(batch) = self.next_batch(pending.is_empty())
            {
                let (done, result) = sync_channel(1);
                let _ = jobs.send((batch, done)); // the receiver outlives this
                pending.push_back(result);
            }
            let Some(result) = pending.pop_front() else { break };
            // If the thread panicked, its scope reports that.
            let Ok(lines) = result.recv() else { break };
            let mut output = String::new();
            for line in lines? {
                match &line {
                    ParsedLine::Position(named, _) => {
                        self.positions += 1;
                        self.warn_if_impossible(named);
                    }
                    ParsedLine::Refused(..) => self.refused += 1,
                }
                if let Err(error) = act(line, &mut output, &self.reporter) {
                    print(&output)?;
                    return Err(error);
                }
            }
            print(&output)?;
            self.reporter.progress.set_position(self.positions as u64);
        }
        Ok(())
    }

    fn warn_if_impossible(&mut self, named: &NamedPosition) {
        if let Some(tally) = &mut self.impossible
            && let Some(warning) = named.impossible_warning()
            && tally.add()
        {
            self.reporter.progress.suspend(|| text::eprint_message(warning));
        }
    }

    /// Returns the next batch, if it has to be waited for only with `wait`.
    fn next_batch(&mut self, wait: bool) -> Option<Result<Batch, CommandError>> {
        self.ahead.pop_front().or_else(|| match wait {
            true => self.batches.recv().ok(),
            false => self.batches.try_recv().ok(),
        })
    }

    /// Returns what reports lines that can't be used.
    pub fn reporter(&self) -> Reporter {
        self.reporter.clone()
    }

    /// Returns the number of positions read.
    pub fn count(&self) -> usize {
        self.positions
    }

    /// Finishes a command: exit code 3 if there were invalid lines.
    pub fn finish(&self, outcome: CommandResult) -> CommandResult {
        let summary = self.impossible.as_ref().and_then(ImpossibleTally::summary);
        summary.into_iter().for_each(text::eprint_message);
        match (self.refused, outcome) {
            (0, outcome) | (_, outcome @ Err(_)) => outcome,
            (refused, _) => {
                let lines = pluralize(refused, "line");
                let verb = if refused == 1 { "was" } else { "were" };
                let problem = format!(
                    "{lines} {verb} invalid, as reported above; the results are for the others"
                );
                Err(CommandError::new(ENVIRONMENT, problem))
            }
        }
    }
}

fn evaluate_batches<R>(
    queue: &Mutex<Receiver<Job<R>>>,
    form: OutputForm,
    work: &impl Fn(&NamedPosition) -> R,
) {
    loop {
        let job = queue.lock().map(|queue| queue.recv());
        let Ok(Ok((batch, done))) = job else { return };
        let _ = done.send(batch.map(|batch| batch.parse(form, work))); // the command may have ended
    }
}

/// Returns the progress, drawn on a terminal that does not show the results themselves.
fn progress() -> ProgressBar {
    if stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{pos} positions, {per_sec}, {elapsed}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::no_length().with_style(style)
}

impl Reporter {
    /// Reports a line that can't be used on standard error, with JSON on standard output, too.
    ///
    /// # Errors
    /// Fails with `--strict`, with the line as its message.
    pub fn report(&self, place: &SourceLocation, error: &FenError) -> Result<(), CommandError> {
        if self.form.json {
            print(&json_line(&RejectedLine::of(place, error))?)?;
        }
        let message = with_location(&place.file, place.line, error);
        if self.is_strict {
            return Err(CommandError::new(ENVIRONMENT, format!("{message}; --strict stops here")));
        }
        self.progress.suspend(|| text::eprint_message(message));
        Ok(())
    }
}

/// The details of a position, which are shown if it is the only one.
#[derive(Default)]
pub struct SinglePosition {
    count: usize,
    text: String,
}

impl SinglePosition {
    /// Counts a position.
    pub fn add(&mut self, text: impl FnOnce() -> String) {
        self.count += 1;
        self.text = if self.count == 1 { text() } else { String::new() };
    }

    /// Returns the text of the only position; empty if there are more.
    pub fn text(self) -> String {
        self.text
    }
}
