//! A simulated board with its recorded past: snapshots, and the input in between.
//!
//! The board is deterministic, so that any recorded step is reached again by a replay from the
//! snapshot before it. A timeline knows nothing of breakpoints, targets or commands.

mod calls;
mod history;

use std::cell::{Ref, RefCell};
use std::ops::Range;

use board_simulator::{AddressSet, BoardModel, BusAccess, QueueLine, Registers, StepOutcome};

use crate::expression::MachineState;
pub(crate) use calls::CallStack;
pub use calls::OpenCall;
pub(crate) use history::Touched;
use history::{History, Snapshot};

type Board = BoardModel<QueueLine>;

/// A simulated board at one step of its recorded past.
pub(crate) struct Timeline {
    board: Board,
    present: Present,
    history: History,
    origin: Snapshot,
    /// The next step at which a snapshot may be due.
    snapshot_due: u64,
    /// The addresses that were executed since the last snapshot was taken or restored.
    executed: AddressSet,
    /// All output since the start of the history, also of steps after the present; a snapshot
    /// stores only its length.
    recorded_output: Vec<u8>,
    accesses: RefCell<Vec<BusAccess>>,
    /// The state before the last step.
    pub(crate) before: StepStart,
    /// Steps that were executed again so far.
    pub(crate) replayed_steps: u64,
}

/// What a snapshot stores beside the board.
#[derive(Clone, Default)]
struct Present {
    step: u64,
    /// The numbers of instructions so far: those outside of interrupt services, and all.
    counts: [u64; 2],
    calls: CallStack,
    /// The PC to which the current interrupt service returns.
    interrupted_pc: Option<u16>,
    is_resumed: bool,
    /// The number of recorded inputs that the board has received since the start of its history.
    inputs_delivered: usize,
    /// The number of recorded inputs up to the present: those delivered, and those sent since the
    /// last step.
    inputs_sent: usize,
}

/// A step to return to, with the input that it has yet to receive.
pub(crate) struct Bookmark {
    step: u64,
    inputs_sent: usize,
}

/// The state before a step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StepStart {
    /// The number of the step.
    pub(crate) step: u64,
    pub(crate) registers: Registers,
    in_service: bool,
}

/// Looks at the state before each step that is replayed, and, with its outcome, after it.
pub(crate) type ReplayVisitor<'v> = &'v mut dyn FnMut(&Timeline, Option<StepOutcome>);

impl Timeline {
    /// Creates a timeline that begins with the present state of a board.
    pub(crate) fn new(mut board: Board) -> Self {
        let (present, mut recorded_output) = (Present::default(), Vec::new());
        let mut executed = AddressSet::default();
        let origin = Snapshot::of(&mut board, &present, &mut recorded_output, &mut executed);
        Self {
            board,
            present,
            history: History::new(),
            origin,
            snapshot_due: 0,
            executed,
            recorded_output,
            accesses: RefCell::default(),
            before: StepStart::default(),
            replayed_steps: 0,
        }
    }

    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    /// The number of instructions and waits executed since the start.
    pub(crate) fn step_count(&self) -> u64 {
        self.present.step
    }

    /// The observed open calls.
    pub(crate) fn calls(&self) -> &CallStack {
        &self.present.calls
    }

    /// Returns `true` within an interrupt service.
    pub(crate) fn in_service(&self) -> bool {
        self.board.in_service()
    }

    /// Returns `true` if the last step returned to an instruction that an interrupt had preceded:
    /// PC was there before.
    pub(crate) fn is_resumed(&self) -> bool {
        self.present.is_resumed
    }

    /// The bus cycles of the last step that was executed by [`Self::step_traced`].
    pub(crate) fn accesses(&self) -> Ref<'_, Vec<BusAccess>> {
        self.accesses.borrow()
    }

    /// The first recorded step.
    pub(crate) fn start(&self) -> Option<u64> {
        self.history.start()
    }

    /// Executes one step, and takes a snapshot before it if one is due.
    pub(crate) fn step(&mut self) -> StepOutcome {
        self.step_with(BoardModel::advance)
    }

    /// Executes one step and records its bus cycles.
    pub(crate) fn step_traced(&mut self) -> StepOutcome {
        let mut accesses = std::mem::take(&mut self.accesses);
        let outcome = self.step_with(|board| board.step_recorded(&accesses));
        std::mem::swap(&mut self.accesses, &mut accesses);
        outcome
    }

    fn step_with(&mut self, advance: impl FnOnce(&mut Board) -> StepOutcome) -> StepOutcome {
        if self.present.step >= self.snapshot_due {
            if self.history.next_due(self.present.step) <= self.present.step {
                let Self { board, present, recorded_output, executed, .. } = self;
                self.history.push(Snapshot::of(board, present, recorded_output, executed));
            }
            self.snapshot_due = self.history.next_due(self.present.step);
        }
        // A replay delivers each input before the same step, or it would diverge. After the
        // snapshot, whose count is of the inputs delivered before it.
        let Present { step, inputs_delivered, inputs_sent, .. } = &mut self.present;
        while let Some(bytes) = self.history.due_input(*step, *inputs_delivered) {
            self.board.line_mut().to_board.extend(bytes);
            *inputs_delivered += 1;
        }
        *inputs_sent = (*inputs_sent).max(*inputs_delivered);
        self.before = StepStart {
            step: *step,
            registers: self.board.registers(),
            in_service: self.board.in_service(),
        };
        let opcode = self.peek(self.before.registers.pc);
        self.executed.insert(self.before.registers.pc);
        let outcome = advance(&mut self.board);
        // The steps of an idle board are not counted: otherwise a replay would deliver later input
        // at a different step.
        if outcome != StepOutcome::Idle {
            self.present.step += 1;
        }
        if outcome == StepOutcome::Executed {
            self.record_instruction(opcode);
        }
        outcome
    }

    fn record_instruction(&mut self, opcode: u8) {
        let StepStart { registers: before, in_service: was_served, .. } = self.before;
        let now = self.board.registers();
        let accepted = self.board.accepted_interrupt();
        let present = &mut self.present;
        if !present.is_resumed {
            present.counts[0] += u64::from(!was_served);
            present.counts[1] += 1;
        }
        if accepted && !was_served {
            present.interrupted_pc = Some(before.pc);
        }
        // The interrupted instruction has not run: reaching it again is not a second arrival.
        let returned = was_served && !self.board.in_service();
        present.is_resumed =
            returned && present.interrupted_pc.take_if(|pc| *pc == now.pc).is_some();
        present.calls.record(&before, &now, opcode, accepted);
    }

    /// Goes to a recorded step; returns `false` if the history begins after it.
    pub(crate) fn seek(&mut self, step: u64) -> bool {
        if step == self.present.step {
            return true;
        }
        let Some(snapshot) = self.history.snapshot_before(step) else { return false };
        (self.board, self.present) = snapshot.restored(&self.recorded_output);
        (self.executed, self.snapshot_due) = (AddressSet::default(), 0);
        while self.present.step < step {
            self.replayed_steps += 1;
            if self.step() == StepOutcome::Idle {
                break;
            }
        }
        true
    }

    /// The present, to return to after a search.
    pub(crate) fn bookmark(&self) -> Bookmark {
        Bookmark { step: self.present.step, inputs_sent: self.present.inputs_sent }
    }

    /// Returns to a step that was the present when the same future was recorded.
    pub(crate) fn return_to(&mut self, bookmark: Bookmark) {
        self.seek(bookmark.step);
        self.present.inputs_sent = self.present.inputs_sent.max(bookmark.inputs_sent);
    }

    /// Executes the recorded steps of a range again. Bus cycles are recorded if `traces`, which is
    /// slower.
    pub(crate) fn replay(&mut self, range: Range<u64>, traces: bool, visit: ReplayVisitor<'_>) {
        if !self.seek(range.start) {
            return;
        }
        while self.present.step < range.end {
            self.replayed_steps += 1;
            visit(self, None);
            let outcome = if traces { self.step_traced() } else { self.step() };
            // Idle: the board waited here for input that was sent later.
            if outcome == StepOutcome::Idle {
                break;
            }
            visit(self, Some(outcome));
        }
    }

    /// What the steps from a snapshot's to the next snapshot have touched; `None` after the last one.
    pub(crate) fn touched_after(&self, begin: u64) -> Option<&Touched> {
        self.history.touched_after(begin)
    }

    /// The step of the last snapshot before `end`.
    pub(crate) fn segment_before(&self, end: u64) -> Option<u64> {
        self.history.snapshot_before(end.checked_sub(1)?).map(|snapshot| snapshot.present.step)
    }

    /// The number of instructions so far that a reverse step can stop at: all if it begins within an
    /// interrupt service, else those outside of services.
    pub(crate) fn instruction_count(&self, in_service: bool) -> u64 {
        self.present.counts[usize::from(in_service)]
    }

    /// The end of the steps between two snapshots among which the instruction after `count` others
    /// was executed; `None` if the history begins later.
    pub(crate) fn segment_end(&self, count: u64, in_service: bool) -> Option<u64> {
        self.history.segment_end(count, in_service).map(|end| end.unwrap_or(self.present.step))
    }

    /// Sends bytes to the board. Discards what was recorded after the present.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.history.record_input(self.present.step, self.present.inputs_sent, bytes);
        self.snapshot_due = 0;
        self.present.inputs_sent += 1;
        self.recorded_output.truncate(self.board.line().from_board.len());
    }

    /// Modifies the board and discards the history, which does not lead to the new state.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Board)) {
        change(&mut self.board);
        let Present { inputs_delivered, inputs_sent, .. } = &mut self.present;
        self.history = self.history.restarted(*inputs_delivered..*inputs_sent);
        self.snapshot_due = 0;
        *inputs_sent -= *inputs_delivered;
        *inputs_delivered = 0;
        self.recorded_output.truncate(self.board.line().from_board.len());
    }

    /// Restores the state in which the timeline was created, and discards the history.
    pub(crate) fn restart(&mut self) {
        (self.board, self.present) = self.origin.restored(&self.recorded_output);
        self.history = History::new();
        self.snapshot_due = 0;
        self.recorded_output.truncate(self.origin.output_bytes);
    }
}

impl MachineState for Timeline {
    fn registers(&self) -> Registers {
        self.board.registers()
    }

    fn peek(&self, address: u16) -> u8 {
        self.board.bus().peek(address)
    }
}
