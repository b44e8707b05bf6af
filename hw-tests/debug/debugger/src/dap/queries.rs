//! Handles requests that read or change the debugger's state without running the board.

use serde_json::{Value, json};

use super::breakpoints::{self, ClientBreakpoints, Kind};
use super::response::{ResponseBody, THREAD_ID, memory_reference, source_name, source_of};
use super::types::{Arguments, Request};
use super::{memory, variables};
use crate::commands::{self, format_value};
use crate::expression::{format_number, format_signed};
use crate::{Debugger, location};

pub(super) fn handle(
    debugger: &mut Debugger,
    client_breakpoints: &mut ClientBreakpoints,
    request: &Request,
) -> ResponseBody {
    let arguments: &Arguments = &request.arguments()?;
    let mut set = |kind, debugger| client_breakpoints.set(debugger, kind, &arguments.breakpoints);
    match request.command.as_str() {
        "threads" => Ok(json!({ "threads": [{ "id": THREAD_ID, "name": "Z80" }] })),
        "stackTrace" => stack(debugger, arguments),
        "scopes" => Ok(variables::scopes(debugger)),
        "variables" => variables::list(debugger, arguments),
        "setVariable" => variables::set(debugger, arguments),
        "setExpression" => set_expression(debugger, arguments),
        "completions" => completions(debugger, arguments),
        "loadedSources" => loaded_sources(debugger),
        "gotoTargets" => goto_targets(debugger, arguments),
        "source" => source(debugger, arguments),
        "disassemble" => memory::disassembly(debugger, arguments),
        "readMemory" => memory::read(debugger, arguments),
        "writeMemory" => memory::write(debugger, arguments),
        "setBreakpoints" => set(Kind::lines(debugger, arguments)?, debugger),
        "setFunctionBreakpoints" => set(Kind::Functions, debugger),
        "setInstructionBreakpoints" => set(Kind::Instructions, debugger),
        "setDataBreakpoints" => set(Kind::Data, debugger),
        "setExceptionBreakpoints" => Ok(json!({ "breakpoints": [] })),
        "dataBreakpointInfo" => variables::data_info(debugger, arguments),
        "breakpointLocations" => breakpoints::locations(debugger, arguments),
        "pause" => Ok(Value::Null),
        command => Err(format!("{command} is not supported")),
    }
}

pub(super) fn evaluate(debugger: &Debugger, expression: &str) -> ResponseBody {
    let (shown, number) = match location::evaluate_signed(debugger, expression) {
        Ok(value) => (format_signed(value), u16::try_from(value).ok()),
        // Arrays and texts have no number.
        Err(problem) => (commands::evaluate(debugger, expression).map_err(|_| problem)?, None),
    };
    Ok(json!({
        "result": shown, "variablesReference": 0,
        "type": number.map(|value| format_value(debugger, value)),
        "memoryReference": number.map(memory_reference)
    }))
}

/// Assigns to a register, a flag, `[x]` or `{x}`.
fn set_expression(debugger: &mut Debugger, arguments: &Arguments) -> ResponseBody {
    let Arguments { expression, value, .. } = arguments;
    let value = variables::parse_typed_value(debugger, value)?;
    commands::set(debugger, &format!("{expression} = {value}"))?(debugger)?;
    let value = location::evaluate(debugger, expression)?;
    Ok(json!({ "value": format_number(value) }))
}

/// Completes the name before the cursor.
fn completions(debugger: &Debugger, arguments: &Arguments) -> ResponseBody {
    let units: Vec<u16> =
        arguments.text.encode_utf16().take(arguments.column.saturating_sub(1)).collect();
    let text = String::from_utf16_lossy(&units);
    let (start, known) = commands::completions(debugger, &text);
    let length = text.len() - start;
    // The protocol counts units of UTF-16.
    let start = text[..start].encode_utf16().count();
    let targets: Vec<Value> = (known.into_iter())
        .map(|(label, kind)| {
            json!({ "label": label, "type": kind, "start": start, "length": length })
        })
        .collect();
    Ok(json!({ "targets": targets }))
}

fn loaded_sources(debugger: &Debugger) -> ResponseBody {
    let files = debugger.code().files();
    let sources: Vec<_> = files.into_iter().map(|file| source_of(debugger, file)).collect();
    Ok(json!({ "sources": sources }))
}

/// Lists the instructions of a line, to which PC can be set; their ids are the addresses.
fn goto_targets(debugger: &Debugger, arguments: &Arguments) -> ResponseBody {
    let file = source_name(debugger, &arguments.source)?;
    let found = location::resolve_line(debugger, &file, arguments.line)?;
    let target = |at: &u16| {
        let line = debugger.code().line_at(*at).map_or(arguments.line, |line| line.place.line);
        json!({
            "id": at, "label": debugger.code().address_name(*at), "line": line,
            "instructionPointerReference": memory_reference(*at)
        })
    };
    let targets: Vec<Value> = found.addresses.iter().map(target).collect();
    Ok(json!({ "targets": targets }))
}

/// Lists the frames of PC and of the open calls.
fn stack(debugger: &Debugger, arguments: &Arguments) -> ResponseBody {
    let callers = debugger.calls().into_iter().map(|call| (call.site, call.was_seen));
    let all: Vec<_> = [(debugger.registers().pc, true)].into_iter().chain(callers).collect();
    // 0 means all levels.
    let most = if arguments.levels == 0 { all.len() } else { arguments.levels };
    let chosen = all.iter().enumerate().skip(arguments.start_frame).take(most);
    let frames = chosen.map(|(id, (at, was_seen))| frame(debugger, id, *at, *was_seen));
    let frames: Vec<Value> = frames.collect();
    Ok(json!({ "stackFrames": frames, "totalFrames": all.len() }))
}

fn frame(debugger: &Debugger, id: usize, at: u16, was_seen: bool) -> Value {
    let code = debugger.code();
    let line = code.line_at(at);
    json!({
        "id": id, "name": code.address_name(at),
        "source": line.map(|line| source_of(debugger, &line.place.file)),
        "line": line.map_or(0, |line| line.place.line), "column": u32::from(line.is_some()),
        "instructionPointerReference": memory_reference(at),
        "presentationHint": (!was_seen).then_some("subtle")
    })
}

fn source(debugger: &Debugger, arguments: &Arguments) -> ResponseBody {
    let mut source = arguments.source.clone();
    let given = source.source_reference.filter(|number| *number > 0);
    source.source_reference = given.or(arguments.source_reference);
    let name = source_name(debugger, &source)?;
    let code = debugger.code();
    let file = code.find_file(&name).map_err(|error| error.to_string())?;
    let text = code.text(file);
    if text.is_empty() {
        return Err(format!("the text of {file} can't be read"));
    }
    Ok(json!({ "content": text.join("\n") + "\n" }))
}
