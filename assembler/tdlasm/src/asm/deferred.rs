//! Expressions with forward references, whose values are known at the end of the module.

use super::name_hash::NameId;
use super::value::Value;
use crate::syntax::expr::BinaryOp;

/// An operation of a deferred expression, in postfix order.
#[derive(Debug, Clone, Copy)]
pub(super) enum DeferredOp {
    Value(Value),
    /// A forward reference, with its offset in the source.
    Symbol(NameId, u32),
    Expression(u32),
    Negate,
    Not,
    Binary(BinaryOp),
    Group,
}

/// A deferred expression: a range of [`Deferred::ops`].
#[derive(Debug, Clone, Copy)]
pub(super) struct DeferredExpression {
    pub(super) first: u32,
    pub(super) count: u32,
}

#[derive(Debug, Default)]
pub(super) struct Deferred {
    pub(super) ops: Vec<DeferredOp>,
    pub(super) expressions: Vec<DeferredExpression>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evaluated {
    Known(Value),
    /// Not known before the end of the module; the index of the deferred expression.
    Deferred(u32),
}
