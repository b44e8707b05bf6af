//! The number that a line of a suite states: decimal digits, or a sum of pieces.

use crate::Piece;

/// The number of units of an [`Amount`] in 1.
pub const AMOUNT_UNITS: i64 = 1000;
/// The largest number that is read, so that sums can't overflow.
const MAX_NUMBER: i64 = 1_000_000;
/// The greatest depth of brackets in a sum.
const MAX_DEPTH: u32 = 16;

/// A sum of a number and of pieces, such as `100`, `-3.25` or `P - R + B`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// The number, in thousandths ([`AMOUNT_UNITS`]).
    pub number: i64,
    /// How often each kind of piece is added, in the order of [`Piece::ALL`].
    pub pieces: [i32; 6],
}

impl Amount {
    /// Reads a number with up to three decimals, or a sum of numbers and pieces: letters (`P`) or
    /// names in program text (`SEE_VALUES[Pawn]`), with brackets. `None` for any other text.
    ///
    /// ```
    /// use chess_rules::see::PieceValues;
    /// use chess_rules::suite::Amount;
    /// let value = |kind| i64::from(PieceValues::CLASSIC.of(kind)) * 1000;
    /// let units = |text| Amount::read(text).map(|sum| sum.units(value));
    /// assert_eq!(units("-(P - SEE_VALUES[Bishop])"), Some(200_000));
    /// assert_eq!(units("+3.25"), Some(3_250));
    /// assert_eq!((units("3,25"), units("P -"), units("1oo")), (None, None, None));
    /// ```
    pub fn read(text: &str) -> Option<Self> {
        let mut reader = Reader { rest: text };
        let sum = reader.sum(0)?;
        reader.skip_blanks();
        reader.rest.is_empty().then_some(sum)
    }

    /// Returns the sum in thousandths, with the values of pieces in thousandths.
    pub fn units(self, value: impl Fn(Piece) -> i64) -> i64 {
        let pieces = Piece::ALL.into_iter().zip(self.pieces);
        self.number + pieces.map(|(kind, count)| value(kind) * i64::from(count)).sum::<i64>()
    }

    /// Returns whether it is a number without pieces.
    pub fn is_number(self) -> bool {
        self.pieces == [0; 6]
    }

    fn plus(self, other: Self, sign: i32) -> Option<Self> {
        let mut sum = self;
        sum.number += other.number * i64::from(sign);
        for (count, more) in sum.pieces.iter_mut().zip(other.pieces) {
            *count += more * sign;
        }
        let in_range = sum.number.abs() <= MAX_NUMBER * AMOUNT_UNITS
            && sum.pieces.iter().all(|count| count.abs() <= 64);
        in_range.then_some(sum)
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, letter: char) -> bool {
        self.skip_blanks();
        let after = self.rest.strip_prefix(letter);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Reads terms with signs between them; the first may lack its sign.
    fn sum(&mut self, depth: u32) -> Option<Amount> {
        let mut sum = Amount::default();
        let mut sign = if self.take('-') { -1 } else { 1 };
        if sign == 1 {
            self.take('+');
        }
        loop {
            sum = sum.plus(self.term(depth)?, sign)?;
            sign = match (self.take('+'), self.take('-')) {
                (true, false) => 1,
                (false, true) => -1,
                _ => return Some(sum),
            };
        }
    }

    fn term(&mut self, depth: u32) -> Option<Amount> {
        if depth < MAX_DEPTH && self.take('(') {
            let sum = self.sum(depth + 1)?;
            return self.take(')').then_some(sum);
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number();
        }
        let name = self.while_true(|c| c.is_ascii_alphanumeric() || "_.:[]".contains(c));
        let mut pieces = [0; 6];
        pieces[named_piece(name)? as usize] = 1;
        Some(Amount { number: 0, pieces })
    }

    fn number(&mut self) -> Option<Amount> {
        let digits = self.while_true(|c| c.is_ascii_digit() || c == '.');
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
        if decimals.contains('.') || decimals.len() > 3 || digits == "." {
            return None;
        }
        let whole: i64 = format!("0{whole}").parse().ok()?;
        let thousandths: i64 = format!("{decimals:0<3}").parse().ok()?;
        let number = whole.checked_mul(AMOUNT_UNITS)? + thousandths;
        (number <= MAX_NUMBER * AMOUNT_UNITS).then_some(Amount { number, pieces: [0; 6] })
    }

    fn while_true(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (part, rest) = self.rest.split_at(end);
        self.rest = rest;
        part
    }
}

/// Returns the piece that exactly one word of a name denotes: `P`, `Pawn`, `PAWN_VALUE`,
/// `SEE_VALUES[Pawn]`, `PieceType::Pawn`.
fn named_piece(name: &str) -> Option<Piece> {
    const NAMES: [&str; 6] = ["pawn", "knight", "bishop", "rook", "queen", "king"];
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let piece_of = |word: &str| {
        let lower = word.to_ascii_lowercase();
        let is_letter = word.len() == 1 && lower != word;
        Piece::ALL.into_iter().zip(NAMES).find_map(|(kind, name)| {
            let named = lower.strip_suffix("value").unwrap_or(&lower) == name;
            (named || is_letter && lower == char::from(kind).to_string()).then_some(kind)
        })
    };
    let mut found = words.filter_map(piece_of);
    let piece = found.next()?;
    found.next().is_none().then_some(piece)
}
