//! Memory and ports, with the guards for reads and writes.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

use firmware::code_map::MappedProgram;
use firmware::program_areas::ProgramAreas;
use tdlasm::image::ImageRun;
use z80_core::{Bus, is_block_move};

use super::{Allowed, Call, InputValues};
use crate::violation::ViolationKind;

/// The content of memory that nothing has written. Not 0, so that a routine that needs cleared
/// memory is found.
pub const FILL: u8 = 0xA5;
/// What a port returns for which a call has no values: that of an open bus.
pub(super) const OPEN_BUS: u8 = 0xFF;
/// Violations that are kept for a call.
const MAX_VIOLATIONS: usize = 8;
/// Writes that are remembered one by one; after more, all of memory is restored.
const MAX_WRITTEN: usize = 4096;
/// Marks of addresses: a byte of the program, code, a mock, data or reserved space.
pub(super) const PROGRAM: u16 = 1;
pub(super) const CODE: u16 = 2;
pub(super) const MOCK: u16 = 4;
pub(super) const SECTION: u16 = 8;
/// Marks of data that is not executed, and of bytes after the first of an instruction.
pub(super) const DATA: u16 = 0x10;
pub(super) const INSIDE: u16 = 0x20;
/// Marks of instructions that were found right, and of the bytes on which that depends.
pub(super) const CHECKED: u16 = 0x40;
pub(super) const FETCHED: u16 = 0x80;
/// Mark of memory that neither the program nor the test nor code has written.
pub(super) const UNWRITTEN: u16 = 0x100;
/// Mark of addresses whose accesses are recorded.
const WATCHED: u16 = 0x200;

/// Values that successive reads of ports or addresses return, and how many were read.
type Inputs<Key> = BTreeMap<Key, (InputValues, Cell<usize>)>;

/// Memory and ports, with the guards for reads and writes.
pub(super) struct Memory {
    pub(super) bytes: Vec<u8>,
    pub(super) marks: Vec<u16>,
    /// The address of the current instruction.
    pub(super) pc: u16,
    writes: Option<Vec<RangeInclusive<u16>>>,
    /// Memory that calls since the last reload name.
    named: Vec<RangeInclusive<u16>>,
    stack: RangeInclusive<u16>,
    pub(super) violations: RefCell<Vec<(ViolationKind, Option<u16>)>>,
    pub(super) allowed: Allowed,
    inputs: Inputs<u8>,
    pub(super) outputs: BTreeMap<u8, Vec<u8>>,
    mapped: Inputs<u16>,
    watched: BTreeSet<u16>,
    /// The bytes that were read from and written to watched addresses.
    pub(super) watched_reads: RefCell<BTreeMap<u16, Vec<u8>>>,
    pub(super) watched_writes: BTreeMap<u16, Vec<u8>>,
    /// Whether the current instruction copies a byte of unwritten memory.
    copies_unwritten: Cell<bool>,
    /// The addresses written since the program was loaded, up to a limit.
    written: Vec<u16>,
}

impl Memory {
    /// Creates memory with a program.
    pub(super) fn new(program: &MappedProgram, areas: &ProgramAreas) -> Self {
        let mut memory = Self {
            bytes: vec![FILL; 0x1_0000],
            marks: vec![UNWRITTEN; 0x1_0000],
            pc: 0,
            writes: None,
            named: Vec::new(),
            stack: 0..=0,
            violations: RefCell::default(),
            allowed: Allowed::default(),
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            mapped: BTreeMap::new(),
            watched: BTreeSet::new(),
            watched_reads: RefCell::default(),
            watched_writes: BTreeMap::new(),
            copies_unwritten: Cell::new(false),
            written: Vec::new(),
        };
        for run in program.image.runs() {
            memory.store(run);
            memory.mark(u32::from(run.address)..run.end(), PROGRAM);
        }
        for range in &areas.sections {
            memory.mark(range.clone(), SECTION);
        }
        for range in &areas.code {
            memory.mark(range.clone(), PROGRAM | CODE);
        }
        memory.mark_code(program, areas);
        memory.written.clear();
        memory
    }

    pub(super) fn mark(&mut self, range: Range<u32>, mark: u16) {
        let marks = &mut self.marks[range.start as usize..range.end as usize];
        marks.iter_mut().for_each(|marks| *marks |= mark);
    }

    fn set(&mut self, address: u16, value: u8) {
        if self.written.len() <= MAX_WRITTEN {
            self.written.push(address);
        }
        self.bytes[usize::from(address)] = value;
        if self.has_mark(address, UNWRITTEN | FETCHED) {
            self.marks[usize::from(address)] &= !UNWRITTEN;
            self.forget_checks(address);
        }
    }

    /// Has the instructions checked again that depend on a byte.
    fn forget_checks(&mut self, address: u16) {
        for start in [address, address.wrapping_sub(1)] {
            self.marks[usize::from(start)] &= !CHECKED;
        }
    }

    /// Restores all memory; only what was written, if that is known.
    pub(super) fn reload(&mut self, loaded: &[u8]) {
        self.named.clear();
        let mut written = std::mem::take(&mut self.written);
        if written.len() > MAX_WRITTEN {
            self.bytes.copy_from_slice(loaded);
            written = (0..=u16::MAX).collect();
        }
        for address in written.drain(..) {
            let index = usize::from(address);
            self.bytes[index] = loaded[index];
            self.forget_checks(address);
            match self.marks[index] & PROGRAM {
                0 => self.marks[index] |= UNWRITTEN,
                _ => self.marks[index] &= !UNWRITTEN,
            }
        }
        self.written = written;
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

    pub(super) fn has_mark(&self, address: u16, mark: u16) -> bool {
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
        if self.has_mark(address, CODE) && !self.allowed.code_writes {
            return Some(ViolationKind::CodeWrite { address, value });
        }
        let is_named = |ranges: &[RangeInclusive<u16>]| {
            self.stack.contains(&address)
                || self.has_mark(address, WATCHED)
                || ranges.iter().any(|range| range.contains(&address))
        };
        let is_declared = match &self.writes {
            Some(writes) => is_named(writes),
            None => self.has_mark(address, PROGRAM | SECTION) || is_named(&self.named),
        };
        (!is_declared).then_some(ViolationKind::Write { address, value })
    }

    /// Records the accesses to addresses that a call names.
    fn watch(&mut self, call: &Call) {
        self.mapped = inputs(&call.mapped);
        self.watched_reads.borrow_mut().clear();
        self.watched_writes.clear();
        for address in std::mem::take(&mut self.watched) {
            self.marks[usize::from(address)] &= !WATCHED;
        }
        self.watched = call.watched.iter().chain(call.mapped.keys()).copied().collect();
        for address in &self.watched {
            self.marks[usize::from(*address)] |= WATCHED;
        }
    }

    /// Reads memory that nothing has written, or a watched address.
    #[cold]
    fn read_marked(&self, address: u16) -> u8 {
        let value = match self.mapped.get(&address) {
            Some(values) => next_of(values).unwrap_or_else(|| {
                self.report(ViolationKind::RegisterExhausted { address });
                OPEN_BUS
            }),
            None => {
                self.check_read(address);
                self.bytes[usize::from(address)]
            }
        };
        if self.has_mark(address, WATCHED) {
            self.watched_reads.borrow_mut().entry(address).or_default().push(value);
        }
        value
    }

    /// Reports the first read of unwritten memory by each instruction. One that copies a block does
    /// not use it, so the copy is as unwritten.
    fn check_read(&self, address: u16) {
        if self.allowed.unwritten || !self.has_mark(address, UNWRITTEN) {
            return;
        }
        if is_block_move(self.two_bytes(self.pc)) {
            self.copies_unwritten.set(true);
            return;
        }
        let is_known = |(kind, pc): &(ViolationKind, Option<u16>)| {
            *pc == Some(self.pc) && matches!(kind, ViolationKind::UnwrittenRead { .. })
        };
        if !self.violations.borrow().iter().any(is_known) {
            self.report(ViolationKind::UnwrittenRead { address });
        }
    }

    pub(super) fn two_bytes(&self, address: u16) -> [u8; 2] {
        [address, address.wrapping_add(1)].map(|at| self.bytes[usize::from(at)])
    }

    pub(super) fn prepare(&mut self, call: &Call) {
        self.name_blocks(call);
        call.memory.iter().for_each(|block| self.store(block));
        self.inputs = inputs(&call.ports);
        self.outputs.clear();
        self.watch(call);
        self.allowed = call.allowed;
        self.violations.borrow_mut().clear();
        self.writes.clone_from(&call.writes);
        let top = call.registers.sp;
        // Two more bytes hold the return address.
        let above = call.stack_arguments.len() as u16;
        self.stack =
            top.wrapping_sub(call.stack_size + 2)..=top.wrapping_add(above).wrapping_sub(1);
        let (address, bytes) = (top, call.stack_arguments.clone());
        self.store(&ImageRun { address, bytes });
    }
}

/// Prepares values to be read.
fn inputs<Key: Copy + Ord>(values: &BTreeMap<Key, InputValues>) -> Inputs<Key> {
    values.iter().map(|(key, values)| (*key, (values.clone(), Cell::new(0)))).collect()
}

/// Returns the next of the values; `None` after the last.
fn next_of((values, next): &(InputValues, Cell<usize>)) -> Option<u8> {
    values.nth(next.replace(next.get() + 1))
}

impl Bus for Memory {
    #[inline]
    fn read(&self, address: u16) -> u8 {
        match self.has_mark(address, UNWRITTEN | WATCHED) {
            true => self.read_marked(address),
            false => self.bytes[usize::from(address)],
        }
    }

    fn write(&mut self, address: u16, value: u8) {
        if let Some(violation) = self.check_write(address, value) {
            self.report(violation);
        }
        self.set(address, value);
        if self.copies_unwritten.replace(false) {
            self.marks[usize::from(address)] |= UNWRITTEN;
        }
        if self.has_mark(address, WATCHED) {
            self.watched_writes.entry(address).or_default().push(value);
        }
    }

    fn input(&self, port: u16) -> u8 {
        let port = port as u8;
        let Some(values) = self.inputs.get(&port) else {
            self.report(ViolationKind::Input { port });
            return OPEN_BUS;
        };
        next_of(values).unwrap_or_else(|| {
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
