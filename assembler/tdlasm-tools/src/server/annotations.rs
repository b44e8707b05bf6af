//! Annotations of code: bytes and T-states of each line, T-states of routines, and commands of test
//! cases.

use std::collections::BTreeMap;

use lsp_types::{CodeLens, Command, InlayHint, InlayHintLabel};
use serde_json::Value;
use tdlasm::listing::{ListingLine, straight_path};
use tdlasm::references::{NameKind, ReferenceRole};

use super::workspace::File;

/// Returns bytes and T-states of the instructions of some lines, at the ends of the lines.
pub(super) fn hints(file: &File<'_>, wanted: lsp_types::Range) -> Vec<InlayHint> {
    let lines = file.lines();
    let Some(program) = file.programs().next() else { return Vec::new() };
    let index = program.file(&file.path);
    let mut labels = BTreeMap::<usize, Vec<String>>::new();
    for one in program.assembly.listing.lines() {
        let place = program.in_file(one.span).filter(|(at, _)| Some(*at) == index);
        let Some((_, range)) = place else { continue };
        let line = lines.line(range.start);
        let is_wanted = (wanted.start.line..=wanted.end.line).contains(&(line as u32));
        if let Some(label) = instruction_label(one).filter(|_| is_wanted) {
            labels.entry(line).or_default().push(label);
        }
    }
    let hint = |(line, labels): (usize, Vec<String>)| InlayHint {
        position: lines.position(lines.line_range(line).end),
        label: InlayHintLabel::String(labels.join("; ")),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    };
    labels.into_iter().map(hint).collect()
}

fn instruction_label(line: &ListingLine) -> Option<String> {
    let clocks = line.clocks?;
    let bytes: Vec<String> = line.bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    let clocks = match clocks.taken == clocks.not_taken {
        true => clocks.taken.to_string(),
        false => format!("{}/{}", clocks.taken, clocks.not_taken),
    };
    Some(format!("{}, {clocks} T", bytes.join(" ")))
}

/// Returns the T-states of each routine with an exported label, on its straight path.
pub(super) fn lenses(file: &File<'_>) -> Vec<CodeLens> {
    let lines = file.lines();
    let Some(program) = file.programs().next() else { return Vec::new() };
    let assembly = &program.assembly;
    let mut lenses = Vec::new();
    for place in program.references_in(&file.path) {
        let name = program.name(place.name);
        let is_routine = name.kind == NameKind::Label && name.exported;
        if !is_routine || place.role != ReferenceRole::Definition {
            continue;
        }
        let path = straight_path(&assembly.listing, &assembly.modules, &name.spelling);
        let Ok(found) = path else { continue };
        let title = format!(
            "{} T-states straight through, {} instructions, {} conditional",
            found.clocks, found.instructions, found.conditional
        );
        let command = Some(Command { title, ..Command::default() });
        lenses.push(CodeLens { range: lines.range(place.range()), command, data: None });
    }
    lenses
}

/// The commands, which the editor executes with the path of the file and the name of the case.
const RUN: (&str, &str) = ("Run test", "tdl.runTest");
const DEBUG: (&str, &str) = ("Debug test", "tdl.debugTest");

/// Returns the lenses of each case and each property of a test file; a property has no call to
/// debug.
pub(super) fn test_lenses(file: &File<'_>) -> Vec<CodeLens> {
    let lines = file.lines();
    let line = |at: usize| String::from_utf8_lossy(lines.get(at)).trim().to_owned();
    let mut found = Vec::new();
    for first in 0..lines.count() {
        let commands: &[_] = match line(first).split(']').next() {
            Some("[[case") => &[RUN, DEBUG],
            Some("[[property") => &[RUN],
            _ => continue,
        };
        let mut table =
            (first + 1..lines.count()).map(line).take_while(|line| !line.starts_with('['));
        let Some(name) = table.find_map(|line| name(&line)) else { continue };
        let range = lines.range(lines.line_range(first));
        found.extend(commands.iter().map(|(title, command)| CodeLens {
            range,
            command: Some(Command {
                title: (*title).to_owned(),
                command: (*command).to_owned(),
                arguments: Some(vec![file.path.display().to_string().into(), name.clone()]),
            }),
            data: None,
        }));
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
