//! Guesses at what an unknown word was meant to be.

use smol_str::SmolStr;

use crate::diag::Diagnostic;
use crate::isa::FORMS;
use crate::source::Span;
use crate::syntax::expr::Intern;
use crate::syntax::lex;

use super::directive::Directive;
use super::names::NameId;
use super::{Assembler, Pass, Translate};

/// A guess at what a word was meant to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guess {
    /// The guess as a sentence.
    pub(super) help: String,
    /// The text that takes the word's place, if the guess is of one text.
    pub(super) text: Option<String>,
    /// The number of bytes of the operands that the text takes the place of, too.
    pub(super) also: usize,
}

impl Guess {
    fn only(help: String) -> Self {
        Self { help, text: None, also: 0 }
    }

    fn of(help: String, text: impl Into<String>) -> Self {
        Self { help, text: Some(text.into()), also: 0 }
    }

    /// Adds the guess to a message about the word at a place, whose operands begin at `operands`.
    pub(super) fn add_to(self, diagnostic: Diagnostic, word: Span, operands: u32) -> Diagnostic {
        let diagnostic = diagnostic.help(self.help);
        let end = if self.also == 0 { word.end } else { operands + self.also as u32 };
        let span = Span::new(word.start, end);
        match self.text {
            Some(text) => diagnostic.fix(span, text),
            None => diagnostic,
        }
    }
}

impl Assembler<'_> {
    /// The guess for a symbol that is not defined. At the end of the only reading all symbols are
    /// known, so that one search is enough for all places where it stands.
    pub(super) fn known_guess(&mut self, name: NameId) -> Option<Guess> {
        if self.pass != Pass::Only {
            return self.undefined_guess(name);
        }
        if let Some(known) = self.naming.guesses.get(&name) {
            return known.clone();
        }
        let guess = self.undefined_guess(name);
        self.naming.guesses.insert(name, guess.clone());
        guess
    }

    /// The guess for a symbol that is not defined.
    fn undefined_guess(&self, name: NameId) -> Option<Guess> {
        let spelling = self.naming.names.spelling(name);
        if let Some((_, here)) = FOREIGN_OPERANDS.iter().find(|(foreign, _)| *foreign == spelling) {
            return Some(Guess::only(format!("in this dialect: {here}")));
        }
        let hexadecimal = spelling.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'H')
            && spelling.ends_with('H')
            && spelling.len() > 1;
        if hexadecimal {
            let help = format!("a number begins with a digit: write 0{spelling}");
            return Some(Guess::of(help, format!("0{spelling}")));
        }
        if let Some(digits) = spelling.strip_prefix('$')
            && !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            let zero =
                if digits.starts_with(|first: char| first.is_ascii_digit()) { "" } else { "0" };
            let number = format!("{zero}{digits}H");
            let help = format!("hexadecimal numbers end with H: write {number}");
            return Some(Guess::of(help, number));
        }
        let similar = self.similar_symbol(name)?;
        Some(Guess::of(format!("did you mean {similar}?"), similar))
    }

    /// The symbol most like `name`, if one is like it at all.
    fn similar_symbol(&self, name: NameId) -> Option<SmolStr> {
        let names = &self.naming.names;
        let wanted = names.spelling(name);
        names
            .iter()
            .filter(|(id, entry)| *id != name && entry.is_global_symbol())
            .map(|(id, _)| names.spelling(id))
            .filter(|known| close(&wanted, known))
            .min_by_key(|known| distance(&wanted, known))
    }
}

/// Registers of other assemblers, with their names here.
const FOREIGN_OPERANDS: &[(&str, &str)] = &[
    ("AF", "PSW"),
    ("BC", "B, for the pair"),
    ("DE", "D, for the pair"),
    ("HL", "H for the pair, M for the byte at it"),
    ("IX", "X, and with its displacement 0(X)"),
    ("IY", "Y, and with its displacement 0(Y)"),
    ("I", "LDAI and STAI for the register I"),
    ("R", "LDAR and STAR for the register R"),
];

/// The names that other assemblers give to instructions and directives of this one.
const FOREIGN: &[(&str, &str)] = &[
    ("LD", "MOV, MVI, LXI, LDA, STA, LHLD or SHLD"),
    ("JR", "JMPR, JRZ, JRNZ, JRC or JRNC"),
    ("INC", "INR for a byte, INX for a pair"),
    ("DEC", "DCR for a byte, DCX for a pair"),
    ("AND", "ANA or ANI"),
    ("OR", "ORA or ORI"),
    ("XOR", "XRA or XRI"),
    ("SBC", "SBB, SBI or DSBC"),
    ("EX", "XCHG, EXAF or XTHL"),
    ("HALT", "HLT"),
    ("CPL", "CMA"),
    ("SCF", "STC"),
    ("CCF", "CMC"),
    ("RLCA", "RLC"),
    ("RLA", "RAL"),
    ("RRCA", "RRC"),
    ("RRA", "RAR"),
    ("RL", "RALR"),
    ("RR", "RARR"),
    ("SLA", "SLAR"),
    ("SRA", "SRAR"),
    ("SRL", "SRLR"),
    ("OTIR", "OUTIR"),
    ("OTDR", "OUTDR"),
    ("CPIR", "CCIR"),
    ("CPDR", "CCDR"),
    ("ORG", ".LOC"),
    ("EQU", "the form NAME = VALUE"),
    ("DB", ".BYTE or .ASCII"),
    ("DW", ".WORD"),
    ("DS", ".BLKB"),
    ("END", ".END"),
    ("MACRO", ".DEFINE"),
    ("INCLUDE", ".INSERT"),
    (".INCLUDE", ".INSERT"),
    (".ORG", ".LOC"),
    (".DB", ".BYTE"),
    (".DW", ".WORD"),
    (".DS", ".BLKB"),
    (".ELSE", "a second bracketed text"),
    (".ENDIF", "a closing bracket"),
];

impl Assembler<'_> {
    /// The guess for an unknown operator that an instruction, a directive or a macro follows: a
    /// label, or a name that gets a value.
    pub(super) fn label_guess(&mut self, word: &str, rest: &[u8]) -> Option<Guess> {
        let (_, next) = lex::symbol(rest.trim_ascii_start()).ok()?;
        let label = format!("{word}:");
        let shown = String::from_utf8_lossy(next).to_ascii_uppercase();
        if shown == "EQU" {
            let value = String::from_utf8_lossy(&rest.trim_ascii_start()[next.len()..]);
            let help = format!("a symbol gets a value by =: write {word} = {}", value.trim());
            let also = rest.len() - rest.trim_ascii_start().len() + next.len();
            return Some(Guess { help, text: Some(format!("{word} =")), also });
        }
        let name = self.naming.names.intern(next);
        let entry = &self.naming.names[name];
        if entry.operator.is_some() || entry.macro_index().is_some() {
            let help = format!("a label ends with a colon: write {word}: {shown}");
            return Some(Guess::of(help, label));
        }
        let (_, here) = FOREIGN.iter().find(|(foreign, _)| *foreign == shown)?;
        let help = format!("a label ends with a colon: write {word}: and for {shown} {here}");
        Some(Guess::of(help, label))
    }
}

/// Returns what an unknown operator with these operands may have been meant to be.
pub(super) fn operator_guess(
    word: &str,
    operands: &[u8],
    translate: Option<Translate>,
) -> Option<Guess> {
    if let Some(here) = translate.and_then(|translate| translate(word, operands)) {
        let also = operands.trim_ascii_end().len();
        return Some(Guess { also, ..Guess::of(format!("in this dialect: {here}"), here) });
    }
    let word = word.to_ascii_uppercase();
    if let Some((_, here)) = FOREIGN.iter().find(|(foreign, _)| *foreign == word) {
        let help = format!("this dialect has {here}");
        // Several words are a choice, or an explanation.
        let is_one = !here.contains(' ');
        return Some(if is_one { Guess::of(help, *here) } else { Guess::only(help) });
    }
    let known =
        FORMS.iter().map(|form| form.mnemonic).chain(Directive::NAMES.iter().map(|name| name.0));
    known
        .filter(|known| close(&word, known))
        .min_by_key(|known| distance(&word, known))
        .map(|known| Guess::of(format!("did you mean {known}?"), known))
}

/// Whether a word is an instruction or directive of other assemblers.
pub(super) fn is_foreign(word: &str) -> bool {
    FOREIGN.iter().any(|(foreign, _)| foreign.eq_ignore_ascii_case(word))
}

fn close(wanted: &str, known: &str) -> bool {
    wanted.len() > 2 && wanted.len().abs_diff(known.len()) <= 1 && distance(wanted, known) == 1
}

/// The number of single letters to add, remove, replace or swap with the next.
fn distance(one: &str, other: &str) -> usize {
    let one = one.as_bytes();
    let other = other.as_bytes();
    let common = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let one = &one[common..];
    let other = &other[common..];
    let tail = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let one = &one[..one.len() - tail];
    let other = &other[..other.len() - tail];
    if let ([a, b], [c, d]) = (one, other)
        && (a, b) == (d, c)
    {
        return 1;
    }
    one.len().max(other.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_letter_is_close_and_two_are_not() {
        assert_eq!((distance("ATTACK", "ATACK"), distance("MOV", "MVO")), (1, 1));
        assert!(distance("ATTACK", "ADDICK") > 1);
    }

    #[test]
    fn foreign_and_misspelt_names_lead_to_ours() {
        let hint = |word, operands: &str| {
            operator_guess(word, operands.as_bytes(), None).map(|guess| guess.help)
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
        let lent: Translate = |operator, operands| {
            (operator == "LD").then(|| String::from_utf8_lossy(operands).into_owned())
        };
        let translated = operator_guess("LD", b" A,B ", Some(lent)).unwrap();
        assert_eq!(translated.help, "in this dialect:  A,B ");
        assert_eq!(translated.also, 4, "the operands");
        assert_eq!(operator_guess("JMPP", b"", Some(lent)).unwrap().help, "did you mean JMP?");
    }
}
