//! Processor and bus of a board, without its serial line.

use std::cell::RefCell;

use super::{BoardSpec, RunStop, StepOutcome};
use crate::bus::{BoardBus, BusAccess, RecordingBus};
use crate::guard::Guard;
use crate::line::{SerialLine, corrupt_by_baud_mismatch};
use crate::probe::Probe;
use z80_core::{Bus, Cpu};

/// T-states between two polls of an idle line.
const IDLE_LINE_POLL_T_STATES: u64 = 10_000;
/// A value that no 16-bit stack pointer has.
pub(super) const NO_STACK_POINTER: u32 = 0x1_0000;

/// Processor, memory and devices on one clock.
#[derive(Clone)]
pub(super) struct Hardware {
    pub(super) spec: BoardSpec,
    pub(super) cpu: Cpu,
    pub(super) bus: BoardBus,
    pub(super) clock: u64,
    /// When the devices must be updated next.
    pub(super) next_event: u64,
    pub(super) interrupt: bool,
    /// Whether the host holds /RESET low.
    pub(super) is_reset_held: bool,
    /// Whether a device is in service, until RETI.
    pub(super) device_served: bool,
    /// The stack pointer before the interrupt that is being handled.
    pub(super) sp_before_interrupt: Option<u16>,
    pub(super) service_time: u64,
    pub(super) halted_time: u64,
    pub(super) probe: Option<Probe>,
    pub(super) guard: Option<Box<Guard>>,
}

impl Hardware {
    pub(super) fn pull_reset(&mut self) {
        self.cpu.reset();
        self.bus.reset();
        self.interrupt = false;
        self.sp_before_interrupt = None;
        self.device_served = false;
        if let Some(guard) = &mut self.guard {
            guard.reset();
        }
    }

    /// Returns `true` if an interrupt is accepted before the next instruction, or the one after EI.
    pub(super) fn may_accept(&self) -> bool {
        self.interrupt && self.cpu.enables_interrupts()
    }

    /// Runs for at least `t_states`, to the end of an instruction; or until only a character from
    /// the host can wake the processor.
    pub(super) fn run_for(&mut self, line: &mut dyn SerialLine, t_states: u64) -> RunStop {
        let end = self.clock + t_states;
        while self.clock < end {
            if self.clock >= self.next_event {
                self.serve_devices(line);
            }
            if !(self.is_reset_held || self.may_accept() || self.cpu.is_halted()) {
                self.run_until(end.min(self.next_event));
            } else if self.advance(line) == StepOutcome::Idle {
                return RunStop::Idle;
            }
        }
        RunStop::TimeElapsed
    }

    /// Runs instructions during which no interrupt can be accepted, until `end`, a device access or
    /// an address that the probe records.
    pub(super) fn run_until(&mut self, end: u64) {
        self.observe_probe();
        let start = self.clock;
        self.bus.begin(start, end);
        if self.sp_before_interrupt.is_none()
            && let Some(guard) = self.guard.take()
        {
            self.guard = Some(self.run_with(guard));
            self.clock = self.bus.clock.now();
            return self.update_devices(self.cpu.sp(), false, self.clock - start);
        }
        let probe = self.probe.as_ref().filter(|_| self.sp_before_interrupt.is_none());
        let ends = probe.map_or(self.sp_before_interrupt, Probe::ends_call);
        let watched = probe.map_or(&[][..], Probe::watched);
        if ends.is_none() && watched.is_empty() {
            self.cpu.run(&mut self.bus, |_, bus, time| bus.clock.tick(time));
        } else {
            let ends = ends.map_or(NO_STACK_POINTER, u32::from);
            self.cpu.run(&mut self.bus, |cpu, bus, time| {
                bus.clock.tick(time)
                    && u32::from(cpu.sp()) != ends
                    && watched.get(usize::from(cpu.pc())).is_none_or(Option::is_none)
            });
        }
        self.clock = self.bus.clock.now();
        self.update_devices(self.cpu.sp(), false, self.clock - start);
    }

    pub(super) fn advance(&mut self, line: &mut dyn SerialLine) -> StepOutcome {
        self.step_or_wait(line, Self::step)
    }

    pub(super) fn step_recorded(
        &mut self,
        line: &mut dyn SerialLine,
        accesses: &RefCell<Vec<BusAccess>>,
    ) -> StepOutcome {
        self.step_or_wait(line, |board| {
            board.step_on(|cpu, bus, vector| cpu.step(&mut RecordingBus { bus, accesses }, vector));
        })
    }

    #[inline(always)]
    fn step_or_wait(
        &mut self,
        line: &mut dyn SerialLine,
        step: impl FnOnce(&mut Self),
    ) -> StepOutcome {
        if self.clock >= self.next_event {
            self.serve_devices(line);
        }
        if self.is_reset_held {
            self.clock = self.next_event;
        } else if !self.cpu.is_halted() || self.may_accept() {
            step(self);
            return StepOutcome::Executed;
        } else if let Some(at) = self.next_device_event(line) {
            let time = self.cpu.wait(at.saturating_sub(self.clock));
            self.halted_time += time;
            self.clock += time;
            self.next_event = self.clock;
        } else {
            return StepOutcome::Idle;
        }
        StepOutcome::Waited
    }

    /// Runs one instruction.
    pub(super) fn step(&mut self) {
        if self.sp_before_interrupt.is_none()
            && let Some(guard) = self.guard.take()
        {
            return self.step_with(guard);
        }
        self.step_on(|cpu, bus, vector| cpu.step(bus, vector));
    }

    pub(super) fn step_on(
        &mut self,
        execute: impl FnOnce(&mut Cpu, &mut BoardBus, Option<u8>) -> u32,
    ) {
        self.observe_probe();
        self.bus.clock.set(self.clock);
        let sp = self.cpu.sp();
        let vector = self.interrupt.then(|| self.bus.vector());
        let time = u64::from(execute(&mut self.cpu, &mut self.bus, vector));
        self.clock += time;
        self.update_devices(sp, self.cpu.accepted_interrupt(), time);
    }

    /// Passes the state before an instruction to the probe.
    fn observe_probe(&mut self) {
        if self.sp_before_interrupt.is_none()
            && let Some(probe) = &mut self.probe
        {
            let clock = self.clock - self.service_time;
            let registers = || self.cpu.registers();
            probe.observe(self.cpu.pc(), self.cpu.sp(), clock, registers, |at| self.bus.read(at));
        }
    }

    /// Reports to the devices what the processor did in the last `time` T-states. `sp` is the stack
    /// pointer before an interrupt was accepted.
    fn update_devices(&mut self, sp: u16, accepted: bool, time: u64) {
        let returned = self.bus.reti_executed.take();
        if accepted {
            self.bus.acknowledge();
            self.device_served = self.bus.in_service();
        } else if returned && self.device_served {
            self.bus.return_from_interrupt();
            self.device_served = self.bus.in_service();
        }
        self.count_service(sp, accepted, time);
        if self.bus.device_accessed.take() {
            self.next_event = self.clock;
        }
    }

    fn count_service(&mut self, sp: u16, accepted: bool, time: u64) {
        if accepted && self.sp_before_interrupt.is_none() {
            self.sp_before_interrupt = Some(sp);
        }
        if let Some(before) = self.sp_before_interrupt {
            self.service_time += time;
            if self.cpu.sp() == before {
                self.sp_before_interrupt = None;
            }
        }
    }

    /// Returns when a device next changes its state, after polling the line.
    fn next_device_event(&mut self, line: &mut dyn SerialLine) -> Option<u64> {
        self.bus.next_event().or_else(|| {
            self.serve_devices(line);
            self.bus.next_event().or(self.may_accept().then_some(self.clock))
        })
    }

    /// Advances the devices to the clock, moves characters between serial chip and line, and sets
    /// the time of the next update.
    fn serve_devices(&mut self, line: &mut dyn SerialLine) {
        self.bus.clock.set(self.clock);
        if let Some(sent) = self.bus.advance(self.clock) {
            let received = as_received(line, sent);
            line.transmit(received);
        }
        let held = self.spec.dtr_resets && line.holds_reset();
        if held && !self.is_reset_held {
            self.pull_reset();
        }
        self.is_reset_held = held;
        self.receive(line);
        self.interrupt = self.bus.interrupt();
        self.next_event =
            self.bus.next_event().unwrap_or(u64::MAX).min(self.clock + IDLE_LINE_POLL_T_STATES);
    }

    /// Starts to receive the next character, if the receiver is free and the host sends one.
    fn receive(&mut self, line: &mut dyn SerialLine) {
        let uart = self.bus.uart.get_mut();
        if uart.can_receive()
            && !(uart.rts_high() && self.spec.host_obeys_rts && line.obeys_rts())
            && let Some(value) = line.receive()
        {
            let good = line.speed_matches();
            let value = as_received(line, value);
            self.bus.uart.get_mut().start_receiving(value, good, self.clock);
        }
    }
}

/// Returns a character as the other side of the line receives it.
fn as_received(line: &dyn SerialLine, value: u8) -> u8 {
    if line.speed_matches() { value } else { corrupt_by_baud_mismatch(value) }
}
