//! Signature help: the operands that an instruction or a macro takes.

use crate::statement::StatementParts;
use lsp_types::{ParameterInformation, ParameterLabel, SignatureHelp, SignatureInformation};
use tdlasm::references::ReferenceRole;
use tdlasm::syntax::{lex, zilog};

use super::symbol_identity;
use super::workspace::File;

/// Returns the forms of the instruction, or the macro, whose operands are at an offset.
pub(super) fn help(file: &File<'_>, offset: usize) -> Option<SignatureHelp> {
    let text = &file.text;
    let parts = file.statement_at(offset)?;
    if !is_in_operands(text, &parts, offset) {
        return None;
    }
    let typed = &text[parts.operands.start.min(offset)..offset];
    let at = operand_number(typed);
    let forms = parts.language.forms(&text[parts.operator.clone()]);
    let signatures: Vec<SignatureInformation> = if forms.is_empty() {
        macro_signature(file, parts.operator.start).into_iter().collect()
    } else {
        let patterns = forms.into_iter().map(|form| parts.language.pattern(form));
        patterns.filter(|pattern| pattern.contains(' ')).map(signature).collect()
    };
    let takes = |one: &SignatureInformation| {
        one.parameters.as_ref().is_some_and(|parameters| parameters.len() > at)
    };
    let active = signatures.iter().position(takes)?;
    Some(SignatureHelp {
        signatures,
        active_signature: Some(active as u32),
        active_parameter: Some(at as u32),
    })
}

/// Returns `true` behind the operator, up to the blanks after the last operand.
fn is_in_operands(text: &[u8], parts: &StatementParts, offset: usize) -> bool {
    let StatementParts { operator, operands, comment, .. } = parts;
    let is_before = operator.is_empty() || offset <= operator.end || offset > parts.end;
    let is_behind = !operands.is_empty() && offset > operands.end;
    let is_comment = !comment.is_empty() && offset > comment.start;
    // More is to come after a comma.
    let has_comma = text[operands.clone()].ends_with(b",");
    !is_before && !is_comment && (!is_behind || has_comma)
}

/// Returns the number of commas outside of brackets and quotes.
fn operand_number(typed: &[u8]) -> usize {
    let (mut depth, mut quote, mut count) = (0_i32, None, 0);
    for byte in typed {
        match (quote, byte) {
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[' | b'<') => depth += 1,
            (None, b')' | b']' | b'>') => depth -= 1,
            (None, b',') if depth <= 0 => count += 1,
            (None, _) => {}
        }
    }
    count
}

/// Returns the signature of the macro with its name at an offset: the parameters behind the name in
/// its definition, in TDL in brackets.
fn macro_signature(file: &File<'_>, offset: usize) -> Option<SignatureInformation> {
    let places = symbol_identity::occurrences_at(file, offset);
    let defined = places.iter().find(|one| one.place.role == ReferenceRole::Definition)?;
    let text = defined.program.text(defined.place.file);
    let (behind, _) = lex::blanks(&text[defined.place.range().end..]).ok()?;
    let list = match behind {
        [b'[', list @ ..] => list.split(|byte| *byte == b']').next()?,
        [b',', list @ ..] => &list[..zilog::code_length(list)],
        _ => {
            let (word, list) = behind.split_at(zilog::symbol(behind).len());
            word.eq_ignore_ascii_case(b"MACRO").then(|| &list[..zilog::code_length(list)])?
        }
    };
    let list = Some(list.trim_ascii()).filter(|list| !list.is_empty())?;
    let name = String::from_utf8_lossy(defined.text());
    Some(signature(format!("{name} {}", String::from_utf8_lossy(list))))
}

/// Creates a signature of a name and parameters between commas. Their offsets are in units of
/// UTF-16.
fn signature(label: String) -> SignatureInformation {
    let units = |text: &str| text.encode_utf16().count() as u32;
    let (name, list) = label.split_once(' ').unwrap_or((&label, ""));
    let mut start = units(name) + 1;
    let parameters = list.split(',').map(|part| {
        let before = part.len() - part.trim_start().len();
        let first = start + units(&part[..before]);
        start += units(part) + 1;
        let label = ParameterLabel::LabelOffsets([first, first + units(part.trim())]);
        ParameterInformation { label, documentation: None }
    });
    let parameters = Some(parameters.collect());
    SignatureInformation { label, documentation: None, parameters, active_parameter: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_counted_in_units_of_utf_16() {
        let made = signature("MACRO \u{e9}A,\u{1f600}, B".to_owned());
        let labels = made.parameters.unwrap_or_default().into_iter().map(|one| one.label);
        let expected = [[6, 8], [9, 11], [13, 14]].map(ParameterLabel::LabelOffsets);
        assert_eq!(labels.collect::<Vec<_>>(), expected);
    }
}
