//! A recorded program, and the comparison with our result.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use serde_json::Value;
use tdlasm::asm::run;
use tdlasm::module::Module;
use tdlasm::source::MemoryLoader;
use tdlasm::{Assembly, ConsoleReply, Notation, Options};

use super::cells::{code_of, expected_code};

const PROGRAMS: &[u8] = include_bytes!("../../data/oracle/programs.jsonl.gz");
/// The number of empty replies for requests without a recorded one.
const SPARE_ANSWERS: usize = 20;

/// The letters of the original's listing, by source line.
type Letters = BTreeMap<u32, BTreeSet<char>>;

/// A program with the original's results and ours.
pub(crate) struct Program {
    pub(crate) id: String,
    /// The original's final message, if it wrote no object.
    pub(crate) fatal: Option<String>,
    source: String,
    /// The original's table of symbols, and what its console showed.
    symbols: String,
    console: Vec<String>,
    letters: Letters,
    modules: Vec<Value>,
    ours: Assembly,
}

/// Reads all programs and assembles them.
pub(crate) fn programs() -> Vec<Program> {
    programs_by(Notation::Tdl)
}

/// Reads all programs, with the answers of ZASM or PASM, and assembles them as that does.
pub(crate) fn programs_by(original: Notation) -> Vec<Program> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(PROGRAMS).read_to_string(&mut text).expect("a text");
    let records = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    records.map(|record| Program::new(&record, original)).collect()
}

fn text_of(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

impl Program {
    fn new(record: &Value, by: Notation) -> Self {
        let mut original = record["zasm"].clone();
        if by == Notation::Pasm
            && let (Some(all), Some(others)) =
                (original.as_object_mut(), record["pasm"].as_object())
        {
            // PASM's answers, as far as they differ.
            all.extend(others.clone());
        }
        let mut letters = Letters::new();
        for row in list(&original["errors"]) {
            let line = row[0].as_u64().expect("a line") as u32;
            letters.entry(line).or_default().extend(text_of(&row[1]).chars());
        }
        let source = text_of(&record["source"]);
        Self {
            id: text_of(&record["id"]),
            fatal: original.get("fatal").filter(|text| text.is_string()).map(text_of),
            letters,
            symbols: original["symbols"].as_str().unwrap_or_default().to_owned(),
            console: list(&original["console"]).map(text_of).collect(),
            modules: list(&original["modules"]).cloned().collect(),
            ours: assemble(&source, by, list(&record["answers"]).map(text_of)),
            source,
        }
    }

    /// Returns `true` if the original assembles the program without an error letter.
    pub(crate) fn is_clean(&self) -> bool {
        self.fatal.is_none() && self.letters.is_empty()
    }

    /// The reason why our result differs from the original's; `None` if it does not.
    pub(crate) fn difference(&self) -> Option<&'static str> {
        let letters = self.our_letters();
        if self.fatal.is_some() {
            return (!self.ours.has_errors()).then(|| self.taken());
        }
        if !self.is_clean() {
            let silent = letters.is_empty();
            return match letters == self.letters {
                true if self.same_code() => None,
                true if self.has_hex_externals() => Some("hex-externals"),
                true => Some("faulty-code"),
                false => Some(if silent { "quirks" } else { "letters" }),
            };
        }
        if self.ours.has_errors() {
            return Some("refused");
        }
        if letters != self.letters {
            return Some("warned");
        }
        match self.same_code() {
            true if !self.same_symbols() => Some("symbols"),
            true => (!self.same_console()).then_some("console"),
            false if self.has_hex_externals() => Some("hex-externals"),
            false => Some("quirks"),
        }
    }

    fn has_hex_externals(&self) -> bool {
        self.source.contains(".PABS")
            && (self.source.contains(".EXTERN") || self.source.contains('#'))
    }

    /// The reason why a program is accepted at which the original stops.
    fn taken(&self) -> &'static str {
        let no_end = self.ours.diagnostics.iter().any(|one| one.code.id() == "W02");
        if no_end { "end" } else { "taken" }
    }

    fn our_letters(&self) -> Letters {
        let mut letters = Letters::new();
        for message in &self.ours.diagnostics {
            if let Some(letter) = message.code.error_flag() {
                let (_, line) = self.ours.sources.file_line(message.span.start);
                letters.entry(line).or_default().insert(letter);
            }
        }
        letters
    }

    /// Returns `true` if the table of symbols equals the original's. Names that are not in the
    /// source come from its damaged memory; with several modules, it does not record which module
    /// a symbol belongs to.
    fn same_symbols(&self) -> bool {
        let [module] = &self.ours.modules[..] else { return true };
        let source = self.source.to_ascii_uppercase();
        let listed = self.symbols.split_whitespace().filter_map(|entry| entry.split_once('='));
        let mut known = listed.filter(|(name, _)| source.contains(name) || name.ends_with('.'));
        known.all(|(name, shown)| shown_symbol(module, name).is_none_or(|ours| ours == shown))
    }

    fn same_console(&self) -> bool {
        let mut messages = self.ours.messages.iter();
        self.console.iter().all(|printed| messages.any(|message| message == printed))
    }

    /// Returns `true` if we accept the program, with the same code.
    pub(crate) fn has_same_code(&self) -> bool {
        !self.ours.has_errors() && self.same_code()
    }

    fn same_code(&self) -> bool {
        // Each module is written when it ends, in the form that it requests.
        let mut texts = self.source.split(".PRGEND");
        let same = |(theirs, ours): (&Value, &Module)| {
            let hex = texts.next().is_some_and(|text| text.contains(".PABS"));
            let assembled = ours.source_order.as_ref().expect("a module of a source");
            let start = format!("{}+{:04X}", assembled.start.base, assembled.start.number);
            expected_code(theirs) == code_of(assembled, hex) && theirs["end"] == start
        };
        self.modules.len() == self.ours.modules.len()
            && self.modules.iter().zip(&self.ours.modules).all(same)
    }
}

/// A symbol in the notation of the original's table: value, base and class; `None` for one that
/// the table does not have.
fn shown_symbol(module: &Module, name: &str) -> Option<String> {
    let assembled = module.source_order.as_ref()?;
    let section = [".PROG.", ".DATA.", ".BLNK."].iter().position(|section| *section == name);
    if let Some(at) = section {
        let base = at as u32 + 1;
        return Some(format!("{:04X}{}X", assembled.size(base) as u16, flag(base)));
    }
    let symbol = assembled.symbols.iter().find(|symbol| symbol.name == name)?;
    let class = match (symbol.external, symbol.entry, symbol.exported) {
        (true, ..) => "X",
        (_, true, _) => "E",
        (_, _, true) => "I",
        _ => "",
    };
    Some(format!("{:04X}{}{class}", symbol.value.number, flag(symbol.value.base)))
}

/// The mark of a value's base.
fn flag(base: u32) -> String {
    match base {
        0 => String::new(),
        1 => "'".into(),
        2 => "*".into(),
        other => format!(":{other:02X}"),
    }
}

fn assemble(source: &str, notation: Notation, answers: impl Iterator<Item = String>) -> Assembly {
    let spare = std::iter::repeat_n(String::new(), SPARE_ANSWERS);
    let answers = answers.chain(spare).map(|keys| ConsoleReply { name: None, keys }).collect();
    let options = Options { console_replies: answers, notation, ..Options::default() };
    let loader = MemoryLoader::new().with("p.asm", source.replace('\n', "\r\n"));
    run(&loader, &["p.asm".into()], &options)
}
