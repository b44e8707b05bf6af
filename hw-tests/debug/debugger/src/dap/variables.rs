//! Variables: registers, flags, the panes that the program has added, and the machine's time.

use serde_json::{Value, json};

use super::response::{ResponseBody, memory_reference};
use super::types::Arguments;
use crate::commands::{self, parse_watch};
use crate::debugger::PaneVariable;
use crate::expression::format_number;
use crate::location;
use crate::{
    Debugger, FLAGS, REGISTER_NAMES, REGISTER_PAIRS, StopKind, WatchTarget,
    canonical_register_name, register_value,
};
use z80_core::parse_number;

/// Variables references of the scopes; those of panes follow.
const REGISTER_SCOPE: u64 = 1;
const FLAG_SCOPE: u64 = 2;
const MACHINE_SCOPE: u64 = 3;
const FIRST_PANE_SCOPE: u64 = 4;

/// Lists the scopes.
pub(super) fn scopes(debugger: &Debugger) -> Value {
    let panes = debugger.panes().map(|pane| pane.title()).zip(FIRST_PANE_SCOPE..);
    let all = [("Registers", REGISTER_SCOPE), ("Flags", FLAG_SCOPE)].into_iter();
    let all = all.chain(panes).chain([("Machine", MACHINE_SCOPE)]);
    let scope = |(name, reference)| json!({ "name": name, "variablesReference": reference, "expensive": false });
    json!({ "scopes": all.map(scope).collect::<Vec<Value>>() })
}

pub(super) fn list(debugger: &Debugger, arguments: &Arguments) -> ResponseBody {
    let all = scope_variables(debugger, arguments.variables_reference)?;
    let most = if arguments.count == 0 { all.len() } else { arguments.count };
    let chosen: Vec<Value> = all.into_iter().skip(arguments.start).take(most).collect();
    Ok(json!({ "variables": chosen }))
}

fn scope_variables(debugger: &Debugger, scope: u64) -> Result<Vec<Value>, String> {
    let registers = debugger.registers();
    let named = |name: &str| variable(name, register_value(&registers, name).unwrap_or(0));
    Ok(match scope {
        REGISTER_SCOPE => {
            let singles = REGISTER_NAMES.iter().filter(|name| !REGISTER_PAIRS.contains(name));
            REGISTER_PAIRS.iter().chain(singles).map(|name| named(name)).collect()
        }
        FLAG_SCOPE => FLAGS.iter().map(|(name, _)| named(name)).collect(),
        MACHINE_SCOPE => machine(debugger),
        pane => {
            let variables = pane_variables(debugger, pane).ok_or("unknown scope")?.into_iter();
            variables.map(|variable| pane_variable(debugger, variable)).collect()
        }
    })
}

/// The variables of the pane of a scope.
fn pane_variables(debugger: &Debugger, scope: u64) -> Option<Vec<PaneVariable>> {
    let index = usize::try_from(scope.checked_sub(FIRST_PANE_SCOPE)?).ok()?;
    Some(debugger.panes().nth(index)?.variables(debugger))
}

/// The expression of a variable, by the scope and the name; `None` for a read-only variable.
fn target_of(debugger: &Debugger, scope: u64, name: &str) -> Option<String> {
    match scope {
        REGISTER_SCOPE | FLAG_SCOPE => Some(name.to_owned()),
        _ => {
            let mut variables = pane_variables(debugger, scope)?.into_iter();
            variables.find(|variable| variable.name == name)?.expression
        }
    }
}

/// A variable of a pane; its memory is that of the operand, or at the address that is its value.
fn pane_variable(debugger: &Debugger, shown: PaneVariable) -> Value {
    let PaneVariable { name, value, expression } = shown;
    let Some(expression) = expression else { return read_only(&name, &value) };
    let address = location::parse(debugger, &expression).ok().map(|parsed| {
        let address = parsed.memory_operand().map_or(parsed, |(address, _)| address);
        memory_reference(address.value(&debugger.boards))
    });
    json!({
        "name": name, "value": value, "type": expression, "evaluateName": expression,
        "memoryReference": address, "variablesReference": 0
    })
}

fn variable(name: &str, number: u16) -> Value {
    json!({
        "name": name, "value": format_number(number), "evaluateName": name,
        "memoryReference": memory_reference(number), "variablesReference": 0
    })
}

/// A read-only variable.
fn read_only(name: &str, value: &str) -> Value {
    let hint = json!({ "attributes": ["readOnly"] });
    json!({ "name": name, "value": value, "presentationHint": hint, "variablesReference": 0 })
}

fn machine(debugger: &Debugger) -> Vec<Value> {
    let location = debugger.code().describe_address(debugger.registers().pc);
    vec![
        read_only("T-states", &debugger.clock().to_string()),
        read_only("instructions since the start", &debugger.step_count().to_string()),
        read_only("location", &location),
    ]
}

/// Sets a register, a flag, or a variable of a pane.
pub(super) fn set(debugger: &mut Debugger, arguments: &Arguments) -> ResponseBody {
    let Arguments { variables_reference, name, value, .. } = arguments;
    let number = parse_typed_value(debugger, value)?;
    let target = target_of(debugger, *variables_reference, name);
    let target = target.ok_or_else(|| format!("{name} can't be set"))?;
    let is_register = canonical_register_name(&target).is_some();
    // A negative number in a register of eight bits means its low byte.
    let is_byte = is_register && !REGISTER_PAIRS.contains(&target.as_str());
    let number = if is_byte && number >= 0xFF80 { number & 0xFF } else { number };
    commands::set(debugger, &format!("{target} = {number}"))?;
    let now = location::evaluate(debugger, &target)?;
    let reference = is_register.then(|| memory_reference(now));
    Ok(json!({ "value": format_number(now), "memoryReference": reference }))
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
pub(super) fn data_info(debugger: &Debugger, arguments: &Arguments) -> ResponseBody {
    let bytes = arguments.bytes.unwrap_or(1).max(1);
    let text = match arguments.variables_reference {
        _ if arguments.as_address => Some(format!("{},{bytes}", arguments.name)),
        0 => Some(arguments.name.clone()),
        scope => target_of(debugger, scope, &arguments.name),
    };
    let cannot = || format!("{} can't be watched", arguments.name);
    let watch = text.ok_or_else(cannot).and_then(|text| {
        let watch = parse_watch(debugger, &text)?;
        debugger.can_set(StopKind::Watchpoint(watch)).map(|()| watch)
    });
    let watch = match watch {
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
