//! Variables: registers, flags, register roles (Table 2), the attackers array, the machine's time
//! and the evaluator's position.

use serde_json::{Value, json};

use super::response::{ResponseBody, memory_reference, to_body};
use super::types::{
    DataBreakpointInfoArguments, PresentationHint, SetVariableArguments, Variable,
    VariablesArguments,
};
use crate::commands::{parse_watch, set_register_or_flag};
pub(super) use crate::expression::format_number;
use crate::location;
use crate::render::{ARRAY, format_attackers, position_lines};
use crate::{
    Debugger, FLAGS, REGISTER_NAMES, REGISTER_PAIRS, WatchTarget, register_value,
    xchng_register_roles,
};
use z80_core::parse_number;

/// Variables references of the scopes.
const REGISTER_SCOPE: u64 = 1;
const FLAG_SCOPE: u64 = 2;
const ROLE_SCOPE: u64 = 3;
const ARRAY_SCOPE: u64 = 4;
const MACHINE_SCOPE: u64 = 5;
const POSITION_SCOPE: u64 = 6;
/// The names of the bytes in a section of the attackers array.
const SECTION_BYTE_NAMES: [&str; 7] =
    ["count", "pawns", "knights", "bishops", "rooks", "queens", "kings"];

/// Lists the scopes; those of the evaluator only if the program contains it.
pub(super) fn scopes(debugger: &Debugger) -> Value {
    let has_array = debugger.code().symbol("ATKLST").is_some();
    let all = [
        ("Registers", REGISTER_SCOPE, true),
        ("Flags", FLAG_SCOPE, true),
        ("Table 2", ROLE_SCOPE, has_array),
        ("Attackers array", ARRAY_SCOPE, has_array),
        ("Position", POSITION_SCOPE, debugger.code().symbol("BOARDA").is_some()),
        ("Machine", MACHINE_SCOPE, true),
    ];
    let scope = |(name, reference, _): (&str, u64, bool)| {
        json!({
            "name": name, "variablesReference": reference, "expensive": false
        })
    };
    let scopes: Vec<Value> =
        all.into_iter().filter(|(_, _, is_there)| *is_there).map(scope).collect();
    json!({ "scopes": scopes })
}

pub(super) fn list(debugger: &Debugger, arguments: &VariablesArguments) -> ResponseBody {
    let all = scope_variables(debugger, arguments.variables_reference)?;
    let most = if arguments.count == 0 { all.len() } else { arguments.count };
    let chosen: Vec<Variable> = all.into_iter().skip(arguments.start).take(most).collect();
    Ok(json!({ "variables": to_body(&chosen)? }))
}

fn scope_variables(debugger: &Debugger, scope: u64) -> Result<Vec<Variable>, String> {
    let registers = debugger.registers();
    let named = |name: &str| variable(name, register_value(&registers, name).unwrap_or(0));
    Ok(match scope {
        REGISTER_SCOPE => {
            let singles = REGISTER_NAMES.iter().filter(|name| !REGISTER_PAIRS.contains(name));
            REGISTER_PAIRS.iter().chain(singles).map(|name| named(name)).collect()
        }
        FLAG_SCOPE => FLAGS.iter().map(|(name, _)| named(name)).collect(),
        ROLE_SCOPE => roles(debugger),
        ARRAY_SCOPE => array(debugger),
        POSITION_SCOPE => position(debugger),
        MACHINE_SCOPE => machine(debugger),
        _ => return Err("unknown scope".to_owned()),
    })
}

fn variable(name: &str, number: u16) -> Variable {
    Variable {
        name: name.to_owned(),
        value: format_number(number),
        evaluate_name: Some(name.to_owned()),
        memory_reference: Some(memory_reference(number)),
        ..Variable::default()
    }
}

/// A read-only variable.
fn read_only(name: &str, value: String) -> Variable {
    let presentation_hint = Some(PresentationHint { attributes: vec!["readOnly"] });
    Variable { name: name.to_owned(), value, presentation_hint, ..Variable::default() }
}

/// The registers by role; the residue is signed.
fn roles(debugger: &Debugger) -> Vec<Variable> {
    let shown = |role: crate::RegisterRole| {
        let mut shown = variable(role.meaning, role.value);
        if role.meaning == "residue" {
            shown.value = format!("{:02X}H ({})", role.value, role.value as u8 as i8);
        }
        let register = Some(role.register);
        Variable { kind: register.clone(), evaluate_name: register, ..shown }
    };
    xchng_register_roles(&debugger.registers(), debugger.code()).into_iter().map(shown).collect()
}

/// The attackers array: each side as pieces, then its bytes.
fn array(debugger: &Debugger) -> Vec<Variable> {
    let Some(at) = debugger.code().symbol("ATKLST") else { return Vec::new() };
    let bytes = debugger.dump(at, usize::from(ARRAY));
    let (white, black) = bytes.split_at(SECTION_BYTE_NAMES.len());
    let mut all = vec![
        read_only("White", format_attackers(white)),
        read_only("Black", format_attackers(black)),
    ];
    all.extend(array_bytes().into_iter().zip(at..).map(|(name, at)| {
        let shown = variable(&name, debugger.peek(at).into());
        let evaluate_name = Some(format!("[{at}]"));
        Variable { memory_reference: Some(memory_reference(at)), evaluate_name, ..shown }
    }));
    all
}

/// The names of the array's bytes, in order of addresses.
fn array_bytes() -> Vec<String> {
    let sides = ["White", "Black"].into_iter();
    sides.flat_map(|side| SECTION_BYTE_NAMES.map(|name| format!("{side}: {name}"))).collect()
}

/// The address of a byte of the array by name.
fn array_byte(debugger: &Debugger, name: &str) -> Option<u16> {
    let offset = array_bytes().iter().position(|other| other == name)?;
    Some(debugger.code().symbol("ATKLST")?.wrapping_add(offset as u16))
}

/// The register that currently has a role of Table 2.
fn register_of(debugger: &Debugger, meaning: &str) -> Option<String> {
    let mut roles = xchng_register_roles(&debugger.registers(), debugger.code()).into_iter();
    roles.find(|role| role.meaning == meaning).map(|role| role.register)
}

fn machine(debugger: &Debugger) -> Vec<Variable> {
    let location = debugger.code().describe_address(debugger.registers().pc);
    vec![
        read_only("T-states", debugger.clock().to_string()),
        read_only("instructions since the start", debugger.step_count().to_string()),
        read_only("location", location),
    ]
}

/// The ranks of the evaluator's position.
fn position(debugger: &Debugger) -> Vec<Variable> {
    // The row after the eight ranks names the files.
    let ranks = position_lines(debugger).into_iter().take(8);
    let rank = |row: String| {
        let (rank, squares) = row.split_at(1);
        read_only(&format!("rank {rank}"), squares.to_owned())
    };
    ranks.map(rank).collect()
}

pub(super) fn set(debugger: &mut Debugger, arguments: &SetVariableArguments) -> ResponseBody {
    let none = || format!("{} can't be set", arguments.name);
    debugger.can_modify()?;
    let number = parse_typed_value(debugger, &arguments.value)?;
    let name = match arguments.variables_reference {
        ROLE_SCOPE => register_of(debugger, &arguments.name).ok_or_else(none)?,
        ARRAY_SCOPE => {
            let at = array_byte(debugger, &arguments.name).ok_or_else(none)?;
            let byte = u8::try_from(number);
            let byte = byte.map_err(|_| format!("{number} does not fit a byte"))?;
            debugger.poke(at, &[byte]);
            return Ok(json!({ "value": format_number(number) }));
        }
        REGISTER_SCOPE | FLAG_SCOPE => arguments.name.clone(),
        _ => return Err(none()),
    };
    // A negative number in a register of eight bits means its low byte.
    let is_byte = !REGISTER_PAIRS.contains(&name.as_str());
    let number = if is_byte && number >= 0xFF80 { number & 0xFF } else { number };
    set_register_or_flag(debugger, &name, &number.to_string())?;
    let now = register_value(&debugger.registers(), &name).unwrap_or(0);
    Ok(json!({ "value": format_number(now), "memoryReference": memory_reference(now) }))
}

/// Parses a typed value: an expression, a signed number, or a value as [`format_number`] shows it.
pub(super) fn parse_typed_value(debugger: &Debugger, text: &str) -> Result<u16, String> {
    let (text, is_shown) = text.split_once(" (").map_or((text, false), |(text, _)| (text, true));
    let text = text.trim();
    // Shown values, unlike numbers in expressions, may begin with a letter.
    let digits = text.strip_suffix('H').filter(|digits| matches!(digits.len(), 2 | 4));
    let shown = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    if let Some(value) = shown.filter(|_| is_shown) {
        return Ok(value);
    }
    if let Some(value) = text.strip_prefix('-').and_then(|text| parse_number(text.trim())) {
        return Ok(value.wrapping_neg());
    }
    location::evaluate(debugger, text.strip_prefix('+').unwrap_or(text)).ok().or(shown).ok_or_else(
        || format!("invalid value '{text}': expected one such as 12, 1FH, 0x1F, -1 or HL + 1"),
    )
}

/// Handles `dataBreakpointInfo`: for a variable, an address range, or any argument of the command
/// `watch`, such as a label or a port.
pub(super) fn data_info(
    debugger: &Debugger,
    arguments: &DataBreakpointInfoArguments,
) -> ResponseBody {
    if let Err(description) = debugger.can_set_watchpoint() {
        return Ok(json!({ "dataId": null, "description": description }));
    }
    let bytes = arguments.bytes.unwrap_or(1).max(1);
    let text = match arguments.variables_reference {
        _ if arguments.as_address => Some(format!("{},{bytes}", arguments.name)),
        Some(ROLE_SCOPE) => register_of(debugger, &arguments.name),
        Some(ARRAY_SCOPE) => array_byte(debugger, &arguments.name).map(memory_reference),
        Some(POSITION_SCOPE | MACHINE_SCOPE) => None,
        _ => Some(arguments.name.clone()),
    };
    let cannot = || format!("{} can't be watched", arguments.name);
    let watch = match text.ok_or_else(cannot).and_then(|text| parse_watch(debugger, &text)) {
        Ok(watch) => watch,
        Err(description) => return Ok(json!({ "dataId": null, "description": description })),
    };
    // The address, not the expression, whose value may be another one when the client sets it.
    let place = format!("{},{}", memory_reference(watch.first), watch.count);
    let (id, access) = match watch.target {
        WatchTarget::Register(name) => (name.to_owned(), json!(["write"])),
        WatchTarget::Memory => (place, json!(["read", "write", "readWrite"])),
        WatchTarget::Ports => (format!("port {place}"), json!(["read", "write", "readWrite"])),
    };
    // The client chooses the kind of access.
    let description = crate::render::watched(debugger, &watch);
    let description = description.trim_start_matches("writes of ");
    Ok(json!({
        "dataId": id, "description": description, "accessTypes": access, "canPersist": true
    }))
}
