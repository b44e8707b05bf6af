//! Calls in progress on the simulated machine.

use z80_core::{Cpu, Registers};

use super::memory::Memory;
use crate::machine::Call;

/// A call in progress.
pub(super) struct Running<'c> {
    pub(super) cpu: Cpu,
    pub(super) call: &'c Call,
    pub(super) t_states: u64,
    /// The lowest value of SP, and the lowest permitted one.
    pub(super) lowest: u16,
    pub(super) deepest: u16,
    pub(super) has_left_stack: bool,
    /// The address of the instruction that returned.
    pub(super) last: Option<u16>,
    /// When interrupts were turned off.
    pub(super) disabled: Option<u64>,
    pub(super) mock_calls: Vec<u32>,
    /// The T-states of the next request of each interrupt.
    pub(super) requests: Vec<Option<u64>>,
    /// See [`Outcome::latest_equal`](crate::machine::Outcome::latest_equal).
    pub(super) latest_equal: Vec<Option<u64>>,
}

impl<'c> Running<'c> {
    pub(super) fn new(cpu: Cpu, call: &'c Call) -> Self {
        Self {
            lowest: cpu.sp(),
            deepest: cpu.sp().wrapping_sub(call.stack_size),
            has_left_stack: false,
            last: None,
            disabled: call.entry.is_interrupt().then_some(0),
            mock_calls: vec![0; call.mocks.len()],
            requests: call.interrupts.iter().map(|interrupt| Some(interrupt.at)).collect(),
            latest_equal: vec![None; call.interrupts.len()],
            t_states: 0,
            cpu,
            call,
        }
    }

    /// Returns the index of the interrupt that the processor accepts now.
    pub(super) fn acceptable(&self) -> Option<usize> {
        let is_due = |index: &usize| self.requests[*index].is_some_and(|at| at <= self.t_states);
        let is_non_maskable = |index: &usize| self.call.interrupts[*index].non_maskable;
        let due = (0..self.requests.len()).filter(is_due).max_by_key(is_non_maskable)?;
        (is_non_maskable(&due) || self.cpu.accepts_interrupt()).then_some(due)
    }

    /// Accepts an interrupt, by its index.
    pub(super) fn accept(&mut self, index: usize, bus: &mut Memory) {
        let interrupt = &self.call.interrupts[index];
        let request = self.requests[index].unwrap_or(self.t_states);
        // All requests move with `at`. While a request waits, it changes nothing: the processor
        // accepts neither it nor one that it takes precedence over.
        let latest = interrupt.at + (self.t_states - request);
        let before = self.latest_equal[index].unwrap_or(latest);
        self.latest_equal[index] = Some(latest.min(before));
        self.requests[index] = interrupt.period.map(|period| request + period);
        self.t_states += u64::from(match interrupt.non_maskable {
            true => self.cpu.non_maskable_interrupt(bus),
            false => self.cpu.step(bus, Some(interrupt.bus)),
        });
        if let Some(pc) = interrupt.handler {
            self.cpu.set_registers(&Registers { pc, ..self.cpu.registers() });
        }
    }
}
