//! The BASIC statements used in the recorded sessions: PRINT, POKE, FOR with NEXT on the same line,
//! and assignments.

use std::collections::BTreeMap;

use crate::Memory;

pub(super) struct SyntaxError;

#[derive(Debug, Default)]
pub(super) struct Variables {
    values: BTreeMap<String, i64>,
}

struct ForLoop {
    variable: String,
    last: i64,
    body: usize,
}

/// Executes the statements of a line. Appends the output of PRINT to `printed`.
pub(super) fn run_statements(
    variables: &mut Variables,
    memory: &mut Memory,
    line: &str,
    free: i64,
    printed: &mut String,
) -> Result<(), SyntaxError> {
    let statements: Vec<&str> = line.split(':').map(str::trim).collect();
    let mut at = 0;
    let mut for_loop: Option<ForLoop> = None;
    while let Some(statement) = statements.get(at) {
        at += 1;
        let upper = statement.to_ascii_uppercase();
        let plain = upper.replace(' ', "");
        if let Some(list) = strip_word(statement, "PRINT") {
            print(variables, memory, list, free, printed)?;
        } else if let Some(rest) = plain.strip_prefix("POKE") {
            let (address, byte) = rest.split_once(',').ok_or(SyntaxError)?;
            let address = value(variables, memory, address, free)?;
            let byte = value(variables, memory, byte, free)?;
            memory.set(address as u16, u8::try_from(byte).map_err(|_| SyntaxError)?);
        } else if let Some(rest) = plain.strip_prefix("FOR") {
            let (name, range) = rest.split_once('=').ok_or(SyntaxError)?;
            let (first, last) = range.split_once("TO").ok_or(SyntaxError)?;
            let first = value(variables, memory, first, free)?;
            let last = value(variables, memory, last, free)?;
            variables.values.insert(name.to_owned(), first);
            for_loop = Some(ForLoop { variable: name.to_owned(), last, body: at });
        } else if plain == "NEXT" {
            let for_loop = for_loop.as_ref().ok_or(SyntaxError)?;
            let next = variables.values.get(&for_loop.variable).copied().unwrap_or(0) + 1;
            variables.values.insert(for_loop.variable.clone(), next);
            at = if next <= for_loop.last { for_loop.body } else { at };
        } else if !plain.is_empty() {
            let (name, expression) = plain.split_once('=').ok_or(SyntaxError)?;
            let value = value(variables, memory, expression, free)?;
            variables.values.insert(name.to_owned(), value);
        }
    }
    Ok(())
}

fn strip_word<'a>(statement: &'a str, word: &str) -> Option<&'a str> {
    let head = statement.get(..word.len())?;
    head.eq_ignore_ascii_case(word).then(|| statement[word.len()..].trim())
}

fn print(
    variables: &Variables,
    memory: &Memory,
    list: &str,
    free: i64,
    printed: &mut String,
) -> Result<(), SyntaxError> {
    for part in list.split(';').map(str::trim) {
        match part.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(text) => printed.push_str(text),
            None => {
                let number =
                    value(variables, memory, &part.to_ascii_uppercase().replace(' ', ""), free)?;
                let sign = if number < 0 { "" } else { " " };
                printed.push_str(&format!("{sign}{number} "));
            }
        }
    }
    printed.push_str("\r\n");
    Ok(())
}

/// Sums and products of numbers, variables and PEEKs.
fn value(
    variables: &Variables,
    memory: &Memory,
    text: &str,
    free: i64,
) -> Result<i64, SyntaxError> {
    if let Some((left, right)) = text.split_once('+') {
        return Ok(value(variables, memory, left, free)? + value(variables, memory, right, free)?);
    }
    if let Some((left, right)) = text.split_once('*') {
        return Ok(value(variables, memory, left, free)? * value(variables, memory, right, free)?);
    }
    if let Some(address) = text.strip_prefix("PEEK(").and_then(|rest| rest.strip_suffix(')')) {
        return Ok(memory.get(value(variables, memory, address, free)? as u16).into());
    }
    if text == "FRE(0)" {
        return Ok(free);
    }
    let is_name = text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric());
    match text.parse::<i64>() {
        _ if is_name => Ok(variables.values.get(text).copied().unwrap_or(0)),
        Ok(number) if (-32768..=65535).contains(&number) => Ok(number),
        _ => Err(SyntaxError),
    }
}
