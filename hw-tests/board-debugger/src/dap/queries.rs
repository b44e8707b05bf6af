//! Handles requests that read or change the debugger's state without running the board.

use serde_json::{Value, json};

use super::breakpoints::ClientBreakpoints;
use super::response::{ResponseBody, THREAD_ID, memory_reference, source_name, source_of, to_body};
use super::types::{Request, SourceArguments, StackFrame, StackTraceArguments};
use super::{memory, variables};
use crate::commands::{self, format_value};
use crate::{Debugger, location};

pub(super) fn handle(
    debugger: &mut Debugger,
    marks: &mut ClientBreakpoints,
    request: &Request,
) -> ResponseBody {
    match request.command.as_str() {
        "threads" => Ok(json!({ "threads": [{ "id": THREAD_ID, "name": "Z80" }] })),
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

pub(super) fn evaluate(debugger: &Debugger, expression: &str) -> ResponseBody {
    let value = match location::evaluate(debugger, expression) {
        Ok(value) => value,
        // Arrays and texts have no number.
        Err(problem) => {
            let shown = commands::evaluate(debugger, expression).map_err(|_| problem)?;
            return Ok(json!({ "result": shown, "variablesReference": 0 }));
        }
    };
    let shown = variables::format_number(value);
    let kind = format_value(debugger, value);
    Ok(json!({
        "result": shown, "type": kind, "variablesReference": 0,
        "memoryReference": memory_reference(value)
    }))
}

/// Lists the frames of PC and of the open calls.
fn stack(debugger: &Debugger, wanted: &StackTraceArguments) -> ResponseBody {
    let here = (debugger.registers().pc, true);
    let callers = debugger.calls();
    let callers = callers.iter().map(|call| (call.site, call.was_seen));
    let all: Vec<(u16, bool)> = [here].into_iter().chain(callers).collect();
    // 0 means all levels.
    let most = if wanted.levels == 0 { all.len() } else { wanted.levels };
    let chosen = all.iter().enumerate().skip(wanted.start_frame).take(most);
    let frames: Vec<StackFrame> =
        chosen.map(|(id, (at, was_seen))| frame(debugger, id, *at, *was_seen)).collect();
    Ok(json!({ "stackFrames": to_body(&frames)?, "totalFrames": all.len() }))
}

fn frame(debugger: &Debugger, id: usize, at: u16, was_seen: bool) -> StackFrame {
    let code = debugger.code();
    let line = code.line_at(at);
    StackFrame {
        id,
        name: code.address_name(at),
        source: line.map(|line| source_of(debugger, &line.place.file)),
        line: line.map_or(0, |line| line.place.line),
        column: u32::from(line.is_some()),
        instruction_pointer_reference: memory_reference(at),
        presentation_hint: (!was_seen).then_some("subtle"),
    }
}

fn source(debugger: &Debugger, wanted: &SourceArguments) -> ResponseBody {
    let mut source = wanted.source.clone();
    let given = source.source_reference.filter(|number| *number > 0);
    source.source_reference = given.or(wanted.source_reference);
    let name = source_name(debugger, &source).ok_or("unknown source")?;
    let code = debugger.code();
    let file = code.file_named(&name).ok_or_else(|| {
        format!(
            "no program on the board has the source file {name}; known files: {}",
            code.files().join(", ")
        )
    })?;
    let text = code.text(file);
    if text.is_empty() {
        return Err(format!("the text of {file} can't be read"));
    }
    Ok(json!({ "content": text.join("\n") + "\n" }))
}
