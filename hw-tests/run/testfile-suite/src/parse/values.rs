//! Reads numbers, labels, conditions and ranges.

use std::ops::RangeInclusive;

use cli_support::text::Escape;
use z80_core::{
    Expression, ExpressionError, Name, Registers, Values, parse_number, register_value,
};

use super::Reader;
use crate::document::Node;
use crate::model::halves;

/// The significant letters of a symbol, unless the source was assembled with long symbols.
const SHORT_SYMBOL: usize = 6;
/// Labels that a message lists.
const LISTED_LABELS: usize = 8;

/// No expression over labels has variables.
struct NoVariables;

impl Values for NoVariables {
    fn value(&self, _: &str) -> i64 {
        0
    }

    fn byte(&self, _: u16) -> u8 {
        0
    }
}

impl Reader<'_, '_> {
    /// Returns the value of a label; 0 if all labels are unknown because of an error.
    fn label(&self, name: &str) -> Option<u16> {
        let Some(program) = self.program else { return self.is_broken.then_some(0) };
        match (program.map.find_symbol(name), name.get(..SHORT_SYMBOL)) {
            (Ok(None), Some(short)) => program.map.symbol(short),
            (found, _) => found.ok().flatten(),
        }
    }

    /// Reads a number of `width` bytes: an integer, a character, or an expression over labels.
    /// Negative numbers are in two's complement.
    pub(super) fn number(&self, node: Node, width: u16) -> u32 {
        let document = self.document;
        let (value, text) = match document.as_text(node) {
            Some(text) => (self.evaluate(node, text), text.to_owned()),
            None if document.is_integer(node) => {
                let value = document.integer(node, i64::MIN..i64::MAX);
                (Some(value), value.to_string())
            }
            None => {
                document.report_expected(node, "a number such as 31 or \"1FH\"");
                return 0;
            }
        };
        let limit = 1i64 << (8 * width);
        let (least, most) = (if width > 2 { 0 } else { -limit / 2 }, limit - 1);
        let value = value.unwrap_or(0);
        if !(least..=most).contains(&value) {
            let (key, text) = (document.key(node).escaped(), text.escaped());
            let message = format!("{key}: {text} does not fit: expected {least} to {most}");
            document.report(node, message);
        }
        (value & most) as u32
    }

    fn evaluate(&self, node: Node, text: &str) -> Option<i64> {
        if let [b'\'', letter, b'\''] = text.as_bytes() {
            return Some((*letter).into());
        }
        let name = |word: &str| match parse_number(word) {
            Some(_) => None,
            None => self.label(word).map(Name::Constant),
        };
        let parsed = self.expression(node, text, &name, "a number such as 1FH")?;
        Some(parsed.value(&NoVariables))
    }

    /// Parses an expression; `others` are names besides labels.
    fn expression(
        &self,
        node: Node,
        text: &str,
        name: &dyn Fn(&str) -> Option<Name>,
        others: &str,
    ) -> Option<Expression> {
        let error = match Expression::parse(text, u32::MAX, &name) {
            Ok(parsed) => return Some(parsed),
            Err(error) => error,
        };
        let key = self.document.key(node).escaped();
        let message = match (error, self.program.map(|program| &program.map)) {
            (ExpressionError::UnknownName(word), Some(map)) => match map.find_symbol(&word) {
                Err(ambiguous) => format!("{key}: {ambiguous}"),
                Ok(_) => {
                    let labels = map.labels().filter(|(_, label)| label.exported);
                    let labels = labels.map(|(_, label)| label.name.escaped()).take(LISTED_LABELS);
                    let labels = labels.collect::<Vec<_>>().join(", ");
                    let word = word.escaped();
                    format!("unknown name '{word}': expected {others}, or a label such as {labels}")
                }
            },
            (ExpressionError::UnknownName(_), None) => format!("{key}: expected {others}"),
            (error, _) => format!("{key}: {error}"),
        };
        self.document.report(node, message);
        None
    }

    /// Reads a condition over registers, flags, memory, labels, `cycles` and `stack`, as written
    /// and parsed.
    pub(super) fn condition(&self, node: Node) -> Option<(String, Expression)> {
        let text: String = self.decode(node)?;
        let name = |word: &str| match () {
            () if is_variable(word) => Some(Name::Variable),
            () if parse_number(word).is_some() => None,
            () => self.label(word).map(Name::Constant),
        };
        let others = "a register such as HL or in.HL, a flag such as FZ";
        let condition = self.expression(node, &text, &name, others)?;
        Some((text, condition))
    }

    /// Reads one of several words.
    pub(super) fn word<T: Copy>(&self, node: Node, words: &[(&str, T)]) -> Option<T> {
        let text = self.document.as_text(node);
        let found = words.iter().find(|(word, _)| Some(*word) == text).map(|(_, value)| *value);
        if found.is_none() {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            self.document.report_expected(node, &words.join(" or "));
        }
        found
    }

    /// Reads the contents of a file that a value names.
    pub(super) fn file(&self, node: Node) -> Vec<u8> {
        let name: String = self.decode(node).unwrap_or_default();
        let bytes = crate::program::read(self.loader, &self.folder.join(name));
        let bytes = bytes.and_then(|bytes| match bytes.len() {
            0..=0x1_0000 => Ok(bytes),
            _ => Err("the file is larger than 64 KiB".to_owned()),
        });
        bytes.map_err(|message| self.document.report(node, message)).unwrap_or_default()
    }
}

/// Parses a range as in Rust: `0..10` ends before 10, `0..=9` at 9.
pub(super) fn range(text: &str) -> Option<RangeInclusive<u64>> {
    let (first, last) = text.split_once("..")?;
    let (last, excluded) = match last.strip_prefix('=') {
        Some(last) => (last, 0),
        None => (last, 1),
    };
    let number = |text: &str| match text.trim() {
        text if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        text => parse_number(text).map(u64::from),
    };
    let range = number(first)?..=number(last)?.checked_sub(excluded)?;
    (!range.is_empty()).then_some(range)
}

/// Returns the name of a variable without `in.` or `out.`.
pub(crate) fn without_prefix(word: &str) -> &str {
    word.strip_prefix("in.").or_else(|| word.strip_prefix("out.")).unwrap_or(word)
}

fn is_variable(word: &str) -> bool {
    let register = register_value(&Registers::default(), without_prefix(word));
    matches!(word, "cycles" | "stack") || register.is_some()
}

/// Returns the bytes of a register, 1 or 2.
pub(super) fn width(register: &str) -> u16 {
    if halves(register).len() == 1 { 1 } else { 2 }
}
