//! Runs cases on a board: every case ends in exactly one verdict.

use std::sync::atomic::{AtomicBool, Ordering};

use rcflash::link::LinkError;

use crate::compare::{Difference, compare_exchange, compare_position};
use crate::corpus::{Case, Subject};
use crate::encode;
use crate::reference::{Behaviour, Square};
use crate::rig::{Observation, Rig};

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseVerdict {
    /// Board, reference and documents agree.
    Pass,
    /// They differ.
    Fail(Vec<Difference>),
    /// The board did not answer in time.
    Timeout(String),
    /// The board refused, or its answer made no sense.
    Error(String),
    /// The run ended before the case's turn.
    NotRun,
}

impl CaseVerdict {
    /// The verdict in a word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(_) => "fail",
            Self::Timeout(_) => "timeout",
            Self::Error(_) => "error",
            Self::NotRun => "not-run",
        }
    }
}

/// A case and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseResult {
    /// The case's name.
    pub id: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The position, where it is one.
    pub fen: Option<String>,
    /// Occupied squares compared.
    pub squares: usize,
    /// Squares on which the board met an overflow or a wrong count; an array has no name for its square.
    pub flagged: Vec<(Option<Square>, u8)>,
    /// How it ended.
    pub verdict: CaseVerdict,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All cases had their turn.
    Complete,
    /// The user stopped it.
    Interrupted,
    /// The board no longer answers.
    BoardLost,
}

/// Runs the cases in order. After a case without an answer the board is asked who it is; if it does not answer that
/// either, the rest is not run. `progress` hears how many cases are done.
pub fn run_cases(
    rig: &mut Rig,
    cases: &[Case],
    interrupted: &AtomicBool,
    mut progress: impl FnMut(usize),
) -> (Vec<CaseResult>, Ended) {
    let mut ended = Ended::Complete;
    let mut results = Vec::with_capacity(cases.len());
    for case in cases {
        if ended == Ended::Complete && interrupted.load(Ordering::Relaxed) {
            ended = Ended::Interrupted;
        }
        let result = match ended {
            Ended::Complete => run_case(rig, case),
            _ => result(case, CaseVerdict::NotRun),
        };
        if ended == Ended::Complete && is_silence(&result.verdict) && !rig.answers() {
            ended = Ended::BoardLost;
        }
        results.push(result);
        progress(results.len());
    }
    (results, ended)
}

fn is_silence(verdict: &CaseVerdict) -> bool {
    matches!(verdict, CaseVerdict::Timeout(_) | CaseVerdict::Error(_))
}

fn run_case(rig: &mut Rig, case: &Case) -> CaseResult {
    let standard = rig.standard();
    let is_mended = standard.behaviour == Behaviour::Mended;
    let answer = match &case.subject {
        Subject::Position { position, expected, printed, .. } => {
            let stated = if is_mended { expected } else { printed };
            rig.position(position).map(|seen| {
                let differences = compare_position(position, standard, stated, &seen);
                (seen.squares.len(), flagged(&seen), differences)
            })
        }
        Subject::Array { piece, array, expected, printed } => {
            let stated = if is_mended { Some(*expected) } else { *printed };
            rig.exchange(*piece, array).map(|seen| {
                let differences = compare_exchange(*piece, array, standard, stated, seen);
                let flagged = if seen.1 == 0 { Vec::new() } else { vec![(None, seen.1)] };
                (1, flagged, differences)
            })
        }
    };
    match answer {
        Ok((squares, flagged, differences)) => {
            let agree = differences.is_empty();
            let verdict = if agree { CaseVerdict::Pass } else { CaseVerdict::Fail(differences) };
            CaseResult { squares, flagged, ..result(case, verdict) }
        }
        Err(error @ LinkError::Timeout { .. }) => {
            result(case, CaseVerdict::Timeout(error.to_string()))
        }
        Err(error) => result(case, CaseVerdict::Error(error.to_string())),
    }
}

/// The squares of a position that have a status.
fn flagged(seen: &Observation) -> Vec<(Option<Square>, u8)> {
    let told = seen.squares.iter().filter(|record| record.status != 0);
    told.map(|record| (encode::decode_square(record.square), record.status)).collect()
}

/// The result of a case that has not told anything yet.
fn result(case: &Case, verdict: CaseVerdict) -> CaseResult {
    let fen = match &case.subject {
        Subject::Position { fen, .. } => Some(fen.clone()),
        Subject::Array { .. } => None,
    };
    let (id, tags) = (case.id.clone(), case.tags.clone());
    CaseResult { id, tags, fen, squares: 0, flagged: Vec::new(), verdict }
}
