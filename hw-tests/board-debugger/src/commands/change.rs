//! Commands that change the board: registers, flags, memory, and what comes over its line.

use crate::debugger::Debugger;
use crate::location;
use crate::registers::{register, set_register};

/// `REGISTER = X`, `FLAG = X` or `[ADDRESS] = X Y Z`; the sign may be left out.
pub(super) fn set(debugger: &mut Debugger, text: &str) -> Result<String, String> {
    let form = || {
        "what is to be set to what? as in: set HL = 8000H, set FZ = 1, set [M3] = 41H".to_owned()
    };
    if text.starts_with('[') {
        let close = closing(text).ok_or_else(form)?;
        let at = location::address(debugger, &text[1..close])?;
        let values = text[close + 1..].trim_start().trim_start_matches('=');
        let bytes = byte_list(debugger, values)?;
        if bytes.is_empty() {
            return Err(form());
        }
        debugger.poke(at, &bytes);
        return Ok(format!("{} bytes at {at:04X}H", bytes.len()));
    }
    let (name, value) =
        text.split_once('=').or_else(|| text.split_once(char::is_whitespace)).ok_or_else(form)?;
    set_named(debugger, name.trim(), value)
}

/// Sets a register or a flag to the value of an expression.
///
/// # Errors
/// Returns a message if there is no such register, or if it can't hold the value.
pub(crate) fn set_named(
    debugger: &mut Debugger,
    name: &str,
    value: &str,
) -> Result<String, String> {
    let number = location::value(debugger, value)?;
    let mut registers = debugger.registers();
    if register(&registers, name).is_none() {
        return Err(format!(
            "there is no register or flag {name}; they are like HL, A', IX and FZ"
        ));
    }
    if !set_register(&mut registers, name, number) {
        return Err(format!("{name} can't hold {number:04X}H"));
    }
    debugger.set_registers(&registers);
    Ok(format!("{name} is {number:04X}H"))
}

/// The bracket that closes the first one.
fn closing(text: &str) -> Option<usize> {
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

/// Bytes of numbers and expressions between blanks or commas.
fn byte_list(debugger: &Debugger, text: &str) -> Result<Vec<u8>, String> {
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let byte = |word: &str| {
        let value = location::value(debugger, word)?;
        u8::try_from(value).map_err(|_| format!("{word} does not fit a byte"))
    };
    words.map(byte).collect()
}

/// Sends text to the board, with `\r`, `\n`, `\\` and `\xHH` for what has no key.
pub(super) fn send(debugger: &mut Debugger, text: &str) -> Result<String, String> {
    let bytes = unescaped(text)?;
    debugger
        .send(&bytes)
        .map_err(|_| "the board is on its way through its past and takes nothing".to_owned())?;
    Ok(format!("{} bytes are on the line", bytes.len()))
}

/// The bytes of a text with `\r`, `\n`, `\\` and `\xHH` in it.
///
/// # Errors
/// Returns a message for a backslash that nothing of these follows.
pub fn unescaped(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || "after \\ comes r, n, \\ or x and two hexadecimal digits".to_owned();
    let mut bytes = Vec::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            let mut buffer = [0; 4];
            bytes.extend(character.encode_utf8(&mut buffer).bytes());
            continue;
        }
        bytes.push(match rest.next().ok_or_else(wrong)? {
            'r' => b'\r',
            'n' => b'\n',
            '\\' => b'\\',
            'x' => {
                let digits: String = rest.by_ref().take(2).collect();
                u8::from_str_radix(&digits, 16).map_err(|_| wrong())?
            }
            _ => return Err(wrong()),
        });
    }
    Ok(bytes)
}
