//! Converts properties.

use cli_support::text::Escape;

use super::Reader;
use super::tables::{Address, ArrayTable, Output, PropertyTable};
use super::values::{range, width};
use crate::document::Node;
use crate::model::{GeneratedBlock, Generator, Judge, Property, WrittenCall};
use crate::written::inline;

/// The default number of inputs.
const CASES: u32 = 256;
/// The maximum number of inputs that are all tried.
const MAX_SPACE: u64 = 1 << 24;

/// Keys that only properties have, and those that a case of one input has other values for.
const REWRITTEN: [&str; 15] = [
    "name",
    "call",
    "in",
    "memory",
    "expect",
    "check",
    "args",
    "arrays",
    "assume",
    "same_as",
    "outputs",
    "reference",
    "cases",
    "seed",
    "exhaustive",
];

impl Reader<'_, '_> {
    pub(super) fn property(&self, node: Node) -> Option<Property> {
        let (heading, step) = (self.heading(node), self.step_without_sweep(node));
        let table: PropertyTable = self.decode(node)?;
        self.check_property(&table);
        let arg = |(name, node)| (name, self.generator(node, width(name)));
        let args = table.args.0.into_iter().map(|(register, node)| arg((register.0, node)));
        let property = Property {
            heading: heading?,
            step: step?,
            written: self.written(node),
            args: args.collect(),
            blocks: table.arrays.into_iter().map(|table| self.generated_block(table)).collect(),
            assume: table.assume.and_then(|node| self.condition(node)).map(|(_, parsed)| parsed),
            judge: self.judge(table.same_as, table.outputs, table.reference),
            cases: table.cases.map_or(CASES, |cases| cases as u32),
            seed: table.seed,
            exhaustive: table.exhaustive,
        };
        let size = property.input_count();
        if property.exhaustive && size > MAX_SPACE {
            let message =
                format!("{size} inputs are too many to try all: expected up to {MAX_SPACE}");
            self.document.report(node, message);
        }
        Some(property)
    }

    fn check_property(&self, table: &PropertyTable) {
        let has = |key: &str| self.document.field(table.node, key).is_some();
        let has_any = |keys: &[&str]| keys.iter().any(|key| has(key));
        let checks = [
            (has_any(&["args", "arrays"]), "nothing is generated: expected args = { A = \"u8\" }"),
            (!table.exhaustive || !has("arrays"), "exhaustive is for args alone: remove 'arrays'"),
            (
                has_any(&["check", "expect", "same_as", "reference"]),
                "nothing is judged: expected check, same_as, reference or expect",
            ),
        ];
        for (_, message) in checks.iter().filter(|(is_right, _)| !is_right) {
            self.document.report(table.node, *message);
        }
    }

    /// Returns what a case that repeats the call has in common with a property.
    fn written(&self, table: Node) -> WrittenCall {
        let document = self.document;
        let children = |node: Option<Node>| {
            node.map(|node| document.children(node)).unwrap_or_default().into_iter()
        };
        let pair = |node| (document.key(node).to_owned(), inline(document, node));
        let element = |node| inline(document, node);
        let is_kept = |node: &Node| !REWRITTEN.contains(&document.key(*node));
        let field = |key| document.field(table, key);
        let expected_memory = field("expect").and_then(|expect| document.field(expect, "memory"));
        WrittenCall {
            fields: children(Some(table)).filter(is_kept).map(pair).collect(),
            inputs: children(field("in")).map(pair).collect(),
            memory: children(field("memory")).map(element).collect(),
            expect: children(field("expect")).map(pair).collect(),
            expected_memory: children(expected_memory).map(element).collect(),
        }
    }

    /// Reads a generator: `u8`, `u16`, a range, or an array of values.
    fn generator(&self, node: Node, width: u16) -> Generator {
        let document = self.document;
        let Some(text) = document.as_text(node) else {
            let values = document.children(node).into_iter();
            let values: Vec<_> = values.map(|value| self.number(value, width) as u16).collect();
            if values.is_empty() {
                document.report_expected(node, "\"u8\", \"0..1000\", \"1..=6\" or [1, 2]");
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
                format!("{}: '{text}' does not fit in {bytes}", document.key(node).escaped())
            }
            None => format!(
                "'{text}' is not a range: expected u8, u16, 0..1000 (without 1000) or 1..=6"
            ),
        };
        document.report(node, message);
        Generator::Range(0..=0)
    }

    fn generated_block(&self, table: ArrayTable) -> GeneratedBlock {
        let length = match self.generator(table.length, 2) {
            Generator::Range(length) => length,
            Generator::OneOf(_) => {
                self.document.report_expected(table.length, "a range such as \"1..=64\"");
                0..=0
            }
        };
        GeneratedBlock {
            name: self.name(table.at),
            address: table.at.address,
            length,
            byte: table.byte.map_or(Generator::Range(0..=0xFF), |node| self.generator(node, 1)),
            count_in: table.count_in.map(|register| register.0),
        }
    }

    fn judge(
        &self,
        same_as: Option<Address>,
        outputs: Option<Vec<Output>>,
        reference: Option<Node>,
    ) -> Judge {
        let document = self.document;
        match (same_as, reference) {
            (Some(other), reference) => {
                if reference.is_some() {
                    document.report(other.node, "give either same_as or reference");
                } else if outputs.is_none() {
                    let message = "'outputs' is missing: expected outputs = [\"HL\", \"FC\"]";
                    document.report(other.node, message);
                }
                let outputs = outputs.into_iter().flatten().map(|output| output.0).collect();
                Judge::SameAs(other.address, self.name(other), outputs)
            }
            (None, Some(node)) => {
                let words: Option<Vec<String>> = self.decode(node);
                if words.as_ref().is_some_and(Vec::is_empty) {
                    let message = "expected a program such as [\"python3\", \"mul.py\"]";
                    document.report(node, message);
                }
                Judge::Reference(words.unwrap_or_default(), document.line(node))
            }
            (None, None) => Judge::Expectations,
        }
    }
}
