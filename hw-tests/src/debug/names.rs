//! Registers by name, and by what the article calls them while the evaluator runs (Table 2; `sargon-src/README.md`).

use super::code::CodeMap;
use crate::sim::Registers;

/// Bytes of the attackers array.
const ARRAY: u16 = 14;

/// A register that people can name: `A`, `HL`, `E'`; `None` for any other word.
#[must_use]
pub fn register(registers: &Registers, name: &str) -> Option<u16> {
    let name = name.to_ascii_uppercase();
    let (name, alt) = name.strip_suffix('\'').map_or((name.as_str(), false), |name| (name, true));
    let pair = |main, other| if alt { other } else { main };
    let af = pair(registers.af, registers.af_alt);
    let bc = pair(registers.bc, registers.bc_alt);
    let de = pair(registers.de, registers.de_alt);
    let hl = pair(registers.hl, registers.hl_alt);
    Some(match name {
        "AF" | "PSW" => af,
        "BC" => bc,
        "DE" => de,
        "HL" => hl,
        "A" => af >> 8,
        "F" => af & 0xFF,
        "B" => bc >> 8,
        "C" => bc & 0xFF,
        "D" => de >> 8,
        "E" => de & 0xFF,
        "H" => hl >> 8,
        "L" => hl & 0xFF,
        _ if alt => return None,
        "IX" | "X" => registers.ix,
        "IY" | "Y" => registers.iy,
        "SP" => registers.sp,
        "PC" => registers.pc,
        "I" => registers.i.into(),
        "R" => registers.r.into(),
        _ => return None,
    })
}

/// Sets one of the registers of sixteen bits; whether there is one of that name.
pub fn set_register(registers: &mut Registers, name: &str, value: u16) -> bool {
    let field = match name.to_ascii_uppercase().as_str() {
        "AF" | "PSW" => &mut registers.af,
        "BC" => &mut registers.bc,
        "DE" => &mut registers.de,
        "HL" => &mut registers.hl,
        "AF'" => &mut registers.af_alt,
        "BC'" => &mut registers.bc_alt,
        "DE'" => &mut registers.de_alt,
        "HL'" => &mut registers.hl_alt,
        "IX" => &mut registers.ix,
        "IY" => &mut registers.iy,
        "SP" => &mut registers.sp,
        "PC" => &mut registers.pc,
        _ => return false,
    };
    *field = value;
    true
}

/// The registers of sixteen bits, in the order in which people and gdb list them.
pub const PAIRS: [&str; 12] =
    ["AF", "BC", "DE", "HL", "SP", "PC", "IX", "IY", "AF'", "BC'", "DE'", "HL'"];

/// A register while XCHNG runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// What the article says that it holds.
    pub meaning: &'static str,
    /// The register as the processor has it now: `B`, or `B'` for the set that is not current.
    pub register: String,
    /// Its value.
    pub value: u16,
}

/// What XCHNG keeps where: set, register, meaning.
const TABLE_2: [(u8, &str, &str); 9] = [
    (1, "B", "defenders left"),
    (1, "C", "attackers left"),
    (1, "DE", "attacker's section"),
    (1, "HL", "defender's section"),
    (2, "B", "points at stake"),
    (2, "C", "side flag"),
    (2, "E", "residue"),
    (2, "L", "value of the attacker"),
    (0, "A'", "value of the defender"),
];

/// The registers of Table 2 with their values; none outside of XCHNG and NEXTAD, and before it has set them up. The first set is
/// the one whose HL and DE point into the attackers array.
#[must_use]
pub fn table_2(registers: &Registers, code: &CodeMap) -> Vec<Role> {
    let file = code.line_at(registers.pc).map(|line| line.place.file.to_ascii_lowercase());
    let within = file
        .is_some_and(|file| ["xchng.asm", "nextad.asm"].iter().any(|name| file.ends_with(name)));
    let Some(array) = code.symbol("ATKLST").filter(|_| within) else { return Vec::new() };
    let points = |pair: u16| (array..array + ARRAY).contains(&pair);
    let both = |hl, de| points(hl) && points(de);
    let first_is_current =
        match (both(registers.hl, registers.de), both(registers.hl_alt, registers.de_alt)) {
            (true, false) => true,
            (false, true) => false,
            _ => return Vec::new(),
        };
    let role = |&(set, name, meaning): &(u8, &str, &'static str)| {
        let is_other = set != 0 && (set == 1) != first_is_current;
        let register = if is_other { format!("{name}'") } else { name.to_owned() };
        let value = self::register(registers, &register)?;
        Some(Role { meaning, register, value })
    };
    TABLE_2.iter().filter_map(role).collect()
}
