//! Reads numbers, labels, conditions, expected values and ranges.

use std::ops::RangeInclusive;

use cli_support::text::Escape;
use z80_core::{
    Expression, ExpressionError, Name, Registers, Values, is_number, parse_number, register_halves,
    register_value,
};

use super::Reader;
use crate::document::{Fields, Item};
use crate::matcher::{Matcher, Operator, Test};
use crate::registers::without_prefix;

pub(super) const ARRAY: &str = "an array such as [1, 2]";
/// Labels that a message lists.
const LISTED_LABELS: usize = 8;
const NUMBER: &str = "a number such as 31 or \"1FH\"";

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

impl Reader<'_> {
    /// Returns the value of a label; 0 if all labels are unknown because of an error.
    fn label(&self, name: &str) -> Option<u16> {
        let Some(program) = self.program else { return self.is_broken.then_some(0) };
        program.find_label(name).ok().flatten()
    }

    pub(super) fn byte(&self, item: Item<'_>) -> u8 {
        self.number(item, 1, NUMBER) as u8
    }

    pub(super) fn word(&self, item: Item<'_>) -> u16 {
        self.number(item, 2, NUMBER) as u16
    }

    /// Reads the value of a register.
    pub(super) fn register_value(&self, item: Item<'_>, register: &str) -> u16 {
        self.number(item, width(register), NUMBER) as u16
    }

    /// Reads the address of a key that must be there, as a number and as written.
    pub(super) fn address(
        &self,
        fields: &Fields<'_>,
        key: &'static str,
        example: &str,
    ) -> (u16, String) {
        let item = fields.required(key, example);
        item.map(|item| self.named_address(item, example)).unwrap_or_default()
    }

    /// Reads an address, as a number and as written.
    pub(super) fn named_address(&self, item: Item<'_>, example: &str) -> (u16, String) {
        let address = self.number(item, 2, &format!("an address such as {example}")) as u16;
        let name = item.as_text().map_or_else(|| format!("{address:04X}H"), str::to_owned);
        (address, name)
    }

    /// Reads the address that a key names.
    pub(super) fn key_address(&self, item: Item<'_>) -> Option<u16> {
        let address = self.evaluate(item, item.key)?;
        let wrong = || format!("'{}' is no address: expected 0 to FFFFH", item.key.escaped());
        item.checked(u16::try_from(address).map_err(|_| wrong()))
    }

    /// Reads a number of `width` bytes: an integer, a character, or an expression over labels.
    /// Negative numbers are in two's complement.
    fn number(&self, item: Item<'_>, width: u16, what: &str) -> u32 {
        let value = match item.as_text() {
            Some(text) => self.evaluate(item, text).unwrap_or(0),
            None if item.value.is_integer() => item.integer(i64::MIN..=i64::MAX),
            None => {
                item.report_expected(what);
                return 0;
            }
        };
        let limit = 1i64 << (8 * width);
        let (least, most) = (if width > 2 { 0 } else { -limit / 2 }, limit - 1);
        if !(least..=most).contains(&value) {
            let text = item.as_text().map_or_else(|| value.to_string(), Escape::escaped);
            let key = item.key.escaped();
            let message = format!("{key}: {text} does not fit: expected {least} to {most}");
            item.report(message);
        }
        (value & most) as u32
    }

    pub(super) fn evaluate(&self, item: Item<'_>, text: &str) -> Option<i64> {
        if let [b'\'', letter, b'\''] = text.as_bytes() {
            return Some((*letter).into());
        }
        let name = |word: &str| match is_number(word) {
            true => None,
            false => self.label(word).map(Name::Constant),
        };
        let parsed = self.expression(item, text, &name, "a number such as 1FH")?;
        Some(parsed.value(&NoVariables))
    }

    /// Parses an expression; `others` are names besides labels.
    fn expression(
        &self,
        item: Item<'_>,
        text: &str,
        name: &dyn Fn(&str) -> Option<Name>,
        others: &str,
    ) -> Option<Expression> {
        let error = match Expression::parse(text, u32::MAX, &name) {
            Ok(parsed) => return Some(parsed),
            Err(error) => error,
        };
        let key = item.key.escaped();
        let message = match (error, self.program.map(|program| &program.map)) {
            (ExpressionError::UnknownName(word), Some(map)) => match map.find_symbol(&word) {
                Err(ambiguous) => format!("{key}: {ambiguous}"),
                Ok(_) => {
                    let labels = map.labels().filter(|(_, label)| label.exported);
                    let labels = labels.map(|(_, label)| label.name.escaped()).take(LISTED_LABELS);
                    let labels = labels.collect::<Vec<_>>().join(", ");
                    let word = word.escaped();
                    let label = match labels.is_empty() {
                        true => {
                            "for which the program's files have no labels: name its symbols".into()
                        }
                        false => format!("or a label such as {labels}"),
                    };
                    format!("unknown name '{word}': expected {others}, {label}")
                }
            },
            (ExpressionError::UnknownName(_), None) => format!("{key}: expected {others}"),
            (error, _) => format!("{key}: {error}"),
        };
        item.report(message);
        None
    }

    /// Reads a condition over registers, flags, memory, labels, `cycles` and `stack`, as written
    /// and parsed.
    pub(super) fn condition(&self, item: Item<'_>) -> Option<(String, Expression)> {
        let Some(text) = item.as_text() else {
            item.report_expected("a string such as \"HL == A * DE\"");
            return None;
        };
        let name = |word: &str| match () {
            () if is_variable(word) => Some(Name::Variable),
            () if is_number(word) => None,
            () => self.label(word).map(Name::Constant),
        };
        let others = "a register such as HL or in.HL, a flag such as FZ";
        Some((text.to_owned(), self.expression(item, text, &name, others)?))
    }

    /// Reads an expected value: operators, or a number with which it compares as `plain` states.
    pub(super) fn matcher(&self, item: Item<'_>, width: u16, plain: &'static Operator) -> Matcher {
        let number = |item: Item<'_>| self.number(item, width, NUMBER);
        if !item.value.is_table() {
            return Matcher::new([(plain, number(item))]);
        }
        let operators = |fields: &Fields<'_>| {
            let test = |operator: &'static Operator| {
                let item = fields.get(operator.key)?;
                let several = operator == Operator::ANY_OF;
                let operands = if several { item.each(ARRAY, number) } else { vec![number(item)] };
                Some(Test { operator, operands })
            };
            let tests = Operator::ALL.into_iter().filter_map(test).collect();
            Matcher { mask: fields.get("mask").map(number), tests }
        };
        let matcher = item.table("", operators).unwrap_or_default();
        if matcher.tests.is_empty() {
            item.report("expected an operator: eq, ne, lt, le, gt, ge or any_of");
        }
        matcher
    }

    /// Reads one of several words.
    pub(super) fn choice<T: Copy>(&self, item: Item<'_>, words: &[(&str, T)]) -> Option<T> {
        let found = words.iter().find(|(word, _)| Some(*word) == item.as_text());
        if found.is_none() {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            item.report_expected(&words.join(" or "));
        }
        found.map(|(_, value)| *value)
    }

    /// Reads the contents of a file that a value names.
    pub(super) fn file(&self, item: Item<'_>) -> Vec<u8> {
        let name = item.text("\"input.bin\"");
        let bytes = crate::program::read(self.loader, &self.folder.join(name));
        let bytes = bytes.and_then(|bytes| match bytes.len() {
            0..=0x1_0000 => Ok(bytes),
            _ => Err("the file is larger than 64 KiB".to_owned()),
        });
        item.checked(bytes).unwrap_or_default()
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

fn is_variable(word: &str) -> bool {
    let register = register_value(&Registers::default(), without_prefix(word));
    matches!(word, "cycles" | "stack") || register.is_some()
}

/// Returns the bytes of a register, 1 or 2.
pub(super) fn width(register: &str) -> u16 {
    // I and R have no halves.
    register_halves(register).len().max(1) as u16
}
