//! Commands that modify registers, flags and memory, or send input to the board.

use crate::debugger::Debugger;
use crate::location;
use cli_support::text::unescape;
use z80_core::{register_value, set_register};

/// Executes `REGISTER = X`, `FLAG = X`, `[ADDRESS] = X Y Z` or `{ADDRESS} = X`, a word; the `=` is
/// optional.
pub(crate) fn set(debugger: &mut Debugger, text: &str) -> Result<String, String> {
    debugger.can_modify()?;
    let form = || {
        "invalid arguments: expected WHAT = X, as in set HL = 8000H, set FZ = 1 or set [M3] = 41H"
            .to_owned()
    };
    if let Some((address, value)) = text.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        let at = location::resolve_address(debugger, address)?;
        let value = value.trim_start().trim_start_matches('=');
        let word = location::evaluate(debugger, value)?;
        debugger.poke(at, &word.to_le_bytes());
        return Ok(format!("{word:04X}H at {at:04X}H"));
    }
    if text.starts_with('[') {
        let close = closing_bracket(text).ok_or_else(form)?;
        let at = location::resolve_address(debugger, &text[1..close])?;
        let values = text[close + 1..].trim_start().trim_start_matches('=');
        let bytes = parse_bytes(debugger, values)?;
        if bytes.is_empty() {
            return Err(form());
        }
        debugger.poke(at, &bytes);
        return Ok(format!("{} bytes at {at:04X}H", bytes.len()));
    }
    let (name, value) =
        text.split_once('=').or_else(|| text.split_once(char::is_whitespace)).ok_or_else(form)?;
    set_register_or_flag(debugger, name.trim(), value)
}

fn set_register_or_flag(
    debugger: &mut Debugger,
    name: &str,
    value: &str,
) -> Result<String, String> {
    let number = location::evaluate(debugger, value)?;
    let (enabled, mode) = debugger.interrupt_state();
    let state = match name.to_ascii_uppercase().as_str() {
        "IFF" => Some((1, number == 1, mode.unwrap_or(0))),
        "IM" => Some((2, enabled, number as u8)),
        _ => None,
    };
    if let Some((most, enabled, mode)) = state {
        if number > most {
            return Err(format!("{number} does not fit {name}: expected 0 to {most}"));
        }
        debugger.set_interrupt_state(enabled, mode)?;
        return Ok(format!("{name} is {number}"));
    }
    let mut registers = debugger.registers();
    if register_value(&registers, name).is_none() {
        return Err(format!(
            "unknown register or flag '{name}': expected a name such as HL, A', IX, FZ, IFF or IM"
        ));
    }
    if !set_register(&mut registers, name, number) {
        return Err(format!("{number:04X}H does not fit {name}"));
    }
    debugger.set_registers(&registers);
    Ok(format!("{name} is {number:04X}H"))
}

/// Returns the offset of the bracket that closes the one at the start.
fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Parses numbers and expressions separated by spaces or commas.
fn parse_bytes(debugger: &Debugger, text: &str) -> Result<Vec<u8>, String> {
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let byte = |word: &str| {
        let value = location::evaluate(debugger, word)?;
        u8::try_from(value).map_err(|_| format!("{word} does not fit a byte"))
    };
    words.map(byte).collect()
}

/// Sends text to the board; see [`unescape`] for its escapes.
pub(super) fn send(debugger: &mut Debugger, text: &str) -> Result<String, String> {
    let bytes = unescape(text)?;
    debugger.send(&bytes).map_err(|_| {
        "input can't be sent during a reverse search or while the twin is shown".to_owned()
    })?;
    Ok(format!("{} bytes sent", bytes.len()))
}
