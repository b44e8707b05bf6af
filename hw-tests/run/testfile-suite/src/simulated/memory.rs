//! Memory and ports of the simulated machine.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use board_simulator::ViolationKind;
use tdlasm::image::ImageRun;
use z80_core::Bus;

use super::FILL;
use crate::machine::Call;
use crate::program::{LinkedConsole, Program, jump};

/// What a port returns for which a call has no values: that of an open bus.
pub(super) const OPEN_BUS: u8 = 0xFF;
/// Where programs for CP/M call the BDOS.
const BDOS_ENTRY: u16 = 5;
/// Violations that are kept for a call.
const MAX_VIOLATIONS: usize = 8;
/// Writes that are remembered one by one; after more, all of memory is restored.
const MAX_WRITTEN: usize = 4096;
/// Marks of addresses: a byte of the program, code, a mock, data or reserved space.
pub(super) const PROGRAM: u8 = 1;
pub(super) const CODE: u8 = 2;
pub(super) const MOCK: u8 = 4;
pub(super) const SECTION: u8 = 8;

/// Memory and ports, with the guards for writes.
pub(super) struct Memory {
    pub(super) bytes: Vec<u8>,
    pub(super) marks: Vec<u8>,
    /// The address of the current instruction.
    pub(super) pc: u16,
    writes: Option<Vec<RangeInclusive<u16>>>,
    /// Memory that calls since the last reload name.
    named: Vec<RangeInclusive<u16>>,
    stack: RangeInclusive<u16>,
    pub(super) violations: RefCell<Vec<(ViolationKind, Option<u16>)>>,
    inputs: BTreeMap<u8, (Vec<u8>, Cell<usize>)>,
    pub(super) outputs: BTreeMap<u8, Vec<u8>>,
    /// The addresses written since the program was loaded, up to a limit.
    written: Vec<u16>,
}

impl Memory {
    /// Creates memory with a program.
    pub(super) fn new(program: &Program) -> Self {
        let mut memory = Self {
            bytes: vec![FILL; 0x1_0000],
            marks: vec![0; 0x1_0000],
            pc: 0,
            writes: None,
            named: Vec::new(),
            stack: 0..=0,
            violations: RefCell::default(),
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            written: Vec::new(),
        };
        for run in program.linked.image.runs() {
            memory.store(run);
            memory.mark(u32::from(run.address)..run.end(), PROGRAM);
        }
        for range in &program.sections {
            memory.mark(range.clone(), SECTION);
        }
        for range in &program.code {
            memory.mark(range.clone(), PROGRAM | CODE);
        }
        if let Some(bdos) = program.console.as_ref().and_then(LinkedConsole::bdos)
            && !program.overlaps(BDOS_ENTRY, BDOS_ENTRY + 2)
        {
            let entry = ImageRun { address: BDOS_ENTRY, bytes: jump(bdos).into() };
            memory.store(&entry);
            memory.mark(BDOS_ENTRY.into()..entry.end(), PROGRAM | CODE);
        }
        memory.written.clear();
        memory
    }

    fn mark(&mut self, range: Range<u32>, mark: u8) {
        let marks = &mut self.marks[range.start as usize..range.end as usize];
        marks.iter_mut().for_each(|marks| *marks |= mark);
    }

    fn set(&mut self, address: u16, value: u8) {
        if self.written.len() <= MAX_WRITTEN {
            self.written.push(address);
        }
        self.bytes[usize::from(address)] = value;
    }

    /// Restores all memory; only what was written, if that is known.
    pub(super) fn reload(&mut self, loaded: &[u8]) {
        self.named.clear();
        if self.written.len() > MAX_WRITTEN {
            self.bytes.copy_from_slice(loaded);
        }
        for address in self.written.drain(..) {
            self.bytes[usize::from(address)] = loaded[usize::from(address)];
        }
    }

    /// Reports what the current instruction does.
    pub(super) fn report(&self, kind: ViolationKind) {
        self.report_at(kind, Some(self.pc));
    }

    pub(super) fn report_at(&self, kind: ViolationKind, pc: Option<u16>) {
        let mut violations = self.violations.borrow_mut();
        if violations.len() < MAX_VIOLATIONS {
            violations.push((kind, pc));
        }
    }

    pub(super) fn store(&mut self, block: &ImageRun) {
        for (index, byte) in block.bytes.iter().enumerate() {
            self.set(block.address.wrapping_add(index as u16), *byte);
        }
    }

    pub(super) fn load(&self, address: u16, length: usize) -> Vec<u8> {
        let at = |index| usize::from(address.wrapping_add(index as u16));
        (0..length).map(|index| self.bytes[at(index)]).collect()
    }

    pub(super) fn has_mark(&self, address: u16, mark: u8) -> bool {
        self.marks[usize::from(address)] & mark != 0
    }

    /// Notes the memory that a call names, in order that it may be written.
    fn name_blocks(&mut self, call: &Call) {
        let blocks = call.memory.iter().map(|block| (block.address, block.bytes.len()));
        for (first, length) in blocks.chain(call.read.iter().copied()) {
            let Some(last) = length.checked_sub(1) else { continue };
            let range = first..=first.saturating_add(last.min(0xFFFF) as u16);
            if !self.named.contains(&range) {
                self.named.push(range);
            }
        }
    }

    /// Returns the violation of a write, if it is one.
    fn check_write(&self, address: u16, value: u8) -> Option<ViolationKind> {
        if self.has_mark(address, CODE) {
            return Some(ViolationKind::CodeWrite { address, value });
        }
        let is_named = |ranges: &[RangeInclusive<u16>]| {
            self.stack.contains(&address) || ranges.iter().any(|range| range.contains(&address))
        };
        let is_declared = match &self.writes {
            Some(writes) => is_named(writes),
            None => self.has_mark(address, PROGRAM | SECTION) || is_named(&self.named),
        };
        (!is_declared).then_some(ViolationKind::Write { address, value })
    }

    pub(super) fn prepare(&mut self, call: &Call) {
        self.name_blocks(call);
        call.memory.iter().for_each(|block| self.store(block));
        let feed = |(port, values): (&u8, &Vec<u8>)| (*port, (values.clone(), Cell::new(0)));
        self.inputs = call.ports.iter().map(feed).collect();
        self.outputs.clear();
        self.violations.borrow_mut().clear();
        self.writes.clone_from(&call.writes);
        let top = call.registers.sp;
        // Two more bytes hold the return address.
        self.stack = top.wrapping_sub(call.stack_size + 2)..=top.wrapping_sub(1);
    }
}

impl Bus for Memory {
    fn read(&self, address: u16) -> u8 {
        self.bytes[usize::from(address)]
    }

    fn write(&mut self, address: u16, value: u8) {
        if let Some(violation) = self.check_write(address, value) {
            self.report(violation);
        }
        self.set(address, value);
    }

    fn input(&self, port: u16) -> u8 {
        let port = port as u8;
        let Some((values, next)) = self.inputs.get(&port) else {
            self.report(ViolationKind::Input { port });
            return OPEN_BUS;
        };
        let index = next.replace(next.get() + 1);
        values.get(index).copied().unwrap_or_else(|| {
            self.report(ViolationKind::InputExhausted { port });
            OPEN_BUS
        })
    }

    fn output(&mut self, port: u16, value: u8) {
        let port = port as u8;
        if !self.inputs.contains_key(&port) {
            self.report(ViolationKind::Output { port, value });
        }
        self.outputs.entry(port).or_default().push(value);
    }
}
