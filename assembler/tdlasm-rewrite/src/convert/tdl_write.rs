//! Writes statements in TDL's mnemonics.

use tdlasm::isa::Prefix;

use super::expr::Node;
use super::program::{Body, ConvertResult, Item, Operand, Spaced};
use super::statement_context::{ConvertedStatement, StatementContext};
use super::tdl_expr;
use super::zilog_write::list;

/// The delimiters that a text may get.
const DELIMITERS: &[u8] = b"\"'/|!~^*+=";

pub(super) fn write(
    body: &Body<'_>,
    context: &StatementContext<'_>,
) -> ConvertResult<ConvertedStatement> {
    let mut out = Vec::new();
    let operator = match body {
        Body::Instruction(form, operands) => {
            write_operands(operands, context, &mut out)?;
            form.mnemonic
        }
        Body::Assign { fixed, value, .. } => {
            tdl_expr::write(value, context, &mut out)?;
            // A forward reference has no value in TDL's first pass, so == would report a change.
            if *fixed && !context.assigned.looks_ahead { "==" } else { "=" }
        }
        Body::Bytes(items) if items.iter().any(|item| is_long(&item.item)) => {
            let zero = items.last().is_some_and(|last| is_zero(&last.item));
            write_texts(&items[..items.len() - usize::from(zero)], context, &mut out)?;
            if zero { ".ASCIZ" } else { ".ASCII" }
        }
        Body::Bytes(items) => {
            list(items, &mut out, |item, out| write_byte(item, context, out))?;
            ".BYTE"
        }
        Body::Words(nodes) => {
            list(nodes, &mut out, |node, out| tdl_expr::write(node, context, out))?;
            ".WORD"
        }
        Body::Reserve(unit, size) => {
            tdl_expr::write(size, context, &mut out)?;
            if *unit == 1 { ".BLKB" } else { ".BLKW" }
        }
        Body::Origin(value) => {
            tdl_expr::write(value, context, &mut out)?;
            ".LOC"
        }
        Body::End(start) => {
            if let Some(start) = start {
                tdl_expr::write(start, context, &mut out)?;
            }
            ".END"
        }
        Body::Insert(name) => {
            out.extend_from_slice(name);
            ".INSERT"
        }
        Body::External(names) | Body::Global(names) => {
            list(names, &mut out, |name, out| {
                out.extend_from_slice(&context.name(name)?);
                Ok(())
            })?;
            if matches!(body, Body::External(_)) { ".EXTERN" } else { ".INTERN" }
        }
        Body::Nothing | Body::AlreadyTarget | Body::CommentOut | Body::LeftAsIs(_) => "",
    };
    Ok(ConvertedStatement { operator: context.match_case(operator), operands: out })
}

fn write_operands(
    operands: &[Spaced<'_, Operand<'_>>],
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    list(operands, out, |operand, out| match operand {
        Operand::Register(register) => {
            out.extend_from_slice(context.match_case(register.name()).as_bytes());
            Ok(())
        }
        Operand::Index(prefix, displacement) => {
            tdl_expr::write(displacement, context, out)?;
            let name = if *prefix == Prefix::Y { "(Y)" } else { "(X)" };
            out.extend_from_slice(context.match_case(name).as_bytes());
            Ok(())
        }
        Operand::Value(node) => tdl_expr::write(node, context, out),
    })
}

fn is_zero(item: &Item<'_>) -> bool {
    matches!(item, Item::Value(Node::Number(number)) if number.value == 0)
}

/// Returns `true` if a text is not a single character.
fn is_long(item: &Item<'_>) -> bool {
    matches!(item, Item::Text(text) if text.len() != 1)
}

fn write_byte(
    item: &Item<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    match item {
        Item::Value(node) => tdl_expr::write(node, context, out),
        Item::Text(text) => write_codes(text, context, out),
    }
}

/// The operands of `.ASCII`: texts between delimiters, and bytes in brackets.
fn write_texts(
    items: &[Spaced<'_, Item<'_>>],
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    for item in items {
        match &item.item {
            Item::Text(text) => {
                let free = DELIMITERS.iter().find(|delimiter| !text.contains(delimiter));
                let Some(delimiter) = free else {
                    return context.unconverted("the text leaves no character free to delimit it");
                };
                out.push(*delimiter);
                out.extend_from_slice(text);
                out.push(*delimiter);
            }
            Item::Value(node) => {
                out.push(b'[');
                tdl_expr::write(node, context, out)?;
                out.push(b']');
            }
        }
    }
    Ok(())
}

/// The codes of characters as expressions.
fn write_codes(
    text: &[u8],
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    for byte in text {
        tdl_expr::write(&Node::character(*byte), context, out)?;
    }
    Ok(())
}
