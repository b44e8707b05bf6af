//! Definitions of symbols, and guesses at what an unknown word was meant to be.

use std::path::Path;

use smol_str::SmolStr;

use crate::convert::{self, Dialect};
use crate::diag::{Code, Diagnostic};
use crate::isa::FORMS;
use crate::references::Role;
use crate::source::{MemoryLoader, Span};
use crate::syntax::Cursor;

use super::directive::Directive;
use super::eval::Evaluated;
use super::names::{Definition, Name, NameId, State};
use super::{Assembler, Step};

impl Assembler<'_> {
    /// Defines a symbol, or says why not.
    pub(super) fn define(&mut self, name: NameId, state: State, kind: Definition, span: Span) {
        self.mention(name, span, Role::Definition);
        let pass = self.pass_number();
        let entry = self.names[name];
        if entry.special.is_some() {
            let message = format!(
                "{} is a register or section and cannot be redefined",
                self.names.spelling(name)
            );
            return self.error(Code::Register, span, message);
        }
        let external = entry.definition == Definition::External;
        let first = !external && (entry.definition == Definition::None || entry.pass != pass);
        let predefined = entry.place == u32::MAX && entry.definition == Definition::Fixed;
        if predefined || (!first && !may_change(&entry, kind)) {
            if entry.state != state {
                self.names[name].doubled = !external;
                self.any_doubled |= !external;
                self.report_redefinition(name, &entry, span);
            }
            return;
        }
        let moved =
            self.pass.is_second() && kind != Definition::Variable && first && entry.state != state;
        if moved && matches!((entry.state, state), (State::Value(_), State::Value(_))) {
            let message =
                format!("{} has another value than in the first pass", self.names.spelling(name));
            self.error(Code::Phase, span, message);
        }
        self.set_definition(name, state, kind, span, pass);
        if first && !self.names[name].is_local() {
            self.names.new_scope();
        }
    }

    fn set_definition(
        &mut self,
        name: NameId,
        state: State,
        kind: Definition,
        span: Span,
        pass: u8,
    ) {
        let entry = &mut self.names[name];
        if entry.definition == Definition::None || entry.pass != pass {
            entry.place = span.start;
        }
        entry.state = state;
        entry.definition = kind;
        entry.pass = pass;
    }

    fn report_redefinition(&mut self, name: NameId, entry: &Name, span: Span) {
        let spelling = self.names.spelling(name);
        if entry.definition == Definition::External {
            return self.error(Code::External, span, format!("{spelling} is declared external"));
        }
        let message = format!("{spelling} is already defined with another value");
        let mut diagnostic = Diagnostic::new(Code::Redefined, span, message);
        if entry.place == u32::MAX {
            diagnostic = diagnostic.help("its value comes from the options");
        } else {
            diagnostic = diagnostic.label(self.symbol_span(entry.place), "first defined here");
        }
        if !self.options.long_symbols && self.sources.slice(span).len() > 6 {
            diagnostic = diagnostic
                .help("only six characters of a name count; --long-symbols lets all of them");
        }
        self.report(diagnostic);
    }

    /// The value on the right of an `=`.
    pub(super) fn assigned_value(&mut self, cursor: &mut Cursor<'_>) -> Step<State> {
        self.parse_expression(0, cursor);
        if self.operands[0].ops.is_empty() {
            self.error(Code::Expression, cursor.here(), "a value is missing");
        }
        Ok(match self.evaluate(0)? {
            Evaluated::Known(value) => State::Value(value),
            Evaluated::Later(expression) => State::Deferred(expression),
            Evaluated::Faulty => State::Value(Default::default()),
        })
    }

    /// The symbol most like `name`, if one is like it at all.
    pub(super) fn similar_symbol(&self, name: NameId) -> Option<SmolStr> {
        let wanted = self.names.spelling(name);
        self.names
            .iter()
            .filter(|(id, entry)| *id != name && entry.is_global_symbol())
            .map(|(id, _)| self.names.spelling(id))
            .filter(|known| close(&wanted, known))
            .min_by_key(|known| distance(&wanted, known))
    }
}

/// Whether a symbol may be given another value in the same pass.
fn may_change(entry: &Name, kind: Definition) -> bool {
    entry.definition == Definition::Variable && kind == Definition::Variable
}

/// What other assemblers call the instructions and directives of this one.
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

/// Statements of other assemblers are translated up to this length.
const MAX_TRANSLATED: usize = 100;

/// What an unknown operator with these operands may have been meant to be.
pub(super) fn operator_hint(word: &str, operands: &[u8]) -> Option<String> {
    if let Some(here) = translated(word, operands) {
        return Some(format!("in this dialect: {here}"));
    }
    let word = word.to_ascii_uppercase();
    if let Some((_, here)) = FOREIGN.iter().find(|(foreign, _)| *foreign == word) {
        return Some(format!("this dialect has {here}"));
    }
    let known =
        FORMS.iter().map(|form| form.mnemonic).chain(Directive::NAMES.iter().map(|name| name.0));
    known
        .filter(|known| close(&word, known))
        .min_by_key(|known| distance(&word, known))
        .map(|known| format!("did you mean {known}?"))
}

/// A statement in Zilog's mnemonics, in those of this dialect.
fn translated(word: &str, operands: &[u8]) -> Option<String> {
    if word.len() + operands.len() > MAX_TRANSLATED {
        return None;
    }
    let text = [b" ", word.as_bytes(), b" ", operands.trim_ascii(), b"\n"].concat();
    let loader = MemoryLoader::new().with("line.asm", text);
    let options = convert::Options::new(Dialect::Tdl);
    let conversion = convert::convert(&loader, Path::new("line.asm"), &options).ok()?;
    let done = conversion.converted == 1 && conversion.kept() == 0;
    done.then(|| String::from_utf8_lossy(conversion.text.trim_ascii()).into_owned())
}

fn close(wanted: &str, known: &str) -> bool {
    wanted.len() > 2 && wanted.len().abs_diff(known.len()) <= 1 && distance(wanted, known) == 1
}

/// The number of single letters to add, remove, replace or swap with the next.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let common = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[common..], &other[common..]);
    let tail = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[..one.len() - tail], &other[..other.len() - tail]);
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
    fn zilog_names_lead_to_ours() {
        let hint = |word, operands: &str| operator_hint(word, operands.as_bytes());
        for (word, operands, help) in [
            ("LD", " A,B", "in this dialect: MOV A,B"),
            ("ld", " (ix+5),0FFH", "in this dialect: mvi 5(x),0FFH"),
            ("JP", " NZ,LOOP", "in this dialect: JNZ LOOP"),
            ("DB", " 1,2,COUNT", "in this dialect: .BYTE 1,2,COUNT"),
            ("ld", "", "this dialect has MOV, MVI, LXI, LDA, STA, LHLD or SHLD"),
            ("JMPP", " LOOP", "did you mean JMP?"),
        ] {
            assert_eq!(hint(word, operands).as_deref(), Some(help));
        }
    }
}
