//! Instructions in Zilog's notation: which form of the table a mnemonic and its operands select.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{FORMS, Form, Prefix, Register, Slot, table};

/// Zilog's names of the pairs, and the registers that stand for them in TDL.
pub const PAIRS: [(&str, Register); 7] = [
    ("BC", Register::B),
    ("DE", Register::D),
    ("HL", Register::H),
    ("SP", Register::Sp),
    ("AF", Register::Psw),
    ("IX", Register::X),
    ("IY", Register::Y),
];

/// The halves of the index registers: undocumented, H and L behind a prefix.
const HALVES: [(&str, Prefix, &[u8]); 4] = [
    ("IXH", Prefix::X, b"H"),
    ("IXL", Prefix::X, b"L"),
    ("IYH", Prefix::Y, b"H"),
    ("IYL", Prefix::Y, b"L"),
];

/// The other registers, and the conditions.
const WORDS: [&str; 20] = [
    "A", "B", "C", "D", "E", "H", "L", "I", "R", "F", "NZ", "Z", "NC", "PO", "PE", "P", "M", "AF'",
    "NV", "V",
];

/// Returns `true` if the word is a register or a condition.
pub fn is_operand(word: &[u8]) -> bool {
    let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
    word.len() <= 3
        && (WORDS.into_iter().any(is)
            || PAIRS.iter().any(|(name, _)| is(name))
            || HALVES.iter().any(|(name, ..)| is(name)))
}

/// Returns the names of the registers and conditions.
pub fn operands() -> impl Iterator<Item = &'static str> {
    let pairs = PAIRS.iter().map(|(name, _)| *name);
    WORDS.into_iter().chain(pairs).chain(HALVES.iter().map(|(name, ..)| *name))
}

/// Returns the prefix of an index register's name.
pub fn index_prefix(word: &[u8]) -> Option<Prefix> {
    match word {
        [b'I' | b'i', b'X' | b'x'] => Some(Prefix::X),
        [b'I' | b'i', b'Y' | b'y'] => Some(Prefix::Y),
        _ => None,
    }
}

/// An operand, as far as the choice of the form depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given<'t> {
    /// A register or condition.
    Word(&'t [u8]),
    /// One in parentheses.
    Indirect(&'t [u8]),
    /// A displacement from an index register, in parentheses.
    Index(Prefix),
    /// A value in parentheses.
    Memory,
    /// A value, and its number if it is known.
    Value(Option<u16>),
}

/// The operand of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// A register.
    Register(Register),
    /// The byte at an index register plus the displacement of the operand with this index; without
    /// an operand for it, 0.
    Index(Prefix, Option<usize>),
    /// The value of the operand with this index.
    Value(usize),
}

/// The form that operands select.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selected {
    /// The form.
    pub form: &'static Form,
    /// Its operands, in TDL's order.
    pub operands: [Option<Bound>; 2],
    /// The prefix if H and L are the halves of an index register. Undocumented.
    pub half: Option<Prefix>,
    /// The register that receives a copy of the indexed byte. Undocumented.
    pub copy: Option<Register>,
}

impl Selected {
    /// Returns `true` if the instruction needs an encoding that TDL has no spelling for.
    pub fn is_beyond_tdl(&self) -> bool {
        self.half.is_some() || self.copy.is_some() || table::ZILOG_ONLY.contains(self.form)
    }
}

/// A part of a form's operands in Zilog's spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// A fixed register, condition or number.
    Literal(&'static str),
    /// The operand of TDL with this number, perhaps in parentheses.
    Placeholder {
        /// 0 or 1.
        number: usize,
        /// Whether it is in parentheses.
        inside: bool,
    },
}

/// Returns Zilog's mnemonic of a form, and the operands behind it.
pub fn spelling(form: &Form) -> (&'static str, &'static str) {
    form.zilog.split_once(' ').unwrap_or((form.zilog, ""))
}

/// Returns the operands of a form in Zilog's spelling.
pub fn tokens(form: &Form) -> impl Iterator<Item = Token> {
    let tokens = spelling(form).1.split(',').filter(|token| !token.is_empty());
    tokens.map(|token| match token {
        "{0}" => Token::Placeholder { number: 0, inside: false },
        "{1}" => Token::Placeholder { number: 1, inside: false },
        "({0})" => Token::Placeholder { number: 0, inside: true },
        "({1})" => Token::Placeholder { number: 1, inside: true },
        word => Token::Literal(word),
    })
}

/// Returns a form with what each of its operands is, such as `LD r,(IX+d)`.
pub fn pattern(form: &Form) -> String {
    let [first, second] = form.slots.map(|slot| match slot {
        Slot::SourceMem | Slot::DestMem => "(HL)",
        Slot::Index => "(IX+d)",
        Slot::Pair => "BC/DE/HL/SP",
        Slot::StackPair => "BC/DE/HL/AF",
        Slot::PairX => "BC/DE/IX/SP",
        Slot::PairY => "BC/DE/IY/SP",
        Slot::Pointer => "BC/DE",
        Slot::IndexPair => "IX/IY",
        Slot::Restart => "0..38H",
        other => other.pattern(),
    });
    form.zilog.replace("{0}", first).replace("{1}", second)
}

static BY_MNEMONIC: LazyLock<FxHashMap<&str, Vec<&Form>>> = LazyLock::new(|| {
    let mut forms: FxHashMap<&str, Vec<&Form>> = FxHashMap::default();
    for form in FORMS.iter().chain(&table::ZILOG_ONLY) {
        forms.entry(spelling(form).0).or_default().push(form);
    }
    forms
});

/// Returns all mnemonics with their forms, in no particular order.
pub fn mnemonics() -> impl Iterator<Item = (&'static str, &'static [&'static Form])> {
    BY_MNEMONIC.iter().map(|(name, forms)| (*name, forms.as_slice()))
}

/// Returns the forms of a mnemonic; empty if the word is none.
pub fn forms(word: &[u8]) -> &'static [&'static Form] {
    let upper = String::from_utf8_lossy(word).to_ascii_uppercase();
    let name = if matches!(&*upper, "SLI" | "SL1") { "SLL" } else { &*upper };
    BY_MNEMONIC.get(name).map_or(&[], Vec::as_slice)
}

/// The operands with their indexes, or that of none for one that is implied.
type Operands<'t> = SmallVec<[(usize, Given<'t>); 4]>;
const IMPLIED: usize = usize::MAX;

/// Returns the form of a mnemonic that takes these operands.
///
/// ```
/// use tdlasm::isa::zilog::{Bound, Given, select};
/// use tdlasm::isa::Register;
///
/// let selected = select(b"LD", &[Given::Word(b"A"), Given::Word(b"IXH")]).unwrap();
/// assert_eq!(selected.form.mnemonic, "MOV");
/// assert_eq!(selected.operands[1], Some(Bound::Register(Register::H)));
/// assert!(selected.half.is_some());
/// ```
pub fn select(mnemonic: &[u8], given: &[Given<'_>]) -> Option<Selected> {
    let forms = forms(mnemonic);
    let name = spelling(forms.first()?).0;
    let mut operands: Operands<'_> = given.iter().copied().enumerate().collect();
    normalise(name, &mut operands);
    let fits = |operands: &Operands<'_>| {
        let mut found = forms.iter().map(|form| (*form, fit(form, operands)));
        let (form, operands) = found.find(|(_, bound)| bound.is_some())?;
        Some(Selected { form, operands: operands?, half: None, copy: None })
    };
    fits(&operands).or_else(|| with_half(&operands, fits)).or_else(|| with_copy(&operands, fits))
}

/// Replaces alternative spellings by the one in the table.
fn normalise(mnemonic: &str, operands: &mut Operands<'_>) {
    let is = |operand: &(usize, Given<'_>), name: &[u8]| match operand.1 {
        Given::Word(word) => word.eq_ignore_ascii_case(name),
        _ => false,
    };
    match (mnemonic, operands.len()) {
        ("ADD" | "ADC" | "SBC", 1) => operands.insert(0, (IMPLIED, Given::Word(b"A"))),
        ("SUB" | "AND" | "OR" | "XOR" | "CP", 2) if is(&operands[0], b"A") => {
            operands.remove(0);
        }
        ("IN", 1) => operands.insert(0, (IMPLIED, Given::Word(b"F"))),
        ("EX", 2) if is(&operands[0], b"AF") && is(&operands[1], b"AF") => {
            operands[1].1 = Given::Word(b"AF'");
        }
        ("JP", 1) => {
            if let Given::Word(word @ ([b'H' | b'h', _] | [b'I' | b'i', _])) = operands[0].1 {
                operands[0].1 = Given::Indirect(word);
            }
        }
        _ => {}
    }
}

/// Selects a form for the halves of an index register: that for H and L, unless it uses HL itself.
fn with_half<'t>(
    operands: &Operands<'t>,
    fits: impl Fn(&Operands<'t>) -> Option<Selected>,
) -> Option<Selected> {
    let mut plain = operands.clone();
    let mut half = None;
    for (_, operand) in &mut plain {
        let Given::Word(word) = *operand else { continue };
        let known = HALVES.iter().find(|(name, ..)| word.eq_ignore_ascii_case(name.as_bytes()));
        let prefix = match known {
            Some((_, prefix, register)) => {
                *operand = Given::Word(register);
                *prefix
            }
            None if matches!(word, [b'H' | b'h' | b'L' | b'l']) => return None,
            None => continue,
        };
        if half.replace(prefix).is_some_and(|other| other != prefix) {
            return None;
        }
    }
    let selected = fits(&plain).filter(|_| half.is_some())?;
    let uses_memory = |slot| matches!(slot, Slot::SourceMem | Slot::DestMem | Slot::Index);
    let takes_half =
        selected.form.prefix == Prefix::None && !selected.form.slots.into_iter().any(uses_memory);
    takes_half.then_some(Selected { half, ..selected })
}

/// Selects a form of the page CB that also copies the indexed byte to a register.
fn with_copy<'t>(
    operands: &Operands<'t>,
    fits: impl Fn(&Operands<'t>) -> Option<Selected>,
) -> Option<Selected> {
    let [rest @ .., (_, Given::Word(word))] = &operands[..] else { return None };
    let copy = register(Slot::Source, word)?;
    let selected = fits(&rest.iter().copied().collect())?;
    // BIT changes nothing that could be copied.
    let copies = selected.form.prefix == Prefix::Cb
        && selected.form.slots.contains(&Slot::Index)
        && selected.form.mnemonic != "BIT";
    copies.then_some(Selected { copy: Some(copy), ..selected })
}

/// Returns the operands in TDL's order, if they fit the form.
fn fit(form: &Form, given: &Operands<'_>) -> Option<[Option<Bound>; 2]> {
    if tokens(form).count() != given.len() {
        return None;
    }
    let mut operands = [None; 2];
    for (token, (index, given)) in tokens(form).zip(given) {
        match token {
            Token::Placeholder { number, inside } => {
                operands[number] = Some(bind(form.slots[number], inside, *index, given)?);
            }
            Token::Literal(word) if is_literal(word, given) => {}
            Token::Literal(_) => return None,
        }
    }
    for (operand, slot) in operands.iter_mut().zip(form.slots) {
        // The two undocumented forms with M have no operand for it in Zilog's notation.
        if matches!(slot, Slot::SourceMem | Slot::DestMem) {
            operand.get_or_insert(Bound::Register(Register::M));
        }
    }
    Some(operands)
}

fn is_literal(token: &str, given: &Given<'_>) -> bool {
    let inner = || token.strip_prefix('(').and_then(|token| token.strip_suffix(')'));
    match given {
        Given::Word(word) => word.eq_ignore_ascii_case(token.as_bytes()),
        Given::Indirect(word) => {
            inner().is_some_and(|inner| word.eq_ignore_ascii_case(inner.as_bytes()))
        }
        Given::Value(Some(number)) => token.parse() == Ok(*number),
        _ => false,
    }
}

fn bind(slot: Slot, inside: bool, index: usize, given: &Given<'_>) -> Option<Bound> {
    match (slot, given) {
        (Slot::SourceMem | Slot::DestMem, Given::Indirect(word)) => {
            word.eq_ignore_ascii_case(b"HL").then_some(Bound::Register(Register::M))
        }
        (Slot::Index, Given::Index(prefix)) => Some(Bound::Index(*prefix, Some(index))),
        (Slot::Index, Given::Indirect(word)) => Some(Bound::Index(index_prefix(word)?, None)),
        (Slot::Pointer, Given::Indirect(word)) if inside => {
            register(slot, word).map(Bound::Register)
        }
        (Slot::Byte | Slot::Word, Given::Memory) if inside => Some(Bound::Value(index)),
        (Slot::Byte | Slot::Word | Slot::Relative | Slot::Bit | Slot::Restart, Given::Value(_))
            if !inside =>
        {
            Some(Bound::Value(index))
        }
        (_, Given::Word(word)) if !inside => register(slot, word).map(Bound::Register),
        _ => None,
    }
}

/// Returns the register in TDL, where pairs have one letter instead of two.
fn register(slot: Slot, word: &[u8]) -> Option<Register> {
    let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    let register = match slot {
        Slot::Source | Slot::Dest => {
            Register::NAMES.iter().find(|(name, _)| name.len() == 1 && is(name))?.1
        }
        _ => PAIRS.iter().find(|(name, _)| is(name))?.1,
    };
    register.bits(slot).map(|_| register)
}
