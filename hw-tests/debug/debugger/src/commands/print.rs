//! Values of expressions: numbers, arrays and texts.

use super::Effect;
use crate::expression::format_signed;
use crate::{Debugger, location, render};

/// Maximum length of a text, in bytes.
const MAX_TEXT_BYTES: u16 = 256;
/// Maximum number of elements of an array.
const MAX_ELEMENTS: u16 = 256;

/// Computes a value, as text, in the present state.
type Value = Box<dyn Fn(&Debugger) -> Result<String, String>>;

/// Parses an expression, `[x;N]` for N bytes from x on, `{x;N}` for words, or `x.s` for the text at
/// x up to a zero.
fn parse(debugger: &Debugger, text: &str) -> Result<Value, String> {
    let text = text.trim();
    let address = text.strip_suffix(".s").or_else(|| text.strip_suffix(".S"));
    if let Some(address) = address.filter(|address| !address.is_empty()) {
        let address = location::parse(debugger, address)?;
        return Ok(Box::new(move |debugger| {
            Ok(text_at(debugger, address.value(&debugger.boards)))
        }));
    }
    for (open, close, width) in [('[', ']', 1), ('{', '}', 2)] {
        let inner = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        if let Some((first, count)) = inner.and_then(|inner| inner.split_once(';')) {
            let first = location::parse(debugger, first)?;
            let count = location::parse(debugger, count)?;
            return Ok(Box::new(move |debugger| {
                let count = count.value(&debugger.boards);
                if !(1..=MAX_ELEMENTS).contains(&count) {
                    return Err(format!("invalid count {count}: expected 1 to {MAX_ELEMENTS}"));
                }
                Ok(array(debugger, first.value(&debugger.boards), count, width))
            }));
        }
    }
    let expression = location::parse(debugger, text)?;
    Ok(Box::new(move |debugger| {
        Ok(match expression.signed_value(&debugger.boards) {
            value if value < 0 => format!("{value} = {:04X}H", value as u16),
            value => format_value(debugger, value as u16),
        })
    }))
}

/// Returns a value as text.
///
/// # Errors
/// Returns a message if the text is invalid.
pub(crate) fn evaluate(debugger: &Debugger, text: &str) -> Result<String, String> {
    parse(debugger, text)?(debugger)
}

/// Shows a value.
pub(super) fn print(debugger: &Debugger, text: &str) -> Result<Effect, String> {
    let value = parse(debugger, text)?;
    Ok(Box::new(move |debugger| value(debugger)))
}

fn text_at(debugger: &Debugger, at: u16) -> String {
    let bytes = debugger.dump(at, MAX_TEXT_BYTES.into());
    let text: String =
        bytes.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte)).collect();
    let more = if bytes.contains(&0) { "" } else { "..." };
    format!("\"{}\"{more}", text.escape_default())
}

fn array(debugger: &Debugger, first: u16, count: u16, width: u16) -> String {
    let bytes = debugger.dump(first, (count * width).into());
    let element = |bytes: &[u8]| match *bytes {
        [low, high] => format!("{high:02X}{low:02X}H"),
        _ => bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
    };
    let elements: Vec<String> = bytes.chunks(width.into()).map(element).collect();
    let text = if width == 1 { format!("  {}", render::characters(&bytes)) } else { String::new() };
    format!("{first:04X}H: {}{text}", elements.join(" "))
}

/// Formats a value in hexadecimal and decimal, signed if negative, with the label of that address.
pub fn format_value(debugger: &Debugger, value: u16) -> String {
    let label = debugger.code().label(value).map(|label| format!(" = {}", label.name));
    let signed = match value {
        0x80..=0xFF => format!(", {} as a signed byte", value as u8 as i8),
        0x8000.. => format!(", {} signed", value as i16),
        _ => String::new(),
    };
    format!("{value:04X}H = {value}{signed}{}", label.unwrap_or_default())
}

/// Adds an expression to those shown at each halt.
pub(super) fn display(debugger: &Debugger, text: &str) -> Result<Effect, String> {
    let (value, text) = (parse(debugger, text)?, text.to_owned());
    Ok(Box::new(move |debugger| {
        let value = value(debugger)?;
        let id = debugger.stops.add_display(&text);
        Ok(format!("{id}: {text} = {value}"))
    }))
}

/// The expressions shown at each halt, with their values.
pub(super) fn displays(debugger: &Debugger) -> Vec<String> {
    let line = |(id, text): (u32, &str)| {
        let value = short_value(debugger, text).unwrap_or_else(|error| error);
        format!("{id}: {text} = {value}")
    };
    debugger.stops.displays().map(line).collect()
}

/// Returns the value of an expression as text: a number in hexadecimal and decimal, without the
/// label of that address.
///
/// # Errors
/// Returns a message if the expression is invalid.
pub fn short_value(debugger: &Debugger, text: &str) -> Result<String, String> {
    let number = location::evaluate_signed(debugger, text).map(format_signed);
    number.or_else(|_| evaluate(debugger, text))
}
