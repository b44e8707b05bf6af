//! A board with a guard.

use super::hardware::{Hardware, NO_STACK_POINTER};
use crate::guard::{APPLICATION_STOPS, Guard, Seen};
use crate::probe::Probe;

impl Hardware {
    /// Runs instructions outside interrupt handling, with a guard, up to the end that the bus has
    /// been given, a device access, an address at which probe or guard observe the processor, or a
    /// violation.
    pub(super) fn run_with(&mut self, mut guard: Box<Guard>) -> Box<Guard> {
        guard.observe(&self.cpu, &self.bus);
        let probe_ends = self.probe.as_ref().and_then(Probe::ends_call);
        let probe_ends = probe_ends.map_or(NO_STACK_POINTER, u32::from);
        let mut pc = self.cpu.pc();
        let mut seen = Seen::default();
        if guard.is_under_test() {
            let mut bus = guard.guarded(&mut self.bus);
            self.cpu.run(&mut bus, |cpu, bus, time| {
                let continues = bus.bus.clock.tick(time)
                    && u32::from(cpu.sp()) != probe_ends
                    && bus.may_continue(cpu);
                if continues {
                    pc = cpu.pc();
                }
                continues
            });
            seen = bus.seen;
        } else {
            let (flags, ends) = guard.application_stops();
            let ends = ends.map_or(NO_STACK_POINTER, u32::from);
            self.cpu.run(&mut self.bus, |cpu, bus, time| {
                let sp = u32::from(cpu.sp());
                bus.clock.tick(time)
                    && sp != ends
                    && sp != probe_ends
                    && flags[usize::from(cpu.pc())] & APPLICATION_STOPS == 0
            });
        }
        guard.check(pc, &self.cpu, &self.bus, &seen);
        guard
    }

    /// Runs one instruction with a guard, or accepts an interrupt.
    pub(super) fn step_with(&mut self, mut guard: Box<Guard>) {
        guard.observe(&self.cpu, &self.bus);
        let pc = self.cpu.pc();
        let mut seen = Seen::default();
        if guard.is_under_test() {
            self.step_on(|cpu, bus, vector| {
                let mut bus = guard.guarded(bus);
                let time = cpu.step(&mut bus, vector);
                seen = bus.seen;
                time
            });
        } else {
            self.step_on(|cpu, bus, vector| cpu.step(bus, vector));
        }
        if self.cpu.accepted_interrupt() {
            guard.check_accepted(pc, &self.cpu, self.clock);
        } else {
            guard.check(pc, &self.cpu, &self.bus, &seen);
        }
        self.guard = Some(guard);
    }
}
