//! A board on which the debug kernel runs a program.
//!
//! Memory is read on demand while the program is halted, and cached until it resumes. A target has
//! no history: reverse commands run on its simulated twin (`twin`).

mod kernel;
mod program;
mod twin;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use board_simulator::Registers;
use firmware_wire::{StopReason, StoppedState};
use rcflash_transport::platform::time::Instant;

use super::exec::HaltReason;

pub use kernel::{DebugKernel, KernelError};
pub use program::TargetError;
pub(super) use program::TargetProgram;
pub(super) use twin::{Twin, TwinEvent};

pub(super) const BLOCK_BYTES: u16 = 64;
/// The first address of the kernel's memory.
const KERNEL_START: u16 = 0xF000;

/// Symbols of the interrupt service that halts a running program: zeros on the line make it return
/// to `stop_address`, where the program halts (`firmware/z80/place.asm`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BreakInSymbols {
    /// `PCRPT`: the address at which the program halts.
    pub(super) stop_address: u16,
    /// `PCSAVE`: the word with the PC of the interrupted program.
    pub(super) saved_pc: u16,
    /// `PCREQ`: the byte that is not 0 until the host has read the PC.
    pub(super) requested: u16,
}

pub(super) struct Target {
    pub(super) kernel: RefCell<Box<dyn DebugKernel>>,
    pub(super) program: TargetProgram,
    pub(super) stopped: StoppedState,
    pub(super) running: bool,
    /// `false` after a restart that failed: what is on the board is unknown.
    pub(super) is_loaded: bool,
    pub(super) resumed_at: Instant,
    t_states: u64,
    clock_hz: u64,
    memory: RefCell<BTreeMap<u16, Vec<u8>>>,
    pub(super) output: Vec<u8>,
    pub(super) unsent: Vec<u8>,
    pub(super) last_error: RefCell<Option<String>>,
    /// Whether the line, or what is recorded of it, has failed since the last motion.
    pub(super) has_line_failed: Cell<bool>,
    pub(super) twin: Twin,
}

impl Target {
    /// Loads the kernel and `program`, which is halted at its entry.
    pub(super) fn start(
        program: TargetProgram,
        mut kernel: Box<dyn DebugKernel>,
        clock_hz: u64,
    ) -> Result<Self, TargetError> {
        let state = program.start_kernel(kernel.as_mut())?;
        let state = program.load(kernel.as_mut(), &state)?;
        Ok(Self {
            resumed_at: kernel.now(),
            kernel: RefCell::new(kernel),
            program,
            stopped: state,
            running: false,
            is_loaded: true,
            t_states: 0,
            clock_hz,
            memory: RefCell::new(BTreeMap::new()),
            output: Vec::new(),
            unsent: Vec::new(),
            last_error: RefCell::new(None),
            has_line_failed: Cell::new(false),
            twin: Twin::default(),
        })
    }

    pub(super) fn registers(&self) -> Registers {
        registers(&self.stopped)
    }

    pub(super) fn set_registers(&mut self, to: &Registers) {
        self.stopped = with_registers(&self.stopped, to);
        let set = self.kernel.get_mut().set_registers(&self.stopped);
        let _ = self.checked(set);
        self.twin.events.push_back(TwinEvent::RegistersSet(*to));
    }

    /// Returns bytes of memory; zeros while the program runs, when memory can't be read.
    pub(super) fn dump(&self, address: u16, count: usize) -> Vec<u8> {
        (0..count).map(|at| self.peek(address.wrapping_add(at as u16))).collect()
    }

    pub(super) fn peek(&self, address: u16) -> u8 {
        let block = address & !(BLOCK_BYTES - 1);
        let mut memory = self.memory.borrow_mut();
        if !self.running && !memory.contains_key(&block) {
            match self.kernel.borrow_mut().read(block, BLOCK_BYTES.into()) {
                Ok(bytes) => _ = memory.insert(block, bytes),
                Err(error) => _ = self.fail(self.describe(error)),
            }
        }
        memory.get(&block).map_or(0, |bytes| bytes[usize::from(address - block)])
    }

    pub(super) fn poke(&mut self, address: u16, bytes: &[u8]) {
        let written = self.kernel.get_mut().write(address, bytes);
        let _ = self.checked(written);
        self.memory.borrow_mut().clear();
        self.twin.events.push_back(TwinEvent::MemoryWritten(address, bytes.to_vec()));
    }

    /// Sends bytes to the program, at once or as soon as it resumes.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        if self.running {
            let sent = self.kernel.get_mut().send(bytes);
            let _ = self.checked(sent);
            self.twin.events.push_back(TwinEvent::Sent(bytes.to_vec()));
        } else {
            self.unsent.extend(bytes);
        }
    }

    pub(super) fn clock(&self) -> u64 {
        self.t_states + if self.running { self.t_states_since() } else { 0 }
    }

    fn t_states_since(&self) -> u64 {
        let time = self.kernel.borrow().now().saturating_duration_since(self.resumed_at);
        (time.as_secs_f64() * self.clock_hz as f64) as u64
    }

    /// Checks that RST 6 can be written to an address.
    pub(super) fn can_set_breakpoint(&self, address: u16) -> Result<(), String> {
        if address >= KERNEL_START {
            return Err(format!("{address:04X}H belongs to the debug kernel"));
        }
        if self.running {
            return Ok(()); // resuming reports an address that is not RAM
        }
        let original = self.peek(address);
        let mut kernel = self.kernel.borrow_mut();
        let changed = kernel.write(address, &[!original]);
        match kernel.write(address, &[original]).and(changed) {
            Err(KernelError::NotWritable(_)) => Err(not_writable(address)),
            other => other.map_err(|error| self.describe(error)),
        }
    }

    /// Reloads and restarts the program, through the monitor; returns `false` if that fails. A
    /// program that runs may have lost its board to the reset button, or to a fault of the line.
    pub(super) fn restart(&mut self) -> bool {
        self.clear_error();
        let kernel = self.kernel.get_mut().as_mut();
        let restarted = self.program.start_kernel(kernel).and_then(|state| {
            self.running = false;
            self.program.load(kernel, &state)
        });
        // While the kernel has not started, nothing has changed the program.
        self.is_loaded = restarted.is_ok() || self.running;
        match restarted {
            Ok(state) => self.record_halt(state),
            Err(error) => {
                let reset = "; press reset on the board, and restart again";
                self.fail(format!("{error}{}", if self.running { reset } else { "" }));
                return false;
            }
        }
        (self.t_states, self.unsent) = (0, Vec::new());
        self.output.clear();
        self.twin = Twin::default();
        true
    }

    pub(super) fn record_halt(&mut self, state: StoppedState) {
        if self.running {
            self.t_states += self.t_states_since();
        }
        self.running = false;
        self.stopped = state;
        self.memory.get_mut().clear();
        self.receive_output();
    }

    pub(super) fn receive_output(&mut self) {
        let output = self.kernel.get_mut().take_output();
        self.output.extend(output);
    }

    /// Returns the result, or records the error.
    pub(super) fn checked<T>(&self, result: Result<T, KernelError>) -> Result<T, HaltReason> {
        result.map_err(|error| self.fail(self.describe(error)))
    }

    /// Returns the message of an error, and records a failure of the line.
    fn describe(&self, error: KernelError) -> String {
        match error {
            KernelError::NotWritable(address) => not_writable(address),
            KernelError::Line(problem) => {
                self.has_line_failed.set(true);
                problem
            }
        }
    }

    pub(super) fn clear_error(&self) {
        *self.last_error.borrow_mut() = None;
        self.has_line_failed.set(false);
    }

    /// Records an error, and returns the reason for which the target halts.
    pub(super) fn fail(&self, problem: impl Into<String>) -> HaltReason {
        *self.last_error.borrow_mut() = Some(problem.into());
        HaltReason::TargetError
    }

    /// Returns `true` if zeros on the line have halted the program, through its interrupt service,
    /// and sets PC to where they interrupted it. Otherwise an instruction has halted it.
    pub(super) fn resolve_break_in(&mut self) -> Result<bool, KernelError> {
        let pc = self.registers().pc;
        let is_restart = self.stopped.reason == StopReason::Restart;
        let symbols = self.program.break_in.filter(|at| is_restart && pc == at.stop_address);
        let Some(BreakInSymbols { saved_pc, requested, .. }) = symbols else { return Ok(false) };
        let kernel = self.kernel.get_mut();
        let at = kernel.read(saved_pc, 2)?;
        kernel.write(requested, &[0])?;
        self.stopped.registers[1] = u16::from_le_bytes([at[0], at[1]]);
        kernel.set_registers(&self.stopped)?;
        Ok(true)
    }
}

fn not_writable(address: u16) -> String {
    format!("{address:04X}H is not writable (ROM or no memory); on a target, breakpoints need RAM")
}

fn registers(state: &StoppedState) -> Registers {
    let [sp, pc, af, bc, de, hl, ix, iy, af_alt, bc_alt, de_alt, hl_alt] = state.registers;
    let StoppedState { i, r, .. } = *state;
    Registers { af, bc, de, hl, ix, iy, sp, pc, af_alt, bc_alt, de_alt, hl_alt, i, r }
}

fn with_registers(state: &StoppedState, to: &Registers) -> StoppedState {
    let Registers { af, bc, de, hl, ix, iy, sp, pc, af_alt, bc_alt, de_alt, hl_alt, i, r } = *to;
    let words = [sp, pc, af, bc, de, hl, ix, iy, af_alt, bc_alt, de_alt, hl_alt];
    StoppedState { registers: words, i, r, ..*state }
}
