//! The words of both dialects: which is a mnemonic, and of which instruction.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use tdlasm::isa::{FORMS, Form, Register};

/// The directives of Zilog's side that are written or read.
const ZILOG_DIRECTIVES: [&str; 15] = [
    "ORG", "EQU", "DEFL", "DB", "DEFB", "DEFM", "DW", "DEFW", "DS", "DEFS", "END", "INCLUDE",
    "EXTERN", "GLOBAL", "PUBLIC",
];

static TDL: LazyLock<FxHashMap<&str, usize>> = LazyLock::new(|| {
    // Of several forms the first must win, so it goes in last.
    FORMS.iter().enumerate().rev().map(|(at, form)| (form.mnemonic, at)).collect()
});

static ZILOG: LazyLock<FxHashMap<&str, Vec<&Form>>> = LazyLock::new(|| {
    let mut forms: FxHashMap<&str, Vec<&Form>> = FxHashMap::default();
    for form in FORMS {
        forms.entry(template(form).0).or_default().push(form);
    }
    forms
});

static TDL_DIRECTIVES: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    tdlasm::asm::directive_names().map(|name| directive_key(name.as_bytes())).collect()
});

/// The mnemonic and the operands of Zilog's spelling.
pub(super) fn template(form: &Form) -> (&'static str, &'static str) {
    form.zilog.split_once(' ').unwrap_or((form.zilog, ""))
}

/// The forms of a mnemonic in TDL, none if it is no mnemonic.
pub fn tdl_forms(word: &[u8]) -> &'static [Form] {
    let first = upper(word).and_then(|word| TDL.get(&*word).copied());
    let Some(first) = first else { return &[] };
    let same = |form: &&Form| form.mnemonic == FORMS[first].mnemonic;
    &FORMS[first..first + FORMS[first..].iter().take_while(same).count()]
}

/// Whether Zilog has this mnemonic.
pub(super) fn is_zilog_mnemonic(word: &[u8]) -> bool {
    !zilog_forms(word).is_empty()
}

/// Whether it is one of the directives of Zilog's side that have a counterpart.
pub(super) fn is_zilog_directive(word: &[u8]) -> bool {
    ZILOG_DIRECTIVES.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

/// The forms of a mnemonic of Zilog's, none if it is no mnemonic.
pub(super) fn zilog_forms(word: &[u8]) -> &'static [&'static Form] {
    upper(word).and_then(|word| ZILOG.get(&*word)).map_or(&[], Vec::as_slice)
}

/// Whether both dialects have this mnemonic. If such a statement stays as it is, it gets a period
/// before it: no assembler takes it for the other dialect's then, and the way back finds it.
pub(super) fn is_shared(word: &[u8]) -> bool {
    is_zilog_mnemonic(word) && !tdl_forms(word).is_empty()
}

/// Whether a period marks it as a mnemonic of the dialect that the source is not in.
pub(super) fn is_marked(word: &[u8]) -> bool {
    word.strip_prefix(b".").is_some_and(is_shared)
}

/// The register that TDL knows by this name.
pub fn tdl_register(word: &[u8]) -> Option<Register> {
    let known = |(name, _): &&(&str, Register)| word.eq_ignore_ascii_case(name.as_bytes());
    Register::NAMES.iter().find(known).map(|(_, register)| *register)
}

/// Whether it is the name of a section in TDL.
pub fn is_section(word: &[u8]) -> bool {
    [".PROG.", ".DATA.", ".BLNK."].iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

/// The name of a directive of TDL as far as it counts: six capitals.
pub fn directive_key(word: &[u8]) -> String {
    let kept = &word[..word.len().min(6)];
    String::from_utf8_lossy(kept).to_ascii_uppercase()
}

/// Whether TDL has this directive.
pub fn is_tdl_directive(word: &[u8]) -> bool {
    word.first() == Some(&b'.') && TDL_DIRECTIVES.contains(&directive_key(word))
}

/// A word of usual length in capitals.
fn upper(word: &[u8]) -> Option<String> {
    (word.len() <= 8).then(|| String::from_utf8_lossy(word).to_ascii_uppercase())
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
