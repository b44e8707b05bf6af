//! Expressions with their values, by the manual's list of ranks: all in 16 bits without sign, left
//! to right.

use super::random::Random;

/// A text, its value, and the rank of its loosest operator; 0 is a plain number.
pub(super) struct Expression {
    pub(super) text: String,
    pub(super) value: u16,
    rank: u8,
}

/// Each operator with its rank.
const OPERATORS: [(char, u8); 10] = [
    ('<', 3),
    ('>', 3),
    ('&', 4),
    ('!', 4),
    ('^', 4),
    ('*', 5),
    ('/', 5),
    ('@', 6),
    ('+', 7),
    ('-', 7),
];

impl Expression {
    /// Any expression, with operators up to `depth` deep.
    pub(super) fn random(random: &mut Random, depth: usize) -> Self {
        if depth == 0 || random.below(3) == 0 {
            return Self::number(random);
        }
        if random.below(6) == 0 {
            let inner = Self::random(random, depth - 1);
            let (sign, value) =
                random.pick(&[("-", inner.value.wrapping_neg()), ("#", !inner.value)]);
            return Self { text: format!("({sign}({}))", inner.text), value, rank: 0 };
        }
        let (operator, rank) = random.pick(&OPERATORS);
        let left = Self::random(random, depth - 1);
        let right = match operator {
            '<' | '>' => Self::small(random),
            _ => Self::random(random, depth - 1),
        };
        let value = apply(operator, left.value, right.value);
        // An operand that binds less than the operator, or equally on its right, needs parentheses.
        let text = format!("{}{operator}{}", left.within(rank), right.within(rank - 1));
        Self { text, value, rank }
    }

    fn within(&self, rank: u8) -> String {
        if self.rank > rank { format!("({})", self.text) } else { self.text.clone() }
    }

    /// The expression cut to a byte.
    pub(super) fn byte(random: &mut Random) -> Self {
        let inner = Self::random(random, 2);
        Self { text: format!("{}&0FFH", inner.within(4)), value: inner.value & 0xFF, rank: 4 }
    }

    fn number(random: &mut Random) -> Self {
        let value = match random.below(3) {
            0 => random.below(16) as u16,
            1 => random.below(256) as u16,
            _ => random.word(),
        };
        Self::written(random, value)
    }

    /// Returns a shift count: 0 to 16, or negative.
    fn small(random: &mut Random) -> Self {
        let value = random.below(17) as u16;
        if random.below(4) == 0 {
            return Self { text: format!("-{value}"), value: value.wrapping_neg(), rank: 0 };
        }
        Self::written(random, value)
    }

    /// A value in one of the notations of numbers.
    pub(super) fn written(random: &mut Random, value: u16) -> Self {
        let letter = (value as u8) as char;
        let text = match random.below(8) {
            0 => format!("0{value:X}H"),
            1 => format!("{value:b}B"),
            2 => format!("{value:o}O"),
            3 => format!("{value:o}q"),
            4 => format!("{value}."),
            5 => format!("^H0{value:x}"),
            6 if value < 128 && letter.is_ascii_alphanumeric() => format!("'{letter}'"),
            _ => value.to_string(),
        };
        Self { text, value, rank: 0 }
    }
}

fn apply(operator: char, left: u16, right: u16) -> u16 {
    match operator {
        '<' => shift(left, right),
        '>' => shift(left, right.wrapping_neg()),
        '&' => left & right,
        '!' => left | right,
        '^' => left ^ right,
        '*' => left.wrapping_mul(right),
        '/' => left.checked_div(right).unwrap_or(0xFFFF),
        '@' => left.checked_rem(right).unwrap_or(left),
        '+' => left.wrapping_add(right),
        _ => left.wrapping_sub(right),
    }
}

/// Shifts to the left, or by a negative count to the right; 16 places or more give 0.
fn shift(value: u16, count: u16) -> u16 {
    let places = u32::from((count as i16).unsigned_abs());
    let shifted =
        if (count as i16) < 0 { value.checked_shr(places) } else { value.checked_shl(places) };
    shifted.unwrap_or(0)
}
