//! Values of expressions: 16-bit numbers that may move with a section or an external symbol.

use crate::listing::Listed;
use crate::module::SectionKind;
use crate::syntax::expr::BinaryOp;

/// What a value moves with: 0 nothing, 1 to 3 the sections, from 4 on the externals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BaseId(pub(crate) u32);

impl BaseId {
    pub(crate) const ABSOLUTE: BaseId = BaseId(0);
    pub(crate) const PROG: BaseId = BaseId(1);
    pub(crate) const FIRST_EXTERNAL: u32 = 4;

    pub(crate) fn section(self) -> Option<SectionKind> {
        match self.0 {
            0 => Some(SectionKind::Absolute),
            1 => Some(SectionKind::Prog),
            2 => Some(SectionKind::Data),
            3 => Some(SectionKind::Blank),
            _ => None,
        }
    }

    /// The index of the external among the module's.
    pub(crate) fn external(self) -> Option<usize> {
        self.0.checked_sub(Self::FIRST_EXTERNAL).map(|index| index as usize)
    }
}

/// A value: `times` the base's place plus a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Value {
    pub(crate) base: BaseId,
    times: i32,
    pub(crate) number: u16,
}

/// A value that no relocation can express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotRelocatable;

impl Value {
    pub(crate) fn absolute(number: u16) -> Self {
        Self { number, ..Self::default() }
    }

    pub(crate) fn in_base(base: BaseId, number: u16) -> Self {
        Self { base, times: i32::from(base != BaseId::ABSOLUTE), number }
    }

    /// A plain number that is a place in a section which does not move.
    pub(crate) fn fixed_in(base: BaseId, number: u16) -> Self {
        Self { base, times: 0, number }
    }

    /// The value as a listing shows it.
    pub(crate) fn listed(self) -> Listed {
        Listed { number: self.number, base: if self.is_absolute() { 0 } else { self.base.0 } }
    }

    #[inline]
    pub(crate) fn is_absolute(self) -> bool {
        self.times == 0
    }

    /// The value in its final form: absolute, or once its base plus a number.
    pub(crate) fn settled(self) -> Result<Self, NotRelocatable> {
        match self.times {
            0 => Ok(Self::absolute(self.number)),
            1 => Ok(self),
            _ => Err(NotRelocatable),
        }
    }

    pub(crate) fn negate(self) -> Self {
        let number = self.number.wrapping_neg();
        Self { times: self.times.wrapping_neg(), number, ..self }
    }

    pub(crate) fn not(self) -> Result<Self, NotRelocatable> {
        Ok(Self::absolute(!self.number_alone()?))
    }

    fn number_alone(self) -> Result<u16, NotRelocatable> {
        if self.is_absolute() { Ok(self.number) } else { Err(NotRelocatable) }
    }

    fn add(self, other: Self) -> Result<Self, NotRelocatable> {
        if !self.is_absolute() && !other.is_absolute() && self.base != other.base {
            return Err(NotRelocatable);
        }
        let times = self.times.wrapping_add(other.times);
        let base = if self.is_absolute() { other.base } else { self.base };
        Ok(Self { base, times, number: self.number.wrapping_add(other.number) })
    }

    fn multiply(self, other: Self) -> Result<Self, NotRelocatable> {
        let (moving, factor) = if self.is_absolute() { (other, self) } else { (self, other) };
        let factor = factor.number_alone()?;
        let times = moving.times.wrapping_mul(i32::from(factor as i16));
        Ok(Self { base: moving.base, times, number: moving.number.wrapping_mul(factor) })
    }

    #[inline]
    pub(crate) fn binary(self, op: BinaryOp, other: Self) -> Result<Self, NotRelocatable> {
        match op {
            BinaryOp::Add => self.add(other),
            BinaryOp::Subtract => self.add(other.negate()),
            BinaryOp::Multiply => self.multiply(other),
            _ => {
                let (left, right) = (self.number_alone()?, other.number_alone()?);
                Ok(Self::absolute(bitwise(op, left, right)))
            }
        }
    }
}

/// The operations that only absolute values take. Division by zero gives FFFFH, its remainder the
/// dividend, as on the original assembler.
fn bitwise(op: BinaryOp, left: u16, right: u16) -> u16 {
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
    }
}

fn shift(value: u16, left: i16) -> u16 {
    let count = u32::from(left.unsigned_abs());
    if left < 0 { value.checked_shr(count) } else { value.checked_shl(count) }.unwrap_or(0)
}
