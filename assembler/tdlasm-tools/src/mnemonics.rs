//! The mnemonics, directives and register names of both dialects.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use tdlasm::isa::{FORMS, Form, Register, zilog};
use tdlasm::syntax::directive::Directive;
use tdlasm::syntax::lex;
pub(crate) use tdlasm::syntax::zilog::Directive as ZilogDirective;
use tdlasm::syntax::zilog::{is_symbol, number};

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
pub(crate) fn tdl_forms(word: &[u8]) -> &'static [Form] {
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
pub(crate) fn tdl_register(word: &[u8]) -> Option<Register> {
    let known = |(name, _): &&(&str, Register)| word.eq_ignore_ascii_case(name.as_bytes());
    Register::NAMES.iter().find(known).map(|(_, register)| *register)
}

/// The sections of TDL.
pub(crate) const SECTIONS: [&str; 3] = [".PROG.", ".DATA.", ".BLNK."];

/// Returns `true` if it is the name of a section in TDL.
pub(crate) fn is_section(word: &[u8]) -> bool {
    SECTIONS.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

/// Whose labels, instructions and directives a statement has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Language {
    /// Whether the source is in Zilog's notation, with its labels and expressions.
    pub(crate) is_zilog: bool,
    /// Whether instructions have Zilog's mnemonics, as in TDL behind `.ZOP`.
    pub(crate) has_zilog_mnemonics: bool,
    /// Whether directives are M80's, as in TDL behind `.EPOP`.
    pub(crate) has_zilog_directives: bool,
}

/// What a word means in a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordClass {
    Number,
    /// A register or condition.
    Register,
    Instruction,
    Directive,
}

impl Language {
    /// That of a source in Zilog's notation.
    pub(crate) const ZILOG: Self =
        Self { is_zilog: true, has_zilog_mnemonics: true, has_zilog_directives: true };

    /// Returns the language of the statements behind one with this operator.
    pub(crate) fn behind(self, operator: &[u8]) -> Self {
        match Directive::from_word(operator).filter(|_| !self.is_zilog) {
            Some(Directive::ZilogMnemonics(on)) => Self { has_zilog_mnemonics: on, ..self },
            Some(Directive::ZilogDirectives(on)) => Self { has_zilog_directives: on, ..self },
            Some(Directive::ProgramEnd) => Self::default(),
            _ => self,
        }
    }

    /// Returns `true` if a symbol may contain this byte.
    pub(crate) fn is_symbol(self, byte: u8) -> bool {
        if self.is_zilog { is_symbol(byte) } else { lex::is_symbol(byte) }
    }

    /// Returns the forms of a mnemonic; empty if the word is none.
    pub(crate) fn forms(self, word: &[u8]) -> Vec<&'static Form> {
        match zilog::forms(word) {
            forms if self.has_zilog_mnemonics && !forms.is_empty() => forms.to_vec(),
            _ if self.is_zilog => Vec::new(),
            _ => tdl_forms(word).iter().collect(),
        }
    }

    /// Returns the directive of M80 that a word is.
    pub(crate) fn zilog_directive(self, word: &[u8]) -> Option<ZilogDirective> {
        let is_read = self.is_zilog || self.has_zilog_directives && !word.starts_with(b".");
        ZilogDirective::from_word(word).filter(|_| is_read)
    }

    /// Returns the directive of TDL that a word is.
    pub(crate) fn tdl_directive(self, word: &[u8]) -> Option<Directive> {
        Directive::from_word(word).filter(|_| !self.is_zilog)
    }

    /// Returns `true` if the operand of this directive is the name of a file.
    pub(crate) fn takes_file(self, word: &[u8]) -> bool {
        use ZilogDirective::{Include, IncludeBinary};
        matches!(self.zilog_directive(word), Some(Include | IncludeBinary))
            || self.tdl_directive(word) == Some(Directive::Insert)
    }

    /// Returns what a word means, if it is the language's.
    pub(crate) fn class(self, word: &[u8]) -> Option<WordClass> {
        let is_number = match self.is_zilog {
            true => number(word).is_some(),
            false => word.first().is_some_and(u8::is_ascii_digit),
        };
        let is_register = match self.has_zilog_mnemonics {
            true => zilog::is_operand(word),
            false => tdl_register(word).is_some(),
        };
        match word {
            _ if is_number => Some(WordClass::Number),
            _ if is_register => Some(WordClass::Register),
            _ if !self.forms(word).is_empty() => Some(WordClass::Instruction),
            _ => self.is_operator(word).then_some(WordClass::Directive),
        }
    }

    /// Returns `true` if a word is an instruction or directive.
    pub(crate) fn is_operator(self, word: &[u8]) -> bool {
        let is_directive =
            || self.zilog_directive(word).is_some() || self.tdl_directive(word).is_some();
        !self.forms(word).is_empty() || is_directive()
    }

    /// Returns the mnemonics with the operands that each takes.
    pub(crate) fn instructions(self) -> Vec<(&'static str, Vec<String>)> {
        let tdl = FORMS.chunk_by(|one, other| one.mnemonic == other.mnemonic);
        let groups: Vec<(&str, Vec<&Form>)> = match self.has_zilog_mnemonics {
            true => zilog::mnemonics().map(|(name, forms)| (name, forms.to_vec())).collect(),
            false => tdl.map(|forms| (forms[0].mnemonic, forms.iter().collect())).collect(),
        };
        let patterns =
            |forms: Vec<&Form>| forms.into_iter().map(|form| self.pattern(form)).collect();
        groups.into_iter().map(|(name, forms)| (name, patterns(forms))).collect()
    }

    /// Returns the names of the directives.
    pub(crate) fn directives(self) -> Vec<&'static str> {
        let tdl = Directive::NAMES.iter().filter(|_| !self.is_zilog).map(|(name, _)| *name);
        let is_read = |_: &&_| self.has_zilog_directives;
        tdl.chain(ZilogDirective::NAMES.iter().filter(is_read).map(|(name, _)| *name)).collect()
    }

    /// Returns the registers and conditions that the operands of an operator may have.
    pub(crate) fn registers(self, operator: &[u8]) -> Vec<&'static str> {
        if self.is_zilog || self.has_zilog_mnemonics && is_zilog_mnemonic(operator) {
            return zilog::operands().collect();
        }
        Register::NAMES.iter().map(|(name, _)| *name).collect()
    }

    /// Returns an instruction with what each of its operands is.
    pub(crate) fn pattern(self, form: &Form) -> String {
        if self.has_zilog_mnemonics { zilog::pattern(form) } else { form.pattern() }
    }
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
