//! Hover texts for the word under the cursor.

use crate::mnemonics::SECTIONS;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};
use tdlasm::isa::{Form, decode};
use tdlasm::listing::{ListingLine, RelocValue};
use tdlasm::references::{NameKind, ReferenceRole};
use tdlasm::syntax::directive::Directive;
use tdlasm::syntax::{lex, zilog};

use super::positions::LineIndex;
use super::symbol_identity::{self, Occurrence};
use super::words::{Field, Place, place_at};
use super::workspace::File;

/// The manual, with an item for each directive. A copy of docs/LANGUAGE.md, since a package contains
/// only files from its folder; a test compares them.
const MANUAL: &str = include_str!("manual.md");

pub(super) fn hover(file: &File<'_>, offset: usize) -> Option<Hover> {
    let place = place_at(file, offset).filter(|place| place.field != Field::Comment)?;
    let found = symbol(file, offset).or_else(|| operator(file, &place));
    let value = found.or_else(|| number(file, &place))?;
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: Some(file.lines().range(place.word)) })
}

/// Returns the value of a name, and its author's comment.
fn symbol(file: &File<'_>, offset: usize) -> Option<String> {
    let places = symbol_identity::occurrences_at(file, offset);
    let defined = places.iter().find(|one| one.place.role == ReferenceRole::Definition);
    let shown = defined.or_else(|| places.first())?;
    let name = String::from_utf8_lossy(shown.text());
    let mut lines = Vec::new();
    for one in &places {
        let line = format!("`{name}`: {}", describe_symbol(one));
        if one.place.role == shown.place.role && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.extend(defined.and_then(definition_comment));
    Some(lines.join("\n\n"))
}

fn describe_symbol(found: &Occurrence<'_>) -> String {
    let name = found.name();
    let kind = match name.kind {
        NameKind::Label => "label",
        NameKind::Variable => "variable",
        NameKind::Constant => "constant",
        NameKind::External => "external symbol",
        NameKind::Macro => "macro",
        NameKind::Parameter => "argument of a macro",
        NameKind::Language | NameKind::Undefined => "not defined",
    };
    let value = name.value.filter(|_| name.kind != NameKind::Macro);
    let shown = |value: RelocValue| match value.base {
        0 if name.kind != NameKind::Label => format_number(value.number),
        _ => format_value(value),
    };
    let value = value.map(|value| format!(", {}", shown(value))).unwrap_or_default();
    let exported = if name.exported { ", exported" } else { "" };
    format!("{kind}{value}{exported}")
}

/// Formats a number in hexadecimal, and in decimal or with its relocation base.
fn format_value(RelocValue { number, base }: RelocValue) -> String {
    let digits = format!("{number:04X}H");
    match base.checked_sub(1).map(|at| SECTIONS.get(at as usize)) {
        None => format!("{digits} = {number}"),
        Some(Some(section)) => format!("{digits} in {section}"),
        Some(None) => format!("{digits} from an external symbol on"),
    }
}

/// Formats a number in hexadecimal, decimal, octal and binary, and as a character if it is one.
fn format_number(number: u16) -> String {
    let character = u8::try_from(number).ok().filter(|byte| matches!(byte, b' '..=b'~'));
    let character = character.map(|byte| format!(" = '{}'", char::from(byte)));
    let signed = match number {
        0x80..=0xFF => format!(" = {} in a byte", i16::from(number as u8 as i8)),
        0x8000.. => format!(" = {}", number as i16),
        _ => String::new(),
    };
    let tail = character.unwrap_or_default() + &signed;
    format!("{number:04X}H = {number} = {number:o}Q = {number:b}B{tail}")
}

/// Returns the number that a word is, in the radix in force there, in all bases.
fn number(file: &File<'_>, Place { word, statement, .. }: &Place) -> Option<String> {
    let digits = &file.text[word.clone()];
    let spelling = String::from_utf8_lossy(digits);
    let shown = |value| format!("`{spelling}`: {}", format_number(value));
    if statement.language.is_zilog {
        return zilog::number(digits)?.value().map(shown);
    }
    let (digits, radix) = match file.text[..word.start].ends_with(b"^") {
        true => (digits.get(1..)?, lex::radix_of(*digits.first()?)?),
        false => (digits, radix_at(file, word.start)),
    };
    let (rest, number) = lex::number(digits, radix).ok()?;
    let is_number = rest.is_empty() && !number.has_invalid_digit;
    is_number.then(|| shown(number.value))
}

/// Returns the radix that the last `.RADIX` before an offset has set.
fn radix_at(file: &File<'_>, offset: usize) -> u8 {
    let statements = file.statements();
    let all = statements.iter().flat_map(|one| one.list.iter());
    let before = all.take_while(|(start, _)| *start <= offset);
    let radix = before.filter_map(|(_, parts)| {
        let parts = parts.as_ref().filter(|parts| parts.operands.end < offset)?;
        let directive = Directive::from_word(&file.text[parts.operator.clone()]);
        let operands = &file.text[parts.operands.clone()];
        let radix = std::str::from_utf8(operands).ok()?.parse().ok()?;
        (directive == Some(Directive::Radix)).then_some(radix)
    });
    radix.last().unwrap_or(10)
}

/// The comment on the definition's line, or the lines of comment above it.
fn definition_comment(found: &Occurrence<'_>) -> Option<String> {
    let lines = LineIndex::new(found.program.text(found.place.file));
    let line = lines.line(found.place.range().start);
    let above = (0..line).rev().take_while(|at| lines.get(*at).starts_with(b";"));
    let first = above.last();
    let shown: Vec<String> = (first.unwrap_or(line)..=line)
        .map(|at| String::from_utf8_lossy(lines.get(at)).trim_end().to_owned())
        .collect();
    Some(format!("```tdl\n{}\n```", shown.join("\n")))
}

/// Returns the description of an instruction with its bytes here, or that of a directive.
fn operator(file: &File<'_>, Place { field, word, statement }: &Place) -> Option<String> {
    let spelling = &file.text[word.clone()];
    let forms = statement.language.forms(spelling);
    if forms.is_empty() {
        return directive(statement.language.tdl_directive(spelling)?);
    }
    let lines: Vec<&ListingLine> =
        file.programs().flat_map(|program| program.assembled_at(&file.path, word.start)).collect();
    // If an opcode has two names, the decoder returns the first.
    let same = |one: &&Form, other: &Form| {
        (one.prefix, one.opcode, one.slots) == (other.prefix, other.opcode, other.slots)
    };
    let used = lines.iter().find_map(|line| {
        let form = decode(&line.bytes)?.form;
        Some((line, *forms.iter().find(|one| same(one, form))?))
    });
    let Some((line, form)) = used else {
        // In an operand the mnemonic is its opcode.
        return (*field != Field::Operands).then(|| forms_table(forms.iter().copied()));
    };
    let bytes: Vec<String> = line.bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    let address = format_value(line.address);
    let bytes = bytes.join(" ");
    let mut markdown = forms_table(std::iter::once(form));
    markdown += &format!("\n\n{} at {address}: `{bytes}`", format_length(line.bytes.len()));
    let others = lines.iter().filter(|other| other.bytes != line.bytes).count();
    if others > 0 {
        markdown += &format!("; other bytes in {others} more readings of this line");
    }
    Some(markdown)
}

fn format_length(bytes: usize) -> String {
    if bytes == 1 { "1 byte".into() } else { format!("{bytes} bytes") }
}

/// Returns the manual's rows about forms, as a table: opcodes, T-states, Zilog's spelling and
/// flags; then the meaning of the marks in them.
fn forms_table<'f>(forms: impl Iterator<Item = &'f Form> + Clone) -> String {
    let rows = forms.clone().filter_map(|form| {
        let pattern = form.pattern();
        let row = MANUAL.lines().find_map(|line| instruction_row(line, &pattern))?;
        Some(format!("{row} {} |", form.flags()))
    });
    let head = ["| instruction | opcode | T-states | Zilog | SZHPNC |", "|---|---|---|---|---|"];
    let table = head.map(str::to_owned).into_iter().chain(rows).collect::<Vec<_>>().join("\n");
    let has = |test: fn(&Form) -> bool| forms.clone().any(test);
    let marks = [
        (has(|form| form.z80_only), "`*`: not on the 8080"),
        (has(|form| form.clocks.taken != form.clocks.not_taken), "T-states: taken/not taken"),
        (
            has(|form| form.flags() != "------"),
            "flags: a letter by the result, `-` unchanged, `?` undefined",
        ),
    ];
    let legend: Vec<&str> =
        marks.iter().filter(|(is_used, _)| *is_used).map(|(_, text)| *text).collect();
    format!("{table}\n\n{}", legend.join("; ")).trim_end().to_owned()
}

/// Returns a line of the manual as a table row, if it is the one about a pattern.
///
/// The manual's columns are at least two blanks apart; a `*` may follow the pattern.
fn instruction_row(line: &str, pattern: &str) -> Option<String> {
    let rest = line.strip_prefix("    ")?.strip_prefix(pattern)?;
    let mut cells = rest.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    let mark = match rest.starts_with('*') {
        true => cells.next()?,
        false if rest.starts_with("  ") => "",
        false => return None,
    };
    let (opcode, clocks, zilog) = (cells.next()?, cells.next()?, cells.next()?);
    let note = cells.next().map(|note| format!(" ({note})")).unwrap_or_default();
    Some(format!("| `{pattern}`{mark} | {opcode} | {clocks} | `{zilog}`{note} |"))
}

/// Returns the manual's text about a directive.
fn directive(wanted: Directive) -> Option<String> {
    let names = |forms: &str| {
        let mut words = forms.split(['`', ' ']);
        words.any(|word| Directive::from_word(word.as_bytes()) == Some(wanted))
    };
    let mut items = MANUAL.lines().filter_map(|line| line.strip_prefix("- ")?.split_once("`: "));
    let (forms, effect) = items.find(|(forms, _)| names(forms))?;
    Some(format!("{forms}`: {effect}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdlasm::isa::FORMS;

    #[test]
    fn the_manual_has_a_row_about_every_form() {
        let all = forms_table(FORMS.iter());
        assert_eq!(all.lines().count(), FORMS.len() + 4);
        assert!(all.contains("| `LDIR`* | ED B0 | 21/16 | `LDIR` | --000- |"), "{all}");
    }

    #[test]
    fn the_manual_has_an_item_about_every_directive() {
        for (name, known) in Directive::NAMES {
            assert!(directive(*known).is_some(), "{name}");
        }
        assert_eq!(
            directive(Directive::Radix).unwrap(),
            "`.RADIX n`: 2, 8, 10 or 16, written in decimal"
        );
    }
}
