//! The roles of registers while the evaluator runs (Table 2; `sargon-src/xchng.asm`).

use board_simulator::Registers;
use firmware::code_map::CodeMap;
use z80_core::register_value;

/// Bytes of a section of the attackers array, and of both.
pub(crate) const SECTION_BYTES: usize = 7;
pub(crate) const ARRAY_BYTES: usize = 2 * SECTION_BYTES;

/// The fast evaluator's file.
const FAST_XCHNG: &str = "firmware:/xchfst.asm";

/// The role of a register while XCHNG runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterRole {
    /// The role, in the words of Table 2.
    pub meaning: &'static str,
    /// The register that has the role now: `B`, or `B'` in the set that is not current.
    pub register: String,
    /// Its value.
    pub value: u16,
}

/// The registers of XCHNG: set (0 for either), register, the one while the sides are exchanged,
/// meaning.
const XCHNG_REGISTERS: [(u8, [&str; 2], &str); 9] = [
    (1, ["B", "C"], "defenders left"),
    (1, ["C", "B"], "attackers left"),
    (1, ["DE", "HL"], "attacker's section"),
    (1, ["HL", "DE"], "defender's section"),
    (2, ["B", "B"], "points at stake"),
    (2, ["C", "C"], "side flag"),
    (2, ["E", "E"], "residue"),
    (2, ["L", "L"], "value of the attacker"),
    (0, ["A'", "A'"], "value of the defender"),
];

/// Returns the registers of Table 2 with their values; empty outside of XCHNG and NEXTAD, and
/// before XCHNG has set them up. The first set is the one whose HL and DE point into the attackers
/// array.
pub fn xchng_register_roles(registers: &Registers, code: &CodeMap) -> Vec<RegisterRole> {
    // The fast evaluator's XCHNG has other registers.
    let line_at = |at| code.line_at(at).filter(|line| *line.place.file != *FAST_XCHNG);
    let module = |at| line_at(at).map(|line| (&line.place.file, line.module));
    let here = module(registers.pc);
    let is_here =
        |routine| code.symbol(routine).is_some_and(|at| here.is_some() && module(at) == here);
    let within = ["XCHNG", "NEXTAD"].into_iter().any(is_here);
    let Some(array) = code.symbol("ATKLST").filter(|_| within) else { return Vec::new() };
    let points = |pair: u16| (array..array + ARRAY_BYTES as u16).contains(&pair);
    let both = |hl, de| points(hl) && points(de);
    // XCHNG changes sides with EXX, and no flag shows which set is current: only its pointers do.
    let first_is_current = both(registers.hl, registers.de);
    if first_is_current == both(registers.hl_alt, registers.de_alt) {
        return Vec::new();
    }
    let flag = if first_is_current { registers.bc_alt } else { registers.bc };
    let role = |&(set, names, meaning): &(u8, [&'static str; 2], &'static str)| {
        // NEXTAD exchanges the sides with each piece it fetches; the side flag counts its calls.
        let name = names[usize::from(flag & 1)];
        let is_other = set != 0 && (set == 1) != first_is_current;
        let register = if is_other { format!("{name}'") } else { name.to_owned() };
        Some(RegisterRole { meaning, value: register_value(registers, &register)?, register })
    };
    XCHNG_REGISTERS.iter().filter_map(role).collect()
}
