//! Programs with macros and conditionals, converted for each assembler, which must produce the
//! original's bytes.

use std::io::Read;

use tdlasm::module::SourceOrderModule;
use tdlasm::source::MemoryLoader;
use tdlasm::{Options as AssemblyOptions, asm};
use tdlasm_tools::convert::{Dialect, Options, convert};

use super::peer::Peer;

const PROGRAMS: &[u8] = include_bytes!("../../../../tdlasm/tests/data/oracle/programs.jsonl.gz");
/// The classes of programs that need expansion.
const CLASSES: [&str; 7] =
    ["macros", "brackets", "synonyms", "numbers", "symbols", "operands", "realistic"];
/// Each assembler gets one in this number of programs.
const STEP: usize = 4;
/// The minimum number of completely converted programs.
const COMPARED: usize = 200;
/// The maximum number of programs with expressions that an assembler rejects: GNU's has no product
/// of a label, and sdasz80 none in a source that shares symbols.
const REFUSED: usize = 10;

fn sources() -> Vec<(String, String)> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(PROGRAMS).read_to_string(&mut text).expect("a text");
    let step = std::env::var("CONVERT_STEP").ok().and_then(|step| step.parse().ok());
    let program = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let word = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let wanted = CLASSES.contains(&record["class"].as_str().unwrap_or_default());
        wanted.then(|| (word(&record["id"]), word(&record["source"])))
    };
    text.lines().filter_map(program).step_by(step.unwrap_or(STEP)).collect()
}

/// The bytes and their origin, if they lie one after the other and need no linker.
fn plain(module: &SourceOrderModule) -> Option<(Vec<u8>, u16)> {
    let first = module.code.first()?.start;
    let mut bytes = Vec::new();
    for chunk in &module.code {
        let offset = chunk.start.number.checked_sub(first.number)?;
        if chunk.start.base != first.base || usize::from(offset) < bytes.len() {
            return None;
        }
        bytes.resize(usize::from(offset), 0);
        let at = bytes.len();
        bytes.extend_from_slice(&chunk.bytes);
        for (word, value) in &chunk.words {
            if value.base != first.base && value.base != 0 {
                return None;
            }
            let place = at + *word as usize;
            bytes[place..place + 2].copy_from_slice(&value.number.to_le_bytes());
        }
    }
    (first.base <= 1).then_some((bytes, first.number))
}

#[test]
fn expanded_programs_have_the_same_bytes_elsewhere() {
    let programs = sources();
    let mut different = Vec::new();
    let mut refused = Vec::new();
    for peer in Peer::ALL {
        let mut compared = 0;
        for (id, source) in &programs {
            let loader = MemoryLoader::new().with("a.asm", source.as_str());
            let outcome = asm::run(&loader, &["a.asm".into()], &AssemblyOptions::default());
            let [module] = &outcome.modules[..] else { continue };
            let Some((wanted, origin)) = module.source_order.as_deref().and_then(plain) else {
                continue;
            };
            let options = Options { target: Some(peer.target()), ..Options::new(Dialect::Zilog) };
            let conversion =
                convert(&loader, "a.asm".as_ref(), &options).expect("a file in memory");
            if outcome.has_errors() || conversion.kept() > 0 || wanted.is_empty() {
                continue;
            }
            compared += 1;
            match peer.try_assemble(&conversion.text, origin) {
                Ok(found) if found.starts_with(&wanted) => {}
                Ok(_) => {
                    let text = String::from_utf8_lossy(&conversion.text);
                    different.push(format!("{peer:?} {id}:\n{text}"));
                }
                // A program that the assembler rejects at least causes no silent error.
                Err(printed) => refused.push(format!("{peer:?} {id}: {printed}")),
            }
        }
        assert!(compared >= COMPARED, "{peer:?}: {compared} of {} compared", programs.len());
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    assert!(refused.len() <= REFUSED, "{} refused:\n{}", refused.len(), refused.join("\n"));
}
