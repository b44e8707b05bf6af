//! The machine on which exercisers run: memory and a way to print. Programs `.com` are for CP/M,
//! the others, Patrik Rak's z80test, for the ZX Spectrum.

use std::path::PathBuf;
use std::process::Command;

use z80_core::{Bus, Cpu, Registers};

/// All exercisers that the package has for the Z80.
pub(crate) const ALL: [&str; 8] = [
    "zexdoc.com",
    "zexall.com",
    "z80doc.out",
    "z80docflags.out",
    "z80flags.out",
    "z80full.out",
    "z80ccf.out",
    "z80memptr.out",
];

const RET: u8 = 0xC9;
/// CP/M's entry for system calls, and where its programs begin.
const BDOS: u16 = 0x0005;
const TRANSIENT: u16 = 0x0100;
/// The operand with which ZEXALL and ZEXDOC load the address of their table of tests.
const FIRST_TEST: u16 = 0x0120;
/// The Spectrum's routines that print A and open a channel, and where z80test begins.
const PRINT: u16 = 0x0010;
const OPEN_CHANNEL: u16 = 0x1601;
const UPPER: u16 = 0x8000;
/// The byte that a Spectrum without a key pressed reads from a port.
const NO_KEY: u8 = 0xBF;

/// Memory, a clock, and the moment at which to look up from the work.
struct Memory {
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
    memory: Memory,
    /// The address at which the program prints.
    service: u16,
    printed: String,
}

impl Machine {
    /// Loads an exerciser of the package.
    pub(crate) fn with(name: &str) -> Self {
        let program = std::fs::read(resources().join(name)).expect("the package has it");
        let mut bytes = Box::new([0; 0x1_0000]);
        let is_cpm = name.ends_with(".com");
        let (start, service) = if is_cpm { (TRANSIENT, BDOS) } else { (UPPER, PRINT) };
        bytes[usize::from(start)..][..program.len()].copy_from_slice(&program);
        if is_cpm {
            // CP/M's programs take the end of memory from the jump at 0005h, which comes to lie
            // behind the RET that the system is here.
            bytes[usize::from(BDOS) + 2] = 0xF0;
        }
        for routine in [service, OPEN_CHANNEL] {
            bytes[usize::from(routine)] = RET;
        }
        let mut cpu = Cpu::new();
        cpu.set_registers(&Registers { pc: start, sp: 0x7FFE, ..Registers::default() });
        Self { cpu, memory: Memory { bytes, clock: 0 }, service, printed: String::new() }
    }

    /// Has ZEXALL or ZEXDOC run its last tests only, which are short.
    #[allow(dead_code, reason = "the example runs all tests")]
    pub(crate) fn keep_last(&mut self, tests: u16) {
        let word = |at: u16| u16::from_le_bytes([self.memory.read(at), self.memory.read(at + 1)]);
        let table = word(FIRST_TEST);
        let end = (table..).step_by(2).find(|at| word(*at) == 0).expect("the table has an end");
        let [low, high] = (end - 2 * tests).to_le_bytes();
        self.memory.write(FIRST_TEST, low);
        self.memory.write(FIRST_TEST + 1, high);
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

    /// Whether the output tells of no failure, and of a success.
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

/// The folder of the package's exercisers, as cargo has it.
fn resources() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let package = packages.iter().find(|package| package["name"] == "iz80").expect("it is used");
    let manifest = package["manifest_path"].as_str().expect("it has a path");
    PathBuf::from(manifest).with_file_name("tests").join("res")
}
