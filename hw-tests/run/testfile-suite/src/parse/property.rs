//! Reads properties.

use cli_support::text::Escape;

use super::Reader;
use super::values::{range, width};
use crate::document::{Fields, Item};
use crate::model::{Case, GeneratedBlock, Generator, Judge, Property};
use crate::registers::{output, register};
use crate::written::Written;

/// The default number of inputs.
const CASES: u32 = 256;
/// The maximum of `cases`.
const MAX_CASES: i64 = 99_999_999;
/// The maximum number of inputs that are all tried.
const MAX_SPACE: u64 = 1 << 24;
const LENGTH: &str = "a range such as \"1..=64\"";

impl Reader<'_> {
    pub(super) fn property(&self, fields: &Fields<'_>) -> Case {
        let (heading, step) = (self.heading(fields), self.step_without_sweep(fields));
        let written = |item: Item<'_>| (item.key.to_owned(), Written::of(item));
        let written = fields.read().into_iter().map(written).collect();
        let arg = |item: Item<'_>| {
            let name = item.checked(register(item.key))?;
            Some((name, self.generator(item, width(name))))
        };
        let what = "a table such as { A = \"u8\", HL = \"0..1000\" }";
        let args = fields.entries("args", what, arg);
        let what = "arrays such as [{ at = \"BUFFER\", length = \"1..=64\", byte = \"u8\" }]";
        let blocks = fields.tables("arrays", what, |fields| self.generated_block(fields));
        let exhaustive = fields.get("exhaustive").is_some_and(|item| {
            item.value.as_bool().unwrap_or_else(|| {
                item.report_expected("true or false");
                false
            })
        });
        let property = Property {
            assume: fields.get("assume").and_then(|item| Some(self.condition(item)?.1)),
            judge: self.judge(fields),
            cases: fields.integer("cases", 1..=MAX_CASES).map_or(CASES, |cases| cases as u32),
            seed: fields.integer("seed", 0..=i64::MAX),
            written,
            args,
            blocks,
            exhaustive,
        };
        self.check_property(&property, fields);
        Case { heading, steps: vec![step], property: Some(property) }
    }

    fn check_property(&self, property: &Property, fields: &Fields<'_>) {
        let has_any = |keys: &[&'static str]| keys.iter().any(|key| fields.get(key).is_some());
        let size = property.input_count();
        let (is_exhaustive, has_arrays) = (property.exhaustive, has_any(&["arrays"]));
        let too_many = format!("{size} inputs are too many to try all: expected up to {MAX_SPACE}");
        let wrong = [
            (!has_any(&["args", "arrays"]), "nothing is generated: expected args = { A = \"u8\" }"),
            (is_exhaustive && has_arrays, "exhaustive is for args alone: remove 'arrays'"),
            (
                !has_any(&["check", "expect", "same_as", "reference"]),
                "nothing is judged: expected check, same_as, reference or expect",
            ),
            (is_exhaustive && size > MAX_SPACE, &too_many),
        ];
        for (_, message) in wrong.iter().filter(|(is_wrong, _)| *is_wrong) {
            fields.table.report(*message);
        }
    }

    /// Reads a generator: `u8`, `u16`, a range, or an array of values.
    fn generator(&self, item: Item<'_>, width: u16) -> Generator {
        let Some(text) = item.as_text() else {
            let value = |value| if width == 1 { self.byte(value).into() } else { self.word(value) };
            let values: Vec<_> = item.elements().map(value).collect();
            if values.is_empty() {
                item.report_expected("\"u8\", \"0..1000\", \"1..=6\" or [1, 2]");
            }
            return Generator::OneOf(values);
        };
        let most: u64 = if width == 1 { 0xFF } else { 0xFFFF };
        let range = match text {
            "u8" => Some(0..=0xFF),
            "u16" => Some(0..=0xFFFF),
            _ => range(text),
        };
        let text = text.escaped();
        let message = match range {
            Some(range) if *range.end() <= most => {
                return Generator::Range(*range.start() as u16..=*range.end() as u16);
            }
            Some(_) => {
                let bytes = if width == 1 { "1 byte" } else { "2 bytes" };
                format!("{}: '{text}' does not fit in {bytes}", item.key.escaped())
            }
            None => format!(
                "'{text}' is not a range: expected u8, u16, 0..1000 (without 1000) or 1..=6"
            ),
        };
        item.report(message);
        Generator::Range(0..=0)
    }

    fn generated_block(&self, fields: &Fields<'_>) -> GeneratedBlock {
        let (address, name) = self.address(fields, "at", "\"BUFFER\"");
        let length = fields.required("length", "\"1..=64\"");
        let length = length.and_then(|item| match self.generator(item, 2) {
            Generator::Range(length) => Some(length),
            Generator::OneOf(_) => {
                item.report_expected(LENGTH);
                None
            }
        });
        let byte = fields.get("byte").map(|item| self.generator(item, 1));
        let counter = fields.parsed("count_in", "\"B\"", register);
        GeneratedBlock {
            name,
            address,
            length: length.unwrap_or(0..=0),
            byte: byte.unwrap_or(Generator::Range(0..=0xFF)),
            count_in: counter,
        }
    }

    /// Reads the names of registers and flags.
    pub(crate) fn outputs(&self, fields: &Fields<'_>) -> Option<Vec<&'static str>> {
        let name = |item: Item<'_>| item.checked(output(item.text("\"HL\"")));
        let outputs = fields.get("outputs")?.each("an array such as [\"HL\", \"FC\"]", name);
        Some(outputs.into_iter().flatten().collect())
    }

    fn judge(&self, fields: &Fields<'_>) -> Judge {
        let (other, outputs) = (fields.get("same_as"), self.outputs(fields));
        let words = fields.texts("reference", "[\"python3\", \"mul.py\"]");
        match (other, fields.get("reference")) {
            (Some(item), reference) => {
                if reference.is_some() {
                    item.report("give either same_as or reference");
                } else if outputs.is_none() {
                    item.report("'outputs' is missing: expected outputs = [\"HL\", \"FC\"]");
                }
                let (address, name) = self.named_address(item, "\"MUL\"");
                Judge::SameAs(address, name, outputs.unwrap_or_default())
            }
            (None, Some(item)) => {
                if words.is_empty() && item.value.is_array() {
                    item.report("expected a program such as [\"python3\", \"mul.py\"]");
                }
                Judge::Reference(words, item.line())
            }
            (None, None) => Judge::Expectations,
        }
    }
}
