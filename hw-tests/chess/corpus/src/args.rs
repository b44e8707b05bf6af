//! The positions of a command line: FENs, files, standard input, or the built-in corpus.

mod head;
mod source;
mod stream;

use std::fmt::Display;
use std::sync::Arc;

use crate::analysis::convert;
use chess_rules::epd::EpdEntry;
use chess_rules::{Move, RightsNotation};
use clap::Args;
use cli_support::exit::{CommandError, USAGE};
use cli_support::output::{json_line, pluralize};
use cli_support::text;
use sargon_reference::{Position, Square};
use serde::Serialize;

use crate::{builtin_position_files, impossible_warning, with_location};

pub use head::{Decimal, PositionHeader, RejectedLine};
pub use stream::{ParsedLine, PositionStream, Reporter, SinglePosition};

use source::{Batch, Source};

/// Options that select positions.
#[derive(Debug, Args)]
pub struct PositionArgs {
    /// FENs, files of positions (EPD or FEN, one a line), or - for standard input; default: the
    /// built-in corpus
    #[arg(value_name = "FEN|FILE")]
    positions: Vec<String>,
    /// Stop at the first invalid line instead of skipping it
    #[arg(long)]
    strict: bool,
    /// An additional position in FEN; repeatable
    #[arg(long = "fen", value_name = "FEN")]
    texts: Vec<String>,
}

/// The form in which positions, moves and results are written; [`Default`] is text.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct OutputForm {
    /// Print JSON, one object a line (docs/positions.schema.json)
    #[arg(long)]
    pub json: bool,
    /// Print EPD: the positions with their operations, and results as comments: c0 "see=100"
    #[arg(long, conflicts_with = "json")]
    pub epd: bool,
    /// Write all castling as the king capturing its own rook, as UCI has it in Chess960
    ///
    /// By default only where the castling rights are not those of the usual starting position.
    #[arg(long)]
    chess960: bool,
    /// Write castling rights as the files of the rooks (Shredder-FEN), not as KQkq (X-FEN)
    #[arg(long)]
    shredder: bool,
}

impl OutputForm {
    /// Returns `true` if the output is for people.
    pub fn is_text(self) -> bool {
        !self.json && !self.epd
    }

    fn rights(self) -> RightsNotation {
        if self.shredder { RightsNotation::Shredder } else { RightsNotation::XFen }
    }
}

/// The number of threads.
#[derive(Debug, Clone, Copy, Args)]
pub struct Jobs {
    /// Threads that evaluate positions; the output is in the order of the input [default: one a
    /// processor]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

/// A line of a file.
#[derive(Debug, Clone)]
pub struct SourceLocation {
    /// The file name, `FEN`, or `standard input`.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
}

/// A position with its name and location.
pub struct NamedPosition {
    /// Its line.
    pub place: SourceLocation,
    /// The operand of `id`, or the location.
    pub id: String,
    /// Six fields.
    pub fen: String,
    rights: RightsNotation,
    /// The parsed line.
    pub entry: EpdEntry,
    /// Why no game reaches the position ([`chess_rules::Position::impossible`]).
    pub impossible: Vec<String>,
}

/// Limits warnings of positions that no game reaches: the first ten are printed, then their number.
#[derive(Debug, Default)]
pub struct ImpossibleTally {
    count: usize,
}

impl ImpossibleTally {
    /// Positions that are reported each.
    const MAX_WARNINGS: usize = 10;

    /// Counts a warning, and returns `true` if it is to be printed.
    pub fn add(&mut self) -> bool {
        self.count += 1;
        self.count <= Self::MAX_WARNINGS
    }

    /// Returns the number of positions that were not reported, as a warning; `None` if all were.
    pub fn summary(&self) -> Option<String> {
        let count = self.count.saturating_sub(Self::MAX_WARNINGS);
        let positions = pluralize(count, "further position");
        (count > 0).then(|| format!("warning: no game reaches {positions}"))
    }
}

impl PositionArgs {
    /// Creates arguments from values parsed elsewhere.
    pub fn new(positions: Vec<String>, strict: bool) -> Self {
        Self { positions, strict, texts: Vec::new() }
    }

    /// Creates arguments from FENs alone.
    pub fn from_texts(texts: Vec<String>, strict: bool) -> Self {
        Self { positions: Vec::new(), strict, texts }
    }

    /// Returns `true` if no position was given, which selects the built-in corpus.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty() && self.texts.is_empty()
    }

    /// Opens the sources, to be read in the order given. With `json`, invalid lines are reported on
    /// standard output, too.
    ///
    /// # Errors
    /// Fails if a file does not exist.
    pub fn open(&self, json: bool) -> Result<PositionStream, CommandError> {
        self.open_as(OutputForm { json, ..OutputForm::default() })
    }

    /// Opens the sources as [`PositionArgs::open`], for any form of output.
    ///
    /// # Errors
    /// As [`PositionArgs::open`].
    pub fn open_as(&self, form: OutputForm) -> Result<PositionStream, CommandError> {
        let mut sources = Vec::new();
        for argument in &self.positions {
            sources.push(Source::of(argument)?);
        }
        sources.extend(self.texts.iter().map(|text| Source::text("FEN", text)));
        if self.is_empty() {
            sources.extend(builtin_position_files().map(|(name, text)| Source::text(name, text)));
        }
        // The built-in corpus has such positions on purpose.
        let warns = !self.is_empty();
        Ok(PositionStream::new(sources, self.strict, form, warns))
    }
}

impl NamedPosition {
    fn of(place: SourceLocation, entry: EpdEntry, form: OutputForm) -> Self {
        let entry = if form.chess960 { entry.as_chess960() } else { entry };
        let rights = form.rights();
        let id = entry.id().unwrap_or_else(|| format!("{}:{}", place.file, place.line));
        let fen = entry.position.fen(rights);
        let impossible = entry.position.impossible();
        Self { place, id, fen, rights, entry, impossible }
    }

    /// Returns the position for the reference.
    pub fn position(&self) -> Position {
        convert::position(&self.entry.position)
    }

    /// Returns a warning with location if no game reaches the position.
    pub fn impossible_warning(&self) -> Option<String> {
        let SourceLocation { file, line } = &self.place;
        impossible_warning(file, *line, &self.impossible)
    }

    /// Returns the JSON fields that all commands share.
    pub fn head(&self) -> PositionHeader<'_> {
        PositionHeader::of(self)
    }

    /// Formats a line of JSON: the shared fields and those of a command.
    ///
    /// # Errors
    /// Fails only if the value can't be JSON.
    pub fn json(&self, found: &impl Serialize) -> Result<String, CommandError> {
        #[derive(Serialize)]
        struct Whole<'a, F> {
            #[serde(flatten)]
            head: PositionHeader<'a>,
            #[serde(flatten)]
            found: &'a F,
        }
        json_line(&Whole { head: self.head(), found })
    }

    /// Formats a line of EPD, as [`EpdEntry::to_epd`].
    pub fn epd(&self, supplied: Option<Move>, comments: &[String]) -> String {
        self.entry.to_epd(self.rights, supplied, comments) + "\n"
    }
}

/// Returns a comment of EPD: its name, and what is known of several moves or squares. Empty if
/// there are none.
pub fn comment<K: Display, V: Display>(
    name: &str,
    known: impl IntoIterator<Item = (K, V)>,
) -> String {
    let known: Vec<_> = known.into_iter().map(|(key, value)| format!("{key}={value}")).collect();
    if known.is_empty() { String::new() } else { format!("{name} {}", known.join(", ")) }
}

/// Parses a text that is a single position.
///
/// # Errors
/// Returns a message with location if the text is not exactly one position.
pub fn single(text: &str) -> Result<NamedPosition, String> {
    let batch = Batch { file: "FEN".into(), first_line: 1, text: text.to_owned() };
    let mut items = batch.parse(OutputForm::default(), |_| ()).into_iter();
    match (items.next(), items.next()) {
        (Some(ParsedLine::Position(named, ())), None) => Ok(*named),
        (Some(ParsedLine::Refused(place, error)), _) => {
            Err(with_location(&place.file, place.line, &error))
        }
        (Some(_), Some(_)) => Err("expected a single position".to_owned()),
        (None, _) => Err("the FEN is empty".to_owned()),
    }
}

/// Parses a FEN.
///
/// # Errors
/// Returns a message with location if the text is not exactly one position.
pub fn parse_position(fen: &str) -> Result<Position, String> {
    single(fen).map(|named| named.position())
}

/// Parses a FEN on the command line; warns on standard error if no game reaches the position.
///
/// # Errors
/// Fails with exit code 2 if the text is not exactly one position.
pub fn position(fen: &str) -> Result<Position, CommandError> {
    let named = single(fen).map_err(|problem| CommandError::new(USAGE, problem))?;
    named.impossible_warning().into_iter().for_each(text::eprint_message);
    Ok(named.position())
}

/// Parses the name of a square.
pub fn parse_square(text: &str) -> Result<Square, String> {
    Square::named(text).ok_or_else(|| "expected a1 to h8".to_owned())
}
