//! Maps each instruction to its routine.
//!
//! A routine extends from an exported or called label to the next one, or to a gap in the code.

use std::collections::BTreeSet;

use firmware::code_map::CodeMap;
use z80_core::is_call;

/// The routines of the programs on a board.
#[derive(Debug, Clone)]
pub struct RoutineMap {
    /// By address of an instruction: the first address of its routine.
    owners: Vec<Option<u16>>,
}

impl Default for RoutineMap {
    /// Returns a map without routines.
    fn default() -> Self {
        Self { owners: vec![None; 0x1_0000] }
    }
}

impl RoutineMap {
    /// Finds the routines by exported labels, CALL instructions and `entries`.
    pub fn new(code: &CodeMap, entries: impl IntoIterator<Item = u16>) -> Self {
        let instructions = code.all_instructions();
        let exported = |at: &u16| code.label(*at).is_some_and(|one| one.exported && one.is_code);
        let mut starts: BTreeSet<u16> = instructions.keys().copied().filter(exported).collect();
        starts.extend(entries);
        for at in instructions.keys() {
            starts.extend(call_target(code, *at));
        }
        let mut regions = Self::default();
        let mut current = None;
        let mut end = None;
        for (at, decoded) in &instructions {
            // After a gap another module begins.
            if starts.contains(at) || end != Some(u32::from(*at)) {
                current = Some(*at);
            }
            regions.owners[usize::from(*at)] = current;
            end = Some(u32::from(*at) + decoded.length as u32);
        }
        regions
    }

    /// Returns the starts of all routines in ascending order.
    pub fn starts(&self) -> impl Iterator<Item = u16> {
        let owners = (0..=u16::MAX).zip(&self.owners);
        owners.filter(|(at, owner)| **owner == Some(*at)).map(|(at, _)| at)
    }

    /// Returns the start of the routine that contains an instruction.
    pub fn owner(&self, address: u16) -> Option<u16> {
        self.owners[usize::from(address)]
    }
}

/// The address that a CALL or RST calls.
fn call_target(code: &CodeMap, at: u16) -> Option<u16> {
    let byte = |offset: u16| code.byte(at.wrapping_add(offset));
    let opcode = byte(0).filter(|opcode| is_call(*opcode))?;
    if opcode & 0xC7 == 0xC7 {
        return Some(u16::from(opcode & 0x38));
    }
    Some(u16::from_le_bytes([byte(1)?, byte(2)?]))
}
