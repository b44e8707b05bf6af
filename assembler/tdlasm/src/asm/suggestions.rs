//! Suggestions for unknown words.

use smol_str::SmolStr;

use super::name_table::NameId;
use super::name_table::NameTable;
use super::options::ForeignTranslator;
use super::slips::{foreign_number, foreign_operation, line_of};
use crate::diag::Diagnostic;
use crate::isa::{FORMS, zilog};
use crate::source::Span;
use crate::syntax::directive::Directive;
use crate::syntax::expr::Intern;
use crate::syntax::lex;
use crate::syntax::zilog::Directive as ZilogDirective;

/// A suggestion for an unknown word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suggestion {
    /// The suggestion as a sentence.
    pub(super) help: String,
    /// The replacement, if there is exactly one.
    pub(super) text: Option<String>,
    /// The number of bytes of the operands that are also replaced.
    pub(super) replaced_operand_bytes: usize,
}

impl Suggestion {
    fn without_fix(help: String) -> Self {
        Self { help, text: None, replaced_operand_bytes: 0 }
    }

    fn with_fix(help: String, text: impl Into<String>) -> Self {
        Self { help, text: Some(text.into()), replaced_operand_bytes: 0 }
    }

    /// Adds the suggestion to a message about a word whose operands begin at offset `operands`.
    pub(super) fn add_to(self, diagnostic: Diagnostic, word: Span, operands: u32) -> Diagnostic {
        let diagnostic = diagnostic.help(self.help);
        let end = match self.replaced_operand_bytes {
            0 => word.end,
            count => operands + count as u32,
        };
        let span = Span::new(word.start, end);
        match self.text {
            Some(text) => diagnostic.fix(span, text),
            None => diagnostic,
        }
    }
}

pub(super) fn suggest_for_undefined(names: &NameTable, name: NameId) -> Option<Suggestion> {
    let spelling = names.spelling(name);
    if let Some(here) = line_of(FOREIGN_OPERANDS, &spelling) {
        return Some(Suggestion::without_fix(format!("in this dialect: {here}")));
    }
    let hexadecimal = spelling.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'H')
        && spelling.ends_with('H')
        && spelling.len() > 1;
    if hexadecimal {
        let help = format!("a number begins with a digit: write 0{spelling}");
        return Some(Suggestion::with_fix(help, format!("0{spelling}")));
    }
    if spelling == "$" {
        return Some(Suggestion::with_fix("the address of a statement is a period".into(), "."));
    }
    if let Some(number) = foreign_number(spelling.as_bytes()) {
        let help = format!("the radix of a number is its last letter: write {number}");
        return Some(Suggestion::with_fix(help, number));
    }
    if let Some(help) = foreign_operation(spelling.as_bytes()) {
        return Some(Suggestion::without_fix(help.into()));
    }
    let similar = similar_symbol(names, name)?;
    Some(Suggestion::with_fix(format!("did you mean {similar}?"), similar))
}

fn similar_symbol(names: &NameTable, name: NameId) -> Option<SmolStr> {
    let wanted = names.spelling(name);
    names
        .iter()
        .filter(|(id, entry)| *id != name && entry.is_global_symbol())
        .map(|(id, _)| names.spelling(id))
        .find(|known| is_one_typo_away(&wanted, known))
}

/// Register names of other assemblers, and their TDL equivalents.
const FOREIGN_OPERANDS: &str = include_str!("foreign_operands.txt");

/// Mnemonics and directives of other assemblers, separated by blanks, and what TDL has for them.
const FOREIGN_MNEMONICS: &str = include_str!("foreign_mnemonics.txt");

/// Returns a suggestion for an unknown operator before an instruction: perhaps it is a label.
pub(super) fn suggest_label(names: &mut NameTable, word: &str, rest: &[u8]) -> Option<Suggestion> {
    if rest.starts_with(b"_") {
        return foreign_operation(rest).map(|help| Suggestion::without_fix(help.into()));
    }
    let (behind, next) = lex::symbol(rest.trim_ascii_start()).ok()?;
    let label = format!("{word}:");
    let shown = String::from_utf8_lossy(next).to_ascii_uppercase();
    let operands = String::from_utf8_lossy(behind.trim_ascii());
    let assigns = match &*shown {
        "EQU" | ".EQU" => true,
        // With two operands SET is an instruction.
        "SET" | "DEFL" | ".SET" => !operands.is_empty() && !operands.contains(','),
        _ => false,
    };
    if assigns {
        let help = format!("assign a value by =: write {word} = {operands}");
        let replaced_operand_bytes = rest.len() - behind.len();
        return Some(Suggestion { help, text: Some(format!("{word} =")), replaced_operand_bytes });
    }
    if shown == "MACRO" {
        let help = format!("define a macro by .DEFINE {word}[{operands}]=[ and a closing ]");
        return Some(Suggestion::without_fix(help));
    }
    let name = names.intern(next);
    let entry = &names[name];
    if entry.operator.is_some() || entry.macro_index.is_some() {
        let help = format!("a label ends with a colon: write {word}: {shown}");
        return Some(Suggestion::with_fix(help, label));
    }
    let here = foreign(&shown)?;
    let help = format!("a label ends with a colon: write {word}: and for {shown} {here}");
    Some(Suggestion::with_fix(help, label))
}

pub(super) fn suggest_operator(
    word: &str,
    operands: &[u8],
    translate: Option<ForeignTranslator>,
) -> Option<Suggestion> {
    if let Some(here) = translate.and_then(|translate| translate(word, operands)) {
        let replaced_operand_bytes = operands.trim_ascii_end().len();
        return Some(Suggestion {
            replaced_operand_bytes,
            ..Suggestion::with_fix(format!("in this dialect: {here}"), here)
        });
    }
    let word = word.to_ascii_uppercase();
    if let Some(here) = foreign(&word) {
        let help = format!("this dialect has {here}");
        // Several words are a choice or an explanation, and no replacement.
        let text = (!here.contains(' ')).then(|| here.to_owned());
        return Some(Suggestion { text, ..Suggestion::without_fix(help) });
    }
    let directives = Directive::NAMES.iter().map(|name| name.0);
    similar_word(&word, FORMS.iter().map(|form| form.mnemonic).chain(directives))
}

/// Returns a suggestion for an unknown operator in Zilog's notation.
pub(super) fn suggest_zilog_operator(word: &str) -> Suggestion {
    let word = word.to_ascii_uppercase();
    if let Some(form) = FORMS.iter().find(|form| form.mnemonic == word) {
        let here = zilog::spelling(form).0;
        return Suggestion::without_fix(format!("this notation has {here} for {word}"));
    }
    let directives = ZilogDirective::NAMES.iter().map(|name| name.0);
    similar_word(&word, FORMS.iter().map(|form| zilog::spelling(form).0).chain(directives))
        .unwrap_or_else(|| {
            let help = "a label begins in the first column, or has a colon behind it";
            Suggestion::without_fix(help.into())
        })
}

/// Suggests the first known word that differs by one letter.
fn similar_word(wanted: &str, mut known: impl Iterator<Item = &'static str>) -> Option<Suggestion> {
    let similar = known.find(|known| is_one_typo_away(wanted, known))?;
    Some(Suggestion::with_fix(format!("did you mean {similar}?"), similar))
}

/// Returns what this dialect has for an instruction or directive of other assemblers.
pub(super) fn foreign(word: &str) -> Option<&'static str> {
    let of_tdl = || {
        let has_name = |name: &&str| name[1..].eq_ignore_ascii_case(word);
        Directive::NAMES.iter().map(|(name, _)| *name).find(has_name)
    };
    line_of(FOREIGN_MNEMONICS, word).or_else(of_tdl)
}

/// Returns `true` if one letter is inserted, removed, replaced or swapped with the next.
fn is_one_typo_away(wanted: &str, known: &str) -> bool {
    wanted.len() > 2
        && wanted.len().abs_diff(known.len()) <= 1
        && strsim::osa_distance(wanted, known) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_letter_is_close_and_two_are_not() {
        assert!(is_one_typo_away("ATTACK", "ATACK") && is_one_typo_away("MOV", "MVO"));
        assert!(!is_one_typo_away("ATTACK", "ADDICK") && !is_one_typo_away("NOP", "NOP"));
    }

    #[test]
    fn foreign_and_misspelt_names_lead_to_ours() {
        let hint = |word, operands: &str| {
            suggest_operator(word, operands.as_bytes(), None).map(|suggestion| suggestion.help)
        };
        for (word, operands, help) in [
            ("ld", "", "this dialect has MOV, MVI, LXI, LDA, STA, LHLD or SHLD"),
            ("LD", " A,B", "this dialect has MOV, MVI, LXI, LDA, STA, LHLD or SHLD"),
            ("JMPP", " LOOP", "did you mean JMP?"),
        ] {
            assert_eq!(hint(word, operands).as_deref(), Some(help));
        }
    }

    #[test]
    fn a_translation_that_is_lent_comes_first() {
        let lent: ForeignTranslator = |operator, operands| {
            (operator == "LD").then(|| String::from_utf8_lossy(operands).into_owned())
        };
        let translated = suggest_operator("LD", b" A,B ", Some(lent)).unwrap();
        assert_eq!(translated.help, "in this dialect:  A,B ");
        assert_eq!(translated.replaced_operand_bytes, 4, "the operands");
        assert_eq!(suggest_operator("JMPP", b"", Some(lent)).unwrap().help, "did you mean JMP?");
    }
}
