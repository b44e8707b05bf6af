//! Registers by name, and by what the article calls them while the evaluator runs (Table 2;
//! `sargon-src/README.md`).

use board_simulator::Registers;
use firmware::code::CodeMap;

/// Bytes of the attackers array.
const ARRAY: u16 = 14;

/// Every register that has a name of its own; `'` marks the second set.
pub const REGISTERS: [&str; 36] = [
    "AF", "BC", "DE", "HL", "SP", "PC", "IX", "IY", "AF'", "BC'", "DE'", "HL'", "A", "F", "B", "C",
    "D", "E", "H", "L", "A'", "F'", "B'", "C'", "D'", "E'", "H'", "L'", "I", "R", "IXH", "IXL",
    "IYH", "IYL", "SPH", "SPL",
];
/// The registers of sixteen bits, in the order in which people and gdb list them.
pub const PAIRS: [&str; 12] =
    ["AF", "BC", "DE", "HL", "SP", "PC", "IX", "IY", "AF'", "BC'", "DE'", "HL'"];
/// The flags as people name them, each with its bit in F.
pub const FLAGS: [(&str, u16); 6] =
    [("FS", 0x80), ("FZ", 0x40), ("FH", 0x10), ("FP", 0x04), ("FN", 0x02), ("FC", 0x01)];

/// A part of a pair: the whole, its high or its low byte.
#[derive(Clone, Copy)]
enum Part {
    Whole,
    High,
    Low,
}

impl Part {
    fn get(self, pair: u16) -> u16 {
        match self {
            Self::Whole => pair,
            Self::High => pair >> 8,
            Self::Low => pair & 0xFF,
        }
    }

    fn set(self, pair: &mut u16, value: u16) -> bool {
        *pair = match self {
            Self::Whole => value,
            _ if value > 0xFF => return false,
            Self::High => value << 8 | *pair & 0xFF,
            Self::Low => *pair & 0xFF00 | value,
        };
        true
    }
}

/// The name of a register as [`REGISTERS`] spells it; TDL's `PSW`, `X` and `Y` are known too.
#[must_use]
pub fn canonical_name(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_uppercase();
    let name = match name.as_str() {
        "PSW" => "AF",
        "X" => "IX",
        "Y" => "IY",
        other => other,
    };
    REGISTERS.into_iter().find(|one| *one == name)
}

/// The part of a pair that a canonical_name name means.
fn part(name: &str) -> (&str, Part) {
    match name.trim_end_matches('\'') {
        "A" => ("AF", Part::High),
        "F" => ("AF", Part::Low),
        "B" => ("BC", Part::High),
        "C" => ("BC", Part::Low),
        "D" => ("DE", Part::High),
        "E" => ("DE", Part::Low),
        "H" => ("HL", Part::High),
        "L" => ("HL", Part::Low),
        "IXH" => ("IX", Part::High),
        "IXL" => ("IX", Part::Low),
        "IYH" => ("IY", Part::High),
        "IYL" => ("IY", Part::Low),
        "SPH" => ("SP", Part::High),
        "SPL" => ("SP", Part::Low),
        pair => (pair, Part::Whole),
    }
}

fn pair_of<'r>(registers: &'r mut Registers, pair: &str, is_second: bool) -> Option<&'r mut u16> {
    Some(match (pair, is_second) {
        ("AF", false) => &mut registers.af,
        ("BC", false) => &mut registers.bc,
        ("DE", false) => &mut registers.de,
        ("HL", false) => &mut registers.hl,
        ("AF", true) => &mut registers.af_alt,
        ("BC", true) => &mut registers.bc_alt,
        ("DE", true) => &mut registers.de_alt,
        ("HL", true) => &mut registers.hl_alt,
        ("IX", false) => &mut registers.ix,
        ("IY", false) => &mut registers.iy,
        ("SP", false) => &mut registers.sp,
        ("PC", false) => &mut registers.pc,
        _ => return None,
    })
}

/// The value of a register by its name, such as `A`, `HL` or `E'`, or of a flag, such as `FZ`;
/// `None` for any other word.
#[must_use]
pub fn register(registers: &Registers, name: &str) -> Option<u16> {
    if let Some(mask) = flag(name) {
        return Some(u16::from(registers.af & mask != 0));
    }
    let name = canonical_name(name)?;
    match name {
        "I" => return Some(registers.i.into()),
        "R" => return Some(registers.r.into()),
        _ => {}
    }
    let (pair, part) = part(name);
    let mut copy = *registers;
    pair_of(&mut copy, pair, name.ends_with('\'')).map(|pair| part.get(*pair))
}

/// Sets a register or a flag; returns whether there is one of that name, and it can hold the value.
pub fn set_register(registers: &mut Registers, name: &str, value: u16) -> bool {
    if let Some(mask) = flag(name) {
        registers.af = if value == 0 { registers.af & !mask } else { registers.af | mask };
        return value <= 1;
    }
    let Some(name) = canonical_name(name) else { return false };
    let byte = u8::try_from(value);
    match (name, byte) {
        ("I", Ok(byte)) => registers.i = byte,
        ("R", Ok(byte)) => registers.r = byte,
        ("I" | "R", Err(_)) => return false,
        _ => {
            let (pair, part) = part(name);
            let pair = pair_of(registers, pair, name.ends_with('\''));
            return pair.is_some_and(|pair| part.set(pair, value));
        }
    }
    true
}

/// The bit of a flag in F.
fn flag(name: &str) -> Option<u16> {
    let found = FLAGS.iter().find(|(flag, _)| flag.eq_ignore_ascii_case(name));
    found.map(|(_, mask)| *mask)
}

/// The flags of F as letters, `-` for those that are 0.
#[must_use]
pub fn flag_letters(af: u16) -> String {
    let names = "SZYHXPNC".chars().enumerate();
    names.map(|(at, name)| if af & (0x80 >> at) != 0 { name } else { '-' }).collect()
}

/// A register while XCHNG runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterRole {
    /// Its meaning in the article.
    pub meaning: &'static str,
    /// The register as the processor has it now: `B`, or `B'` for the set that is not current.
    pub register: String,
    /// Its value.
    pub value: u16,
}

/// The registers of XCHNG: set, register, meaning.
const XCHNG_REGISTERS: [(u8, &str, &str); 9] = [
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

/// The register of the other side.
fn across(name: &'static str) -> &'static str {
    match name {
        "B" => "C",
        "C" => "B",
        "DE" => "HL",
        _ => "DE",
    }
}

/// The registers of Table 2 with their values; none outside of XCHNG and NEXTAD, and before it has
/// set them up. The first set is the one whose HL and DE point into the attackers array.
#[must_use]
pub fn xchng_register_roles(registers: &Registers, code: &CodeMap) -> Vec<RegisterRole> {
    let file = code.line_at(registers.pc).map(|line| line.place.file.to_ascii_lowercase());
    let within = file
        .is_some_and(|file| ["xchng.asm", "nextad.asm"].iter().any(|name| file.ends_with(name)));
    let Some(array) = code.symbol("ATKLST").filter(|_| within) else { return Vec::new() };
    let points = |pair: u16| (array..array + ARRAY).contains(&pair);
    let both = |hl, de| points(hl) && points(de);
    // EXX is all that XCHNG has to tell sides apart, and no flag says which set is current: where
    // its pointers are does.
    let first_is_current =
        match (both(registers.hl, registers.de), both(registers.hl_alt, registers.de_alt)) {
            (true, false) => true,
            (false, true) => false,
            _ => return Vec::new(),
        };
    let flag = if first_is_current { registers.bc_alt } else { registers.bc };
    let role = |&(set, name, meaning): &(u8, &'static str, &'static str)| {
        // NEXTAD exchanges the sides with each piece it fetches, and counts its calls in the side
        // flag.
        let name = if set == 1 && flag & 1 != 0 { across(name) } else { name };
        let is_other = set != 0 && (set == 1) != first_is_current;
        let register = if is_other { format!("{name}'") } else { name.to_owned() };
        let value = self::register(registers, &register)?;
        Some(RegisterRole { meaning, register, value })
    };
    XCHNG_REGISTERS.iter().filter_map(role).collect()
}
