//! Variables: registers, flags, the panes that the program has added, and the machine's time.

use serde_json::{Value, json};

use super::response::{ResponseBody, memory_reference};
use super::types::Arguments;
use crate::commands::{self, parse_watch};
use crate::debugger::PaneVariable;
use crate::expression::format_number;
use crate::{
    Debugger, FLAGS, REGISTER_NAMES, REGISTER_PAIRS, StopKind, WatchTarget,
    canonical_register_name, location, parse_number, register_value,
};

/// The scopes with their variables. Their references are numbered from 1.
fn all_scopes(debugger: &Debugger) -> Vec<(&str, Vec<PaneVariable>)> {
    let registers = debugger.registers();
    let register = |name: &&str| PaneVariable {
        name: (*name).to_owned(),
        value: format_number(register_value(&registers, name).unwrap_or(0)),
        expression: Some((*name).to_owned()),
    };
    let singles = REGISTER_NAMES.iter().filter(|name| !REGISTER_PAIRS.contains(name));
    let flags = FLAGS.iter().map(|(name, _)| register(name)).collect();
    let machine = [
        ("T-states", debugger.clock().to_string()),
        ("instructions since the start", debugger.step_count().to_string()),
        ("location", debugger.code().describe_address(registers.pc)),
    ];
    let machine = machine.map(|(name, value)| PaneVariable::read_only(name, value)).into();
    let mut all = vec![
        ("Registers", REGISTER_PAIRS.iter().chain(singles).map(register).collect()),
        ("Flags", flags),
    ];
    all.extend(debugger.panes().map(|pane| (pane.heading().title, pane.variables(debugger))));
    all.push(("Machine", machine));
    all
}

/// Lists the scopes.
pub(super) fn scopes(debugger: &Debugger) -> Value {
    let scope = |(reference, (name, _)): (u64, (&str, _))| json!({ "name": name, "variablesReference": reference, "expensive": false });
    json!({ "scopes": (1..).zip(all_scopes(debugger)).map(scope).collect::<Vec<Value>>() })
}

/// Returns the variables of a scope.
fn variables(debugger: &Debugger, scope: u64) -> Option<Vec<PaneVariable>> {
    let index = usize::try_from(scope.checked_sub(1)?).ok()?;
    all_scopes(debugger).into_iter().nth(index).map(|(_, variables)| variables)
}

pub(super) fn list(debugger: &Debugger, arguments: &Arguments) -> ResponseBody {
    let all = variables(debugger, arguments.variables_reference).ok_or("unknown scope")?;
    let most = if arguments.count == 0 { all.len() } else { arguments.count };
    let chosen = all.into_iter().skip(arguments.start).take(most);
    let chosen: Vec<Value> = chosen.map(|variable| shown(debugger, variable)).collect();
    Ok(json!({ "variables": chosen }))
}

/// The expression of a variable, by the scope and the name; `None` for a read-only variable.
fn target_of(debugger: &Debugger, scope: u64, name: &str) -> Option<String> {
    let mut variables = variables(debugger, scope)?.into_iter();
    variables.find(|variable| variable.name == name)?.expression
}

/// A variable; its memory is that of the operand, or at the address that is its value.
fn shown(debugger: &Debugger, variable: PaneVariable) -> Value {
    let PaneVariable { name, value, expression } = variable;
    let address = expression.as_ref().and_then(|text| location::parse(debugger, text).ok());
    let address = address.map(|parsed| {
        let address = parsed.memory_operand().map_or(parsed, |(address, _)| address);
        memory_reference(address.value(&debugger.boards))
    });
    let hint = expression.is_none().then(|| json!({ "attributes": ["readOnly"] }));
    json!({
        "name": name, "value": value, "type": expression, "evaluateName": expression,
        "memoryReference": address, "variablesReference": 0, "presentationHint": hint
    })
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
    commands::set(debugger, &format!("{target} = {number}"))?(debugger)?;
    let now = location::evaluate(debugger, &target)?;
    let reference = is_register.then(|| memory_reference(now));
    Ok(json!({ "value": format_number(now), "memoryReference": reference }))
}

/// Parses a typed value: an expression, a signed number, or a value as [`format_number`] shows it.
pub(super) fn parse_typed_value(debugger: &Debugger, text: &str) -> Result<u16, String> {
    let (text, is_shown) = text.split_once(" (").map_or((text, false), |(text, _)| (text, true));
    let text = text.trim();
    if let Some(value) = parse_number(text).filter(|_| is_shown) {
        return Ok(value);
    }
    if let Some(value) = text.strip_prefix('-').and_then(|text| parse_number(text.trim())) {
        return Ok(value.wrapping_neg());
    }
    location::evaluate(debugger, text.strip_prefix('+').unwrap_or(text)).map_err(|_| {
        format!("invalid value '{text}': expected one such as 12, 1FH, 0x1F, -1 or HL + 1")
    })
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
