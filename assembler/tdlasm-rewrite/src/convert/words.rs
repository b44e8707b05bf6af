//! The words of both dialects: which is a mnemonic, and of which instruction.

use std::ops::Deref;
use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use tdlasm::isa::{FORMS, Form, Register};

/// The directives of Zilog's side that are written or read.
const ZILOG_DIRECTIVES: [&str; 15] = [
    "ORG", "EQU", "DEFL", "DB", "DEFB", "DEFM", "DW", "DEFW", "DS", "DEFS", "END", "INCLUDE",
    "EXTERN", "GLOBAL", "PUBLIC",
];

static TDL: LazyLock<FxHashMap<&str, &[Form]>> = LazyLock::new(|| {
    let forms = FORMS.chunk_by(|one, other| one.mnemonic == other.mnemonic);
    // Of several groups of a name the first must win, so it goes in last.
    let mut forms: Vec<_> = forms.map(|forms| (forms[0].mnemonic, forms)).collect();
    forms.reverse();
    forms.into_iter().collect()
});

static ZILOG: LazyLock<FxHashMap<&str, Vec<&Form>>> = LazyLock::new(|| {
    let mut forms: FxHashMap<&str, Vec<&Form>> = FxHashMap::default();
    for form in FORMS {
        forms.entry(template(form).0).or_default().push(form);
    }
    forms
});

static TDL_DIRECTIVES: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    tdlasm::asm::directive_names().map(|name| directive_key(name.as_bytes()).to_string()).collect()
});

/// The mnemonic and the operands of Zilog's spelling.
pub(super) fn template(form: &Form) -> (&'static str, &'static str) {
    form.zilog.split_once(' ').unwrap_or((form.zilog, ""))
}

/// The forms of a mnemonic in TDL, none if it is no mnemonic.
pub fn tdl_forms(word: &[u8]) -> &'static [Form] {
    upper(word).and_then(|word| TDL.get(&*word).copied()).unwrap_or_default()
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
pub fn directive_key(word: &[u8]) -> Capitals {
    Capitals::new(&word[..word.len().min(6)])
}

/// Whether TDL has this directive.
pub fn is_tdl_directive(word: &[u8]) -> bool {
    word.first() == Some(&b'.') && TDL_DIRECTIVES.contains(&*directive_key(word))
}

/// A word of usual length in capitals.
fn upper(word: &[u8]) -> Option<Capitals> {
    (word.len() <= LONGEST).then(|| Capitals::new(word))
}

/// The length of the longest words that are compared.
const LONGEST: usize = 8;

/// A short word in capitals, kept in place: sources have one or more in every line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capitals {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Capitals {
    /// Takes a word of at most eight bytes; other bytes than those of ASCII are like no letter.
    fn new(word: &[u8]) -> Self {
        let mut bytes = [0; LONGEST];
        for (to, from) in bytes.iter_mut().zip(word) {
            *to = if from.is_ascii() { from.to_ascii_uppercase() } else { 0 };
        }
        Self { bytes, length: word.len().min(LONGEST) }
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl Deref for Capitals {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<&str> for Capitals {
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
