//! A source as long as the programs of the period: the programs that the original assembles without
//! error, concatenated as modules of one file. Each module has the code that the original generated
//! for it alone.

use crate::oracle::cells;

use std::io::Read;

use serde_json::Value;
use tdlasm::Options;
use tdlasm::asm::run;
use tdlasm::source::MemoryLoader;

use cells::{code_of, expected_code};

const PROGRAMS: &[u8] = include_bytes!("../data/oracle/programs.jsonl.gz");
/// The number of lines of VEDIT-PLUS, the longest known source of the period.
const LINES: usize = 29_000;

/// A program that the original assembles without error, as a module.
struct Part {
    id: String,
    /// The source with `.PRGEND` for `.END`.
    source: String,
    module: Value,
}

/// The programs that end with `.END` on their last line, one module each, and set no options for
/// the whole file.
fn parts() -> Vec<Part> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(PROGRAMS).read_to_string(&mut text).expect("a text");
    text.lines().filter_map(|line| part(&serde_json::from_str(line).expect("JSON"))).collect()
}

fn part(record: &Value) -> Option<Part> {
    let word = |value: &Value| value.as_str().expect("a text").to_owned();
    let original = &record["zasm"];
    let [module] = original["modules"].as_array().map(Vec::as_slice)? else { return None };
    let is_clean = original.get("fatal").is_none() && original["errors"] == Value::Array(vec![]);
    let source = word(&record["source"]);
    let (body, last) = source.trim_end().rsplit_once('\n')?;
    let operand = last.strip_prefix(" .END")?;
    // .PABS holds for the whole file, and no program may end before its end.
    let apart = [".END", ".end", ".PRGEND", ".PABS"].iter().any(|one| body.contains(one));
    let asks = original.get("console").is_some();
    (is_clean && !apart && !asks).then(|| Part {
        id: word(&record["id"]),
        source: format!("{body}\n .PRGEND{operand}\n"),
        module: module.clone(),
    })
}

#[test]
fn a_source_of_many_modules_has_the_code_of_each() {
    let parts = parts();
    let source: String = parts.iter().map(|part| part.source.as_str()).collect();
    assert!(source.lines().count() >= LINES, "{} lines", source.lines().count());
    let text = format!("{source} .END\n").replace("\n", "\r\n");
    let loader = MemoryLoader::new().with("whole.asm", text);
    let whole = run(&loader, &["whole.asm".into()], &Options::default());
    let errors: Vec<_> = whole.diagnostics.iter().filter(|found| found.is_error()).collect();
    let shown = errors.first().map(|found| {
        let (file, line) = whole.sources.file_line(found.span.start);
        (line, found.message.clone(), file.name.clone(), source.lines().nth(line as usize - 1))
    });
    assert_eq!(shown, None);
    assert_eq!(whole.modules.len(), parts.len() + 1);
    for (part, module) in parts.iter().zip(&whole.modules) {
        let assembled = module.source_order.as_deref().expect("a module of a source");
        assert_eq!(code_of(assembled, false), expected_code(&part.module), "{}", part.id);
        let start = format!("{}+{:04X}", assembled.start.base, assembled.start.number);
        assert_eq!(part.module["end"], start, "{}", part.id);
    }
}
