//! Code lenses in test files of `hw-tests test`: run a case, debug it.

use std::path::Path;

use lsp_types::{CodeLens, Command};
use serde_json::Value;

use super::positions::LineIndex;

/// The commands, which the editor executes with the path of the file and the name of the case.
const RUN: (&str, &str) = ("Run test", "tdl.runTest");
const DEBUG: (&str, &str) = ("Debug test", "tdl.debugTest");

/// Returns `true` for a test file, which is not a source.
pub(super) fn is_test_file(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".test.toml")
}

/// Returns the lenses of each case and each property of a test file; a property has no call to
/// debug.
pub(super) fn lenses(path: &Path, text: &[u8]) -> Vec<CodeLens> {
    let lines = LineIndex::new(text);
    let line = |at: usize| String::from_utf8_lossy(lines.get(at)).trim().to_owned();
    let mut found = Vec::new();
    // The line of the table that has no name yet, and the commands for it.
    let mut table: Option<(usize, &[_])> = None;
    for at in 0..lines.count() {
        let line = line(at);
        if line.starts_with('[') {
            table = match line.split(']').next() {
                Some("[[case") => Some((at, &[RUN, DEBUG])),
                Some("[[property") => Some((at, &[RUN])),
                _ => None,
            };
        } else if let Some((first, commands)) = table
            && let Some(name) = name(&line)
        {
            table = None;
            let range =
                lines.range(lines.start(first)..lines.start(first) + lines.get(first).len());
            let lens = |(title, command): &(&str, &str)| CodeLens {
                range,
                command: Some(Command {
                    title: (*title).to_owned(),
                    command: (*command).to_owned(),
                    arguments: Some(vec![path.display().to_string().into(), name.clone()]),
                }),
                data: None,
            };
            found.extend(commands.iter().map(lens));
        }
    }
    found
}

/// Returns the value of a line `name = "..."`.
fn name(line: &str) -> Option<Value> {
    let value = line.strip_prefix("name")?.trim_start().strip_prefix('=')?.trim_start();
    if let Some(literal) = value.strip_prefix('\'') {
        return Some(literal.split('\'').next()?.into());
    }
    // The escapes of JSON are TOML's.
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<String>();
    values.next()?.ok().map(Value::from)
}
