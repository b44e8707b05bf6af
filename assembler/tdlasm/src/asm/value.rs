//! Values of expressions: 16-bit numbers that may be relative to a section or an external symbol.

use crate::listing::RelocValue;
use crate::module::{FIRST_EXTERNAL, SectionKind};
use crate::syntax::expr::BinaryOp;

/// The base of a value: 0 for none, 1 to 3 for the sections, from 4 on for the externals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BaseId(pub(crate) u32);

impl BaseId {
    pub(crate) const ABSOLUTE: BaseId = BaseId(0);
    pub(crate) const PROG: BaseId = BaseId(1);

    pub(crate) fn section(self) -> Option<SectionKind> {
        SectionKind::from_base(self.0)
    }

    /// Returns the index into the module's externals.
    pub(crate) fn external(self) -> Option<usize> {
        self.0.checked_sub(FIRST_EXTERNAL.into()).map(|index| index as usize)
    }
}

/// A value: `times` the address of the base, plus a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Value {
    pub(crate) base: BaseId,
    base_count: i32,
    pub(crate) number: u16,
    /// Whether the value is an absolute address inside `base`; set with `--pabs`.
    is_fixed_address: bool,
}

impl Value {
    pub(crate) fn absolute(number: u16) -> Self {
        Self { number, ..Self::default() }
    }

    pub(crate) fn in_base(base: BaseId, number: u16) -> Self {
        let base_count = i32::from(base != BaseId::ABSOLUTE);
        Self { base, base_count, number, is_fixed_address: false }
    }

    /// Creates an absolute address inside a section that is not relocatable.
    pub(crate) fn fixed_address(base: BaseId, number: u16) -> Self {
        Self { base, base_count: 0, number, is_fixed_address: true }
    }

    /// Returns the value in the form that listings and objects use.
    pub(crate) fn reloc_value(self) -> RelocValue {
        RelocValue { number: self.number, base: if self.is_absolute() { 0 } else { self.base.0 } }
    }

    pub(crate) fn is_absolute(self) -> bool {
        self.base_count == 0
    }

    /// Returns the number of R flags that ZASM raises for a value that does not contain its base
    /// exactly once: two if the base is subtracted.
    pub(crate) fn relocation_faults(self) -> usize {
        match self.base_count {
            0 | 1 => 0,
            ..0 => 2,
            _ => 1,
        }
    }

    /// Returns the value in its final form: absolute, or its base once plus a number.
    pub(crate) fn normalised(self) -> Self {
        match self.base_count {
            0 => Self::absolute(self.number),
            _ => Self { base_count: 1, ..self },
        }
    }

    pub(crate) fn with_number(self, number: u16) -> Self {
        Self { number, ..self }
    }

    pub(crate) fn negate(self) -> Self {
        let number = self.number.wrapping_neg();
        Self { base_count: self.base_count.wrapping_neg(), number, ..self }
    }

    pub(crate) fn not(self) -> Self {
        Self { number: !self.number, ..self }
    }

    /// Returns `true` if the value has a base, even one that has cancelled out.
    fn has_base(self) -> bool {
        self.base != BaseId::ABSOLUTE && !self.is_fixed_address
    }

    /// Returns `true` if both values have a base, and the bases differ.
    fn bases_differ(self, other: Self) -> bool {
        self.has_base() && other.has_base() && self.base != other.base
    }

    /// Returns the value as if in parentheses: a base that has cancelled out is dropped.
    pub(crate) fn parenthesised(self) -> Self {
        if self.is_absolute() && !self.is_fixed_address {
            Self::absolute(self.number)
        } else {
            self
        }
    }

    fn add(self, other: Self, sign: i32) -> Self {
        let base_count = self.base_count.wrapping_add(sign.wrapping_mul(other.base_count));
        let others = self.base == BaseId::ABSOLUTE
            || (!self.has_base() && other.has_base())
            || (other.base_count >= 0 && self.bases_differ(other));
        let Self { base, is_fixed_address, .. } = if others { other } else { self };
        let number = match sign {
            1 => self.number.wrapping_add(other.number),
            _ => self.number.wrapping_sub(other.number),
        };
        Self { base, base_count, number, is_fixed_address }
    }

    /// ZASM multiplies how often the base occurs, but takes 0 as the product itself.
    fn multiply(self, other: Self) -> Self {
        if self.is_absolute() && other.is_absolute() {
            return Self::absolute(self.number.wrapping_mul(other.number));
        }
        let relocatable = if self.is_absolute() { other } else { self };
        let factor = if self.is_absolute() { self } else { other };
        let base_count = relocatable.base_count.wrapping_mul(i32::from(factor.number as i16));
        Self { base: relocatable.base, base_count, number: 0, is_fixed_address: false }
    }

    /// Applies a binary operator. Also returns the number of R flags that ZASM raises for it.
    pub(crate) fn binary(self, op: BinaryOp, other: Self) -> (Self, usize) {
        if self.is_number() && other.is_number() {
            return (Self::absolute(bitwise(op, self.number, other.number)), 0);
        }
        self.binary_with_bases(op, other)
    }

    /// Returns `true` if the value has no base at all.
    fn is_number(self) -> bool {
        self.base == BaseId::ABSOLUTE && self.base_count == 0
    }

    fn binary_with_bases(self, op: BinaryOp, other: Self) -> (Self, usize) {
        let disagree = usize::from(self.bases_differ(other));
        let relocatable = !self.is_absolute() || !other.is_absolute();
        match op {
            BinaryOp::Add => (self.add(other, 1), disagree),
            BinaryOp::Subtract => (self.add(other, -1), disagree),
            BinaryOp::Multiply => {
                let both = !self.is_absolute() && !other.is_absolute();
                (self.multiply(other), usize::from(both))
            }
            _ if op.is_comparison() && disagree == 0 && self.base_count == other.base_count => {
                (Self::absolute(bitwise(op, self.number, other.number)), 0)
            }
            _ => {
                let number = bitwise(op, self.number, other.number);
                let faults = if relocatable { 1 + disagree } else { 0 };
                let base = if disagree > 0 { other.base } else { self.base };
                (Self { number, base, ..self }, faults)
            }
        }
    }
}

/// Computes the operators that take absolute values only. As in ZASM, division by zero gives FFFFH
/// and leaves the dividend as remainder.
fn bitwise(op: BinaryOp, left: u16, right: u16) -> u16 {
    let truth = |holds| if holds { u16::MAX } else { 0 };
    match op {
        BinaryOp::ShiftLeft => shift(left, right as i16),
        BinaryOp::ShiftRight => shift(left, (right as i16).wrapping_neg()),
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Divide => left.checked_div(right).unwrap_or(u16::MAX),
        BinaryOp::Remainder => left.checked_rem(right).unwrap_or(left),
        BinaryOp::Multiply => left.wrapping_mul(right),
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Subtract => left.wrapping_sub(right),
        BinaryOp::Equal => truth(left == right),
        BinaryOp::NotEqual => truth(left != right),
        BinaryOp::Less => truth(left < right),
        BinaryOp::LessEqual => truth(left <= right),
        BinaryOp::Greater => truth(left > right),
        BinaryOp::GreaterEqual => truth(left >= right),
        BinaryOp::Both => truth(left != 0 && right != 0),
        BinaryOp::Either => truth(left != 0 || right != 0),
    }
}

fn shift(value: u16, left: i16) -> u16 {
    let count = u32::from(left.unsigned_abs());
    if left < 0 { value.checked_shr(count) } else { value.checked_shl(count) }.unwrap_or(0)
}
