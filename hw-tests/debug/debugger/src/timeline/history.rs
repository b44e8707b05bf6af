//! The recorded history of a board: snapshots, from which any other step is reached by replaying
//! forward, and the input in between.

use std::ops::Range;

use board_simulator::{BoardModel, QueueLine};

use super::Present;

/// Initial number of steps between two snapshots.
const INITIAL_INTERVAL_STEPS: u64 = 2_000;
/// Maximum number of steps between two new snapshots.
const MAX_INTERVAL_STEPS: u64 = 128_000;
/// The steps before the present in which no gap between snapshots exceeds `MAX_DENSE_GAP_STEPS`,
/// which bounds the time of a reverse step. Gaps before that grow with their age.
const DENSE_STEPS: u64 = 12_000_000;
const MAX_DENSE_GAP_STEPS: u64 = 2 * MAX_INTERVAL_STEPS;
/// Bounds the memory: `DENSE_STEPS` takes up to half of them.
const MAX_SNAPSHOTS: usize = 112;

/// A copy of the board without its output, and the timeline's state that belongs to it.
pub(super) struct Snapshot {
    board: BoardModel<QueueLine>,
    /// The length of the board's output.
    pub(super) output_bytes: usize,
    pub(super) present: Present,
}

impl Snapshot {
    /// Copies a board, and records what is new of its output.
    pub(super) fn of(
        board: &mut BoardModel<QueueLine>,
        present: &Present,
        recorded_output: &mut Vec<u8>,
    ) -> Self {
        // Not copied: each snapshot would contain all output before it.
        let output = std::mem::take(&mut board.line_mut().from_board);
        let copy = board.clone();
        recorded_output.extend(output.get(recorded_output.len()..).unwrap_or_default());
        let output_bytes = output.len();
        board.line_mut().from_board = output;
        Self { board: copy, output_bytes, present: present.clone() }
    }

    /// Returns the board with its output, and what belongs to it.
    pub(super) fn restored(&self, recorded_output: &[u8]) -> (BoardModel<QueueLine>, Present) {
        let mut board = self.board.clone();
        board.line_mut().from_board = recorded_output[..self.output_bytes].to_vec();
        let inputs_sent = self.present.inputs_delivered;
        (board, Present { inputs_sent, ..self.present.clone() })
    }

    fn step(&self) -> u64 {
        self.present.step
    }
}

/// Bytes delivered to the board before a step.
struct RecordedInput {
    step: u64,
    bytes: Vec<u8>,
}

/// Snapshots in ascending order of steps, and the recorded input.
pub(super) struct History {
    snapshots: Vec<Snapshot>,
    interval: u64,
    inputs: Vec<RecordedInput>,
}

impl History {
    pub(super) fn new() -> Self {
        Self { snapshots: Vec::new(), interval: INITIAL_INTERVAL_STEPS, inputs: Vec::new() }
    }

    /// Returns `true` if a snapshot is to be taken at this step.
    pub(super) fn is_snapshot_due(&self, step: u64) -> bool {
        self.snapshots.last().is_none_or(|last| step >= last.step() + self.interval)
    }

    /// Adds a snapshot. Beyond `MAX_SNAPSHOTS` the one is dropped that leaves the smallest gap in
    /// relation to its age.
    pub(super) fn push(&mut self, snapshot: Snapshot) {
        let now = snapshot.step();
        self.snapshots.push(snapshot);
        if self.snapshots.len() <= MAX_SNAPSHOTS {
            return;
        }
        let cost = |at: &usize| {
            let gap = self.snapshots[at + 1].step() - self.snapshots[at - 1].step();
            let age = now - self.snapshots[*at].step();
            let is_kept = age < DENSE_STEPS && gap > MAX_DENSE_GAP_STEPS;
            (is_kept, gap.saturating_mul(1024) / age.max(1))
        };
        // The first and the last snapshot bound the history and stay.
        if let Some(at) = (1..self.snapshots.len() - 1).min_by_key(cost) {
            self.snapshots.remove(at);
        }
        self.interval = (self.interval + self.interval / 8).min(MAX_INTERVAL_STEPS);
    }

    /// The last snapshot at or before `step`.
    pub(super) fn snapshot_before(&self, step: u64) -> Option<&Snapshot> {
        let after = self.snapshots.partition_point(|snapshot| snapshot.step() <= step);
        self.snapshots.get(after.checked_sub(1)?)
    }

    /// The step of the first snapshot after more than `count` instructions, `Some(None)` if there is
    /// none; `None` if that is the first of all.
    pub(super) fn segment_end(&self, count: u64, in_service: bool) -> Option<Option<u64>> {
        let is_before =
            |snapshot: &Snapshot| snapshot.present.counts[usize::from(in_service)] <= count;
        let after = self.snapshots.partition_point(is_before);
        (after > 0).then(|| self.snapshots.get(after).map(Snapshot::step))
    }

    /// The first step of the history.
    pub(super) fn start(&self) -> Option<u64> {
        self.snapshots.first().map(Snapshot::step)
    }

    /// Records bytes to be delivered before `step`, after the first `kept` inputs. Discards the
    /// other inputs, and snapshots that are later than `step` or have received them: a reverse
    /// command has made them obsolete.
    pub(super) fn record_input(&mut self, step: u64, kept: usize, bytes: &[u8]) {
        self.inputs.truncate(kept);
        self.snapshots.retain(|snapshot| {
            snapshot.step() <= step && snapshot.present.inputs_delivered <= kept
        });
        self.inputs.push(RecordedInput { step, bytes: bytes.to_vec() });
    }

    /// The history of a board that was modified: without snapshots, with only these inputs.
    pub(super) fn restarted(&mut self, pending: Range<usize>) -> Self {
        let inputs = self.inputs.drain(pending).collect();
        Self { inputs, ..Self::new() }
    }

    /// Returns the next input if it is due at `step`, after `delivered` inputs.
    pub(super) fn due_input(&self, step: u64, delivered: usize) -> Option<&[u8]> {
        let next = self.inputs.get(delivered).filter(|input| input.step <= step)?;
        Some(&next.bytes)
    }
}
