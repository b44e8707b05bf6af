//! The commands that run the board, and the reasons for which it halts.

use super::stops::WatchHit;

/// Why the board halted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HaltReason {
    /// The command has completed.
    Completed,
    /// PC is at a breakpoint.
    Breakpoint,
    /// The last instruction accessed a watchpoint; after a reverse command, the next one will.
    Watchpoint(WatchHit),
    /// The processor is in HALT, and no device event is pending that could end it.
    Idle,
    /// The start of the recorded history.
    HistoryStart,
    /// The byte at this address was not changed in the recorded history; the board stays where it
    /// was.
    NeverChanged(u16),
    /// Stopped by [`ShouldStop`](crate::ShouldStop).
    Paused,
    /// The twin of a target has caught up with it; the target is shown again.
    TwinCaughtUp,
    /// The target could not be run; see [`Debugger::last_error`](crate::Debugger::last_error).
    TargetError,
}

/// A command that runs the board forward or in reverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecCommand {
    /// One instruction. An interrupt that is accepted meanwhile is served without a stop.
    Step,
    /// One instruction; a call, or an instruction such as LDIR, runs to its end.
    StepOver,
    /// To the beginning of another source line, over calls.
    StepLine,
    /// To the beginning of another source line, into calls.
    StepLineInto,
    /// Until the current routine has returned.
    StepOut,
    /// Until a breakpoint, a watchpoint or an idle board.
    Continue,
    /// To an address, or an earlier breakpoint or watchpoint.
    RunTo(u16),
    /// Back one instruction, over interrupt services.
    ReverseStep,
    /// Back this many instructions, in the time of one.
    ReverseSteps(u64),
    /// Back to the beginning of the previously executed source line, into calls.
    ReverseStepLine,
    /// Back to the last breakpoint or watchpoint.
    ReverseContinue,
    /// Back to the last time PC was at an address; ignores breakpoints.
    ReverseTo(u16),
    /// Back to the last instruction that changed the byte at an address.
    ReverseToChange(u16),
    /// To this step, counted as [`Debugger::step_count`](crate::Debugger::step_count): back through
    /// the recorded history, or forward; ignores breakpoints.
    GoToStep(u64),
}

impl ExecCommand {
    /// Returns `true` for a step forward by instruction or line.
    pub(crate) fn is_step(self) -> bool {
        matches!(self, Self::Step | Self::StepOver | Self::StepLine | Self::StepLineInto)
    }

    pub(crate) fn is_reverse(self) -> bool {
        !self.is_step() && !matches!(self, Self::StepOut | Self::Continue | Self::RunTo(_))
    }
}
