//! The forms of EPD and FEN lines that files have, each read as stated beside it.

use chess_rules::epd::{EpdEntry, EpdLine, read};
use chess_rules::suite::AMOUNT_UNITS;
use serde_json::{Map, Value, json};

const EXPECTED: &str = include_str!("../../data/epd-samples.expect.jsonl");
const FILES: [(&str, &str); 2] = [
    ("epd-samples.epd", include_str!("../../data/epd-samples.epd")),
    ("epd-samples-bom.epd", include_str!("../../data/epd-samples-bom.epd")),
];

/// A line in the form of the expectations.
fn shown(line: &EpdLine) -> Value {
    match line {
        EpdLine::Blank => json!({ "kind": "nothing" }),
        EpdLine::Invalid(error) => {
            json!({ "kind": "refuse", "reason": error.problem, "column": error.column })
        }
        EpdLine::Position(entry) => position(entry),
    }
}

fn position(entry: &EpdEntry) -> Value {
    let mut map = Map::new();
    let mut put = |name: &str, value: Value| map.insert(name.to_owned(), value);
    put("kind", "position".into());
    put("fen", entry.position.to_string().into());
    let operations = entry.operations.iter();
    put("ops", operations.map(|o| json!([o.opcode, o.operands])).collect());
    if !entry.moves.is_empty() {
        let moves = entry.moves.iter().map(|moves| (moves.opcode.clone(), json!(moves.uci)));
        put("moves", Value::Object(moves.collect()));
    }
    if entry.position.is_chess960() {
        put("chess960", true.into());
    }
    if let Some(Ok(suite)) = &entry.suite {
        let mut stated = json!({ "move": suite.text, "uci": entry.position.uci(suite.played) });
        if let Some(amount) = suite.amount {
            stated["value"] = (amount.number / AMOUNT_UNITS).into();
        }
        if let Some(note) = &suite.note {
            stated["note"] = note.as_str().into();
        }
        put("suite", stated);
    }
    if let Some(rest) = &entry.rest {
        put("rest", rest.as_str().into());
    }
    if let Some(warning) = entry.warning() {
        put("warn", warning.into());
    }
    Value::Object(map)
}

#[test]
fn every_line_of_the_samples_is_read_as_stated() {
    let mut lines = 0;
    for (file, text) in FILES {
        let read = read(text);
        let expected =
            EXPECTED.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let expected: Vec<_> = expected.filter(|line| line["file"] == file).collect();
        assert_eq!(read.len(), expected.len(), "{file}");
        for (line, mut expected) in read.iter().zip(expected) {
            let place = format!("{file}:{}: {}", expected["line"], expected["form"]);
            for about in ["file", "line", "form"] {
                expected.as_object_mut().expect("an object").remove(about);
            }
            assert_eq!(shown(line), expected, "{place}");
            lines += 1;
        }
    }
    assert_eq!(lines, 80);
}
