//! The machine on which exercisers run: memory and a way to print. Programs `.com` are for CP/M,
//! the others, Patrik Rak's z80test, for the ZX Spectrum.

use z80_core::{Bus, Cpu, Registers};

const RET: u8 = 0xC9;
/// CP/M's entry for system calls, and where its programs begin.
const BDOS: u16 = 0x0005;
const TRANSIENT: u16 = 0x0100;
/// The Spectrum's routines that print A and open a channel, and where z80test begins.
const PRINT: u16 = 0x0010;
const OPEN_CHANNEL: u16 = 0x1601;
const UPPER: u16 = 0x8000;
/// The byte that a Spectrum without a key pressed reads from a port.
const NO_KEY: u8 = 0xBF;

/// Memory, a clock, and the time at which to return from a run.
pub(super) struct Memory {
    bytes: Box<[u8; 0x1_0000]>,
    clock: u64,
}

impl Bus for Memory {
    #[inline]
    fn read(&self, address: u16) -> u8 {
        self.bytes[usize::from(address)]
    }

    #[inline]
    fn write(&mut self, address: u16, value: u8) {
        self.bytes[usize::from(address)] = value;
    }

    fn input(&self, _port: u16) -> u8 {
        NO_KEY
    }

    fn output(&mut self, _port: u16, _value: u8) {}
}

/// A processor with an exerciser in memory.
pub(crate) struct Machine {
    cpu: Cpu,
    pub(super) memory: Memory,
    /// The address at which the program prints.
    service: u16,
    printed: String,
}

impl Machine {
    /// Loads an exerciser; its name determines the system.
    pub(crate) fn with(name: &str, program: &[u8]) -> Self {
        let mut bytes = Box::new([0; 0x1_0000]);
        let is_cpm = name.ends_with(".com");
        let (start, service) = if is_cpm { (TRANSIENT, BDOS) } else { (UPPER, PRINT) };
        bytes[usize::from(start)..][..program.len()].copy_from_slice(program);
        if is_cpm {
            // CP/M's programs take the end of memory from the jump at 0005h. Its target here is a
            // RET, which replaces the system.
            bytes[usize::from(BDOS) + 2] = 0xF0;
        }
        for routine in [service, OPEN_CHANNEL] {
            bytes[usize::from(routine)] = RET;
        }
        let mut cpu = Cpu::new();
        cpu.set_registers(&Registers { pc: start, sp: 0x7FFE, ..Registers::default() });
        Self { cpu, memory: Memory { bytes, clock: 0 }, service, printed: String::new() }
    }

    /// Runs the program to its end.
    pub(crate) fn run(&mut self) {
        let service = self.service;
        while self.cpu.pc() != 0 {
            self.cpu.run(&mut self.memory, |cpu, memory, time| {
                memory.clock += u64::from(time);
                cpu.pc() != service && cpu.pc() != 0
            });
            if self.cpu.pc() == service {
                self.print();
            }
        }
    }

    /// T-states so far.
    pub(crate) fn t_states(&self) -> u64 {
        self.memory.clock
    }

    /// The program's output so far.
    pub(crate) fn printed(&self) -> &str {
        &self.printed
    }

    /// Returns `true` if the output reports success and no failure.
    pub(crate) fn passed(&self) -> bool {
        let complained = ["ERROR", "FAILED"].iter().any(|word| self.printed.contains(word));
        let done =
            ["Tests complete", "all tests passed"].iter().any(|end| self.printed.contains(end));
        done && !complained
    }

    fn print(&mut self) {
        let Registers { af, bc, de, .. } = self.cpu.registers();
        match (self.service, bc as u8) {
            (PRINT, _) => self.put((af >> 8) as u8),
            (_, 2) => self.put(de as u8),
            (_, 9) => {
                let text = (de..).map(|at| self.memory.read(at)).take_while(|byte| *byte != b'$');
                text.collect::<Vec<u8>>().into_iter().for_each(|byte| self.put(byte));
            }
            _ => {}
        }
    }

    fn put(&mut self, byte: u8) {
        match byte {
            b'\r' => self.printed.push('\n'),
            b' '..=b'~' => self.printed.push(byte.into()),
            _ => {}
        }
    }
}
