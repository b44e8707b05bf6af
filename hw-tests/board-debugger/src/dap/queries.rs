//! Requests that are answered from what the debugger knows.

use serde::Serialize;
use serde_json::{Value, json};

use super::breakpoints::ClientBreakpoints;
use super::types::{Request, Source, SourceText, StackFrame, StackTrace};
use super::{memory, variables};
use crate::Debugger;
use crate::commands::value_text;
use crate::location;

/// The body of a response, or a message why there is none.
pub(super) type ResponseBody = Result<Value, String>;

/// A body as JSON.
pub(super) fn body(value: &impl Serialize) -> ResponseBody {
    serde_json::to_value(value).map_err(|error| error.to_string())
}

/// Answers a request.
pub(super) fn answer(
    debugger: &mut Debugger,
    marks: &mut ClientBreakpoints,
    request: &Request,
) -> ResponseBody {
    match request.command.as_str() {
        "threads" => Ok(json!({ "threads": [{ "id": super::THREAD, "name": "Z80" }] })),
        "stackTrace" => stack(debugger, &request.arguments()?),
        "scopes" => Ok(variables::scopes(debugger)),
        "variables" => variables::list(debugger, &request.arguments()?),
        "setVariable" => variables::set(debugger, &request.arguments()?),
        "source" => source(debugger, &request.arguments()?),
        "disassemble" => memory::disassembly(debugger, &request.arguments()?),
        "readMemory" => memory::read(debugger, &request.arguments()?),
        "writeMemory" => memory::write(debugger, &request.arguments()?),
        "setBreakpoints" => marks.set_lines(debugger, &request.arguments()?),
        "setFunctionBreakpoints" => marks.set_functions(debugger, &request.arguments()?),
        "setInstructionBreakpoints" => marks.set_instructions(debugger, &request.arguments()?),
        "setDataBreakpoints" => marks.set_data(debugger, &request.arguments()?),
        "setExceptionBreakpoints" => Ok(json!({ "breakpoints": [] })),
        "dataBreakpointInfo" => variables::data_info(debugger, &request.arguments()?),
        "breakpointLocations" => ClientBreakpoints::locations(debugger, &request.arguments()?),
        "pause" => Ok(Value::Null),
        command => Err(format!("{command} is not supported")),
    }
}

/// An address as clients pass it back.
pub(super) fn reference(address: u16) -> String {
    format!("0x{address:04X}")
}

/// The value of an expression.
pub(super) fn evaluate(debugger: &Debugger, expression: &str) -> ResponseBody {
    let value = location::value(debugger, expression)?;
    let shown = variables::value(value);
    let kind = value_text(debugger, value);
    Ok(json!({
        "result": shown, "type": kind, "variablesReference": 0, "memoryReference": reference(value)
    }))
}

/// The running instruction's frame, and those of the open calls.
fn stack(debugger: &Debugger, wanted: &StackTrace) -> ResponseBody {
    let here = (debugger.registers().pc, true);
    let callers = debugger.calls();
    let callers = callers.iter().map(|call| (call.site, call.was_seen));
    let all: Vec<(u16, bool)> = [here].into_iter().chain(callers).collect();
    // 0 levels are all.
    let most = if wanted.levels == 0 { all.len() } else { wanted.levels };
    let chosen = all.iter().enumerate().skip(wanted.start_frame).take(most);
    let frames: Vec<StackFrame> =
        chosen.map(|(id, (at, was_seen))| frame(debugger, id, *at, *was_seen)).collect();
    Ok(json!({ "stackFrames": body(&frames)?, "totalFrames": all.len() }))
}

fn frame(debugger: &Debugger, id: usize, at: u16, was_seen: bool) -> StackFrame {
    let code = debugger.code();
    let line = code.line_at(at);
    StackFrame {
        id,
        name: code.name_of(at),
        source: line.map(|line| source_of(debugger, &line.place.file)),
        line: line.map_or(0, |line| line.place.line),
        column: u32::from(line.is_some()),
        instruction_pointer_reference: reference(at),
        presentation_hint: (!was_seen).then_some("subtle"),
    }
}

/// A source: the user's own file where it is on the disk, or else a number by which the adapter
/// gives out the text.
pub(super) fn source_of(debugger: &Debugger, file: &str) -> Source {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned();
    if let Some(path) = debugger.code().path(file) {
        let path = Some(path.display().to_string());
        return Source { name: Some(name), path, source_reference: None };
    }
    let number = debugger.code().files().iter().position(|one| *one == file);
    let source_reference = number.map(|number| number as u64 + 1);
    Source { name: Some(name), path: None, source_reference }
}

/// The name of the source that a client means.
pub(super) fn source_name(debugger: &Debugger, source: &Source) -> Option<String> {
    let number = source.source_reference.and_then(|number| number.checked_sub(1));
    let files = debugger.code().files();
    let known = number.and_then(|number| files.get(number as usize)).map(|file| (*file).to_owned());
    known.or_else(|| source.path.clone()).or_else(|| source.name.clone())
}

fn source(debugger: &Debugger, wanted: &SourceText) -> ResponseBody {
    let mut source = wanted.source.clone();
    let given = source.source_reference.filter(|number| *number > 0);
    source.source_reference = given.or(wanted.source_reference);
    let name = source_name(debugger, &source).ok_or("there is no such source")?;
    let code = debugger.code();
    let file = code.file_named(&name).ok_or_else(|| {
        format!("no program on the board is made of {name}; there are {}", code.files().join(", "))
    })?;
    let text = code.text(file);
    if text.is_empty() {
        return Err(format!("the text of {file} can't be read"));
    }
    Ok(json!({ "content": text.join("\n") + "\n" }))
}
