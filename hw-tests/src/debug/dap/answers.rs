//! Requests of the Debug Adapter Protocol that are answered while the board stands.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::show;
use crate::debug::condition::number;
use crate::debug::{BreakId, Condition, Debugger, Watch, WatchId, set_register};

/// The body of a response, or what is wrong.
pub(super) type Answer = Result<Value, String>;

/// What the client has set: each request of a kind replaces what the one before it set.
#[derive(Debug, Default)]
pub(super) struct Marks {
    breaks: HashMap<String, Vec<BreakId>>,
    watches: Vec<WatchId>,
}

/// Answers a request.
pub(super) fn answer(
    debugger: &mut Debugger,
    marks: &mut Marks,
    command: &str,
    arguments: &Value,
) -> Answer {
    match command {
        "threads" => Ok(json!({ "threads": [{ "id": super::THREAD, "name": "Z80" }] })),
        "stackTrace" => Ok(show::stack(debugger)),
        "scopes" => Ok(show::scopes()),
        "variables" => show::variables(debugger, arguments["variablesReference"].as_u64()),
        "source" => show::source(debugger, arguments),
        "disassemble" => show::disassembly(debugger, arguments),
        "setBreakpoints" => line_breaks(debugger, marks, arguments),
        "setFunctionBreakpoints" => breaks_at(debugger, marks, arguments, "name"),
        "setInstructionBreakpoints" => {
            breaks_at(debugger, marks, arguments, "instructionReference")
        }
        "setExceptionBreakpoints" => Ok(json!({ "breakpoints": [] })),
        "dataBreakpointInfo" => data_info(debugger, arguments),
        "setDataBreakpoints" => data_breaks(debugger, marks, arguments),
        "evaluate" => evaluate(debugger, arguments),
        "setVariable" => set_variable(debugger, arguments),
        "readMemory" => read_memory(debugger, arguments),
        "writeMemory" => write_memory(debugger, arguments),
        "pause" => Ok(Value::Null),
        _ => Err(format!("{command} is not supported")),
    }
}

/// The condition of a breakpoint, if it has one.
fn condition(debugger: &Debugger, wanted: &Value) -> Result<Option<Condition>, String> {
    let text = wanted["condition"].as_str().filter(|text| !text.trim().is_empty());
    let parse = |text| Condition::parse(text, debugger.code()).map_err(|error| error.to_string());
    text.map(parse).transpose()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn refused(message: String) -> Value {
    json!({ "verified": false, "message": message })
}

fn line_breaks(debugger: &mut Debugger, marks: &mut Marks, arguments: &Value) -> Answer {
    let file = show::source_name(debugger, &arguments["source"]).ok_or("which source?")?;
    marks.clear(debugger, &file);
    let mut answers = Vec::new();
    for wanted in list(&arguments["breakpoints"]) {
        let line = wanted["line"].as_u64().unwrap_or(0) as u32;
        let found = debugger.code().breakable(&file, line);
        answers.push(match (condition(debugger, wanted), found) {
            (Err(error), _) => refused(error),
            (_, None) => refused(format!("{file} has no instruction from line {line} on")),
            (Ok(condition), Some((line, places))) => {
                for at in places {
                    marks.set(debugger, &file, at, condition.clone());
                }
                json!({ "verified": true, "line": line })
            }
        });
    }
    Ok(json!({ "breakpoints": answers }))
}

/// Breakpoints on labels or addresses.
fn breaks_at(debugger: &mut Debugger, marks: &mut Marks, arguments: &Value, key: &str) -> Answer {
    marks.clear(debugger, key);
    let mut answers = Vec::new();
    for wanted in list(&arguments["breakpoints"]) {
        let name = wanted[key].as_str().unwrap_or_default();
        let at = place(debugger, name).map(|at| at.wrapping_add(offset(wanted)));
        answers.push(match (condition(debugger, wanted), at) {
            (Err(error), _) => refused(error),
            (_, None) => refused(format!("there is no label {name}")),
            (Ok(condition), Some(at)) => {
                marks.set(debugger, key, at, condition);
                json!({ "verified": true, "instructionReference": show::reference(at) })
            }
        });
    }
    Ok(json!({ "breakpoints": answers }))
}

impl Marks {
    fn clear(&mut self, debugger: &mut Debugger, key: &str) {
        for id in self.breaks.remove(key).unwrap_or_default() {
            debugger.stops.remove_break(id);
        }
    }

    fn set(&mut self, debugger: &mut Debugger, key: &str, at: u16, condition: Option<Condition>) {
        let id = debugger.stops.add_break(at, condition);
        self.breaks.entry(key.to_owned()).or_default().push(id);
    }
}

/// The address that a reference or a label stands for.
fn place(debugger: &Debugger, text: &str) -> Option<u16> {
    number(text).or_else(|| debugger.code().symbol(text))
}

/// The offset of a request, in bytes.
fn offset(wanted: &Value) -> u16 {
    wanted["offset"].as_i64().unwrap_or(0) as u16
}

/// What can be watched: a label or an address (`M3`, `ATKLST,14`), or a port (`port 81H`).
fn watched(debugger: &Debugger, name: &str) -> Option<Watch> {
    let (is_port, rest) = match name.trim().strip_prefix("port ") {
        Some(port) => (true, port.trim()),
        None => (false, name.trim()),
    };
    let (first, count) = rest.split_once(',').unwrap_or((rest, "1"));
    let first = place(debugger, first.trim())?;
    let count = count.trim().parse().ok().filter(|count| *count > 0)?;
    Some(Watch { is_port, first, count, reads: false, writes: true })
}

fn data_info(debugger: &Debugger, arguments: &Value) -> Answer {
    let name = arguments["name"].as_str().unwrap_or_default();
    let id = watched(debugger, name).map_or(Value::Null, |_| name.into());
    let description =
        if id.is_null() { format!("{name} is no label, address or port") } else { name.to_owned() };
    let access = json!(["read", "write", "readWrite"]);
    Ok(json!({ "dataId": id, "description": description, "accessTypes": access }))
}

fn data_breaks(debugger: &mut Debugger, marks: &mut Marks, arguments: &Value) -> Answer {
    for id in std::mem::take(&mut marks.watches) {
        debugger.stops.remove_watch(id);
    }
    let mut answers = Vec::new();
    for wanted in list(&arguments["breakpoints"]) {
        let name = wanted["dataId"].as_str().unwrap_or_default();
        let kind = wanted["accessType"].as_str().unwrap_or("write");
        answers.push(match watched(debugger, name) {
            None => refused(format!("{name} is no label, address or port")),
            Some(watch) => {
                let (reads, writes) = (kind != "write", kind != "read");
                marks.watches.push(debugger.stops.add_watch(Watch { reads, writes, ..watch }));
                json!({ "verified": true })
            }
        });
    }
    Ok(json!({ "breakpoints": answers }))
}

fn evaluate(debugger: &Debugger, arguments: &Value) -> Answer {
    let text = arguments["expression"].as_str().unwrap_or_default();
    let expression = Condition::parse(text, debugger.code()).map_err(|error| error.to_string())?;
    let value = expression.value(&debugger.registers(), &|at| debugger.peek(at));
    let result = show::value(value);
    Ok(
        json!({ "result": result, "variablesReference": 0, "memoryReference": show::reference(value) }),
    )
}

fn set_variable(debugger: &mut Debugger, arguments: &Value) -> Answer {
    let name = arguments["name"].as_str().unwrap_or_default();
    let value = arguments["value"].as_str().and_then(|text| number(text.trim()));
    let value = value.ok_or("a value is a number such as 12, 1FH or 0x1F")?;
    let mut registers = debugger.registers();
    if !set_register(&mut registers, name, value) {
        return Err(format!("{name} can't be set; registers of sixteen bits can"));
    }
    debugger.set_registers(&registers);
    Ok(json!({ "value": show::value(value) }))
}

fn read_memory(debugger: &Debugger, arguments: &Value) -> Answer {
    let at = memory_place(debugger, arguments)?;
    let count = arguments["count"].as_u64().unwrap_or(0).min(0x1_0000) as usize;
    let data = base64::encode(&debugger.dump(at, count));
    Ok(json!({ "address": show::reference(at), "data": data }))
}

fn write_memory(debugger: &mut Debugger, arguments: &Value) -> Answer {
    let at = memory_place(debugger, arguments)?;
    let data =
        arguments["data"].as_str().and_then(base64::decode).ok_or("the data is no base64")?;
    debugger.poke(at, &data);
    Ok(json!({ "bytesWritten": data.len() }))
}

fn memory_place(debugger: &Debugger, arguments: &Value) -> Result<u16, String> {
    let text = arguments["memoryReference"].as_str().unwrap_or_default();
    let at = place(debugger, text).ok_or_else(|| format!("{text} is no address"))?;
    Ok(at.wrapping_add(offset(arguments)))
}

/// Base64 as in RFC 4648, section 4.
mod base64 {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    pub(super) fn encode(bytes: &[u8]) -> String {
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let word =
                (0..3).fold(0u32, |word, at| word << 8 | u32::from(*chunk.get(at).unwrap_or(&0)));
            for at in 0..4 {
                let digit = DIGITS[(word >> (18 - 6 * at) & 63) as usize];
                text.push(if at <= chunk.len() { char::from(digit) } else { '=' });
            }
        }
        text
    }

    pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
        let digits: Option<Vec<u32>> = (text.trim_end_matches('=').bytes())
            .map(|byte| DIGITS.iter().position(|digit| *digit == byte).map(|at| at as u32))
            .collect();
        let chunk = |chunk: &[u32]| {
            let word = (0..4).fold(0, |word, at| word << 6 | chunk.get(at).unwrap_or(&0));
            word.to_be_bytes()[1..chunk.len().max(1)].to_vec()
        };
        Some(digits?.chunks(4).flat_map(chunk).collect())
    }
}
