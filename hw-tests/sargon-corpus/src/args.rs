//! The positions of a command line: FENs, files, standard input, or the built-in corpus.

mod head;

use std::path::Path;

use chess_rules::FenError;
use chess_rules::epd::{self, EpdEntry, EpdLine};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, NOTHING_SELECTED, USAGE};
use cli_support::files::{MAX_INPUT_BYTES, read_input, read_limited};
use cli_support::output::{json_line, pluralize, print};
use cli_support::text;
use sargon_analysis::convert;
use sargon_reference::{Position, Square};
use serde::Serialize;

use crate::{builtin_position_files, with_location};

pub use head::{Decimal, PositionHeader, RejectedLine};

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

/// A line of a file.
pub struct SourceLocation {
    /// The file name, `FEN`, or `standard input`.
    pub file: String,
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
    /// The position for the reference.
    pub position: Position,
}

enum ParsedLine {
    Position(Box<NamedPosition>),
    Refused(SourceLocation, FenError),
}

/// The positions of a command, and the invalid lines among them.
pub struct PositionList {
    items: Vec<ParsedLine>,
    is_strict: bool,
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

    /// Reads all positions, at least one, in the order given. With `json`, invalid lines are
    /// reported on standard output, too.
    ///
    /// # Errors
    /// Fails if a file can't be read, or if there is no position.
    pub fn read(&self, json: bool) -> Result<PositionList, CommandError> {
        let mut items = Vec::new();
        for argument in &self.positions {
            let (name, text) = source(argument)?;
            items.extend(lines_of(&name, &text));
        }
        items.extend(self.texts.iter().flat_map(|text| lines_of("FEN", text)));
        if self.positions.is_empty() && self.texts.is_empty() {
            items =
                builtin_position_files().flat_map(|(name, text)| lines_of(name, text)).collect();
        }
        if items.is_empty() {
            return Err(CommandError::new(NOTHING_SELECTED, "no position was given; see --help"));
        }
        let positions = PositionList { items, is_strict: self.strict };
        if positions.count() == 0 {
            positions.for_each(json, |_| Ok(()))?;
            return Err(CommandError::new(
                ENVIRONMENT,
                "no line is a valid position, as reported above",
            ));
        }
        Ok(positions)
    }
}

impl PositionList {
    /// Returns the number of positions.
    pub fn count(&self) -> usize {
        self.all().count()
    }

    /// Returns all positions.
    pub fn all(&self) -> impl Iterator<Item = &NamedPosition> {
        self.items.iter().filter_map(|item| match item {
            ParsedLine::Position(named) => Some(&**named),
            ParsedLine::Refused(..) => None,
        })
    }

    /// Calls `act` for each position. Invalid lines are reported on standard error, with `json` on
    /// standard output, too.
    ///
    /// # Errors
    /// Returns the first error of `act`; with `--strict`, also the first invalid line.
    pub fn for_each(
        &self,
        json: bool,
        mut act: impl FnMut(&NamedPosition) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        for item in &self.items {
            match item {
                ParsedLine::Position(named) => act(named)?,
                ParsedLine::Refused(place, error) => self.report(place, error, json)?,
            }
        }
        Ok(())
    }

    /// Returns the number of invalid lines.
    pub fn refused(&self) -> usize {
        self.items.len() - self.count()
    }

    /// Reports a line that can't be used on standard error, with `json` on standard output, too.
    ///
    /// # Errors
    /// Fails with `--strict`, with the line as its message.
    pub fn report(
        &self,
        place: &SourceLocation,
        error: &FenError,
        json: bool,
    ) -> Result<(), CommandError> {
        if json {
            print(&json_line(&RejectedLine::of(place, error))?)?;
        }
        let message = with_location(&place.file, place.line, error);
        if self.is_strict {
            return Err(CommandError::new(ENVIRONMENT, format!("{message}; --strict stops here")));
        }
        text::eprint_message(message);
        Ok(())
    }

    /// Finishes a command: exit code 3 if there were invalid lines.
    pub fn finish(&self, outcome: CommandResult) -> CommandResult {
        let refused = self.refused();
        match (refused, outcome) {
            (0, outcome) | (_, outcome @ Err(_)) => outcome,
            _ => {
                let lines = pluralize(refused, "line");
                let verb = if refused == 1 { "was" } else { "were" };
                let problem = format!(
                    "{lines} {verb} invalid, as reported above; the results are for the others"
                );
                Err(CommandError::new(ENVIRONMENT, problem))
            }
        }
    }
}

fn lines_of(file: &str, text: &str) -> Vec<ParsedLine> {
    let place = |line| SourceLocation { file: file.to_owned(), line };
    let items = (1..).zip(epd::read(text)).filter_map(|(line, read)| match read {
        EpdLine::Blank => None,
        EpdLine::Position(entry) => {
            Some(ParsedLine::Position(Box::new(NamedPosition::of(place(line), *entry))))
        }
        EpdLine::Invalid(error) => Some(ParsedLine::Refused(place(line), error)),
    });
    items.collect()
}

impl NamedPosition {
    fn of(place: SourceLocation, entry: EpdEntry) -> Self {
        let id = entry.id().unwrap_or_else(|| format!("{}:{}", place.file, place.line));
        let fen = entry.position.to_string();
        let position = convert::position(&entry.position);
        Self { place, id, fen, entry, position }
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
    let mut items = lines_of("FEN", text).into_iter();
    match (items.next(), items.next()) {
        (Some(ParsedLine::Position(named)), None) => Ok(*named),
        (Some(ParsedLine::Refused(place, error)), _) => {
            Err(with_location(&place.file, place.line, &error))
        }
        (Some(_), Some(_)) => Err("expected a single position".to_owned()),
        (None, _) => Err("the FEN is empty".to_owned()),
    }
}

/// Returns the name and text of an argument: an existing file, or a FEN with blanks.
fn source(argument: &str) -> Result<(String, String), CommandError> {
    if argument == "-" {
        return Ok(("standard input".to_owned(), standard_input()?));
    }
    if argument.contains(char::is_whitespace) && !Path::new(argument).exists() {
        return Ok(("FEN".to_owned(), argument.to_owned()));
    }
    let text = String::from_utf8_lossy(&read_input(Path::new(argument))?).into_owned();
    Ok((argument.to_owned(), text))
}

/// Reads all of standard input. Bytes that are not UTF-8 become the replacement character.
fn standard_input() -> Result<String, CommandError> {
    let bytes = read_limited(std::io::stdin(), MAX_INPUT_BYTES).map_err(|error| {
        CommandError::new(ENVIRONMENT, format!("can't read standard input: {error}"))
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Parses a FEN.
///
/// # Errors
/// Returns a message with location if the text is not exactly one position.
pub fn parse_position(fen: &str) -> Result<Position, String> {
    single(fen).map(|named| named.position)
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
