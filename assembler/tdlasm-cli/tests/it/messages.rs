//! Messages for programs: lines of JSON as `docs/message.schema.json` describes them, and SARIF.

use std::fs;

use serde_json::{Value, json};

use crate::command::Bench;

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/message.schema.json");
    serde_json::from_str(&fs::read_to_string(path).expect("the schema")).expect("JSON")
}

/// Returns `true` if a value conforms to a rule of the schema, as far as the schema uses rules.
fn conforms(value: &Value, rule: &Value, schema: &Value) -> bool {
    if let Some(name) = rule["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").expect("a definition");
        return conforms(value, &schema["$defs"][name], schema);
    }
    if let Some(rules) = rule["anyOf"].as_array() {
        return rules.iter().any(|rule| conforms(value, rule, schema));
    }
    if let Some(values) = rule["enum"].as_array() {
        return values.contains(value);
    }
    let is_kind = |kind: &Value| match (kind.as_str().expect("a type"), value) {
        ("null", Value::Null) | ("string", Value::String(_)) => true,
        ("integer", Value::Number(number)) => number.as_u64() >= rule["minimum"].as_u64(),
        ("array", Value::Array(items)) => {
            items.iter().all(|item| conforms(item, &rule["items"], schema))
        }
        ("object", Value::Object(fields)) => {
            let required = rule["required"].as_array().expect("all fields are required");
            required.len() == fields.len()
                && required.iter().all(|name| fields.contains_key(name.as_str().expect("a name")))
                && fields
                    .iter()
                    .all(|(name, field)| conforms(field, &rule["properties"][name], schema))
        }
        _ => false,
    };
    rule["type"].as_array().map_or_else(|| is_kind(&rule["type"]), |all| all.iter().any(is_kind))
}

#[test]
fn every_line_is_json_that_conforms_to_the_schema() {
    let bench = Bench::new();
    bench.file("ok.asm", " .PRNTX 'HELLO'\n MOV A,5\nA1 = 1\n.END\n");
    bench.file("bad.asm", "A1: NOP\nA1: JMP NOWHERE\n .DEFINE M=[\n MVI A,X+\n]\n M\n .END\n");
    bench.file("two.asm", " .PRGEND\n .END\n");
    bench.file("far.asm", " CALL OTHER#\n .END\n");
    bench.file("hidden\u{202E}.asm", " JMP NOWHERE\n .END\n");
    bench.file("layout.toml", "nonsense");
    let schema = schema();
    let cases: [(&[&str], i32, &str); 14] = [
        (&["ok.asm"], 0, "number-as-register"),
        (&["bad.asm"], 1, "first defined here"),
        (&["hidden\u{202E}.asm"], 1, "NOWHER"),
        (&["missing.asm"], 3, "cannot read missing.asm"),
        (&["ok.asm", "-o", "a.xyz"], 2, "cannot choose a format"),
        (&["ok.asm", "-o", "no/such/a.bin"], 3, "cannot write"),
        (&["ok.asm", "-o", "ok.asm", "--format", "bin"], 2, "name the same file"),
        (&["ok.asm", "--no-such-option"], 2, "--no-such-option"),
        (&["ok.asm", "--define", "1=2"], 2, "invalid symbol"),
        (&["ok.asm", "-W", "no-such"], 2, "unknown message"),
        (&["ok.asm", "--cycles", "NONE"], 2, "no label NONE"),
        (&["two.asm", "-o", "a.o"], 2, "an ELF object holds one"),
        (&["far.asm", "-o", "a.bin"], 1, "OTHER"),
        (&["ok.asm", "-o", "a.bin", "--layout", "layout.toml"], 2, "layout.toml"),
    ];
    for (arguments, expected, part) in cases {
        let forms: [&[&str]; 2] = [&["--message-format", "json"], &["--message-format=json"]];
        for form in forms {
            let (code, _, stderr) = bench.run(&[&["asm"], form, arguments].concat());
            assert_eq!(code, expected, "{arguments:?}: {stderr}");
            assert!(stderr.contains(part), "{arguments:?}: {stderr}");
            for line in stderr.lines() {
                let value: Value = serde_json::from_str(line)
                    .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {line}"));
                assert!(conforms(&value, &schema, &schema), "{arguments:?}: {line}");
            }
        }
    }
    assert_eq!(bench.run(&["asm", "--message-format", "json"]).0, 2);
}

#[test]
fn the_json_of_a_fix_is_the_edit() {
    let bench = Bench::new();
    bench.file("a.asm", " MOV A,5\n .END\n");
    let (_, _, stderr) = bench.run(&["asm", "a.asm", "--message-format", "json"]);
    let found: Value = serde_json::from_str(stderr.trim()).expect("JSON");
    let place = json!({ "file": "a.asm", "line": 1, "column": 2, "end_line": 1, "end_column": 5 });
    assert_eq!(found["fix"], json!({ "place": place, "text": "MVI" }));
    assert_eq!((&found["code"], &found["place"]["column"]), (&json!("W18"), &json!(8)));
}

#[test]
fn sarif_has_the_messages_with_their_rules_places_and_fixes() {
    let bench = Bench::new();
    bench.file("a b.asm", " MOV A,5\nA1: NOP\nA1: JMP NOWHERE\n .END\n");
    let (code, _, stderr) = bench.run(&["asm", "a b.asm", "--sarif", "a.sarif"]);
    assert!(code == 1 && stderr.contains("NOWHER is not defined"), "{stderr}");
    let text = fs::read_to_string(bench.path("a.sarif")).expect("a log");
    let log: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("a list");
    let ids: Vec<_> = results.iter().map(|one| one["ruleId"].as_str().expect("an id")).collect();
    assert_eq!(ids, ["W18", "M01", "U01"]);
    let rules = run["tool"]["driver"]["rules"].as_array().expect("a list");
    assert!(ids.iter().all(|id| rules.iter().any(|rule| rule["id"] == *id)));
    assert_eq!((&results[0]["level"], &results[1]["level"]), (&json!("warning"), &json!("error")));
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.asm");
    let region = |line, from, to| json!({ "startLine": line, "startColumn": from, "endLine": line, "endColumn": to });
    assert_eq!(place["region"], region(1, 8, 9));
    let replaced = &results[0]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(replaced["deletedRegion"], region(1, 2, 5));
    assert_eq!(replaced["insertedContent"]["text"], "MVI");
    let related = &results[1]["relatedLocations"][0];
    assert_eq!(related["message"]["text"], "first defined here");
    assert_eq!(related["physicalLocation"]["region"], region(2, 1, 3));
    // A program without messages has a log too.
    bench.file("c.asm", " NOP\n .END\n");
    assert_eq!(bench.run(&["asm", "c.asm", "--sarif", "c.sarif"]).0, 0);
    let log: Value =
        serde_json::from_slice(&fs::read(bench.path("c.sarif")).expect("a log")).expect("JSON");
    assert_eq!(log["runs"][0]["results"], json!([]));
}

#[test]
fn a_text_of_the_source_is_a_note_whatever_it_says() {
    let bench = Bench::new();
    bench.file("a.asm", " .PRNTX 'error[A01]: all is well'\n .END\n");
    let (code, _, stderr) = bench.run(&["asm", "a.asm", "--message-format", "json"]);
    let found: Value = serde_json::from_str(stderr.trim()).expect("JSON");
    assert_eq!((code, &found["severity"], &found["code"]), (0, &json!("note"), &Value::Null));
    assert_eq!(found["message"], "error[A01]: all is well");
}
