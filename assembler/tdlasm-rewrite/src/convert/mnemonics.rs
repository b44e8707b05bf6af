//! The mnemonics, directives and register names of both dialects.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use tdlasm::isa::{FORMS, Form, Register};
use tdlasm::syntax::directive::Directive;

/// The registers and conditions of Zilog's assemblers.
const ZILOG_OPERANDS: [&str; 31] = [
    "A", "B", "C", "D", "E", "H", "L", "I", "R", "F", "AF", "BC", "DE", "HL", "SP", "IX", "IY",
    "IXH", "IXL", "IYH", "IYL", "NZ", "Z", "NC", "PO", "PE", "P", "M", "AF'", "NV", "V",
];

/// The directives of Zilog's side that are written or read.
const ZILOG_DIRECTIVES: [&str; 15] = [
    "ORG", "EQU", "DEFL", "DB", "DEFB", "DEFM", "DW", "DEFW", "DS", "DEFS", "END", "INCLUDE",
    "EXTERN", "GLOBAL", "PUBLIC",
];

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

pub(super) fn zilog_form(form: &Form) -> (&'static str, &'static str) {
    form.zilog.split_once(' ').unwrap_or((form.zilog, ""))
}

/// Returns the forms of a mnemonic in TDL; empty if `word` is not a mnemonic.
pub fn tdl_forms(word: &[u8]) -> &'static [Form] {
    TDL.get(&*upper(word)).copied().unwrap_or_default()
}

pub(super) fn is_zilog_mnemonic(word: &[u8]) -> bool {
    !zilog_forms(word).is_empty()
}

/// Returns `true` if a word is a directive in Zilog's dialect that has a counterpart.
pub(super) fn is_zilog_directive(word: &[u8]) -> bool {
    ZILOG_DIRECTIVES.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

pub(super) fn zilog_forms(word: &[u8]) -> &'static [&'static Form] {
    ZILOG.get(&*upper(word)).map_or(&[], Vec::as_slice)
}

pub(super) fn is_zilog_operand(word: &[u8]) -> bool {
    word.len() <= 3
        && ZILOG_OPERANDS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Returns `true` if a symbol may contain this byte in Zilog's dialect.
pub(super) fn is_zilog_symbol(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'?' | b'@')
}

/// Returns `true` if both dialects have this mnemonic. If such a statement is copied unchanged, it
/// gets a leading period, so that no assembler reads it in the other dialect and a conversion back
/// recognizes it.
pub(super) fn is_shared(word: &[u8]) -> bool {
    is_zilog_mnemonic(word) && !tdl_forms(word).is_empty()
}

/// Returns `true` if a leading period marks a mnemonic of the other dialect.
pub(super) fn is_marked(word: &[u8]) -> bool {
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

/// Whether TDL has this directive.
pub fn is_tdl_directive(word: &[u8]) -> bool {
    Directive::from_word(word).is_some()
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

    #[test]
    fn six_letters_of_a_directive_count() {
        assert!(is_tdl_directive(b".external") && is_tdl_directive(b".ASCIIX"));
        assert!(!is_tdl_directive(b".BYTES") && !is_tdl_directive(b"ORG"));
    }
}
