//! The mnemonics, directives and register names of both dialects.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use tdlasm::isa::{FORMS, Form, Register};

/// The registers and conditions of Zilog's assemblers.
const ZILOG_OPERANDS: [&str; 31] = [
    "A", "B", "C", "D", "E", "H", "L", "I", "R", "F", "AF", "BC", "DE", "HL", "SP", "IX", "IY",
    "IXH", "IXL", "IYH", "IYL", "NZ", "Z", "NC", "PO", "PE", "P", "M", "AF'", "NV", "V",
];

/// Zilog's names of the pairs, and the registers that stand for them in TDL.
pub(crate) const ZILOG_PAIRS: [(&str, Register); 7] = [
    ("BC", Register::B),
    ("DE", Register::D),
    ("HL", Register::H),
    ("SP", Register::Sp),
    ("AF", Register::Psw),
    ("IX", Register::X),
    ("IY", Register::Y),
];

/// The directives of Zilog's dialect that have a counterpart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZilogDirective {
    Bytes,
    Words,
    Reserve,
    Origin,
    End,
    Include,
    External,
    Global,
    Constant,
    Variable,
}

impl ZilogDirective {
    /// The names, with their counterparts in ASxxxx, where sources end without a directive. The
    /// first of several is written.
    const NAMES: [(&str, &str, Self); 15] = [
        ("DB", ".DB", Self::Bytes),
        ("DEFB", ".DB", Self::Bytes),
        ("DEFM", ".DB", Self::Bytes),
        ("DW", ".DW", Self::Words),
        ("DEFW", ".DW", Self::Words),
        ("DS", ".DS", Self::Reserve),
        ("DEFS", ".DS", Self::Reserve),
        ("ORG", ".ORG", Self::Origin),
        ("END", "; END", Self::End),
        ("INCLUDE", ".INCLUDE", Self::Include),
        ("EXTERN", ".GLOBL", Self::External),
        ("GLOBAL", ".GLOBL", Self::Global),
        ("PUBLIC", ".GLOBL", Self::Global),
        ("EQU", "=", Self::Constant),
        ("DEFL", "=", Self::Variable),
    ];

    pub(crate) fn from_word(word: &[u8]) -> Option<Self> {
        let mut names = Self::NAMES.iter();
        let known = names.find(|(name, ..)| word.eq_ignore_ascii_case(name.as_bytes()));
        known.map(|(.., directive)| *directive)
    }

    pub(crate) fn name(self, is_asxxxx: bool) -> &'static str {
        let known = Self::NAMES.iter().find(|(.., directive)| *directive == self);
        known.map_or("", |(name, asxxxx, _)| if is_asxxxx { asxxxx } else { name })
    }
}

static TDL: LazyLock<FxHashMap<&str, &[Form]>> = LazyLock::new(|| {
    let forms = FORMS.chunk_by(|one, other| one.mnemonic == other.mnemonic);
    // If several groups have the same name, the first must win, so it is inserted last.
    let mut forms: Vec<_> = forms.map(|forms| (forms[0].mnemonic, forms)).collect();
    forms.reverse();
    forms.into_iter().collect()
});

static ZILOG: LazyLock<FxHashMap<&str, Vec<&Form>>> = LazyLock::new(|| {
    let mut forms: FxHashMap<&str, Vec<&Form>> = FxHashMap::default();
    for form in FORMS {
        forms.entry(zilog_form(form).0).or_default().push(form);
    }
    forms
});

pub(crate) fn zilog_form(form: &Form) -> (&'static str, &'static str) {
    form.zilog.split_once(' ').unwrap_or((form.zilog, ""))
}

/// An operand in Zilog's spelling of a form.
pub(crate) enum ZilogOperand {
    Literal(&'static str),
    /// The operand of TDL with this number, perhaps in parentheses.
    Placeholder {
        number: usize,
        inside: bool,
    },
}

pub(crate) fn zilog_operands(form: &Form) -> impl Iterator<Item = ZilogOperand> {
    let tokens = zilog_form(form).1.split(',').filter(|token| !token.is_empty());
    tokens.map(|token| match token {
        "{0}" => ZilogOperand::Placeholder { number: 0, inside: false },
        "{1}" => ZilogOperand::Placeholder { number: 1, inside: false },
        "({0})" => ZilogOperand::Placeholder { number: 0, inside: true },
        "({1})" => ZilogOperand::Placeholder { number: 1, inside: true },
        word => ZilogOperand::Literal(word),
    })
}

/// Returns the forms of a mnemonic in TDL; empty if `word` is not a mnemonic.
pub fn tdl_forms(word: &[u8]) -> &'static [Form] {
    TDL.get(&*upper(word)).copied().unwrap_or_default()
}

pub(crate) fn is_zilog_mnemonic(word: &[u8]) -> bool {
    !zilog_forms(word).is_empty()
}

pub(crate) fn zilog_forms(word: &[u8]) -> &'static [&'static Form] {
    ZILOG.get(&*upper(word)).map_or(&[], Vec::as_slice)
}

pub(crate) fn is_zilog_operand(word: &[u8]) -> bool {
    word.len() <= 3
        && ZILOG_OPERANDS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Returns `true` if a symbol may contain this byte in Zilog's dialect.
pub(crate) fn is_zilog_symbol(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'?' | b'@')
}

/// Whether a byte stands for itself in a quoted text of every assembler.
pub(crate) fn is_plain(byte: u8) -> bool {
    byte != b'\\' && (byte >= 0x80 || matches!(byte, b' '..=b'~'))
}

/// Returns `true` if both dialects have this mnemonic. If such a statement is copied unchanged, it
/// gets a leading period, so that no assembler reads it in the other dialect and a conversion back
/// recognizes it.
pub(crate) fn is_shared(word: &[u8]) -> bool {
    is_zilog_mnemonic(word) && !tdl_forms(word).is_empty()
}

/// Returns `true` if a leading period marks a mnemonic of the other dialect.
pub(crate) fn is_marked(word: &[u8]) -> bool {
    word.strip_prefix(b".").is_some_and(is_shared)
}

/// Returns the register of this name in TDL.
pub fn tdl_register(word: &[u8]) -> Option<Register> {
    let known = |(name, _): &&(&str, Register)| word.eq_ignore_ascii_case(name.as_bytes());
    Register::NAMES.iter().find(known).map(|(_, register)| *register)
}

/// Returns `true` if it is the name of a section in TDL.
pub fn is_section(word: &[u8]) -> bool {
    [".PROG.", ".DATA.", ".BLNK."].iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

/// Returns a word in upper case.
fn upper(word: &[u8]) -> String {
    String::from_utf8_lossy(word).to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_can_be_a_mnemonic_of_one_dialect_or_of_both() {
        assert_eq!(tdl_forms(b"mov").len(), 5);
        assert!(tdl_forms(b"LD").is_empty() && is_zilog_mnemonic(b"ld"));
        assert!(!tdl_forms(b"JP").is_empty() && is_zilog_mnemonic(b"JP"));
        assert!(!is_zilog_mnemonic(b"MVI"));
    }
}
