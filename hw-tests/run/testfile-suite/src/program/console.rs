//! The console of a program under test: a module that is linked to it, or a port.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::Program;
use cli_support::text::Escape;
use tdlasm::image::ImageRun;
use tdlasm::module::Module;

use super::assemble_text;

/// The entry of the module, to which programs refer.
const BDOS: &str = "BDOS";
/// Offsets in the module: a routine that prints A, two endless loops, input and output, each a
/// count and a buffer.
const PUTC: u16 = 3;
const WAITS: u16 = 6;
const UNKNOWN: u16 = 9;
const INPUT: u16 = 12;
const OUTPUT: u16 = 528;
/// Bytes of the buffers.
pub(crate) const MAX_INPUT: usize = 512;
pub(crate) const MAX_OUTPUT: usize = 1024;
/// Bytes that are read after those that are expected, to show what else was printed.
const MORE_OUTPUT: usize = 64;

/// What counts as output on the console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Console {
    /// What the program prints by the BDOS of CP/M, which is replaced.
    Cpm,
    /// What is in A at each call of this routine, which is replaced.
    Routine(String),
    /// The bytes that the program writes to a port (simulated only).
    Port(u8),
}

/// The console of a program, with the addresses of its module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedConsole {
    /// What counts as output.
    pub kind: Console,
    /// The address of the module; 0 if there is none.
    base: u16,
}

impl LinkedConsole {
    /// Creates the console of a program that contains the module, and replaces its routine.
    pub(super) fn new(kind: Console, program: &mut Program) -> Result<Self, String> {
        let base = program.find_label(BDOS).ok().flatten().unwrap_or_default();
        if let Console::Routine(name) = &kind {
            let known = program.find_label(name).map_err(|error| format!("console: {error}"))?;
            let unknown = || format!("console: unknown label '{}'", name.escaped());
            let first = known.ok_or_else(unknown)?;
            let program = &mut program.linked;
            let is_label = |at: u16| program.labels.iter().any(|(label, _)| *label == at);
            let mut bytes = (first..).zip(jump(base.wrapping_add(PUTC)));
            let has_room = !(first..).skip(1).take(2).any(is_label);
            if !has_room || !bytes.all(|(at, byte)| program.image.set_byte(at, byte)) {
                return Err(format!("console: {} has less than 3 bytes", name.escaped()));
            }
        }
        Ok(Self { kind, base })
    }

    /// Returns the address of the BDOS, if the program has one.
    pub(crate) fn bdos(&self) -> Option<u16> {
        (self.kind == Console::Cpm).then_some(self.base)
    }

    /// Returns the module's memory, which a program may write.
    pub(crate) fn memory(&self) -> Option<RangeInclusive<u16>> {
        let last = self.base.wrapping_add(OUTPUT + 1 + MAX_OUTPUT as u16);
        self.has_module().then(|| self.base.wrapping_add(INPUT)..=last)
    }

    /// Returns `true` unless it is a port.
    pub(crate) fn has_module(&self) -> bool {
        !matches!(self.kind, Console::Port(_))
    }

    /// Returns what is written before a call: the input, and no output.
    pub(crate) fn before(&self, input: &[u8]) -> Vec<ImageRun> {
        if !self.has_module() {
            return Vec::new();
        }
        let mut bytes = vec![0, 0];
        bytes.extend((input.len() as u16).to_le_bytes());
        bytes.extend(input);
        let output = ImageRun { address: self.base.wrapping_add(OUTPUT), bytes: vec![0, 0] };
        vec![ImageRun { address: self.base.wrapping_add(INPUT), bytes }, output]
    }

    /// Returns the memory that is read after a call: address and number of bytes.
    pub(crate) fn after(&self, expected: &[u8]) -> Option<(u16, usize)> {
        let length = MAX_OUTPUT.min(expected.len() + MORE_OUTPUT);
        self.has_module().then(|| (self.base.wrapping_add(OUTPUT), 2 + length))
    }

    /// Returns the number of bytes that a call printed and the first of them, from the memory after
    /// it or the bytes that it wrote to ports.
    pub(crate) fn output<'o>(
        &self,
        memory: &'o [u8],
        ports: &'o BTreeMap<u8, Vec<u8>>,
    ) -> (usize, Cow<'o, [u8]>) {
        match (&self.kind, memory) {
            (Console::Port(port), _) => {
                let bytes = ports.get(port).map_or(&[][..], Vec::as_slice);
                (bytes.len(), bytes.into())
            }
            (_, [low, high, bytes @ ..]) => {
                let count = usize::from(u16::from_le_bytes([*low, *high]));
                (count, bytes[..bytes.len().min(count)].into())
            }
            _ => (0, Cow::default()),
        }
    }

    /// Returns why a program stays at an address of the module.
    pub(crate) fn reason(&self, address: u16) -> Option<&'static str> {
        match address.wrapping_sub(self.base) {
            WAITS if self.has_module() => Some("it reads more than 'input' has"),
            UNKNOWN if self.has_module() => {
                Some("it calls another function of the BDOS than 1, 2, 6, 9, 10 and 11")
            }
            _ => None,
        }
    }
}

/// Returns the instruction that jumps to an address.
pub(crate) fn jump(target: u16) -> [u8; 3] {
    let [low, high] = target.to_le_bytes();
    [0xC3, low, high]
}

/// Returns the module.
pub(super) fn module() -> Result<Vec<Module>, String> {
    assemble_text("testfile:/console.asm", include_str!("console.asm"))
}
