//! Programs that one reading is enough for have the same result when they are read twice.

use std::io::Read;

use tdlasm::Options;
use tdlasm::asm::{Assembly, run};
use tdlasm::diag::render;
use tdlasm::source::MemoryLoader;

const PROGRAMS: &[u8] = include_bytes!("data/oracle/programs.jsonl.gz");
/// At least so many of them need one reading only.
const READ_ONCE: usize = 2_000;

fn sources() -> Vec<String> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(PROGRAMS).read_to_string(&mut text).expect("a text");
    let source = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        record["source"].as_str().expect("a program").to_owned()
    };
    text.lines().map(source).collect()
}

fn assembled(source: &str, two_passes: bool) -> Assembly {
    let loader = MemoryLoader::new().with("p.asm", source);
    let options = Options { two_passes, references: true, ..Options::default() };
    run(&loader, &["p.asm".into()], &options)
}

/// Each place of a name in a text: the place, what the name is, and its role there.
fn mentions(found: &Assembly) -> Vec<String> {
    let names = &found.references.names;
    let shown = found.references.mentions.iter().map(|one| {
        let text = found.sources.source_at(one.span.start);
        let at = one.span.start - text.base;
        format!("{} {at} {:?} {:?}", text.name, names[one.name as usize], one.role)
    });
    let mut shown: Vec<String> = shown.collect();
    // Two readings note some places once that one notes twice.
    shown.sort();
    shown.dedup();
    shown
}

fn shown(found: &Assembly) -> String {
    render::human(&found.diagnostics, &found.sources, false)
}

#[test]
fn a_program_that_is_read_twice_without_need_is_the_same() {
    let mut count = 0;
    for source in sources() {
        let once = assembled(&source, false);
        if once.read_twice {
            continue;
        }
        count += 1;
        let twice = assembled(&source, true);
        assert!(twice.read_twice);
        assert_eq!(shown(&once), shown(&twice), "{source}");
        assert_eq!(once.error_count, twice.error_count, "{source}");
        assert_eq!(once.modules, twice.modules, "{source}");
        assert_eq!(mentions(&once), mentions(&twice), "{source}");
    }
    assert!(count >= READ_ONCE, "{count}");
}
