//! Locations in a program as users write them: `XCHNG`, `XCHNG+3`, `8123H`, `xchng.asm:60`, `:60`,
//! `[SP]`.

use super::condition::Condition;
use super::debugger::Debugger;

/// A place that a text means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Location {
    /// The addresses: several where a line made instructions in several stretches.
    pub(super) addresses: Vec<u16>,
    /// A sentence about another line than the one that was asked for.
    pub(super) adjusted: Option<String>,
}

/// The addresses of a place.
///
/// # Errors
/// Returns a message if there is no such line, label or expression.
pub(super) fn resolve(debugger: &Debugger, text: &str) -> Result<Location, String> {
    let text = text.trim();
    if let Some((file, line)) = text.rsplit_once(':')
        && let Ok(line) = line.trim().parse::<u32>()
    {
        return on_line(debugger, file.trim(), line);
    }
    let at = address(debugger, text)?;
    Ok(Location { addresses: vec![at], adjusted: None })
}

/// The address that a label or an expression means.
///
/// # Errors
/// Returns a message if the text is none.
pub(super) fn address(debugger: &Debugger, text: &str) -> Result<u16, String> {
    value(debugger, text).map_err(|_| {
        let text = text.trim();
        format!(
            "'{text}' is no label, address or line; they are like XCHNG+3, 8123H and xchng.asm:60"
        )
    })
}

/// The value of an expression now.
///
/// # Errors
/// Returns a message if the text is none.
pub(super) fn value(debugger: &Debugger, text: &str) -> Result<u16, String> {
    let expression = Condition::parse(text, debugger.code()).map_err(|error| error.to_string())?;
    Ok(expression.value(&debugger.registers(), &|at| debugger.peek(at)))
}

/// The instructions of a line, or of the next one below that has some; the file that is running if
/// none is named.
///
/// # Errors
/// Returns a message if there is no such file, or no instruction from the line on.
pub(super) fn on_line(debugger: &Debugger, file: &str, line: u32) -> Result<Location, String> {
    let running = debugger.line().map(|(file, _)| file.to_owned());
    let name = if file.is_empty() { running.as_deref() } else { Some(file) };
    let name = name.ok_or("no line of source is running; name the file, as in xchng.asm:60")?;
    let code = debugger.code();
    if code.file_named(name).is_none() {
        let known = code.files().join(", ");
        return Err(format!("no program on the board is made of {name}; there are {known}"));
    }
    let (found, addresses) = code
        .breakable(name, line)
        .ok_or_else(|| format!("{name} has no instruction from line {line} on"))?;
    let adjusted = (found != line)
        .then(|| format!("line {line} has no instruction; the next one is on line {found}"));
    Ok(Location { addresses, adjusted })
}
