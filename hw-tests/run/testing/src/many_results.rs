//! Results files of any length, to measure how much memory a run needs that resumes one.

use std::path::Path;
use std::sync::Arc;

use hil_harness::file_system::OsFileSystem;
use hil_harness::results::{
    BoardReady, RESULTS_FORMAT, ResultsError, ResultsWriter, RunHeader, cases_digest,
};
use hil_harness::runner::Verdict;
use rcflash_transport::time::Instant;
use sargon_corpus::{Case, builtin_corpus};
use sargon_suite::residues::SquareEntry;
use sargon_suite::{CaseResult, PositionDetails, SargonSuite};

/// One result in this many is a failure.
const FAILURE_INTERVAL: usize = 10_000;
/// Squares in a result by default, about as many as in a position of the corpus.
const SQUARES: u64 = 17;

/// Makes cases and their results, which differ in name only.
pub struct ManyResults {
    template: Case,
    /// Squares in each result. With 64, a result has about 10,000 bytes.
    squares: u64,
}

impl Default for ManyResults {
    fn default() -> Self {
        let cases = builtin_corpus().expect("a test parses it");
        let position = cases.into_iter().find(|case| case.id.starts_with("play."));
        Self { template: position.expect("the corpus has played positions"), squares: SQUARES }
    }
}

impl ManyResults {
    /// Makes results with `squares` squares each.
    pub fn with_squares(squares: u64) -> Self {
        Self { squares, ..Self::default() }
    }

    /// Returns the case with this number.
    pub fn case(&self, number: usize) -> Case {
        Case { id: format!("many.{number:07}"), ..self.template.clone() }
    }

    /// Returns the result of the case with this number.
    pub fn result(&self, number: usize) -> CaseResult {
        let is_failure = number % FAILURE_INTERVAL == FAILURE_INTERVAL - 1;
        let verdict = if is_failure { Verdict::Fail } else { Verdict::Pass };
        let squares = (0..self.squares).map(|square| SquareEntry {
            square: "e4".to_owned(),
            piece: 'N',
            array: [1; 14],
            reference_array: None,
            board: 3,
            reference: Some(3),
            status: 0,
            t_states: Some(2000 + 7 * square + number as u64 % 100),
        });
        let details = PositionDetails { fen: None, squares: squares.collect() };
        CaseResult { details, attempts: 1, ..CaseResult::new(&self.case(number), verdict) }
    }

    /// Returns the header of a run of `count` cases, with the digest of these cases.
    pub fn header(count: usize, profile: &str, cases: &[Case]) -> RunHeader {
        RunHeader {
            results: RESULTS_FORMAT,
            program: "many results".to_owned(),
            profile: profile.to_owned(),
            behaviour: "corrected".to_owned(),
            cases: count,
            digest: cases_digest::<SargonSuite>(cases),
            repeat: 1,
            ..RunHeader::default()
        }
    }

    /// Writes a results file with `count` results.
    pub fn write(&self, path: &Path, head: &RunHeader, count: usize) -> Result<(), ResultsError> {
        let clock = Arc::new(Instant::now);
        let mut writer = ResultsWriter::create(&OsFileSystem, path, head, true, clock)?;
        let (board, application) = ("a board".to_owned(), "an application".to_owned());
        writer.write_board(BoardReady { board, application })?;
        (0..count).try_for_each(|number| writer.write_result(&self.result(number)))
    }
}
