//! T-states of a straight path from a label to where execution cannot fall through.

use super::statement::{Listing, ListingLine};
use crate::isa::{Decoded, decode};
use crate::module::{Module, SymbolValue};

/// A straight path through a routine, and its T-states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The addresses of the first and last instruction, as if every section began at 0.
    pub range: (u16, u16),
    /// The number of instructions.
    pub instructions: u32,
    /// T-states if no conditional jump is taken and every block instruction runs once.
    pub clocks: u32,
    /// The number of conditional and block instructions, which can take longer.
    pub conditional: u32,
}

/// Error returned by [`straight_path`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CyclesError {
    /// No module has the label.
    #[error("no label {0} is in the program")]
    NoLabel(String),
    /// The label is not the address of an instruction.
    #[error("no instruction begins at {0}")]
    NoCode(String),
}

/// Returns the straight path from a label, whose case is ignored.
///
/// # Errors
///
/// Returns [`CyclesError`] if there is no such label, or no instruction at it.
pub fn straight_path(
    listing: &Listing,
    modules: &[Module],
    label: &str,
) -> Result<Path, CyclesError> {
    let name = label.to_ascii_uppercase();
    let (module, value) = modules
        .iter()
        .enumerate()
        .find_map(|(at, module)| {
            let found = module.symbols.iter().find(|symbol| symbol.name == name)?;
            Some((at as u32, found.value))
        })
        .ok_or_else(|| CyclesError::NoLabel(name.clone()))?;
    let place = match value {
        SymbolValue::InSection(kind, offset) => (kind.base().into(), offset),
        SymbolValue::Absolute(address) => (0, address),
        _ => return Err(CyclesError::NoCode(name)),
    };
    let mut at = listing
        .lines()
        .filter(|line| line.module == module)
        .filter(|line| line.clocks.is_some() || !line.bytes.is_empty())
        .skip_while(|line| (line.address.base, line.address.number) != place)
        .peekable();
    at.peek().filter(|line| line.clocks.is_some()).ok_or(CyclesError::NoCode(name))?;
    Ok(follow(at))
}

fn follow<'l>(lines: impl Iterator<Item = &'l ListingLine>) -> Path {
    let mut path = Path { range: (0, 0), instructions: 0, clocks: 0, conditional: 0 };
    for line in lines {
        let (Some(clocks), Some(found)) = (line.clocks, decode(&line.bytes)) else { break };
        if path.instructions == 0 {
            path.range.0 = line.address.number;
        }
        path.range.1 = line.address.number;
        path.instructions += 1;
        path.clocks += u32::from(clocks.not_taken);
        path.conditional += u32::from(clocks.taken != clocks.not_taken);
        if leaves(&found) {
            break;
        }
    }
    path
}

/// Returns `true` if execution cannot fall through to the next instruction.
fn leaves(found: &Decoded) -> bool {
    let mnemonic = found.form.mnemonic;
    matches!(mnemonic, "JMP" | "JMPR" | "RET" | "RETI" | "RETN" | "PCHL" | "PCIX" | "PCIY" | "HLT")
}
