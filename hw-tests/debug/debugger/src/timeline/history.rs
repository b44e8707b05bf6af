//! The recorded history of a board: snapshots, from which any other step is reached by replaying
//! forward, and the input in between.

use std::ops::Range;

use board_simulator::AddressSet;

use super::{Board, Present};

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

/// Parts of a gap between which snapshots are taken when its steps are executed again, unless they
/// are shorter than the initial interval.
const GAP_PARTS: u64 = 16;

/// The addresses that steps have executed and written.
#[derive(Clone, Default)]
pub(crate) struct Touched {
    pub(crate) executed: AddressSet,
    pub(crate) written: AddressSet,
}

/// A copy of the board without its output, and the timeline's state that belongs to it.
pub(super) struct Snapshot {
    board: Board,
    /// The length of the board's output.
    pub(super) output_bytes: usize,
    pub(super) present: Present,
    /// What all steps since the snapshot before have touched, and perhaps some before.
    touched: Touched,
}

impl Snapshot {
    /// Copies a board, and records what is new of its output; `executed` is emptied.
    pub(super) fn of(
        board: &mut Board,
        present: &Present,
        recorded_output: &mut Vec<u8>,
        executed: &mut AddressSet,
    ) -> Self {
        let written = board.bus_mut().written.replace(AddressSet::default()).unwrap_or_default();
        let touched = Touched { executed: std::mem::take(executed), written };
        // Not copied: each snapshot would contain all output before it.
        let output = std::mem::take(&mut board.line_mut().from_board);
        let copy = board.clone();
        recorded_output.extend(output.get(recorded_output.len()..).unwrap_or_default());
        let output_bytes = output.len();
        board.line_mut().from_board = output;
        Self { board: copy, output_bytes, present: present.clone(), touched }
    }

    /// Returns the board with its output, and what belongs to it.
    pub(super) fn restored(&self, recorded_output: &[u8]) -> (Board, Present) {
        let mut board = self.board.clone();
        board.line_mut().from_board = recorded_output[..self.output_bytes].to_vec();
        (board, Present { inputs_sent: self.present.inputs_delivered, ..self.present.clone() })
    }

    fn step(&self) -> u64 {
        self.present.step
    }
}

/// Snapshots in ascending order of steps, and the recorded input.
pub(super) struct History {
    snapshots: Vec<Snapshot>,
    /// Snapshots between two of them: in the gap whose steps were executed again last.
    refined: Vec<Snapshot>,
    interval: u64,
    /// Steps, and the bytes delivered to the board before them.
    inputs: Vec<(u64, Vec<u8>)>,
}

impl History {
    pub(super) fn new() -> Self {
        let interval = INITIAL_INTERVAL_STEPS;
        Self { snapshots: Vec::new(), refined: Vec::new(), interval, inputs: Vec::new() }
    }

    /// The next step, from `step` on, at which a snapshot is to be taken, or at least looked for.
    pub(super) fn next_due(&self, step: u64) -> u64 {
        let after = self.snapshots.partition_point(|snapshot| snapshot.step() <= step);
        let Some(before) = after.checked_sub(1) else { return step };
        let before = self.snapshots[before].step();
        let Some(next) = self.snapshots.get(after).map(Snapshot::step) else {
            return before + self.interval;
        };
        let gap = next - before;
        if gap <= GAP_PARTS * INITIAL_INTERVAL_STEPS {
            return next;
        }
        let last = self.snapshot_before(step).map_or(before, Snapshot::step);
        next.min(last + gap / GAP_PARTS)
    }

    /// Adds a snapshot. Beyond `MAX_SNAPSHOTS` the one is dropped that leaves the smallest gap in
    /// relation to its age.
    pub(super) fn push(&mut self, snapshot: Snapshot) {
        let now = snapshot.step();
        if self.snapshots.last().is_some_and(|last| last.step() > now) {
            let gap_of = |step| self.snapshots.partition_point(|snapshot| snapshot.step() <= step);
            if self.refined.first().is_some_and(|one| gap_of(one.step()) != gap_of(now)) {
                self.refined.clear();
            }
            let at = self.refined.partition_point(|one| one.step() < now);
            return self.refined.insert(at, snapshot);
        }
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
            let Touched { executed, written } = self.snapshots.remove(at).touched;
            self.snapshots[at].touched.executed.extend(&executed);
            self.snapshots[at].touched.written.extend(&written);
            self.refined.clear();
        }
        self.interval = (self.interval + self.interval / 8).min(MAX_INTERVAL_STEPS);
    }

    fn all(&self) -> impl Iterator<Item = &Snapshot> {
        self.snapshots.iter().chain(&self.refined)
    }

    /// The last snapshot at or before `step`.
    pub(super) fn snapshot_before(&self, step: u64) -> Option<&Snapshot> {
        self.all().filter(|snapshot| snapshot.step() <= step).max_by_key(|one| one.step())
    }

    /// What the steps from a snapshot's to the next snapshot have touched; `None` after the last one.
    pub(super) fn touched_after(&self, step: u64) -> Option<&Touched> {
        let next = self.all().filter(|snapshot| snapshot.step() > step);
        next.min_by_key(|one| one.step()).map(|next| &next.touched)
    }

    /// The step of the first snapshot after more than `count` instructions, `Some(None)` if there is
    /// none; `None` if that is the first of all.
    pub(super) fn segment_end(&self, count: u64, in_service: bool) -> Option<Option<u64>> {
        let is_after =
            |snapshot: &&Snapshot| snapshot.present.counts[usize::from(in_service)] > count;
        let is_recorded = self.snapshots.first().is_some_and(|first| !is_after(&first));
        is_recorded.then(|| self.all().filter(is_after).map(Snapshot::step).min())
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
        for snapshots in [&mut self.snapshots, &mut self.refined] {
            snapshots.retain(|snapshot| {
                snapshot.step() <= step && snapshot.present.inputs_delivered <= kept
            });
        }
        self.inputs.push((step, bytes.to_vec()));
    }

    /// The history of a board that was modified: without snapshots, with only these inputs.
    pub(super) fn restarted(&mut self, pending: Range<usize>) -> Self {
        let inputs = self.inputs.drain(pending).collect();
        Self { inputs, ..Self::new() }
    }

    /// Returns the next input if it is due at `step`, after `delivered` inputs.
    pub(super) fn due_input(&self, step: u64, delivered: usize) -> Option<&[u8]> {
        let next = self.inputs.get(delivered).filter(|(due, _)| *due <= step);
        next.map(|(_, bytes)| bytes.as_slice())
    }
}
