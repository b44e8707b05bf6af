//! Registers and flags by name, for debuggers and tests.

use std::fmt;
use std::iter::Copied;
use std::slice;
use std::str::FromStr;

use crate::Registers;

/// The names of all registers; `'` marks the second set.
pub const REGISTER_NAMES: [&str; 36] = [
    "AF", "BC", "DE", "HL", "SP", "PC", "IX", "IY", "AF'", "BC'", "DE'", "HL'", "A", "F", "B", "C",
    "D", "E", "H", "L", "A'", "F'", "B'", "C'", "D'", "E'", "H'", "L'", "I", "R", "IXH", "IXL",
    "IYH", "IYL", "SPH", "SPL",
];
/// The 16-bit registers, in gdb's order.
pub const REGISTER_PAIRS: [&str; 12] =
    ["AF", "BC", "DE", "HL", "SP", "PC", "IX", "IY", "AF'", "BC'", "DE'", "HL'"];
/// The names of the flags, each with its mask in F.
pub const FLAGS: [(&str, u16); 6] =
    [("FS", 0x80), ("FZ", 0x40), ("FH", 0x10), ("FP", 0x04), ("FN", 0x02), ("FC", 0x01)];

/// The halves of the register pairs, in the order of those.
pub const REGISTER_HALVES: [&str; 20] = [
    "A", "F", "B", "C", "D", "E", "H", "L", "IXH", "IXL", "IYH", "IYL", "A'", "F'", "B'", "C'",
    "D'", "E'", "H'", "L'",
];
/// The register pairs with halves, in the order of [`REGISTER_HALVES`].
const PAIRS: [&str; 10] = ["AF", "BC", "DE", "HL", "IX", "IY", "AF'", "BC'", "DE'", "HL'"];
/// Conditions and other values of flags: name, mask and value in F.
const CONDITIONS: [(&str, u8, u8); 12] = [
    ("C", 0x01, 0x01),
    ("NC", 0x01, 0x00),
    ("N", 0x02, 0x02),
    ("NN", 0x02, 0x00),
    ("PE", 0x04, 0x04),
    ("PO", 0x04, 0x00),
    ("H", 0x10, 0x10),
    ("NH", 0x10, 0x00),
    ("Z", 0x40, 0x40),
    ("NZ", 0x40, 0x00),
    ("M", 0x80, 0x80),
    ("P", 0x80, 0x00),
];

#[derive(Debug, Clone, Copy)]
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

/// Returns the name of a register as in [`REGISTER_NAMES`]; accepts TDL's `PSW`, `X` and `Y`, too.
pub fn canonical_register_name(name: &str) -> Option<&'static str> {
    let of_tdl = [("PSW", "AF"), ("X", "IX"), ("Y", "IY")];
    let of_tdl = of_tdl.into_iter().find(|(tdl, _)| tdl.eq_ignore_ascii_case(name));
    let name = of_tdl.map_or(name, |(_, canonical)| canonical);
    REGISTER_NAMES.into_iter().find(|one| one.eq_ignore_ascii_case(name))
}

/// Splits a canonical name into its register pair and the part of it.
fn pair_and_part(name: &str) -> (&str, Part) {
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

/// Returns the value of a register, such as `A`, `HL` or `E'`, or of a flag, such as `FZ`.
pub fn register_value(registers: &Registers, name: &str) -> Option<u16> {
    if let Some(mask) = flag_mask(name) {
        return Some(u16::from(registers.af & mask != 0));
    }
    let name = canonical_register_name(name)?;
    match name {
        "I" => return Some(registers.i.into()),
        "R" => return Some(registers.r.into()),
        _ => {}
    }
    let (pair, part) = pair_and_part(name);
    let mut copy = *registers;
    pair_of(&mut copy, pair, name.ends_with('\'')).map(|pair| part.get(*pair))
}

/// Sets a register or a flag; returns `false` if the name is unknown or the value does not fit.
pub fn set_register(registers: &mut Registers, name: &str, value: u16) -> bool {
    if let Some(mask) = flag_mask(name) {
        registers.af = if value == 0 { registers.af & !mask } else { registers.af | mask };
        return value <= 1;
    }
    let Some(name) = canonical_register_name(name) else { return false };
    let byte = u8::try_from(value);
    match (name, byte) {
        ("I", Ok(byte)) => registers.i = byte,
        ("R", Ok(byte)) => registers.r = byte,
        ("I" | "R", Err(_)) => return false,
        _ => {
            let (pair, part) = pair_and_part(name);
            let pair = pair_of(registers, pair, name.ends_with('\''));
            return pair.is_some_and(|pair| part.set(pair, value));
        }
    }
    true
}

fn flag_mask(name: &str) -> Option<u16> {
    let found = FLAGS.iter().find(|(flag, _)| flag.eq_ignore_ascii_case(name));
    found.map(|(_, mask)| *mask)
}

/// Returns the halves of a register, by its canonical name; none for `SP`, `PC`, `I` and `R`.
///
/// ```
/// assert_eq!(z80_core::register_halves("DE'").collect::<Vec<_>>(), ["D'", "E'"]);
/// assert_eq!(z80_core::register_halves("IXH").collect::<Vec<_>>(), ["IXH"]);
/// ```
pub fn register_halves(register: &str) -> Copied<slice::Iter<'static, &'static str>> {
    static HALVES: [&str; 20] = REGISTER_HALVES;
    let half = HALVES.iter().position(|half| *half == register).map(|at| at..at + 1);
    let pair = || PAIRS.iter().position(|pair| *pair == register).map(|at| 2 * at..2 * at + 2);
    HALVES[half.or_else(pair).unwrap_or_default()].iter().copied()
}

/// Values of some flags, as text such as `C NZ`.
///
/// ```
/// let flags: z80_core::Flags = "NZ C".parse()?;
/// assert_eq!((flags.mask, flags.value), (0x41, 0x01));
/// assert_eq!(flags.to_string(), "C NZ");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    /// The bits of F that count.
    pub mask: u8,
    /// Their values.
    pub value: u8,
}

impl Flags {
    /// Returns register pair AF with these flags.
    pub fn apply(self, af: u16) -> u16 {
        af & !u16::from(self.mask) | u16::from(self.value)
    }
}

impl FromStr for Flags {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut flags = Self::default();
        for word in text.split_whitespace() {
            let Some((_, bit, set)) = CONDITIONS.iter().find(|(name, ..)| *name == word) else {
                let names = CONDITIONS.map(|(name, ..)| name).join(" ");
                return Err(format!(
                    "unknown flag '{}': expected some of {names}",
                    word.escape_debug()
                ));
            };
            if flags.mask & bit != 0 {
                return Err(format!("the flag of {word} is given twice"));
            }
            flags.mask |= bit;
            flags.value |= set;
        }
        Ok(flags)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_shown =
            |(_, bit, set): &&(&str, u8, u8)| self.mask & bit != 0 && self.value & bit == *set;
        let shown = CONDITIONS.iter().filter(is_shown).map(|(name, ..)| *name);
        f.write_str(&shown.collect::<Vec<_>>().join(" "))
    }
}

/// Formats the flags as letters, with `-` for those that are 0. `af` is the pair AF.
pub fn flag_letters(af: u16) -> String {
    let names = "SZYHXPNC".chars().enumerate();
    names.map(|(at, name)| if af & (0x80 >> at) != 0 { name } else { '-' }).collect()
}
