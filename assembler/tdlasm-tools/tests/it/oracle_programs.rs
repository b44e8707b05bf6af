//! Formatting and conversion of the 5,500 programs recorded with the original assembler.

use std::collections::BTreeMap;
use std::io::Read;

use tdlasm::diag::DiagnosticCode;
use tdlasm::module::{CodeChunk, Module};
use tdlasm::source::MemoryLoader;
use tdlasm::{ConsoleReply, Options, asm};
use tdlasm_tools::convert::{self, Conversion, Dialect, convert};
use tdlasm_tools::fmt::{self, format};

const PROGRAMS: &[u8] = include_bytes!("../../../tdlasm/tests/data/oracle/programs.jsonl.gz");
/// The number of empty replies for requests without a recorded one.
const SPARE_ANSWERS: usize = 20;
/// The maximum number of programs whose bytes depend on blanks, so that `fmt` refuses them.
const LEFT_BY_FMT: usize = 46;
/// The minimum number of programs that are converted back from Zilog's mnemonics and compared.
const COMPARED: usize = 2000;

/// A program and its console input.
struct Program {
    id: String,
    source: Vec<u8>,
    answers: Vec<ConsoleReply>,
}

fn programs() -> Vec<Program> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(PROGRAMS).read_to_string(&mut text).expect("a text");
    let program = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let word = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let typed = record["answers"].as_array().into_iter().flatten().map(word);
        let spare = std::iter::repeat_n(String::new(), SPARE_ANSWERS);
        let answers = typed.chain(spare).map(|keys| ConsoleReply { name: None, keys }).collect();
        Program { id: word(&record["id"]), source: word(&record["source"]).into(), answers }
    };
    text.lines().map(program).collect()
}

impl Program {
    fn assembled(&self, text: &[u8], long_symbols: bool) -> asm::Assembly {
        let loader = MemoryLoader::new().with("a.asm", text);
        let answers = self.answers.clone();
        let options = Options { long_symbols, console_replies: answers, ..Options::default() };
        asm::run(&loader, &["a.asm".into()], &options)
    }

    fn outcome(&self, text: &[u8]) -> (Vec<Module>, Vec<DiagnosticCode>) {
        let outcome = self.assembled(text, false);
        let codes = outcome.diagnostics.iter().map(|found| found.code).collect();
        (outcome.modules, codes)
    }

    /// The code in the order of the source, if there is no error. Externals are numbered as the
    /// code names them, since other names have another order.
    fn code(&self, text: &[u8], long_symbols: bool) -> Option<Vec<Vec<CodeChunk>>> {
        let outcome = self.assembled(text, long_symbols);
        let code =
            |module: &Module| module.source_order.as_ref().map(|found| renumbered(&found.code));
        let modules = outcome.modules.iter().filter_map(code).collect();
        (!outcome.has_errors()).then_some(modules)
    }
}

/// The first base that is an external's.
const FIRST_EXTERNAL: u32 = 4;

fn renumbered(code: &[CodeChunk]) -> Vec<CodeChunk> {
    let mut numbers = BTreeMap::new();
    let mut code = code.to_vec();
    let words = code.iter_mut().flat_map(|chunk| &mut chunk.words);
    for (_, value) in words.filter(|(_, value)| value.base >= FIRST_EXTERNAL) {
        let next = FIRST_EXTERNAL + numbers.len() as u32;
        value.base = *numbers.entry(value.base).or_insert(next);
    }
    code
}

#[test]
fn formatting_changes_no_byte_and_no_message_or_reports_significant_blanks() {
    let options = fmt::Options::default();
    let mut left = 0;
    for program in programs() {
        let format = |text: &[u8]| format(&MemoryLoader::new(), "a.asm".as_ref(), text, &options);
        let once = match format(&program.source) {
            Ok(once) => once,
            Err(fmt::Error::Blanks(_)) => {
                left += 1;
                continue;
            }
            Err(error) => panic!("{}: {error}", program.id),
        };
        let [before, after] = [&program.source, &once].map(|text| program.outcome(text));
        assert_eq!(before, after, "{}", program.id);
        assert_eq!(format(&once), Ok(once), "{}", program.id);
    }
    assert!(left <= LEFT_BY_FMT, "{left} programs are left as they are");
}

fn converted(text: &[u8], to: Dialect) -> Conversion {
    let loader = MemoryLoader::new().with("a.asm", text);
    convert(&loader, "a.asm".as_ref(), &convert::Options::new(to)).expect("it can be read")
}

/// The text without the lines that have no counterpart.
fn without_kept(text: &[u8], notes: &[convert::Note]) -> Vec<u8> {
    let lines = (1u32..).zip(text.split_inclusive(|byte| *byte == b'\n'));
    let stays = |line: &u32| notes.iter().any(|note| note.kept && note.line == *line);
    lines.filter(|(line, _)| !stays(line)).flat_map(|(_, text)| text.to_vec()).collect()
}

#[test]
fn conversion_to_and_fro_gives_the_same_bytes_or_names_the_lines_that_stay() {
    let mut compared = 0;
    let mut different = Vec::new();
    for program in programs() {
        // The unconverted lines are reported; the rest is a program by itself.
        let notes = converted(&program.source, Dialect::Zilog).notes;
        let text = without_kept(&program.source, &notes);
        let Some(before) = program.code(&text, false) else { continue };
        let there = converted(&text, Dialect::Zilog);
        if there.kept() > 0 {
            continue;
        }
        let back = converted(&there.text, Dialect::Tdl);
        if back.kept() > 0 {
            continue;
        }
        if program.code(&back.text, true) != Some(before) {
            let messages = program.assembled(&back.text, true).diagnostics;
            let shown: Vec<&str> = messages.iter().map(|one| one.message.as_str()).collect();
            different.push(format!("{}: {shown:?}", program.id));
        }
        compared += 1;
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(compared >= COMPARED, "{compared} programs compared");
}
