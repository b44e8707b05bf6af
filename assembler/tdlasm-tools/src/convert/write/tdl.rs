//! Writes statements in TDL's mnemonics.

use tdlasm::isa::Prefix;
use tdlasm::syntax::directive::{Directive, TextTerminator};
use tdlasm::syntax::expr::NOT_RANK;

use super::super::expr::{Node, Number, Unary};
use super::super::program::{ConvertResult, Item, Operand, Spaced};
use super::{StatementWriter, tdl_name};

const DISAGREEMENT: &str = "assemblers disagree on the division or right shift of values that may \
    be negative; write (value&0FFFFH) for an unsigned number";

/// The highest rank of the operators.
const LOOSEST: u8 = 7;

/// The delimiters that a text may get.
const DELIMITERS: &[u8] = b"\"'/|!~^*+=";

impl StatementWriter<'_> {
    /// Writes bytes as expressions, or as texts if one is not a single character; returns the name
    /// of the directive.
    pub(super) fn tdl_bytes(
        &mut self,
        items: &[Spaced<'_, Item<'_>>],
    ) -> ConvertResult<&'static str> {
        let is_long = |item: &Item<'_>| matches!(item, Item::Text(text) if text.len() != 1);
        if !items.iter().any(|item| is_long(&item.item)) {
            self.list(items, Self::tdl_byte)?;
            return Ok(tdl_name(Directive::Byte));
        }
        let (texts, end) = match items.split_last() {
            Some((last, texts)) if is_zero(&last.item) => (texts, TextTerminator::Zero),
            _ => (items, TextTerminator::Plain),
        };
        self.tdl_texts(texts)?;
        Ok(tdl_name(Directive::Text(end)))
    }

    pub(super) fn tdl_operand(&mut self, operand: &Operand<'_>) -> ConvertResult<()> {
        match operand {
            Operand::Register(register) => self.word(register.name()),
            Operand::Index(prefix, displacement) => {
                self.tdl_expr(displacement)?;
                self.word(if *prefix == Prefix::Y { "(Y)" } else { "(X)" });
            }
            Operand::Value(node) => self.tdl_expr(node)?,
        }
        Ok(())
    }

    /// Writes an element of `.BYTE`; a text as the codes of its characters.
    fn tdl_byte(&mut self, item: &Item<'_>) -> ConvertResult<()> {
        match item {
            Item::Value(node) => self.tdl_expr(node),
            Item::Text(text) => {
                text.iter().try_for_each(|byte| self.tdl_expr(&Node::character(*byte)))
            }
        }
    }

    /// Writes the operands of `.ASCII`: texts between delimiters, and bytes in brackets.
    fn tdl_texts(&mut self, items: &[Spaced<'_, Item<'_>>]) -> ConvertResult<()> {
        for item in items {
            match &item.item {
                Item::Text(text) => {
                    let free = DELIMITERS.iter().find(|delimiter| !text.contains(delimiter));
                    let Some(delimiter) = free else {
                        return self.unconverted("the text leaves no character free to delimit it");
                    };
                    self.push([&[*delimiter], &text[..], &[*delimiter]].concat());
                }
                Item::Value(node) => {
                    self.push(b"[");
                    self.tdl_expr(node)?;
                    self.push(b"]");
                }
            }
        }
        Ok(())
    }

    pub(super) fn tdl_expr(&mut self, node: &Node<'_>) -> ConvertResult<()> {
        self.tdl_expr_within(node, LOOSEST)
    }

    /// Writes an expression, in parentheses if an operator of rank `loosest + 1` would split it.
    fn tdl_expr_within(&mut self, node: &Node<'_>, loosest: u8) -> ConvertResult<()> {
        let rank = match node {
            Node::Unary(Unary::Negate, _) => 1,
            Node::Unary(Unary::Not, _) => NOT_RANK,
            Node::Binary(op, ..) => op.rank(),
            _ => 0,
        };
        match node {
            _ if rank > loosest => return self.in_parentheses(node),
            Node::Number(number) => self.push(spell(*number, self.radix)),
            Node::Char(b'\'') => self.push("''''"),
            Node::Char(byte @ b' '..=b'~') => self.push([b'\'', *byte, b'\'']),
            Node::Char(byte) => self.push(spell(Number::new((*byte).into(), 16), self.radix)),
            Node::Here => self.push("."),
            Node::Name(name) => self.symbol(name)?,
            Node::Group(inner) => return self.in_parentheses(inner),
            Node::Unary(op, inner) => {
                self.unary_sign(*op);
                return self.tdl_expr_within(inner, 1);
            }
            Node::Binary(op, sides, blanks) => {
                self.check_right_side(*op, &sides[1])?;
                for (at, side) in sides.iter().enumerate() {
                    if Self::needs_portable_operand(*op, at) && !self.is_portable(side) {
                        return self.unconverted(DISAGREEMENT);
                    }
                }
                self.tdl_expr_within(&sides[0], op.rank())?;
                self.push(blanks[0]);
                self.out.extend(op.sign());
                self.push(blanks[1]);
                return self.tdl_expr_within(&sides[1], op.rank() - 1);
            }
        }
        Ok(())
    }
}

fn is_zero(item: &Item<'_>) -> bool {
    matches!(item, Item::Value(Node::Number(number)) if number.value == 0)
}

/// Spells a number so that it is read the same in every radix, unless the radix is known to be 10.
fn spell(number: Number<'_>, radix: Option<u8>) -> Vec<u8> {
    let digits = number.spelling();
    match (number.radix, radix) {
        (10, Some(10)) => digits,
        (10, _) => format!("{digits}."),
        // B would be a digit in radix 16.
        (2, Some(16) | None) => format!("^B{digits}"),
        _ => digits + number.suffix(),
    }
    .into_bytes()
}
