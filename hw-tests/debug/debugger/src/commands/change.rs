//! Commands that modify registers, flags and memory, or send input to the board.

use super::Effect;
use crate::expression::find_closing;
use crate::{BoundExpression, Debugger, location, register_value, set_register};
use cli_support::text::unescape;

/// Parses `REGISTER = X`, `FLAG = X`, `[ADDRESS] = X Y Z` or `{ADDRESS} = X`, a word; the `=` is
/// optional.
pub(crate) fn set(debugger: &Debugger, text: &str) -> Result<Effect, String> {
    let form = || {
        "invalid arguments: expected WHAT = X, as in set HL = 8000H, set FZ = 1 or set [M3] = 41H"
            .to_owned()
    };
    if let Some((address, value)) = text.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        let address = location::parse_address(debugger, address)?;
        let value = location::parse(debugger, value.trim_start().trim_start_matches('='))?;
        return Ok(Box::new(move |debugger| {
            debugger.can_modify()?;
            let [at, word] = [address, value].map(|one| one.value(&debugger.boards));
            debugger.poke(at, &word.to_le_bytes());
            Ok(format!("{word:04X}H at {at:04X}H"))
        }));
    }
    if let Some(text) = text.strip_prefix('[') {
        let close = find_closing(text, '[', ']').ok_or_else(form)?;
        let address = location::parse_address(debugger, &text[..close])?;
        let values = text[close + 1..].trim_start().trim_start_matches('=');
        let words = values.split([' ', ',']).filter(|word| !word.is_empty());
        let parse = |word: &str| Ok((location::parse(debugger, word)?, word.to_owned()));
        let values = words.map(parse).collect::<Result<Vec<_>, String>>()?;
        if values.is_empty() {
            return Err(form());
        }
        return Ok(Box::new(move |debugger| {
            debugger.can_modify()?;
            let byte = |(value, word): &(BoundExpression, String)| {
                u8::try_from(value.value(&debugger.boards))
                    .map_err(|_| format!("{word} does not fit a byte"))
            };
            let bytes = values.iter().map(byte).collect::<Result<Vec<_>, _>>()?;
            let at = address.value(&debugger.boards);
            debugger.poke(at, &bytes);
            Ok(format!("{} bytes at {at:04X}H", bytes.len()))
        }));
    }
    let (name, value) =
        text.split_once('=').or_else(|| text.split_once(char::is_whitespace)).ok_or_else(form)?;
    let (name, value) = (name.trim().to_owned(), location::parse(debugger, value)?);
    let is_interrupt_state = ["IFF", "IM"].iter().any(|one| name.eq_ignore_ascii_case(one));
    if !is_interrupt_state && register_value(&debugger.registers(), &name).is_none() {
        return Err(format!(
            "unknown register or flag '{name}': expected a name such as HL, A', IX, FZ, IFF or IM"
        ));
    }
    Ok(Box::new(move |debugger| {
        debugger.can_modify()?;
        set_named(debugger, &name, value.value(&debugger.boards))
    }))
}

/// Sets a register, a flag, IFF or IM.
fn set_named(debugger: &mut Debugger, name: &str, number: u16) -> Result<String, String> {
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
        if debugger.boards.live_target().is_some() {
            return Err("the debug kernel sets neither IFF nor IM".to_owned());
        }
        debugger.change_simulated(|board| board.set_interrupt_state(enabled, mode));
        return Ok(format!("{name} is {number}"));
    }
    let mut registers = debugger.registers();
    if !set_register(&mut registers, name, number) {
        return Err(format!("{number:04X}H does not fit {name}"));
    }
    debugger.set_registers(&registers);
    Ok(format!("{name} is {number:04X}H"))
}

/// Sends text to the board; see [`unescape`] for its escapes.
pub(super) fn send(_debugger: &Debugger, text: &str) -> Result<Effect, String> {
    let bytes = unescape(text)?;
    Ok(Box::new(move |debugger| {
        debugger.send(&bytes).map_err(|_| {
            "input can't be sent during a reverse search or while the twin is shown".to_owned()
        })?;
        Ok(format!("{} bytes sent", bytes.len()))
    }))
}
