//! Results of cases: verdicts with their details.

use std::fmt;
use std::ops::AddAssign;

use rcflash_link::RetryCounts;
use serde::{Deserialize, Serialize};

use crate::compare::Difference;
use crate::residues::SquareEntry;
use sargon_corpus::{Case, Subject};

/// The end of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Board, reference and documents agree.
    Pass,
    /// They differ.
    Fail,
    /// The board did not answer in time.
    Timeout,
    /// The board refused, its answer made no sense, or the line spoilt it each time.
    Error,
    /// The case passed, but not each time, or only after the board had to be started again.
    Flaky,
    /// The board's application can't answer it.
    Skipped,
    /// The run ended before the case's turn.
    NotRun,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Pass,
        Self::Fail,
        Self::Timeout,
        Self::Error,
        Self::Flaky,
        Self::Skipped,
        Self::NotRun,
    ];

    /// The verdict in a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Timeout => "timeout",
            Self::Error => "error",
            Self::Flaky => "flaky",
            Self::Skipped => "skipped",
            Self::NotRun => "not-run",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// The end of a case on one of several boards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndThere {
    /// The board.
    pub board: String,
    /// The verdict there.
    pub verdict: Verdict,
    /// Its reason, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The side at fault where a case did not pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// These boards: another board passes.
    Boards(Vec<String>),
    /// The code, or what all boards share: so many boards end in the same way.
    Code(usize),
    /// Not known, and why not.
    Unknown(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boards(names) => write!(f, "the board: {} only", names.join(", ")),
            Self::Code(boards) => {
                write!(f, "the code, or what the boards share: {boards} boards end in the same way")
            }
            Self::Unknown(why) => write!(f, "not known: {why}"),
        }
    }
}

/// A case and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The case's name.
    pub id: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The position, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fen: Option<String>,
    /// Its verdict.
    pub verdict: Verdict,
    /// Whether it ended so in the run that is the baseline, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
    /// Reason for a verdict other than pass and fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The board that gave the answer, in a run on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// The ends on all boards that had it, where these are more than one or not a pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<EndThere>,
    /// The side at fault, as far as the ends on several boards show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// In what board and reference, or reference and document, differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// The occupied squares, by board and reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub squares: Vec<SquareEntry>,
    /// The number of times it was put to the board: more than once when it was to be repeated, or
    /// when the board was lost.
    pub attempts: u32,
    /// The number of times the line made it necessary to ask again, over all attempts, and why.
    pub repeats: RetryCounts,
    /// From the first sending to the answer in microseconds, over all attempts, by the clock of the
    /// line. Up to the board's window of cases are under way at a time, so that these times
    /// overlap.
    pub took_us: u64,
}

impl CaseResult {
    /// The result of a case that has told nothing yet.
    #[must_use]
    pub fn new(case: &Case, verdict: Verdict) -> Self {
        let fen = match &case.subject {
            Subject::Position { fen, .. } => Some(fen.clone()),
            Subject::Array { .. } => None,
        };
        Self {
            id: case.id.clone(),
            tags: case.tags.clone(),
            fen,
            verdict,
            known: false,
            why: None,
            board: None,
            ends: Vec::new(),
            fault: None,
            differences: Vec::new(),
            squares: Vec::new(),
            attempts: 0,
            repeats: RetryCounts::default(),
            took_us: 0,
        }
    }

    /// Whether the board gave an answer that was judged.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        matches!(self.verdict, Verdict::Pass | Verdict::Fail | Verdict::Flaky)
    }

    /// Squares on which the board met this, one of [`firmware_wire::status`].
    pub fn flagged(&self, bit: u8) -> impl Iterator<Item = &str> {
        self.squares.iter().filter(move |at| at.status & bit != 0).map(|at| at.square.as_str())
    }

    /// The same with a reason.
    #[must_use]
    pub fn because(case: &Case, verdict: Verdict, why: impl Into<String>) -> Self {
        Self { why: Some(why.into()), ..Self::new(case, verdict) }
    }
}

/// Counts of verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Counts {
    /// Cases.
    pub cases: u64,
    /// Squares compared in them.
    pub squares: u64,
    /// Cases that passed.
    pub pass: u64,
    /// Cases that failed.
    pub fail: u64,
    /// Cases without an answer in time.
    pub timeout: u64,
    /// Cases with an answer that was none.
    pub error: u64,
    /// Cases that passed, but not each time or not at once.
    pub flaky: u64,
    /// Cases that the board can't answer.
    pub skipped: u64,
    /// Cases that had no turn.
    pub not_run: u64,
}

impl Counts {
    /// Counts some cases.
    #[must_use]
    pub fn of<'a>(results: impl IntoIterator<Item = &'a CaseResult>) -> Self {
        let mut counts = Self::default();
        results.into_iter().for_each(|result| counts.add(result));
        counts
    }

    /// Counts one case more.
    pub fn add(&mut self, result: &CaseResult) {
        self.add_as(result, result.verdict);
    }

    /// Counts some cases, of which those that are known from the baseline are taken for passes.
    #[must_use]
    pub fn of_news<'a>(results: impl IntoIterator<Item = &'a CaseResult>) -> Self {
        let mut counts = Self::default();
        results.into_iter().for_each(|result| counts.add_news(result));
        counts
    }

    /// Counts one case more; one that is known from the baseline is taken for a pass.
    pub fn add_news(&mut self, result: &CaseResult) {
        self.add_as(result, if result.known { Verdict::Pass } else { result.verdict });
    }

    fn add_as(&mut self, result: &CaseResult, verdict: Verdict) {
        self.cases += 1;
        self.squares += result.squares.len() as u64;
        *self.place(verdict) += 1;
    }

    /// Returns the number of cases with this verdict.
    #[must_use]
    pub fn with(mut self, verdict: Verdict) -> u64 {
        *self.place(verdict)
    }

    /// Whether every case has exactly one verdict.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.cases == Verdict::ALL.map(|verdict| self.with(verdict)).iter().sum::<u64>()
    }

    fn place(&mut self, verdict: Verdict) -> &mut u64 {
        match verdict {
            Verdict::Pass => &mut self.pass,
            Verdict::Fail => &mut self.fail,
            Verdict::Timeout => &mut self.timeout,
            Verdict::Error => &mut self.error,
            Verdict::Flaky => &mut self.flaky,
            Verdict::Skipped => &mut self.skipped,
            Verdict::NotRun => &mut self.not_run,
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.cases += other.cases;
        self.squares += other.squares;
        for verdict in Verdict::ALL {
            *self.place(verdict) += other.with(verdict);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residues::exchange;
    use sargon_corpus::shipped;
    use sargon_reference::{AttackersArray, Colour, Kind, Piece};

    fn case() -> Case {
        shipped().expect("the corpus").remove(0)
    }

    #[test]
    fn squares_are_told_by_the_status_that_they_have_met() {
        let piece = Piece { colour: Colour::White, kind: Kind::Pawn };
        let square = |(name, status): (&str, u8)| SquareEntry {
            square: name.to_owned(),
            ..exchange(piece, &AttackersArray::from_bytes(&[0; 14]), 0, (0, status))
        };
        let squares = [("a1", 0), ("b1", 1), ("c1", 2), ("d1", 3)].map(square).to_vec();
        let result = CaseResult { squares, ..CaseResult::new(&case(), Verdict::Pass) };
        assert_eq!(result.flagged(1).collect::<Vec<_>>(), ["b1", "d1"]);
        assert_eq!(result.flagged(2).collect::<Vec<_>>(), ["c1", "d1"]);
        assert_eq!(Counts::of([&result, &result]).squares, 8);
    }

    #[test]
    fn counts_add_up_and_every_case_has_one_verdict() {
        let mut counts = Counts::default();
        for (times, verdict) in (1..).zip(Verdict::ALL) {
            (0..times).for_each(|_| counts.add(&CaseResult::new(&case(), verdict)));
        }
        assert_eq!(Verdict::ALL.map(|verdict| counts.with(verdict)), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(counts.cases, 28);
        assert!(counts.is_consistent());
        let mut twice = Counts { squares: 3, ..counts };
        twice += Counts { squares: 4, ..counts };
        assert_eq!(Verdict::ALL.map(|verdict| twice.with(verdict)), [2, 4, 6, 8, 10, 12, 14]);
        assert_eq!((twice.cases, twice.squares), (56, 7));
        twice.cases += 1;
        assert!(!twice.is_consistent());
    }

    #[test]
    fn a_judged_answer_is_one_whatever_came_of_it() {
        let answered = Verdict::ALL.map(|verdict| CaseResult::new(&case(), verdict).is_answered());
        let expected = Verdict::ALL
            .map(|verdict| ["pass", "fail", "flaky"].contains(&verdict.to_string().as_str()));
        assert_eq!(answered, expected);
    }
}
