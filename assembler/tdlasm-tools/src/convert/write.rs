//! Writes statements in the other dialect: what both have in common, and where assemblers disagree.

mod tdl;
mod zilog;
mod zilog_expr;

use std::borrow::Cow;

use tdlasm::syntax::directive::Directive;
use tdlasm::syntax::expr::BinaryOp;

use super::expr::{Node, Number, Unary};
use super::options::{Dialect, Target};
use super::program::{Body, ConvertResult, Spaced, Unconverted};
use super::symbol_spelling::{Scopes, SpellingMap};
use crate::mnemonics::{ZilogDirective, written_name};
use crate::source_scan::SourceScan;

pub(super) use zilog_expr::{SIGN_DISAGREEMENT, is_product, is_sum};

/// What is known of a program before it is written.
#[derive(Debug)]
pub(super) struct ProgramFacts<'a> {
    pub(super) names: &'a SpellingMap,
    pub(super) scopes: &'a Scopes,
    pub(super) scan: &'a SourceScan,
}

/// Writes the operands of a statement, with what must be known for that.
#[derive(Debug)]
pub(super) struct StatementWriter<'a> {
    pub(super) known: &'a ProgramFacts<'a>,
    pub(super) scope: u32,
    /// The radix of the place, for a reader of TDL.
    pub(super) radix: Option<u8>,
    /// The offset that an [`Unconverted`] refers to.
    pub(super) at: usize,
    pub(super) to: Dialect,
    /// The assembler that is written for.
    pub(super) target: Option<Target>,
    /// `true` if bytes or an origin come before the statement.
    pub(super) placed: bool,
    pub(super) assigned: AssignmentFacts,
    /// Whether mnemonics are written in small letters.
    pub(super) is_lowercase: bool,
    /// The operands.
    pub(super) out: Vec<u8>,
}

/// Facts of an assignment for assemblers that read a source once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AssignmentFacts {
    /// Whether its value has symbols that are defined further below.
    pub(super) looks_ahead: bool,
    /// Whether the symbol has no other value.
    pub(super) is_only: bool,
    /// Whether its value depends on the symbol itself.
    pub(super) is_cyclic: bool,
}

impl StatementWriter<'_> {
    /// Writes the operands of a statement, and returns its operator.
    pub(super) fn statement(&mut self, body: &Body<'_>) -> ConvertResult<String> {
        let operator = match (body, self.to) {
            (Body::Instruction(form, operands), Dialect::Tdl) => {
                self.list(operands, Self::tdl_operand)?;
                form.mnemonic
            }
            (Body::Instruction(form, operands), Dialect::Zilog) => {
                self.zilog_instruction(form, operands)?
            }
            (Body::Assign { fixed, value, .. }, Dialect::Tdl) => {
                self.tdl_expr(value)?;
                // A forward reference has no value in TDL's first pass, so == would report a change.
                if *fixed && !self.assigned.looks_ahead { "==" } else { "=" }
            }
            (Body::Assign { fixed, value, .. }, Dialect::Zilog) => {
                self.assigned_value(value)?;
                written_name(self.assignment(*fixed)?, self.is_asxxxx())
            }
            _ => self.directive(body)?,
        };
        Ok(self.match_case(operator))
    }

    /// Writes the operands of a directive, and returns its name.
    fn directive(&mut self, body: &Body<'_>) -> ConvertResult<&'static str> {
        let (tdl, mut zilog) = match body {
            Body::Bytes(_) => (Directive::Byte, ZilogDirective::Bytes),
            Body::Words(_) => (Directive::Word, ZilogDirective::Words),
            Body::Reserve(unit, _) => (Directive::Reserve(*unit), ZilogDirective::Reserve),
            Body::Origin(_) => (Directive::Location, ZilogDirective::Origin),
            Body::End(_) => (Directive::End, ZilogDirective::End),
            Body::Insert(_) => (Directive::Insert, ZilogDirective::Include),
            Body::External(_) => (Directive::External, ZilogDirective::External),
            Body::Global(_) => (Directive::Internal, ZilogDirective::Global),
            _ => return Ok(""),
        };
        let is_tdl = self.to == Dialect::Tdl;
        match body {
            Body::Bytes(items) if is_tdl => return self.tdl_bytes(items),
            Body::Bytes(items) => self.list(items, Self::zilog_byte)?,
            Body::Words(nodes) => self.list(nodes, Self::expr)?,
            Body::Reserve(unit, size) if *unit > 1 && !is_tdl => {
                let unit = Node::decimal((*unit).into());
                self.zilog_expr(&Node::binary(BinaryOp::Multiply, size.clone(), unit))?;
            }
            Body::Origin(value) if !is_tdl => zilog = self.origin(value)?,
            Body::Reserve(_, value) | Body::Origin(value) => self.expr(value)?,
            Body::End(Some(start)) if !is_tdl => self.zilog_immediate(start)?,
            Body::End(start) => start.iter().try_for_each(|start| self.expr(start))?,
            Body::Insert(name) if is_tdl => self.push(name),
            Body::Insert(name) => {
                let found = self.known.scan.included_file_name(name).map(str::as_bytes);
                self.push([b"\"", found.unwrap_or(name), b"\""].concat());
            }
            Body::External(names) | Body::Global(names) => self.linked(names)?,
            _ => {}
        }
        Ok(if is_tdl { tdl_name(tdl) } else { written_name(zilog, self.is_asxxxx()) })
    }

    fn expr(&mut self, node: &Node<'_>) -> ConvertResult<()> {
        match self.to {
            Dialect::Tdl => self.tdl_expr(node),
            Dialect::Zilog => self.zilog_expr(node),
        }
    }

    pub(super) fn in_parentheses(&mut self, node: &Node<'_>) -> ConvertResult<()> {
        self.push("(");
        self.expr(node)?;
        self.push(")");
        Ok(())
    }

    pub(super) fn unary_sign(&mut self, op: Unary) {
        self.push(match (op, self.to) {
            (Unary::Negate, _) => "-",
            (Unary::Not, Dialect::Tdl) => "#",
            (Unary::Not, Dialect::Zilog) => "~",
        });
    }

    /// Writes names shared between modules.
    fn linked(&mut self, names: &[Spaced<'_, &[u8]>]) -> ConvertResult<()> {
        if !self.target.is_none_or(Target::links) {
            return self.unconverted(format!("{} does not link modules", self.target_name()));
        }
        self.list(names, Self::symbol)
    }

    /// Returns the reason why the statement is copied unchanged.
    pub(super) fn unconverted<T>(&self, message: impl Into<Cow<'static, str>>) -> ConvertResult<T> {
        Unconverted::fail(self.at, message)
    }

    pub(super) fn push(&mut self, text: impl AsRef<[u8]>) {
        self.out.extend_from_slice(text.as_ref());
    }

    /// Writes elements with commas between them.
    fn list<T>(
        &mut self,
        items: &[Spaced<'_, T>],
        write: impl Fn(&mut Self, &T) -> ConvertResult<()>,
    ) -> ConvertResult<()> {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.push(b",");
                self.push(item.blanks);
            }
            write(self, &item.item)?;
        }
        Ok(())
    }

    /// Writes a symbol as the other dialect spells it.
    pub(super) fn symbol(&mut self, name: &&[u8]) -> ConvertResult<()> {
        if self.known.scan.is_redefined(name) {
            let name = String::from_utf8_lossy(name);
            return self.unconverted(format!("{name} is a macro or has been redefined"));
        }
        self.push(self.known.names.spelling(name, self.scope));
        Ok(())
    }

    fn match_case(&self, word: &str) -> String {
        if self.is_lowercase { word.to_ascii_lowercase() } else { word.to_owned() }
    }

    /// Writes a register or a fixed operand.
    fn word(&mut self, word: &str) {
        self.push(self.match_case(word));
    }

    /// Returns `true` if the target takes the syntax of ASxxxx.
    pub(super) fn is_asxxxx(&self) -> bool {
        self.target.is_some_and(Target::is_asxxxx)
    }

    /// Returns the name of the target, for messages.
    fn target_name(&self) -> &'static str {
        self.target.map_or("", Target::name)
    }

    /// The value in unbounded arithmetic, if it depends on this source only.
    pub(super) fn exact_value(&self, node: &Node<'_>) -> Option<i64> {
        node.exact_value(&mut |name| self.known.names.value_facts(name, self.scope).value)
    }

    pub(super) fn is_portable(&self, node: &Node<'_>) -> bool {
        node.is_portable(&mut |name| self.known.names.value_facts(name, self.scope))
    }

    /// Returns `true` if the operation is portable only with a portable operand on this side.
    pub(super) fn needs_portable_operand(op: BinaryOp, side: usize) -> bool {
        match op {
            BinaryOp::Divide | BinaryOp::Remainder => true,
            BinaryOp::ShiftRight => side == 0,
            _ => false,
        }
    }

    /// Refuses shifts by unknown counts and divisions by what may be zero, whose results differ.
    pub(super) fn check_right_side(&self, op: BinaryOp, right: &Node<'_>) -> ConvertResult<()> {
        let value = self.exact_value(right);
        // A divisor that is 0 modulo 65536 is enough to refuse: some count with 16 bits.
        let zero = value.is_none_or(|value| value & 0xFFFF == 0);
        match (op, value) {
            (BinaryOp::ShiftLeft | BinaryOp::ShiftRight, Some(0..=15)) => Ok(()),
            (BinaryOp::ShiftLeft | BinaryOp::ShiftRight, _) => {
                self.unconverted("only shifts by a constant from 0 to 15 mean the same everywhere")
            }
            (BinaryOp::Divide | BinaryOp::Remainder, _) if zero => {
                self.unconverted("only TDL divides by zero, and this may be zero")
            }
            _ => Ok(()),
        }
    }

    /// Writes a number as Zilog's side spells it.
    pub(super) fn zilog_number(&mut self, number: &Number<'_>) {
        let text = match self.is_asxxxx() {
            true => number.prefixed(),
            false => number.spelling() + number.suffix(),
        };
        self.push(text);
    }
}

fn tdl_name(directive: Directive) -> &'static str {
    let named = Directive::NAMES.iter().find(|(_, one)| *one == directive);
    named.map_or("", |(name, _)| name)
}
