//! Reads cases, and tables of cases.

use cli_support::text::Escape;

use crate::model::{Case, Heading, Step};
use crate::reader::{Entry, FileError};

use super::expect::expected_value;
use super::heading;
use super::step::{set_input, step, steps};
use super::values::{Context, flags, register};

/// Reads a case; one with `rows` is several.
pub(super) fn cases(entry: &Entry<'_>, context: &Context<'_>) -> Result<Vec<Case>, FileError> {
    let fields = entry.fields("a table: [[case]]")?;
    let heading = heading(&fields)?;
    let rows = fields.get("rows");
    let cases = match (fields.get("steps"), rows) {
        (Some(steps), Some(_)) => return Err(steps.error("give either steps or rows")),
        (Some(entry), None) => {
            let steps = steps(&entry, context, 1)?;
            if steps.is_empty() {
                return Err(entry.error("expected at least one call"));
            }
            vec![Case { heading, steps }]
        }
        (None, None) => vec![Case { heading, steps: vec![step(&fields, context)?] }],
        (None, Some(rows)) => table(&heading, &step(&fields, context)?, &rows, context)?,
    };
    fields.finish()?;
    Ok(cases)
}

/// Reads a table of cases: a row of headers such as `in.A` and `expect.HL`, and rows of values.
fn table(
    heading: &Heading,
    base: &Step,
    rows: &Entry<'_>,
    context: &Context<'_>,
) -> Result<Vec<Case>, FileError> {
    let example = "rows such as [[\"in.A\", \"expect.HL\"], [3, 21]]";
    let rows = rows.items(example)?;
    let Some((first, rows)) = rows.split_first() else { return Ok(Vec::new()) };
    let headers = first.items(example)?;
    let mut cases = Vec::new();
    for (row, number) in rows.iter().zip(1..) {
        let values = row.items(example)?;
        if values.len() != headers.len() {
            let (found, expected) = (values.len(), headers.len());
            return Err(row.error(format!("the row has {found} values, the header {expected}")));
        }
        let mut step = base.clone();
        for (header, value) in headers.iter().zip(&values) {
            cell(&mut step, header, value, context)?;
        }
        let name = format!("{}, row {number}", heading.name);
        let heading = Heading { name, line: row.line(), ..heading.clone() };
        cases.push(Case { heading, steps: vec![step] });
    }
    Ok(cases)
}

/// Puts a value of a table into a call.
fn cell(
    step: &mut Step,
    header: &Entry<'_>,
    value: &Entry<'_>,
    context: &Context<'_>,
) -> Result<(), FileError> {
    let name = header.text("\"in.A\" or \"expect.HL\"")?;
    match name.split_once('.') {
        Some(("in", "flags")) => step.flags = flags(value)?,
        Some(("in", name)) => set_input(step, register(header, name)?, value, context)?,
        Some(("expect", name)) => expected_value(step, value, name, context)?,
        _ => {
            let name = name.escaped();
            return Err(header.error(format!("header '{name}': expected in.A or expect.HL")));
        }
    }
    Ok(())
}
