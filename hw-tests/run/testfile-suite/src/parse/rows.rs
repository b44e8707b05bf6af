//! Tables of cases.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use cli_support::text::Escape;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

type Errors = Vec<(usize, String)>;

/// Replaces each case with `rows`, a row of headers such as `in.A` and rows of values, by a case
/// for each row of values. Returns errors with their offsets.
pub(super) fn expand_rows(file: &mut DeTable<'_>) -> Errors {
    let mut errors = Vec::new();
    if let Some(DeValue::Array(cases)) = file.get_mut("case").map(Spanned::get_mut) {
        let all = mem::replace(cases, DeArray::new()).into_iter();
        *cases = all.flat_map(|case| expanded(case, &mut errors)).collect();
    }
    errors
}

/// Returns the cases of the rows of a case; itself if it has none, or of another type.
fn expanded<'t>(mut case: Spanned<DeValue<'t>>, errors: &mut Errors) -> Vec<Spanned<DeValue<'t>>> {
    let DeValue::Table(fields) = case.get_mut() else { return vec![case] };
    let Some(rows) = fields.get("rows").filter(|_| !fields.contains_key("steps")) else {
        return vec![case];
    };
    let arrays = rows.get_ref().as_array().map(|rows| {
        let row =
            |row: &Spanned<DeValue<'t>>| Some((row.span(), row.get_ref().as_array()?.clone()));
        rows.iter().map(row).collect::<Option<Vec<_>>>()
    });
    let Some(Some(rows)) = arrays else { return vec![case] };
    fields.remove("rows");
    let Some(((_, headers), rows)) = rows.split_first() else { return Vec::new() };
    let mut cases = Vec::new();
    for ((span, values), number) in rows.iter().zip(1..) {
        if values.len() != headers.len() {
            let (found, expected) = (values.len(), headers.len());
            let message = format!("the row has {found} values, the header {expected}");
            errors.push((span.start, message));
        }
        let mut row = fields.clone();
        if let Some(DeValue::String(name)) = row.get_mut("name").map(Spanned::get_mut) {
            *name = Cow::Owned(format!("{name}, row {number}"));
        }
        for (header, value) in headers.iter().zip(values) {
            if let Err(error) = set_cell(&mut row, header, value) {
                errors.push(error);
            }
        }
        cases.push(Spanned::new(span.clone(), DeValue::Table(row)));
    }
    cases
}

/// Puts a value into the table that its header names.
fn set_cell<'t>(
    case: &mut DeTable<'t>,
    header: &Spanned<DeValue<'t>>,
    value: &Spanned<DeValue<'t>>,
) -> Result<(), (usize, String)> {
    let (Range { start: at, .. }, name) = (header.span(), header.get_ref().as_str());
    let (table, key) = match name.and_then(|name| name.split_once('.')) {
        Some((table @ ("in" | "expect"), key)) => (table.to_owned(), key.to_owned()),
        _ => {
            let name = name.unwrap_or(header.get_ref().type_str()).escaped();
            return Err((at, format!("header '{name}': expected in.A or expect.HL")));
        }
    };
    let key_of = |name: String| Spanned::new(header.span(), Cow::Owned(name));
    let empty = || Spanned::new(header.span(), DeValue::Table(DeTable::new()));
    let fields = case.entry(key_of(table)).or_insert_with(empty);
    if let DeValue::Table(fields) = fields.get_mut() {
        fields.insert(key_of(key), value.clone());
    }
    Ok(())
}
