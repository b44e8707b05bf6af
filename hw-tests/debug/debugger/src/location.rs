//! Locations in a program as users write them: `START`, `START+3`, `START..L`, `8123H`,
//! `prog.asm:60`, `:60`, `[SP]`.

use firmware::code_map::CodeMap;

use crate::{BoundExpression, Debugger};

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
    Ok(Location { addresses: vec![resolve_address(debugger, text)?], adjusted: None })
}

pub(super) fn resolve_address(debugger: &Debugger, text: &str) -> Result<u16, String> {
    parse_address(debugger, text).map(|address| address.value(&debugger.boards))
}

/// Parses an expression for an address.
pub(super) fn parse_address(debugger: &Debugger, text: &str) -> Result<BoundExpression, String> {
    parse(debugger, text).map_err(|problem| {
        let text = text.trim();
        let code = debugger.code();
        let label = code.labels().find(|(_, label)| label.is_code && !label.name.contains('.'));
        let label = label.map_or("START", |(_, label)| &label.name);
        let file = example_file(code);
        format!(
            "invalid location '{text}': {problem}; expected a label, address or line, such as \
             {label}+3, 8123H or {file}:60"
        )
    })
}

/// Parses an expression; local labels are those of the routine at PC.
pub(super) fn parse(debugger: &Debugger, text: &str) -> Result<BoundExpression, String> {
    BoundExpression::parse_at(text, debugger.code(), Some(debugger.registers().pc))
        .map_err(|error| error.to_string())
}

/// Evaluates an expression in the current state.
pub(super) fn evaluate(debugger: &Debugger, text: &str) -> Result<u16, String> {
    evaluate_signed(debugger, text).map(|value| value as u16)
}

/// Evaluates an expression, whose value is negative if it is that of `sb` or `sw`.
pub(super) fn evaluate_signed(debugger: &Debugger, text: &str) -> Result<i64, String> {
    Ok(parse(debugger, text)?.signed_value(&debugger.boards))
}

/// Resolves a line to its instructions, or the next line's; an empty file means that at PC.
pub(super) fn resolve_line(debugger: &Debugger, file: &str, line: u32) -> Result<Location, String> {
    let name = if file.is_empty() { debugger.line().map(|(file, _)| file) } else { Some(file) };
    let code = debugger.code();
    let no_file =
        || format!("no source line at PC; name the file, as in {}:60", example_file(code));
    let name = code.find_file(name.ok_or_else(no_file)?).map_err(|error| error.to_string())?;
    let (found, addresses) = code
        .breakpoint_line(name, line)
        .ok_or_else(|| format!("{name} has no instruction at or after line {line}"))?;
    let adjusted = (found != line)
        .then(|| format!("line {line} has no instruction; the next one is on line {found}"));
    Ok(Location { addresses, adjusted })
}

/// Returns the name of a source file for an example.
fn example_file(code: &CodeMap) -> &str {
    code.files().first().map_or("prog.asm", |file| code.short_name(file))
}
