//! The positions that a command works on: FENs, files, standard input, or the corpus that ships.

mod head;

use std::path::Path;

use chess_rules::FenError;
use chess_rules::epd::{self, Entry, Line};
use clap::Args;
use cli_support::exit::{Failure, NOTHING, Outcome, RIG, USAGE};
use cli_support::files::{MAX_INPUT_BYTES, read_input, read_within};
use cli_support::output::{counted, json_line, print};
use cli_support::text;
use sargon_analysis::boards;
use sargon_reference::{Position, Square};
use serde::Serialize;

use crate::{located, shipped_positions};

pub use head::{Head, Refusal};

/// Positions as arguments.
#[derive(Debug, Args)]
pub struct PositionArgs {
    /// FENs, files of positions (EPD or FEN, one a line), or - for standard input; the corpus that
    /// ships without
    #[arg(value_name = "FEN|FILE")]
    positions: Vec<String>,
    /// Stop at the first line that is not understood, instead of answering the others
    #[arg(long)]
    strict: bool,
    /// A position, in FEN, beside the others; may be given again
    #[arg(long = "fen", value_name = "FEN")]
    texts: Vec<String>,
}

/// A line of a file and its place.
pub struct Place {
    /// The file, or what stands for it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// A position and its name.
pub struct Named {
    /// The line that it stands on.
    pub place: Place,
    /// The operation `id`, or the place.
    pub id: String,
    /// Six fields.
    pub fen: String,
    /// All that the line says.
    pub entry: Entry,
    /// The position in the reference's terms.
    pub position: Position,
}

/// A line with something on it.
enum Item {
    Position(Box<Named>),
    Refused(Place, FenError),
}

/// The positions of a command, and the lines that are not understood.
pub struct Positions {
    items: Vec<Item>,
    is_strict: bool,
}

impl PositionArgs {
    /// Arguments of a command that takes them in another form.
    pub fn new(positions: Vec<String>, strict: bool) -> Self {
        Self { positions, strict, texts: Vec::new() }
    }

    /// Arguments that are positions themselves and no files.
    pub fn of_texts(texts: Vec<String>, strict: bool) -> Self {
        Self { positions: Vec::new(), strict, texts }
    }

    /// Whether none was given, so that the shipped corpus is meant.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty() && self.texts.is_empty()
    }

    /// Reads all positions in the order in which they were given; at least one. With `json` lines
    /// that are not understood are reported on standard output too.
    ///
    /// # Errors
    /// Fails if a file can't be read, or if there is no position.
    pub fn read(&self, json: bool) -> Result<Positions, Failure> {
        let mut items = Vec::new();
        for argument in &self.positions {
            let (name, text) = source(argument)?;
            items.extend(lines_of(&name, &text));
        }
        items.extend(self.texts.iter().flat_map(|text| lines_of("FEN", text)));
        if self.positions.is_empty() && self.texts.is_empty() {
            items = shipped_positions().flat_map(|(name, text)| lines_of(name, text)).collect();
        }
        if items.is_empty() {
            return Err(Failure::new(NOTHING, "no position was given; see --help"));
        }
        let positions = Positions { items, is_strict: self.strict };
        if positions.count() == 0 {
            positions.each(json, |_| Ok(()))?;
            return Err(Failure::new(RIG, "no line was understood, as reported above"));
        }
        Ok(positions)
    }
}

impl Positions {
    /// Returns the number of positions.
    pub fn count(&self) -> usize {
        self.all().count()
    }

    /// Returns all positions.
    pub fn all(&self) -> impl Iterator<Item = &Named> {
        self.items.iter().filter_map(|item| match item {
            Item::Position(named) => Some(&**named),
            Item::Refused(..) => None,
        })
    }

    /// Calls `act` for each position. A line that is not understood is reported on standard error,
    /// with `json` on standard output too.
    ///
    /// # Errors
    /// The first failure of `act`; with `--strict` also the first line that is not understood.
    pub fn each(
        &self,
        json: bool,
        mut act: impl FnMut(&Named) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for item in &self.items {
            match item {
                Item::Position(named) => act(named)?,
                Item::Refused(place, error) => self.report(place, error, json)?,
            }
        }
        Ok(())
    }

    fn report(&self, place: &Place, error: &FenError, json: bool) -> Result<(), Failure> {
        if json {
            print(&json_line(&Refusal::of(place, error))?)?;
        }
        let message = located(&place.file, place.line, error);
        if self.is_strict {
            return Err(Failure::new(RIG, format!("{message}; --strict stops here")));
        }
        text::tell(message);
        Ok(())
    }

    /// Ends a command that has answered all positions: exit code 3 if lines were not understood.
    pub fn conclude(&self, outcome: Outcome) -> Outcome {
        let refused = self.items.len() - self.count();
        match (refused, outcome) {
            (0, outcome) | (_, outcome @ Err(_)) => outcome,
            _ => {
                let lines = counted(refused, "line");
                let verb = if refused == 1 { "was" } else { "were" };
                let problem = format!(
                    "{lines} {verb} not understood, as reported above; the others are answered"
                );
                Err(Failure::new(RIG, problem))
            }
        }
    }
}

/// The lines of a text that hold something.
fn lines_of(file: &str, text: &str) -> Vec<Item> {
    let place = |line| Place { file: file.to_owned(), line };
    let items = (1..).zip(epd::read(text)).filter_map(|(line, read)| match read {
        Line::Nothing => None,
        Line::Position(entry) => Some(Item::Position(Box::new(Named::of(place(line), *entry)))),
        Line::Refused(error) => Some(Item::Refused(place(line), error)),
    });
    items.collect()
}

impl Named {
    fn of(place: Place, entry: Entry) -> Self {
        let id = entry.id().unwrap_or_else(|| format!("{}:{}", place.file, place.line));
        let fen = entry.position.to_string();
        let position = boards::position(&entry.position);
        Self { place, id, fen, entry, position }
    }

    /// Returns the part of a line of JSON that all commands share.
    pub fn head(&self) -> Head<'_> {
        Head::of(self)
    }

    /// Writes a line of JSON: the shared part, and what a command has found.
    ///
    /// # Errors
    /// Fails only if the value can't be JSON.
    pub fn json(&self, found: &impl Serialize) -> Result<String, Failure> {
        #[derive(Serialize)]
        struct Whole<'a, F> {
            #[serde(flatten)]
            head: Head<'a>,
            #[serde(flatten)]
            found: &'a F,
        }
        json_line(&Whole { head: self.head(), found })
    }
}

/// Reads the one position of a text.
///
/// # Errors
/// The problem, with its place, if the text is not exactly one position.
pub fn single(text: &str) -> Result<Named, String> {
    let mut items = lines_of("FEN", text).into_iter();
    match (items.next(), items.next()) {
        (Some(Item::Position(named)), None) => Ok(*named),
        (Some(Item::Refused(place, error)), _) => Err(located(&place.file, place.line, &error)),
        (Some(_), Some(_)) => Err("one position is expected here, not several".to_owned()),
        (None, _) => Err("the FEN is empty".to_owned()),
    }
}

/// Returns the name and text of an argument. No file name that exists is taken for a FEN, and a FEN
/// has blanks.
fn source(argument: &str) -> Result<(String, String), Failure> {
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
fn standard_input() -> Result<String, Failure> {
    let bytes = read_within(std::io::stdin(), MAX_INPUT_BYTES)
        .map_err(|error| Failure::new(RIG, format!("can't read standard input: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the position of a FEN.
///
/// # Errors
/// The problem, with its place, if the text is not exactly one position.
pub fn parse_position(fen: &str) -> Result<Position, String> {
    single(fen).map(|named| named.position)
}

/// Reads the position of a FEN on the command line.
///
/// # Errors
/// Fails with exit code 2 if the text is not exactly one position.
pub fn position(fen: &str) -> Result<Position, Failure> {
    parse_position(fen).map_err(|problem| Failure::new(USAGE, problem))
}

/// Reads the name of a square.
pub fn square_name(text: &str) -> Result<Square, String> {
    Square::named(text).ok_or_else(|| "a square is a letter a to h and a digit 1 to 8".to_owned())
}
