//! The corpus on a board, a few cases a slice.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hil_harness::runner::{RunEnd, RunOptions, Verdict};
use rcflash_transport::time::{Duration, Instant};
use sargon_corpus::{Case, builtin_corpus};
use sargon_suite::{CaseResult, SargonBoard, VerdictCounts, run_cases};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::PageError;
use crate::jobs::{Job, Slice};
use crate::message::{Message, Post};

/// The cases that a board is given at a time: those that go into one request, and it waits for
/// nothing between two of them.
const BATCH: usize = 32;
/// The time after which the worker takes messages.
const MAX_SLICE_TIME: Duration = Duration::from_millis(60);

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct CaseSelection {
    #[serde(default)]
    filter: Option<Vec<String>>,
    #[serde(default)]
    every: Option<usize>,
}

impl CaseSelection {
    pub(crate) fn cases(&self) -> Result<Vec<Case>, PageError> {
        let texts = self.filter.as_deref().unwrap_or_default();
        let is_selected = |case: &Case| {
            let matches = |text: &String| case.id.contains(text) || case.tags.contains(text);
            texts.is_empty() || texts.iter().any(matches)
        };
        let all = builtin_corpus().map_err(PageError::new)?;
        let selected = all.into_iter().filter(is_selected);
        let cases: Vec<Case> = selected.step_by(self.every.unwrap_or(1).max(1)).collect();
        if cases.is_empty() {
            return Err(PageError::new(
                "no case has such a tag or name; without a filter all are run",
            ));
        }
        Ok(cases)
    }
}

pub(crate) struct CorpusRun {
    request: u64,
    live: SargonBoard,
    build: String,
    cases: VecDeque<Case>,
    total: usize,
    done: usize,
    counts: VerdictCounts,
    by_tag: BTreeMap<String, VerdictCounts>,
    first: Option<Value>,
    /// T-states of ATTACK and XCHNG, and the positions that they were counted on.
    t_states: (u64, u64),
    began: Instant,
    interrupted: Arc<AtomicBool>,
    ended: RunEnd,
}

impl CorpusRun {
    pub(crate) fn new(
        request: u64,
        live: SargonBoard,
        cases: Vec<Case>,
        interrupted: Arc<AtomicBool>,
    ) -> Self {
        Self {
            request,
            build: format!("{:08X}", live.live.identity.build_id),
            live,
            total: cases.len(),
            cases: cases.into(),
            done: 0,
            counts: VerdictCounts::default(),
            by_tag: BTreeMap::new(),
            first: None,
            t_states: (0, 0),
            began: Instant::now(),
            interrupted,
            ended: RunEnd::Complete,
        }
    }

    fn batch(&mut self, post: &mut Post<'_>) {
        let cases: Vec<Case> = self.cases.drain(..BATCH.min(self.cases.len())).collect();
        let interrupted = Arc::clone(&self.interrupted);
        let options =
            RunOptions { repeat: 1, fail_fast: false, interrupted: &interrupted, baseline: None };
        let mut results = Vec::new();
        let summary = run_cases(&mut self.live, cases, options, |result| results.push(result));
        self.ended = summary.ended;
        for result in &results {
            self.note(result);
        }
        let cases: Vec<Value> = results.iter().map(outcome).collect();
        let event = json!({
            "event": "corpus", "request": self.request,
            "done": self.done, "total": self.total, "cases": cases,
        });
        post(Message { json: event.to_string(), bytes: Vec::new() });
    }

    fn note(&mut self, result: &CaseResult) {
        self.done += 1;
        self.counts.add(result);
        for tag in &result.tags {
            self.by_tag.entry(tag.clone()).or_default().add(result);
        }
        let times = result.details.squares.iter().map(|square| square.t_states);
        if let (Some(_), Some(sum)) = (&result.details.fen, times.sum::<Option<u64>>()) {
            self.t_states = (self.t_states.0 + sum, self.t_states.1 + 1);
        }
        let is_told = !matches!(result.verdict, Verdict::Pass | Verdict::NotRun);
        if is_told && self.first.is_none() {
            let mut first = outcome(result);
            let differences = result.differences.iter().map(ToString::to_string);
            first["differences"] = differences.collect::<Vec<_>>().into();
            self.first = Some(first);
        }
    }

    fn is_over(&self) -> bool {
        self.cases.is_empty()
            || self.ended != RunEnd::Complete
            || self.interrupted.load(Ordering::Relaxed)
    }

    fn summary(&mut self) -> Value {
        if !self.cases.is_empty() && self.ended == RunEnd::Complete {
            self.ended = RunEnd::Interrupted;
        }
        for case in std::mem::take(&mut self.cases) {
            self.note(&CaseResult::new(&case, Verdict::NotRun));
        }
        let by_tag = self.by_tag.iter().map(|(tag, counts)| {
            let other = counts.cases - counts.pass - counts.fail;
            json!({
                "tag": tag, "cases": counts.cases,
                "pass": counts.pass, "fail": counts.fail, "other": other,
            })
        });
        let ended = match &self.ended {
            RunEnd::Complete => "complete".to_owned(),
            RunEnd::Interrupted => "interrupted".to_owned(),
            RunEnd::FirstFailure => "first failure".to_owned(),
            RunEnd::BoardLost(why) | RunEnd::FileFailed(why) => why.clone(),
        };
        json!({
            "ended": ended,
            "counts": self.counts,
            "byTag": by_tag.collect::<Vec<_>>(),
            "first": self.first,
            "tStates": self.t_states.0.checked_div(self.t_states.1),
            "seconds": self.began.elapsed().as_secs_f64(),
            "build": self.build,
        })
    }

    /// Runs all cases at once, for a board that is waited for anyway.
    pub(crate) fn run(mut self, post: &mut Post<'_>) -> Value {
        while !self.is_over() {
            self.batch(post);
        }
        self.summary()
    }
}

impl Job for CorpusRun {
    fn advance(&mut self, post: &mut Post<'_>) -> Slice {
        let begun = Instant::now();
        while !self.is_over() && begun.elapsed() < MAX_SLICE_TIME {
            self.batch(post);
        }
        if self.is_over() { Slice::Done(Ok(self.summary())) } else { Slice::More }
    }

    fn stop(&mut self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }
}

fn outcome(result: &CaseResult) -> Value {
    let mut outcome = json!({
        "id": result.id, "tags": result.tags,
        "verdict": result.verdict, "squares": result.details.squares.len(),
    });
    if let Some(fen) = &result.details.fen {
        outcome["fen"] = fen.as_str().into();
    }
    if let Some(square) = result.differences.iter().find_map(|one| one.square.as_ref()) {
        outcome["square"] = square.as_str().into();
    }
    let differences = || {
        let all: Vec<_> = result.differences.iter().map(ToString::to_string).collect();
        (!all.is_empty()).then(|| all.join("; "))
    };
    if let Some(reason) = result.reason.clone().or_else(differences) {
        outcome["reason"] = reason.into();
    }
    outcome
}
