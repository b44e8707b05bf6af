//! Writes statements in Zilog's mnemonics.

use tdlasm::isa::{Form, Prefix, Register, Slot, Status};
use tdlasm::syntax::expr::BinaryOp;

use super::expr::{Node, Number};
use super::mnemonics;
use super::program::{Body, ConvertResult, Item, Operand, Spaced};
use super::statement_context::{ConvertedStatement, StatementContext};
use super::target::Target;
use super::zilog_expr::{self, is_plain};

pub(super) fn write(
    body: &Body<'_>,
    context: &StatementContext<'_>,
) -> ConvertResult<ConvertedStatement> {
    if let Body::Instruction(form, operands) = body {
        return instruction(form, operands, context);
    }
    let mut out = Vec::new();
    let operator = match body {
        Body::Assign { fixed, value, .. } => {
            write_assigned(value, context, &mut out)?;
            assignment(*fixed, context)?
        }
        Body::Bytes(items) => {
            list(items, &mut out, |item, out| write_item(item, context, out))?;
            "DB"
        }
        Body::Words(nodes) => {
            list(nodes, &mut out, |node, out| zilog_expr::write(node, context, out))?;
            "DW"
        }
        Body::Reserve(unit, size) => {
            write_size(*unit, size, context, &mut out)?;
            "DS"
        }
        Body::Origin(value) => write_origin(value, context, &mut out)?,
        Body::End(start) => {
            if let Some(start) = start {
                zilog_expr::write_operand(start, context, &mut out)?;
            }
            "END"
        }
        Body::Insert(name) => {
            let found = context.scan.included_file_name(name).map(str::as_bytes);
            out = [b"\"", found.unwrap_or(name), b"\""].concat();
            "INCLUDE"
        }
        Body::External(names) => {
            write_linked(names, context, &mut out)?;
            "EXTERN"
        }
        Body::Global(names) => {
            write_linked(names, context, &mut out)?;
            "GLOBAL"
        }
        Body::Instruction(..)
        | Body::Nothing
        | Body::AlreadyTarget
        | Body::CommentOut
        | Body::LeftAsIs(_) => "",
    };
    let operator = if context.is_asxxxx() { asxxxx_directive(operator) } else { operator };
    Ok(ConvertedStatement { operator: context.match_case(operator), operands: out })
}

/// Returns the spelling of a directive in ASxxxx. Sources end without one there.
fn asxxxx_directive(operator: &'static str) -> &'static str {
    match operator {
        "DB" => ".DB",
        "DW" => ".DW",
        "DS" => ".DS",
        "ORG" => ".ORG",
        "INCLUDE" => ".INCLUDE",
        "EQU" | "DEFL" => "=",
        "EXTERN" | "GLOBAL" => ".GLOBL",
        "END" => "; END",
        other => other,
    }
}

fn assignment(fixed: bool, context: &StatementContext<'_>) -> ConvertResult<&'static str> {
    let has_variables = context.target.is_none_or(Target::has_variables);
    match (fixed, has_variables, context.assigned.is_only) {
        (true, ..) | (_, false, true) => Ok("EQU"),
        (false, true, _) => Ok("DEFL"),
        (false, false, false) => {
            let name = context.target.map_or("", Target::name);
            context.unconverted(format!("{name} has no symbol with several values"))
        }
    }
}

/// Appends the new origin, as a distance if the target's output has no gaps. Returns the operator.
fn write_origin(
    value: &Node<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<&'static str> {
    if context.placed && context.target.is_some_and(Target::is_gapless) {
        let distance = Node::binary(BinaryOp::Subtract, value.clone(), Node::Here);
        zilog_expr::write(&distance, context, out)?;
        return Ok("DS");
    }
    zilog_expr::write(value, context, out)?;
    Ok("ORG")
}

/// Writes a declaration of names shared between modules.
fn write_linked(
    names: &[Spaced<'_, &[u8]>],
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    if !context.target.is_none_or(Target::links) {
        let name = context.target.map_or("", Target::name);
        return context.unconverted(format!("{name} does not link modules"));
    }
    list(names, out, |name, out| {
        out.extend_from_slice(&context.name(name)?);
        Ok(())
    })
}

fn write_assigned(
    value: &Node<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    if context.assigned.is_cyclic {
        return context
            .unconverted("the value depends on the symbol itself, which only TDL allows");
    }
    let Some(target) = context.target.filter(|target| !target.looks_ahead()) else {
        return zilog_expr::write(value, context, out);
    };
    if !context.assigned.looks_ahead {
        return zilog_expr::write(value, context, out);
    }
    match value.exact_value(&mut |name| context.names.value_facts(name, context.scope).value) {
        Some(number) => {
            // TDL counts modulo 65536.
            let number = Node::decimal((number & 0xFFFF) as u16);
            zilog_expr::write(&number, context, out)
        }
        None => context.unconverted(format!(
            "{} may give later symbols a wrong value here; define them above",
            target.name()
        )),
    }
}

/// Appends elements with commas between them.
pub(super) fn list<T>(
    items: &[Spaced<'_, T>],
    out: &mut Vec<u8>,
    mut write: impl FnMut(&T, &mut Vec<u8>) -> ConvertResult<()>,
) -> ConvertResult<()> {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
            out.extend_from_slice(item.blanks);
        }
        write(&item.item, out)?;
    }
    Ok(())
}

fn write_size(
    unit: u8,
    size: &Node<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    if unit == 1 {
        return zilog_expr::write(size, context, out);
    }
    let unit = Node::decimal(unit.into());
    zilog_expr::write(&Node::binary(BinaryOp::Multiply, size.clone(), unit), context, out)
}

fn write_item(
    item: &Item<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    match item {
        Item::Value(node) => write_byte(node, context, out),
        Item::Text(text) => {
            write_text(text, context, out);
            Ok(())
        }
    }
}

/// Appends an expression that does not begin with a quote unless it is a single character.
fn write_byte(
    node: &Node<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    let mut text = Vec::new();
    zilog_expr::write(node, context, &mut text)?;
    if text.starts_with(b"'") && !node.is_atom() {
        text = [b"(", &text[..], b")"].concat();
    }
    out.append(&mut text);
    Ok(())
}

/// Appends a text in quotes; bytes that would need an escape become numbers. In ASxxxx, quotes
/// have a single character.
fn write_text(text: &[u8], context: &StatementContext<'_>, out: &mut Vec<u8>) {
    let quotable = |byte: u8| byte < 0x80 && is_plain(byte) && byte != b'\'';
    let same_quotes =
        |byte: &u8, next: &u8| !context.is_asxxxx() && quotable(*byte) && quotable(*next);
    for (at, chunk) in text.chunk_by(same_quotes).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        if quotable(chunk[0]) {
            out.push(b'\'');
            out.extend_from_slice(chunk);
            out.push(b'\'');
        } else {
            let number = Number::new(chunk[0].into(), 16);
            out.extend_from_slice(context.number(&number).as_bytes());
        }
    }
}

fn instruction(
    form: &Form,
    operands: &[Spaced<'_, Operand<'_>>],
    context: &StatementContext<'_>,
) -> ConvertResult<ConvertedStatement> {
    let target = context.target;
    if form.status == Status::Undocumented && !target.is_none_or(Target::takes_undocumented) {
        let name = target.map_or("", Target::name);
        return context.unconverted(format!("{name} lacks this undocumented instruction"));
    }
    let (mnemonic, pattern) = mnemonics::zilog_form(form);
    let mut out = Vec::new();
    for (at, token) in pattern.split(',').enumerate() {
        let placed = (0..2).find(|number| token.contains(&format!("{{{number}}}")));
        let operand = placed.and_then(|number| operands.get(number));
        if at > 0 {
            out.push(b',');
            if placed == Some(1) {
                out.extend_from_slice(operand.map_or(b"", |operand| operand.blanks));
            }
        }
        match (placed, operand) {
            (Some(number), Some(operand)) => {
                let inside = token.starts_with('(');
                let open: &[u8] = if inside { b"(" } else { b"" };
                out.extend_from_slice(open);
                let slot = form.slots[number];
                // Jumps take an address; all else without parentheses is a number there.
                let is_number = matches!(slot, Slot::Byte | Slot::Word)
                    && !inside
                    && !matches!(mnemonic, "JP" | "CALL");
                if is_number && context.is_asxxxx() {
                    out.push(b'#');
                }
                write_operand(&operand.item, slot, inside, context, &mut out)?;
                out.extend_from_slice(if inside { b")" } else { b"" });
            }
            _ => out.extend_from_slice(context.match_case(token).as_bytes()),
        }
    }
    Ok(ConvertedStatement { operator: context.match_case(mnemonic), operands: out })
}

fn write_operand(
    operand: &Operand<'_>,
    slot: Slot,
    inside: bool,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    match operand {
        Operand::Register(register) => {
            out.extend_from_slice(context.match_case(register_name(*register, slot)).as_bytes());
            Ok(())
        }
        Operand::Index(prefix, displacement) => {
            let is_after = context.is_asxxxx();
            if is_after {
                zilog_expr::write_displacement(displacement, context, out)?;
            }
            let name = if *prefix == Prefix::Y { "(IY" } else { "(IX" };
            out.extend_from_slice(context.match_case(name).as_bytes());
            if !is_after {
                zilog_expr::write_displacement(displacement, context, out)?;
            }
            out.push(b')');
            Ok(())
        }
        Operand::Value(node)
            if slot == Slot::Relative
                && context.target == Some(Target::Gas)
                && node
                    .exact_value(&mut |name| context.names.value_facts(name, context.scope).value)
                    .is_some() =>
        {
            context.unconverted("GNU as does not accept a number as the target of a relative jump")
        }
        Operand::Value(node) if slot == Slot::Bit => write_bit(node, context, out),
        Operand::Value(node) if slot == Slot::Restart => write_restart(node, context, out),
        Operand::Value(node) if inside => {
            zilog_expr::write(node.without_parentheses(), context, out)
        }
        Operand::Value(node) => zilog_expr::write_operand(node, context, out),
    }
}

fn write_bit(
    node: &Node<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    match node.exact_value(&mut |name| context.names.value_facts(name, context.scope).value) {
        Some(number) if !(0..8).contains(&number) => {
            zilog_expr::write(&Node::decimal((number & 7) as u16), context, out)
        }
        _ => zilog_expr::write_operand(node, context, out),
    }
}

fn write_restart(
    node: &Node<'_>,
    context: &StatementContext<'_>,
    out: &mut Vec<u8>,
) -> ConvertResult<()> {
    match node.constant() {
        Some(number @ 0..=7) => {
            let mut address = Number::new(number as u16 * 8, 16);
            address.is_lowercase = context.is_lowercase;
            out.extend_from_slice(format!("{:0>3}", context.number(&address)).as_bytes());
            Ok(())
        }
        Some(_) => context.unconverted("the restart number is not in 0 to 7"),
        None => {
            let address = Node::binary(
                BinaryOp::Multiply,
                node.without_parentheses().clone(),
                Node::decimal(8),
            );
            zilog_expr::write_operand(&address, context, out)
        }
    }
}

fn register_name(register: Register, slot: Slot) -> &'static str {
    match (slot, register) {
        (Slot::SourceMem | Slot::DestMem, _) => "(HL)",
        (Slot::Source | Slot::Dest, register) => register.name(),
        (_, Register::B) => "BC",
        (_, Register::D) => "DE",
        (_, Register::H) => "HL",
        (_, Register::Psw) => "AF",
        (_, Register::X) => "IX",
        (_, Register::Y) => "IY",
        (_, register) => register.name(),
    }
}
