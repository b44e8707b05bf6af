//! Signature help: the operands that an instruction or a macro takes.

use crate::fmt::StatementParts;
use crate::mnemonics;
use lsp_types::{ParameterInformation, ParameterLabel, SignatureHelp, SignatureInformation};
use tdlasm::isa::Form;
use tdlasm::references::ReferenceRole;
use tdlasm::syntax::lex;

use super::symbol_identity;
use super::words::statement_at;
use super::workspace::File;

/// Returns the forms of the instruction, or the macro, whose operands are at an offset.
pub(super) fn help(file: &File<'_>, offset: usize) -> Option<SignatureHelp> {
    let text = &file.text;
    let statements = file.statements()?;
    let parts = statement_at(&statements, offset)?;
    if !is_in_operands(text, parts, offset) {
        return None;
    }
    let typed = &text[parts.operands.start.min(offset)..offset];
    let at = operand_number(typed);
    let forms = mnemonics::tdl_forms(&text[parts.operator.clone()]);
    let signatures: Vec<SignatureInformation> = if forms.is_empty() {
        macro_signature(file, parts.operator.start).into_iter().collect()
    } else {
        forms.iter().filter(|form| form.arity() > 0).map(form_signature).collect()
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

fn form_signature(form: &Form) -> SignatureInformation {
    let label = form.pattern();
    let names = form.slots[..form.arity()].iter().map(|slot| slot.pattern().to_owned());
    signature(label, names.collect())
}

/// Returns the signature of the macro with its name at an offset: the parameters in brackets
/// behind the name in its definition.
fn macro_signature(file: &File<'_>, offset: usize) -> Option<SignatureInformation> {
    let places = symbol_identity::occurrences_at(file, offset);
    let defined = places.iter().find(|one| one.place.role == ReferenceRole::Definition)?;
    let text = defined.program.text(defined.place.file);
    let behind = &text[defined.place.range().end..];
    let (rest, _) = lex::blanks(behind).ok()?;
    let list = rest.strip_prefix(b"[")?;
    let list = &list[..list.iter().position(|byte| *byte == b']')?];
    let list = String::from_utf8_lossy(list).into_owned();
    let name = String::from_utf8_lossy(defined.text());
    let names = list.split(',').map(|name| name.trim().to_owned()).collect();
    Some(signature(format!("{name} {list}"), names))
}

/// Creates a signature whose parameters are found in its label, in order. Their offsets are in
/// units of UTF-16.
fn signature(label: String, names: Vec<String>) -> SignatureInformation {
    let mut from = label.find(' ').unwrap_or(0);
    let units = |text: &str| text.encode_utf16().count() as u32;
    let parameters = names.iter().map(|name| {
        let found = label.get(from..).and_then(|rest| rest.split_once(name.as_str()));
        let start = from + found.map_or(0, |(before, _)| before.len());
        from = start + found.map_or(0, |_| name.len());
        let [start, end] = [start, from].map(|at| units(&label[..at]));
        let label = ParameterLabel::LabelOffsets([start, end]);
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
        let names = ["\u{e9}A", "\u{1f600}", "B", "missing"].map(str::to_owned);
        let made = signature("MACRO [\u{e9}A,\u{1f600},B]".to_owned(), names.to_vec());
        let labels = made.parameters.unwrap_or_default().into_iter().map(|one| one.label);
        let expected = [[7, 9], [10, 12], [13, 14], [14, 14]].map(ParameterLabel::LabelOffsets);
        assert_eq!(labels.collect::<Vec<_>>(), expected);
    }
}
