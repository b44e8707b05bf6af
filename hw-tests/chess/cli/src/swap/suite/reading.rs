//! What the lines of a suite state: files differ in the meaning of numbers and booleans.

use std::fmt;

use chess_rules::epd::EpdEntry;
use chess_rules::suite::{AMOUNT_UNITS, SuiteMove};
use chess_rules::{FenError, Piece};
use clap::ValueEnum;
use sargon_corpus::args::{Decimal, NamedPosition};
use serde::Serialize;

/// The meaning of a number without a boolean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::swap) enum SuiteReading {
    /// The value of the move.
    Value,
    /// A threshold that the move reaches: see >= number.
    Threshold,
    /// Only the sign counts: see >= 0 if the number is not negative.
    Sign,
}

/// What most lines of a file state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Nothing,
    Number,
    Boolean,
    NumberAndBoolean,
}

/// How the lines of a file are read.
pub(super) struct FileReading {
    pub(super) file: String,
    form: Form,
    number: SuiteReading,
}

/// What a line states of the value of a move; numbers are in units of suites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    Nothing,
    Value(i64),
    /// Whether the value is at least a threshold.
    AtLeast(i64, bool),
}

impl Claim {
    /// Returns whether a value is as stated; `None` if nothing is.
    pub(super) fn holds_for(self, value: i64) -> Option<bool> {
        match self {
            Self::Nothing => None,
            Self::Value(stated) => Some(value == stated),
            Self::AtLeast(threshold, holds) => Some((value >= threshold) == holds),
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Nothing => f.pad("-"),
            Self::Value(number) => f.pad(&Decimal::of(number, AMOUNT_UNITS).to_string()),
            Self::AtLeast(threshold, holds) => {
                let sign = if holds { ">=" } else { "<" };
                f.pad(&format!("{sign} {}", Decimal::of(threshold, AMOUNT_UNITS)))
            }
        }
    }
}

impl Serialize for Claim {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Shown {
            Value { value: Decimal },
            AtLeast { threshold: Decimal, holds: bool },
        }
        let decimal = |number| Decimal::of(number, AMOUNT_UNITS);
        let shown = match *self {
            Self::Nothing => None,
            Self::Value(number) => Some(Shown::Value { value: decimal(number) }),
            Self::AtLeast(threshold, holds) => {
                Some(Shown::AtLeast { threshold: decimal(threshold), holds })
            }
        };
        shown.serialize(serializer)
    }
}

impl Form {
    fn of(suite: &SuiteMove) -> Self {
        match (suite.amount, suite.holds) {
            (None, None) => Self::Nothing,
            (Some(_), None) => Self::Number,
            (None, Some(_)) => Self::Boolean,
            (Some(_), Some(_)) => Self::NumberAndBoolean,
        }
    }

    /// What a line of this form should have.
    fn expected(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Number => "a number or a boolean",
            Self::Boolean => "true or false",
            Self::NumberAndBoolean => "a number, then true or false",
        }
    }
}

impl FileReading {
    /// Returns the reading of each file: the form of most of its lines that state something.
    pub(super) fn of_all(positions: &[&NamedPosition], number: Option<SuiteReading>) -> Vec<Self> {
        let mut files: Vec<(String, Vec<Form>)> = Vec::new();
        for named in positions {
            if files.last().is_none_or(|(file, _)| **file != *named.place.file) {
                files.push((named.place.file.to_string(), Vec::new()));
            }
            if let (Some(Ok(suite)), Some((_, forms))) = (&named.entry.suite, files.last_mut()) {
                forms.push(Form::of(suite));
            }
        }
        let reading = |(file, forms): (String, Vec<Form>)| {
            let count = |form: &Form| forms.iter().filter(|found| *found == form).count();
            let stated = [Form::Number, Form::Boolean, Form::NumberAndBoolean];
            let form = stated.into_iter().filter(|form| count(form) > 0).max_by_key(count);
            let number = number.unwrap_or(SuiteReading::Value);
            Self { file, form: form.unwrap_or(Form::Nothing), number }
        };
        files.into_iter().map(reading).collect()
    }

    /// Returns the move of a line and what it states.
    ///
    /// # Errors
    /// Fails if the line can't be judged as the others of its file.
    pub(super) fn suite_of<'a>(&self, entry: &'a EpdEntry) -> Result<&'a SuiteMove, FenError> {
        let error = |column, problem: String| Err(FenError { column, problem });
        let suite = match &entry.suite {
            Some(Ok(suite)) => suite,
            Some(Err(refused)) => return Err(refused.clone()),
            None => return error(None, "a position without a move and a value".to_owned()),
        };
        let form = Form::of(suite);
        let fits = match self.form {
            Form::Nothing => true,
            Form::Number => form != Form::Nothing,
            other => form == other,
        };
        if fits {
            return Ok(suite);
        }
        let expected = self.form.expected();
        let found = match (form, suite.unread.as_deref(), &suite.note) {
            (_, Some(text), _) if !text.is_empty() => format!("'{}'", text.escape_default()),
            (Form::Number, _, Some(note)) => format!("a number and '{}'", note.escape_default()),
            (Form::Number, ..) => "a number alone".to_owned(),
            (Form::Boolean, ..) => "a boolean alone".to_owned(),
            (Form::NumberAndBoolean, ..) => "a number and a boolean".to_owned(),
            (Form::Nothing, ..) => "nothing".to_owned(),
        };
        error(Some(suite.column), format!("expected {expected} after the move, found {found}"))
    }

    /// Returns what a line states, with these values of pieces in units of suites.
    pub(super) fn claim(&self, suite: &SuiteMove, piece: impl Fn(Piece) -> i64) -> Claim {
        let number = suite.amount.map(|amount| amount.units(piece));
        match (number, suite.holds, self.number) {
            (None, None, _) => Claim::Nothing,
            (None, Some(holds), _) => Claim::AtLeast(0, holds),
            (Some(threshold), Some(holds), _) => Claim::AtLeast(threshold, holds),
            (Some(value), None, SuiteReading::Value) => Claim::Value(value),
            (Some(threshold), None, SuiteReading::Threshold) => Claim::AtLeast(threshold, true),
            (Some(number), None, SuiteReading::Sign) => Claim::AtLeast(0, number >= 0),
        }
    }
}

impl fmt::Display for FileReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.form, self.number) {
            (Form::Nothing, _) => "nothing is stated",
            (Form::Boolean, _) => "booleans, see >= 0",
            (Form::NumberAndBoolean, _) => "thresholds, see >= number",
            (Form::Number, SuiteReading::Value) => "values",
            (Form::Number, SuiteReading::Threshold) => "thresholds that are reached, see >= number",
            (Form::Number, SuiteReading::Sign) => "signs, see >= 0",
        })
    }
}
