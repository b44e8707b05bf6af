//! A Z80 with 64 KiB of RAM and no ROM, for programs that begin at 0000H, such as those with SDCC's
//! own start-up. They print and stop as for the simulator uCsim (SDCC's source,
//! `support/regression/ports/ucz80`), and exit by RST 08H when `main` returns (SDCC's `crt0.s`).

use std::time::Duration;

use hil_harness::live::{BoardConfig, ProgramEnd, ProgramLimits, ProgramOutput};
use z80_core::{Bus, Cpu, Registers};

use super::console::exit_message;
use super::suite::ProgramFile;
use super::time_of;

/// uCsim's port, and the bytes that mean: print the next one; stop.
const UCSIM_PORT: u8 = 0xFF;
const PRINT: u8 = b'p';
const STOP: u8 = b's';
/// Where RST 08H goes, and what SDCC's start-up has there: EI, RETI.
const RST_08H: u16 = 0x0008;
const EI_RETI: [u8; 3] = [0xFB, 0xED, 0x4D];

struct Machine {
    memory: Vec<u8>,
    /// The last byte sent to uCsim's port, but for a character.
    command: u8,
    /// A character that the program has just printed.
    printed: Option<u8>,
}

impl Bus for Machine {
    fn read(&self, address: u16) -> u8 {
        self.memory[usize::from(address)]
    }

    fn write(&mut self, address: u16, value: u8) {
        self.memory[usize::from(address)] = value;
    }

    fn input(&self, _port: u16) -> u8 {
        0xFF
    }

    fn output(&mut self, port: u16, value: u8) {
        let is_character = self.command == PRINT;
        if port.to_le_bytes()[0] == UCSIM_PORT {
            self.printed = is_character.then_some(value);
            self.command = if is_character { 0 } else { value };
        }
    }
}

/// Runs a program until it ends, and passes its output on. Returns how it ended, and the time since
/// its start at the clock of the board; `None` if the run was cancelled.
pub(super) fn run(
    program: &ProgramFile,
    limits: ProgramLimits,
    board: &BoardConfig,
    output: &mut dyn ProgramOutput,
) -> Option<(ProgramEnd, Duration)> {
    let clock = u128::from(board.profile.clock_hz);
    let [silence, total] = [limits.silence, limits.total]
        .map(|time| u64::try_from(time.as_nanos() * clock / 1_000_000_000).unwrap_or(u64::MAX));
    let mut memory = program.image.flat(0);
    memory.resize(0x1_0000, 0);
    let mut machine = Machine { memory, command: 0, printed: None };
    let mut cpu = Cpu::new();
    cpu.set_registers(&Registers { pc: program.entry, ..Registers::default() });
    let (mut now, mut heard) = (0, 0);
    output.start();
    let end = loop {
        now += u64::from(cpu.step(&mut machine, None));
        if let Some(character) = machine.printed.take() {
            heard = now;
            if output.receive(&[character]).is_some() {
                break ProgramEnd::Output;
            }
        } else if machine.command == STOP {
            break ProgramEnd::Returned;
        } else if let Some(status) = exit_status(&cpu, &machine) {
            output.receive(&exit_message(status));
            break ProgramEnd::Output;
        } else if cpu.is_halted() || now - heard > silence {
            break ProgramEnd::Silent; // nothing interrupts a HALT
        } else if now > total {
            break ProgramEnd::TooLong;
        } else if board.is_cancelled() {
            return None;
        }
    };
    Some((end, time_of(now, &board.profile)))
}

/// Returns what `main` returned, if the processor is where SDCC's start-up ends: at the vector of
/// RST 08H, with no handler there, and A = 0.
fn exit_status(cpu: &Cpu, machine: &Machine) -> Option<u8> {
    if cpu.pc() != RST_08H || !machine.memory[usize::from(RST_08H)..].starts_with(&EI_RETI) {
        return None;
    }
    let registers = cpu.registers();
    (registers.af < 0x100).then(|| registers.de.to_le_bytes()[0])
}
