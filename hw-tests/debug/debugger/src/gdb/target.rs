//! The debugger as a target of `gdbstub`.

use std::cell::RefCell;
use std::convert::Infallible;

use board_simulator::AccessKind;
use gdbstub::common::Signal;
use gdbstub::outputln;
use gdbstub::stub::SingleThreadStopReason;
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::reverse_exec::{
    ReplayLogPosition, ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadResume, SingleThreadResumeOps, SingleThreadSingleStep,
    SingleThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint, SwBreakpointOps,
    WatchKind,
};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::{Target, TargetError, TargetResult};

use super::client::GdbClient;
use super::z80::{RegisterFile, Z80};
use crate::commands::{self, CommandOutcome};
use crate::debugger::Debugger;
use crate::exec::{ExecCommand, HaltReason};
use crate::render::describe_halt;
use crate::stops::{Stop, StopId, StopKind, WatchHit, WatchTarget, WatchTrigger, Watchpoint};

/// A client that the stub writes to, and the target polls while the board runs.
pub(super) type SharedClient<'c, 's> = RefCell<&'c mut GdbClient<'s>>;

/// A debugger, and what gdb has set in it.
pub(super) struct GdbTarget<'t, 'c, 's> {
    debugger: &'t mut Debugger,
    client: &'t SharedClient<'c, 's>,
    /// What the last packet that resumed the board asks for.
    command: ExecCommand,
    stops: Vec<(StopKind, StopId)>,
}

impl<'t, 'c, 's> GdbTarget<'t, 'c, 's> {
    pub(super) fn new(debugger: &'t mut Debugger, client: &'t SharedClient<'c, 's>) -> Self {
        Self { debugger, client, command: ExecCommand::Step, stops: Vec::new() }
    }

    /// Runs the board, and shows what breakpoints log meanwhile.
    pub(super) fn run(&mut self) -> SingleThreadStopReason<u64> {
        let Self { debugger, client, command, .. } = self;
        let halt = commands::run(debugger, *command, &mut |debugger| {
            let mut client = client.borrow_mut();
            client.print(&debugger.take_log());
            client.is_interrupted()
        });
        let mut lines = debugger.take_log();
        if halt == HaltReason::TargetError {
            lines.push(describe_halt(debugger, halt));
        }
        client.borrow_mut().print(&lines);
        self.stop_reason(halt)
    }

    /// A breakpoint is reported as a plain trap: gdb continues after one that it has not set
    /// itself if it is reported as a breakpoint.
    fn stop_reason(&self, halt: HaltReason) -> SingleThreadStopReason<u64> {
        match halt {
            HaltReason::Watchpoint(hit) => self.watch_reason(hit),
            HaltReason::HistoryStart => {
                SingleThreadStopReason::ReplayLog { tid: None, pos: ReplayLogPosition::Begin }
            }
            HaltReason::TwinCaughtUp => {
                SingleThreadStopReason::ReplayLog { tid: None, pos: ReplayLogPosition::End }
            }
            HaltReason::Paused => SingleThreadStopReason::Signal(Signal::SIGINT),
            HaltReason::Completed
            | HaltReason::Breakpoint
            | HaltReason::NeverChanged(_)
            | HaltReason::Idle
            | HaltReason::TargetError => SingleThreadStopReason::DoneStep,
        }
    }

    /// gdb expects the kind of the watchpoint that it set, not of the access, and has no
    /// watchpoints on ports and registers, which `monitor watch` sets.
    fn watch_reason(&self, hit: WatchHit) -> SingleThreadStopReason<u64> {
        let set = self.stops.iter().find(|(_, id)| *id == hit.id);
        let (Some((StopKind::Watchpoint(watch), _)), WatchTrigger::Access(access)) =
            (set, hit.trigger)
        else {
            return SingleThreadStopReason::DoneStep;
        };
        let kind = match access.kind {
            _ if watch.reads && watch.writes => WatchKind::ReadWrite,
            AccessKind::Write => WatchKind::Write,
            _ => WatchKind::Read,
        };
        SingleThreadStopReason::Watch { tid: (), kind, addr: access.address.into() }
    }

    /// Removes the breakpoints and watchpoints that gdb has not removed.
    pub(super) fn remove_stops(&mut self) {
        self.stops.drain(..).for_each(|(_, id)| _ = self.debugger.stops.remove(id));
    }

    /// Sets a breakpoint or watchpoint, once.
    fn add(&mut self, kind: StopKind) -> TargetResult<bool, Self> {
        self.remove(kind);
        self.check(self.debugger.can_set(kind))?;
        self.stops.push((kind, self.debugger.stops.add(Stop::new(kind))));
        Ok(true)
    }

    fn remove(&mut self, kind: StopKind) -> bool {
        for (_, id) in self.stops.extract_if(.., |(other, _)| *other == kind) {
            self.debugger.stops.remove(id);
        }
        true
    }

    /// Returns `Ok`, or refuses the request with a text that gdb shows.
    fn check(&self, allowed: Result<(), String>) -> TargetResult<(), Self> {
        allowed.map_err(|problem| {
            self.client.borrow_mut().refusal = Some(problem);
            TargetError::NonFatal
        })
    }
}

/// Returns a range of memory; an error if it begins or ends beyond FFFFH.
fn memory_range<T>(start: u64, length: usize) -> Result<u16, TargetError<T>> {
    let end = start.checked_add(length as u64).filter(|end| *end <= 0x1_0000);
    let start = end.and_then(|_| u16::try_from(start).ok());
    start.ok_or(TargetError::NonFatal)
}

/// Returns the watchpoint that gdb describes.
fn watchpoint<T>(start: u64, length: u64, kind: WatchKind) -> Result<StopKind, TargetError<T>> {
    let count = length.clamp(1, 0xFFFF) as u16;
    let first = memory_range(start, 1)?;
    let (reads, writes) = (kind != WatchKind::Write, kind != WatchKind::Read);
    Ok(StopKind::Watchpoint(Watchpoint {
        target: WatchTarget::Memory,
        first,
        count,
        reads,
        writes,
    }))
}

impl Target for GdbTarget<'_, '_, '_> {
    type Arch = Z80;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, Z80, Infallible> {
        BaseOps::SingleThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn use_rle(&self) -> bool {
        false
    }
}

impl SingleThreadBase for GdbTarget<'_, '_, '_> {
    fn read_registers(&mut self, registers: &mut RegisterFile) -> TargetResult<(), Self> {
        registers.0 = self.debugger.registers();
        Ok(())
    }

    fn write_registers(&mut self, registers: &RegisterFile) -> TargetResult<(), Self> {
        self.check(self.debugger.can_modify())?;
        self.debugger.set_registers(&registers.0);
        Ok(())
    }

    /// Reads up to FFFFH; a shorter reply shows gdb where memory ends.
    fn read_addrs(&mut self, start: u64, data: &mut [u8]) -> TargetResult<usize, Self> {
        let first = memory_range(start, 1)?;
        let count = data.len().min(0x1_0000 - usize::from(first));
        data[..count].copy_from_slice(&self.debugger.dump(first, count));
        Ok(count)
    }

    fn write_addrs(&mut self, start: u64, data: &[u8]) -> TargetResult<(), Self> {
        self.check(self.debugger.can_modify())?;
        self.debugger.poke(memory_range(start, data.len())?, data);
        Ok(())
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadResume for GdbTarget<'_, '_, '_> {
    fn resume(&mut self, _signal: Option<Signal>) -> Result<(), Infallible> {
        self.command = ExecCommand::Continue;
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, (), Self>> {
        Some(self)
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, (), Self>> {
        Some(self)
    }
}

impl SingleThreadSingleStep for GdbTarget<'_, '_, '_> {
    fn step(&mut self, _signal: Option<Signal>) -> Result<(), Infallible> {
        self.command = ExecCommand::Step;
        Ok(())
    }
}

impl ReverseStep<()> for GdbTarget<'_, '_, '_> {
    fn reverse_step(&mut self, _thread: ()) -> Result<(), Infallible> {
        self.command = ExecCommand::ReverseStep;
        Ok(())
    }
}

impl ReverseCont<()> for GdbTarget<'_, '_, '_> {
    fn reverse_cont(&mut self) -> Result<(), Infallible> {
        self.command = ExecCommand::ReverseContinue;
        Ok(())
    }
}

impl Breakpoints for GdbTarget<'_, '_, '_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for GdbTarget<'_, '_, '_> {
    fn add_sw_breakpoint(&mut self, address: u64, _kind: usize) -> TargetResult<bool, Self> {
        self.add(StopKind::Breakpoint(memory_range(address, 1)?))
    }

    fn remove_sw_breakpoint(&mut self, address: u64, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.remove(StopKind::Breakpoint(memory_range(address, 1)?)))
    }
}

impl HwWatchpoint for GdbTarget<'_, '_, '_> {
    fn add_hw_watchpoint(
        &mut self,
        start: u64,
        length: u64,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        self.add(watchpoint(start, length, kind)?)
    }

    fn remove_hw_watchpoint(
        &mut self,
        start: u64,
        length: u64,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        Ok(self.remove(watchpoint(start, length, kind)?))
    }
}

impl MonitorCmd for GdbTarget<'_, '_, '_> {
    /// Executes a command of the debugger; its output goes to gdb's console.
    fn handle_monitor_cmd(
        &mut self,
        line: &[u8],
        mut out: ConsoleOutput<'_>,
    ) -> Result<(), Infallible> {
        let Self { debugger, client, .. } = self;
        let line = String::from_utf8_lossy(line);
        let should_stop = &mut |_: &mut Debugger| client.borrow_mut().is_interrupted();
        let output = match commands::execute(debugger, &line, should_stop) {
            Ok(CommandOutcome::Quit) => "`detach` or `kill` ends the session".to_owned(),
            Ok(outcome) => commands::outcome_text(debugger, &outcome),
            Err(message) => message,
        };
        outputln!(out, "{output}");
        Ok(())
    }
}
