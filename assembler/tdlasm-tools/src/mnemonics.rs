//! The mnemonics, directives and register names of both dialects.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use tdlasm::isa::{FORMS, Form, Register, zilog};
pub(crate) use tdlasm::syntax::zilog::Directive as ZilogDirective;

/// Zilog's names of directives with a counterpart, and those of ASxxxx, where sources end without a
/// directive.
const WRITTEN: [(ZilogDirective, &str, &str); 10] = [
    (ZilogDirective::Bytes, "DB", ".DB"),
    (ZilogDirective::Words, "DW", ".DW"),
    (ZilogDirective::Reserve, "DS", ".DS"),
    (ZilogDirective::Origin, "ORG", ".ORG"),
    (ZilogDirective::End, "END", "; END"),
    (ZilogDirective::Include, "INCLUDE", ".INCLUDE"),
    (ZilogDirective::External, "EXTERN", ".GLOBL"),
    (ZilogDirective::Global, "GLOBAL", ".GLOBL"),
    (ZilogDirective::Constant, "EQU", "="),
    (ZilogDirective::Variable, "DEFL", "="),
];

/// Returns the directive of a word in Zilog's notation if it has a counterpart. Those with a period
/// have none, since in TDL they may be others.
pub(crate) fn zilog_directive(word: &[u8]) -> Option<ZilogDirective> {
    let directive = ZilogDirective::from_word(word).filter(|_| !word.starts_with(b"."))?;
    WRITTEN.iter().any(|(known, ..)| *known == directive).then_some(directive)
}

/// Returns Zilog's name of a directive with a counterpart, or that of ASxxxx.
pub(crate) fn written_name(directive: ZilogDirective, is_asxxxx: bool) -> &'static str {
    let known = WRITTEN.iter().find(|(known, ..)| *known == directive);
    known.map_or("", |(_, name, asxxxx)| if is_asxxxx { asxxxx } else { name })
}

static TDL: LazyLock<FxHashMap<&str, &[Form]>> = LazyLock::new(|| {
    let forms = FORMS.chunk_by(|one, other| one.mnemonic == other.mnemonic);
    // If several groups have the same name, the first must win, so it is inserted last.
    let mut forms: Vec<_> = forms.map(|forms| (forms[0].mnemonic, forms)).collect();
    forms.reverse();
    forms.into_iter().collect()
});

/// Returns the forms of a mnemonic in TDL; empty if `word` is not a mnemonic.
pub fn tdl_forms(word: &[u8]) -> &'static [Form] {
    TDL.get(&*upper(word)).copied().unwrap_or_default()
}

pub(crate) fn is_zilog_mnemonic(word: &[u8]) -> bool {
    !zilog::forms(word).is_empty()
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
