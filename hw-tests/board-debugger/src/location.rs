//! Locations in a program as users write them: `XCHNG`, `XCHNG+3`, `8123H`, `xchng.asm:60`, `:60`,
//! `[SP]`.

use super::debugger::Debugger;
use super::expression::Condition;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Location {
    /// The addresses: several if the instructions of a line are not contiguous.
    pub(super) addresses: Vec<u16>,
    /// A message if another line than the requested one was used.
    pub(super) adjusted: Option<String>,
}

pub(super) fn resolve(debugger: &Debugger, text: &str) -> Result<Location, String> {
    let text = text.trim();
    if let Some((file, line)) = text.rsplit_once(':')
        && let Ok(line) = line.trim().parse::<u32>()
    {
        return resolve_line(debugger, file.trim(), line);
    }
    let at = resolve_address(debugger, text)?;
    Ok(Location { addresses: vec![at], adjusted: None })
}

pub(super) fn resolve_address(debugger: &Debugger, text: &str) -> Result<u16, String> {
    evaluate(debugger, text).map_err(|_| {
        let text = text.trim();
        format!(
            "invalid location '{text}': expected a label, address or line, such as XCHNG+3, 8123H \
             or xchng.asm:60"
        )
    })
}

/// Evaluates an expression in the current state.
pub(super) fn evaluate(debugger: &Debugger, text: &str) -> Result<u16, String> {
    let expression = Condition::parse(text, debugger.code()).map_err(|error| error.to_string())?;
    Ok(expression.value(&debugger.registers(), &|at| debugger.peek(at)))
}

/// Resolves a line to its instructions, or the next line's; an empty file means that at PC.
pub(super) fn resolve_line(debugger: &Debugger, file: &str, line: u32) -> Result<Location, String> {
    let running = debugger.line().map(|(file, _)| file.to_owned());
    let name = if file.is_empty() { running.as_deref() } else { Some(file) };
    let name = name.ok_or("no source line at PC; name the file, as in xchng.asm:60")?;
    let code = debugger.code();
    if code.file_named(name).is_none() {
        let known = code.files().join(", ");
        return Err(format!(
            "no program on the board has the source file {name}; known files: {known}"
        ));
    }
    let (found, addresses) = code
        .breakpoint_line(name, line)
        .ok_or_else(|| format!("{name} has no instruction at or after line {line}"))?;
    let adjusted = (found != line)
        .then(|| format!("line {line} has no instruction; the next one is on line {found}"));
    Ok(Location { addresses, adjusted })
}
