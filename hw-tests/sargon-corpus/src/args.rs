//! The positions of a command line: FENs, files, standard input, or the built-in corpus.

mod head;
mod source;
mod stream;

use std::sync::Arc;

use chess_rules::epd::EpdEntry;
use clap::Args;
use cli_support::exit::{CommandError, USAGE};
use cli_support::output::json_line;
use sargon_analysis::convert;
use sargon_reference::{Position, Square};
use serde::Serialize;

use crate::{builtin_position_files, with_location};

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
    /// The parsed line.
    pub entry: EpdEntry,
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
        let mut sources = Vec::new();
        for argument in &self.positions {
            sources.push(Source::of(argument)?);
        }
        sources.extend(self.texts.iter().map(|text| Source::text("FEN", text)));
        if self.is_empty() {
            sources.extend(builtin_position_files().map(|(name, text)| Source::text(name, text)));
        }
        Ok(PositionStream::new(sources, self.strict, json))
    }
}

impl NamedPosition {
    fn of(place: SourceLocation, entry: EpdEntry) -> Self {
        let id = entry.id().unwrap_or_else(|| format!("{}:{}", place.file, place.line));
        let fen = entry.position.to_string();
        Self { place, id, fen, entry }
    }

    /// Returns the position for the reference.
    pub fn position(&self) -> Position {
        convert::position(&self.entry.position)
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
}

/// Parses a text that is a single position.
///
/// # Errors
/// Returns a message with location if the text is not exactly one position.
pub fn single(text: &str) -> Result<NamedPosition, String> {
    let batch = Batch { file: "FEN".into(), first_line: 1, text: text.to_owned() };
    let mut items = batch.parse(|_| ()).into_iter();
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

/// Parses a FEN on the command line.
///
/// # Errors
/// Fails with exit code 2 if the text is not exactly one position.
pub fn position(fen: &str) -> Result<Position, CommandError> {
    parse_position(fen).map_err(|problem| CommandError::new(USAGE, problem))
}

/// Parses the name of a square.
pub fn parse_square(text: &str) -> Result<Square, String> {
    Square::named(text).ok_or_else(|| "expected a1 to h8".to_owned())
}
