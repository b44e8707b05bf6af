//! Guards for what is executed: data, bytes that are no instruction, the middle of an instruction.

use firmware::code_map::MappedProgram;
use firmware::program_areas::ProgramAreas;
use tdlasm::isa::decode;
use z80_core::is_instruction;

use super::memory::{CHECKED, DATA, FETCHED, INSIDE, Memory};
use crate::violation::ViolationKind;

/// The bytes of the longest instruction.
const MAX_INSTRUCTION: usize = 4;

impl Memory {
    /// Marks data, and the bytes within instructions as far as source lines show where these begin.
    pub(super) fn mark_code(&mut self, program: &MappedProgram, areas: &ProgramAreas) {
        for range in &areas.data {
            self.mark(range.clone(), DATA);
        }
        for line in program.lines.iter().filter(|line| line.is_code) {
            let bytes = self.load(line.address, line.size as usize);
            for at in within_instructions(&bytes) {
                let address = u32::from(line.address) + at as u32;
                self.mark(address..address + 1, INSIDE);
            }
        }
        // A label there is meant to be jumped to; and lines of other tools may overlap.
        let labels = program.labels.iter().map(|(address, _)| *address);
        for address in labels.chain(program.lines.iter().map(|line| line.address)) {
            self.marks[usize::from(address)] &= !INSIDE;
        }
    }

    /// Checks the instruction that is executed next, after that at `previous`. It is checked again
    /// only after it was written.
    #[inline]
    pub(super) fn check_execution(&mut self, previous: u16) {
        if !self.has_mark(self.pc, CHECKED) {
            self.check_instruction(previous);
        }
    }

    #[cold]
    fn check_instruction(&mut self, previous: u16) {
        let (pc, allowed) = (self.pc, self.allowed);
        let bytes = self.two_bytes(pc);
        let has_mark = |mark| self.has_mark(pc, mark);
        let (found, is_allowed) = match () {
            () if has_mark(DATA) => (ViolationKind::DataExecution, allowed.data),
            () if has_mark(INSIDE) => {
                let is_inside = |at: &u16| self.has_mark(*at, INSIDE);
                let start = (0..pc).rev().find(|at| !is_inside(at)).unwrap_or(pc);
                // It is no jump if the instruction before ends here.
                let follows = self.end_of_instruction(previous) == Some(pc);
                (ViolationKind::OverlappingCode { start }, allowed.overlap || follows)
            }
            () if !is_instruction(bytes) => {
                (ViolationKind::NoInstruction { bytes }, allowed.no_instruction)
            }
            () => {
                self.marks[usize::from(pc)] |= CHECKED | FETCHED;
                self.marks[usize::from(pc.wrapping_add(1))] |= FETCHED;
                return;
            }
        };
        // What is executed after the first follows from it.
        let is_known = |(kind, _): &(ViolationKind, Option<u16>)| {
            std::mem::discriminant(kind) == std::mem::discriminant(&found)
        };
        if !is_allowed && !self.violations.borrow().iter().any(is_known) {
            self.report(found);
        }
    }

    fn end_of_instruction(&self, address: u16) -> Option<u16> {
        let instruction = decode(&self.load(address, MAX_INSTRUCTION))?;
        Some(address.wrapping_add(instruction.length as u16))
    }
}

/// Returns the offsets within instructions. None if the bytes are not a whole number of
/// instructions that the assembler knows, as they may contain data.
fn within_instructions(bytes: &[u8]) -> Vec<usize> {
    let mut within = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let Some(instruction) = decode(&bytes[start..]) else { return Vec::new() };
        within.extend(start + 1..start + instruction.length);
        start += instruction.length;
    }
    within
}
