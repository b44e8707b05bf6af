//! The mnemonics, directives and register names of both dialects.

use std::ops::Deref;
use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use tdlasm::isa::{FORMS, Form, Register};

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

static TDL_DIRECTIVES: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    tdlasm::asm::directive_names().map(|name| directive_key(name.as_bytes()).to_string()).collect()
});

pub(super) fn zilog_form(form: &Form) -> (&'static str, &'static str) {
    form.zilog.split_once(' ').unwrap_or((form.zilog, ""))
}

/// Returns the forms of a mnemonic in TDL; empty if `word` is not a mnemonic.
pub fn tdl_forms(word: &[u8]) -> &'static [Form] {
    upper(word).and_then(|word| TDL.get(&*word).copied()).unwrap_or_default()
}

pub(super) fn is_zilog_mnemonic(word: &[u8]) -> bool {
    !zilog_forms(word).is_empty()
}

/// Returns `true` if a word is a directive in Zilog's dialect that has a counterpart.
pub(super) fn is_zilog_directive(word: &[u8]) -> bool {
    ZILOG_DIRECTIVES.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

pub(super) fn zilog_forms(word: &[u8]) -> &'static [&'static Form] {
    upper(word).and_then(|word| ZILOG.get(&*word)).map_or(&[], Vec::as_slice)
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

/// Returns the significant part of a directive's name in TDL: six characters, in upper case.
pub fn directive_key(word: &[u8]) -> UppercaseWord {
    UppercaseWord::new(&word[..word.len().min(6)])
}

/// Whether TDL has this directive.
pub fn is_tdl_directive(word: &[u8]) -> bool {
    word.first() == Some(&b'.') && TDL_DIRECTIVES.contains(&*directive_key(word))
}

/// Returns a word in upper case; `None` if it is too long to be a keyword.
fn upper(word: &[u8]) -> Option<UppercaseWord> {
    (word.len() <= MAX_WORD_BYTES).then(|| UppercaseWord::new(word))
}

/// The length of the longest words that are compared.
const MAX_WORD_BYTES: usize = 8;

/// A short word in upper case, stored inline, since sources have one or more in every line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UppercaseWord {
    bytes: [u8; MAX_WORD_BYTES],
    length: usize,
}

impl UppercaseWord {
    /// Converts a word of at most eight bytes; bytes outside ASCII match no letter.
    fn new(word: &[u8]) -> Self {
        let mut bytes = [0; MAX_WORD_BYTES];
        for (to, from) in bytes.iter_mut().zip(word) {
            *to = if from.is_ascii() { from.to_ascii_uppercase() } else { 0 };
        }
        Self { bytes, length: word.len().min(MAX_WORD_BYTES) }
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl Deref for UppercaseWord {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<&str> for UppercaseWord {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
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
