//! Reads numbers, labels, registers, flags and operators.

use std::path::Path;

use cli_support::text::Escape;
use z80_core::{
    Expression, ExpressionError, FLAGS, Name, Registers, Values, canonical_register_name,
    parse_number, register_value,
};

use crate::matcher::{Matcher, Test};
use crate::model::FLAG_NAMES;
use crate::program::Program;
use crate::reader::{Entry, FileError};

/// The significant letters of a symbol, unless the source was assembled with long symbols.
const SHORT_SYMBOL: usize = 6;
/// Labels that a message lists.
const LISTED_LABELS: usize = 8;

/// What values refer to.
pub(super) struct Context<'a> {
    pub(super) program: &'a Program,
    /// The folder of the test file.
    pub(super) folder: &'a Path,
}

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

impl Context<'_> {
    /// Returns the value of a label.
    fn label(&self, name: &str) -> Option<u16> {
        match (self.program.map.find_symbol(name), name.get(..SHORT_SYMBOL)) {
            (Ok(None), Some(short)) => self.program.map.symbol(short),
            (found, _) => found.ok().flatten(),
        }
    }

    /// Reads a number of `width` bytes: an integer, a character, or an expression over labels.
    pub(super) fn number(&self, entry: &Entry<'_>, width: u16) -> Result<u16, FileError> {
        let Some(text) = entry.as_text() else { return plain(entry, width) };
        if let Some(letter) = character(text) {
            return Ok(letter.into());
        }
        let name = |word: &str| match parse_number(word) {
            Some(_) => None,
            None => self.label(word).map(Name::Constant),
        };
        let parsed = Expression::parse(text, u32::MAX, &name)
            .map_err(|error| self.invalid(entry, error, "a number such as 1FH"))?;
        let value = parsed.value(&NoVariables);
        fit(entry, value, width, text)
    }

    /// Returns the error for text that is no expression; `others` are names besides labels.
    fn invalid(&self, entry: &Entry<'_>, error: ExpressionError, others: &str) -> FileError {
        let ExpressionError::UnknownName(word) = error else {
            return entry.error(format!("{}: {error}", entry.key.escaped()));
        };
        if let Err(ambiguous) = self.program.map.find_symbol(&word) {
            return entry.error(format!("{}: {ambiguous}", entry.key.escaped()));
        }
        let labels = self.program.map.labels().filter(|(_, label)| label.exported);
        let labels = labels.map(|(_, label)| label.name.escaped()).take(LISTED_LABELS);
        let labels = labels.collect::<Vec<_>>().join(", ");
        let word = word.escaped();
        entry
            .error(format!("unknown name '{word}': expected {others}, or a label such as {labels}"))
    }

    /// Reads a condition over registers, flags, memory, labels, `cycles` and `stack`.
    pub(super) fn condition(&self, entry: &Entry<'_>) -> Result<Expression, FileError> {
        let text = entry.text("\"HL == A * DE\"")?;
        let name = |word: &str| match () {
            () if is_variable(word) => Some(Name::Variable),
            () if parse_number(word).is_some() => None,
            () => self.label(word).map(Name::Constant),
        };
        Expression::parse(text, u32::MAX, &name).map_err(|error| {
            self.invalid(entry, error, "a register such as HL or in.HL, a flag such as FZ")
        })
    }

    /// Reads a value, or operators such as `{ lt = 5 }`.
    pub(super) fn matcher(&self, entry: &Entry<'_>, width: u16) -> Result<Matcher, FileError> {
        let Some(table) = entry.as_fields() else {
            return Ok(Matcher::equal(self.number(entry, width)?.into()));
        };
        let mut matcher = Matcher::default();
        type Operator = (&'static str, fn(u32) -> Test);
        const OPERATORS: [Operator; 6] = [
            ("eq", Test::Eq),
            ("ne", Test::Ne),
            ("lt", Test::Lt),
            ("le", Test::Le),
            ("gt", Test::Gt),
            ("ge", Test::Ge),
        ];
        for (name, test) in OPERATORS {
            if let Some(operand) = table.get(name) {
                matcher.tests.push(test(self.number(&operand, width)?.into()));
            }
        }
        if let Some(all) = table.get("any_of") {
            let items = all.items("an array such as [1, 2]")?;
            let values = items.iter().map(|item| self.number(item, width).map(u32::from));
            matcher.tests.push(Test::AnyOf(values.collect::<Result<_, _>>()?));
        }
        if let Some(mask) = table.get("mask") {
            matcher.mask = Some(self.number(&mask, width)?.into());
        }
        table.finish()?;
        match matcher.tests.is_empty() {
            true => Err(entry.error("expected an operator: eq, ne, lt, le, gt, ge or any_of")),
            false => Ok(matcher),
        }
    }
}

/// Returns the name of a variable without `in.` or `out.`.
pub(crate) fn without_prefix(word: &str) -> &str {
    word.strip_prefix("in.").or_else(|| word.strip_prefix("out.")).unwrap_or(word)
}

fn is_variable(word: &str) -> bool {
    let register = register_value(&Registers::default(), without_prefix(word));
    matches!(word, "cycles" | "stack") || register.is_some()
}

/// Returns the code of a character in quotes, as in `'A'`.
fn character(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [b'\'', letter, b'\''] => Some(*letter),
        _ => None,
    }
}

/// Reads a number that does not depend on labels.
pub(super) fn plain(entry: &Entry<'_>, width: u16) -> Result<u16, FileError> {
    match (entry.as_integer(i64::MIN..i64::MAX), entry.as_text()) {
        (Some(value), _) => {
            let value = value?;
            fit(entry, value, width, &value.to_string())
        }
        (None, Some(text)) => parse_number(text).ok_or_else(|| entry.expected("a number")),
        (None, None) => Err(entry.expected("a number such as 31 or \"1FH\"")),
    }
}

/// Returns a value in `width` bytes; negative ones in two's complement.
fn fit(entry: &Entry<'_>, value: i64, width: u16, text: &str) -> Result<u16, FileError> {
    let limit = 1i64 << (8 * width);
    if (-limit / 2..limit).contains(&value) {
        return Ok((value & (limit - 1)) as u16);
    }
    let (least, most) = (-limit / 2, limit - 1);
    let (key, text) = (entry.key.escaped(), text.escaped());
    Err(entry.error(format!("{key}: {text} does not fit: expected {least} to {most}")))
}

/// Returns the register that a key or text names.
pub(super) fn register(entry: &Entry<'_>, name: &str) -> Result<&'static str, FileError> {
    let known = canonical_register_name(name);
    let known = known.filter(|name| is_output(name));
    known.ok_or_else(|| {
        let name = name.escaped();
        entry.error(format!("unknown register '{name}': expected one such as A, HL, IX or B'"))
    })
}

/// Returns `true` for the registers that calls set and return, by their canonical names.
pub(crate) fn is_output(register: &str) -> bool {
    !matches!(register, "SP" | "PC" | "I" | "R" | "SPH" | "SPL")
}

/// Returns the bytes of a register, 1 or 2.
pub(super) fn width(register: &str) -> u16 {
    if crate::model::halves(register).len() == 1 { 1 } else { 2 }
}

/// Reads flags such as `C NZ`: mask and values.
pub(super) fn flags(entry: &Entry<'_>) -> Result<(u8, u8), FileError> {
    let (mut mask, mut value) = (0, 0);
    for word in entry.text("\"C NZ\"")?.split_whitespace() {
        let known = FLAG_NAMES.iter().find(|(name, ..)| *name == word);
        let Some((_, bit, set)) = known else {
            let names: Vec<_> = FLAG_NAMES.iter().map(|(name, ..)| *name).collect();
            let (word, names) = (word.escaped(), names.join(" "));
            return Err(entry.error(format!("unknown flag '{word}': expected some of {names}")));
        };
        if mask & bit != 0 {
            return Err(entry.error(format!("the flag of {word} is given twice")));
        }
        mask |= bit;
        value |= set;
    }
    Ok((mask, value))
}

/// Returns the register or flag that a text names, as an output.
pub(super) fn output(entry: &Entry<'_>) -> Result<&'static str, FileError> {
    let name = entry.text("\"HL\" or \"FC\"")?;
    match FLAGS.iter().find(|(flag, _)| flag.eq_ignore_ascii_case(name)) {
        Some((flag, _)) => Ok(flag),
        None => register(entry, name),
    }
}
