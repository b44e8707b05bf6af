//! `docs/test-file.schema.json` describes the examples, and the keys that the program knows.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::runs::schema::{Checker, document};

use super::{examples, hw_tests, project};

fn schema() -> Value {
    serde_json::from_str(&document("test-file.schema.json")).expect("JSON")
}

/// Checks a test file against the schema.
fn check(text: &str) -> Result<(), String> {
    let table: toml::Table = text.parse().expect("TOML");
    let value = serde_json::to_value(table).expect("values of JSON");
    let root = serde_json::json!({ "$ref": "#/$defs/file" });
    Checker::new(schema()).check(&root, &value, "")
}

#[test]
fn the_examples_and_a_new_project_conform_to_the_schema() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    hw_tests(folder.path(), &["new", "mul"]);
    let entries = [&examples(), folder.path()].map(std::fs::read_dir);
    let mut count = 0;
    for entry in entries.into_iter().flat_map(|entries| entries.expect("a folder").flatten()) {
        if entry.path().to_string_lossy().ends_with(".test.toml") {
            let text = std::fs::read_to_string(entry.path()).expect("a text");
            check(&text).unwrap_or_else(|wrong| panic!("{:?}: {wrong}", entry.path()));
            count += 1;
        }
    }
    assert_eq!(count, 7);
    assert!(check("sources = 5").is_err());
    assert!(check("[[case]]\nname = \"a\"\nexpct = {}").is_err());
}

/// The keys that the program lists for a table with an unknown one.
fn known_keys(text: &str) -> BTreeSet<String> {
    let folder = project(text);
    let (_, _, errors) = hw_tests(folder.path(), &["test", "twice.test.toml"]);
    let (_, list) = errors.split_once("unknown key 'zzz': expected one of ").expect("a list");
    list.trim().split(", ").map(str::to_owned).collect()
}

#[test]
fn the_schema_has_the_keys_that_the_program_knows() {
    let schema = schema();
    let call = "name = \"a\"\ncall = \"TWICE\"\nzzz = 1";
    for (kind, text) in [
        ("file", "zzz = 1".to_owned()),
        ("case", format!("[[case]]\n{call}")),
        ("property", format!("[[property]]\nargs.A = \"u8\"\ncheck = \"A\"\n{call}")),
        ("call", "[[case]]\nname = \"a\"\nsteps = [{ call = \"TWICE\", zzz = 1 }]".to_owned()),
        ("stack", "stack = { zzz = 1 }".to_owned()),
        ("pane", "[[pane]]\nname = \"a\"\nrows = []\nzzz = 1".to_owned()),
        ("row", "[[pane]]\nname = \"a\"\nrows = [{ value = \"A\", zzz = 1 }]".to_owned()),
        ("matcher", "[[case]]\nname = \"a\"\ncall = \"TWICE\"\nexpect.A = { zzz = 1 }".to_owned()),
        (
            "memory",
            "[[case]]\nname = \"a\"\ncall = \"TWICE\"\nmemory = [{ at = 1, zzz = 1 }]".to_owned(),
        ),
        (
            "interrupt",
            "[[case]]\nname = \"a\"\ncall = \"TWICE\"\ninterrupt = [{ at = 1, zzz = 1 }]"
                .to_owned(),
        ),
        (
            "array",
            "[[property]]\nname = \"a\"\ncall = \"TWICE\"\narrays = [{ at = 1, length = \"u8\", \
             zzz = 1 }]"
                .to_owned(),
        ),
    ] {
        let described = schema["$defs"][kind]["properties"].as_object();
        let described = described.unwrap_or_else(|| panic!("no {kind}"));
        let described: BTreeSet<_> = described.keys().cloned().collect();
        assert_eq!(described, known_keys(&text), "{kind}");
    }
}
