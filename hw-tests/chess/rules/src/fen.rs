//! Reads and writes Forsyth-Edwards Notation.

use std::fmt;

use cozy_chess::{Color, File, Piece, Rank, Square};

use crate::{CastlingRights, CastlingSide, Pieces, Position};

/// Error returned if a text does not begin with a FEN.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct FenError {
    /// The column in characters, from 1; `None` if the text ends too early.
    pub column: Option<usize>,
    /// The problem at that column.
    pub problem: String,
}

/// A FEN at the beginning of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedFen<'a> {
    /// The position.
    pub position: Position,
    /// The text after the fields.
    pub rest: &'a str,
    /// Remarks on dropped castling rights and en passant squares, which contradict the pieces.
    pub notes: Vec<String>,
}

/// A word of the text and its column.
#[derive(Clone, Copy)]
struct Field<'a> {
    text: &'a str,
    column: usize,
}

impl Field<'_> {
    fn wrong(&self, offset: usize, problem: impl Into<String>) -> FenError {
        FenError { column: Some(self.column + offset), problem: problem.into() }
    }
}

impl<'a> ParsedFen<'a> {
    /// Reads four fields, and a fifth and sixth that are numbers or dashes.
    ///
    /// # Errors
    /// Returns the first error, field by field.
    pub fn parse(text: &'a str) -> Result<Self, FenError> {
        let mut words = Words { text, rest: text };
        let mut fields = Vec::new();
        while fields.len() < 4
            && let Some(field) = words.next()
        {
            fields.push(field);
        }
        let pieces = match fields.first() {
            Some(field) => pieces(*field)?,
            None => return Err(too_few(0)),
        };
        let &[_, side, castling, en_passant] = fields.as_slice() else {
            return Err(too_few(fields.len()));
        };
        let mut position = Position::new(pieces, side_to_move(side)?);
        let mut notes = Vec::new();
        position.rights = rights(castling, &position, &mut notes)?;
        position.en_passant = passed_square(en_passant, &position, &mut notes)?;
        if let Some(halfmoves) = words.clock()? {
            position.halfmove_clock = halfmoves.unwrap_or(0);
            position.move_number = words.clock()?.flatten().unwrap_or(1);
        }
        Ok(Self { position, rest: words.rest, notes })
    }
}

impl Position {
    /// Reads a FEN of four to six fields; castling rights in either form.
    ///
    /// ```
    /// use chess_rules::Position;
    /// let position = Position::from_fen("r3k2r/8/8/8/8/8/8/R3K2R w HAha -")?;
    /// assert_eq!(position.to_string(), "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    /// assert!(Position::from_fen("r3k2r w - -").is_err());
    /// # Ok::<(), chess_rules::FenError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the first error in the text, with its column.
    pub fn from_fen(text: &str) -> Result<Self, FenError> {
        let ParsedFen { position, rest, .. } = ParsedFen::parse(text)?;
        match rest.trim_start().chars().next() {
            None => Ok(position),
            Some(_) => {
                let column = text.chars().count() - rest.trim_start().chars().count() + 1;
                Err(FenError { column: Some(column), problem: "text after the FEN".to_owned() })
            }
        }
    }
}

fn too_few(count: usize) -> FenError {
    let numbers = ["none", "one", "two", "three"];
    FenError { column: None, problem: format!("{} of four fields", numbers[count.min(3)]) }
}

/// An iterator over words, which a semicolon or a bar ends too.
struct Words<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<Field<'a>> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| c.is_whitespace() || c == ';' || c == '|');
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        if word.is_empty() {
            return None;
        }
        let before = &self.text[..self.text.len() - rest.len()];
        self.rest = after;
        Some(Field { text: word, column: before.chars().count() + 1 })
    }

    /// Reads a word that is a number or a dash. `None` if the next word is neither.
    fn clock(&mut self) -> Result<Option<Option<u32>>, FenError> {
        let before = self.rest;
        let Some(field) = self.next() else { return Ok(None) };
        if field.text == "-" {
            return Ok(Some(None));
        }
        if !field.text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.rest = before;
            return Ok(None);
        }
        let number =
            field.text.parse().map_err(|_| field.wrong(0, "the move clock is out of range"))?;
        Ok(Some(Some(number)))
    }
}

fn pieces(field: Field<'_>) -> Result<Pieces, FenError> {
    if !field.text.contains('/') {
        return Err(field.wrong(0, "invalid position: expected ranks separated by /"));
    }
    let mut pieces = Pieces::EMPTY;
    let mut rank = 7;
    let mut file = 0;
    for (offset, letter) in field.text.chars().enumerate() {
        match letter {
            '/' if file < 8 => return Err(field.wrong(offset, rank_of(file))),
            '/' if rank == 0 => return Err(field.wrong(offset + 1, "nine ranks")),
            '/' => {
                rank -= 1;
                file = 0;
            }
            '1'..='8' => file += letter as usize - '0' as usize,
            _ => {
                let (side, kind) = piece(letter).ok_or_else(|| {
                    field.wrong(
                        offset,
                        format!("invalid piece '{letter}': expected one of KQRBNPkqrbnp"),
                    )
                })?;
                if let (Some(file), Some(rank)) = (File::try_index(file), Rank::try_index(rank)) {
                    pieces.place(Square::new(file, rank), side, kind);
                }
                file += 1;
            }
        }
        if file > 8 {
            return Err(field.wrong(offset, rank_of(file)));
        }
    }
    let length = field.text.chars().count();
    match (rank, file) {
        (0, 8) => Ok(pieces),
        (_, 8) => {
            let ranks = ["eight", "seven", "six", "five", "four", "three", "two", "one"][rank];
            let noun = if rank == 7 { "rank" } else { "ranks" };
            // The column of the missing rank is after the slash.
            Err(field.wrong(length + 1, format!("{ranks} {noun}")))
        }
        _ => Err(field.wrong(length, rank_of(file))),
    }
}

fn rank_of(squares: usize) -> String {
    let numbers = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    match numbers.get(squares) {
        Some(number) => {
            let noun = if squares == 1 { "square" } else { "squares" };
            format!("a rank of {number} {noun}")
        }
        None => format!("a rank of {squares} squares"),
    }
}

fn piece(letter: char) -> Option<(Color, Piece)> {
    let kind = piece_kind(letter.to_ascii_lowercase())?;
    let side = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
    Some((side, kind))
}

pub(crate) fn piece_kind(letter: char) -> Option<Piece> {
    Piece::ALL.into_iter().find(|kind| char::from(*kind) == letter)
}

fn side_to_move(field: Field<'_>) -> Result<Color, FenError> {
    match field.text {
        "w" => Ok(Color::White),
        "b" => Ok(Color::Black),
        _ => Err(field.wrong(0, "neither w nor b")),
    }
}

/// Reads castling rights: KQkq for the outermost rooks, or the files of rooks, in any order.
fn rights(
    field: Field<'_>,
    position: &Position,
    notes: &mut Vec<String>,
) -> Result<CastlingRights, FenError> {
    let mut rights = CastlingRights::default();
    if field.text == "-" {
        return Ok(rights);
    }
    let mut dropped = false;
    for (offset, letter) in field.text.chars().enumerate() {
        let side = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        let right = match letter.to_ascii_lowercase() {
            'k' => outermost(position, side, CastlingSide::King),
            'q' => outermost(position, side, CastlingSide::Queen),
            file @ 'a'..='h' => on_file(position, side, File::index(file as usize - 'a' as usize)),
            _ => {
                return Err(field.wrong(
                    offset,
                    format!("invalid castling right '{letter}': expected one of KQkq or a file"),
                ));
            }
        };
        match right {
            Some((wing, file)) => rights.grant(side, wing, file),
            None => dropped = true,
        }
    }
    if dropped {
        notes.push("rights without rook".to_owned());
    }
    Ok(rights)
}

/// The files of a side's rooks on its first rank, and of its king if it stands there.
fn home_rank(position: &Position, side: Color) -> Option<(File, Vec<File>)> {
    let first = Rank::First.relative_to(side);
    let king = position.king(side).filter(|king| king.rank() == first)?;
    let pieces = &position.pieces;
    let rooks = pieces.kind(Piece::Rook) & pieces.side(side) & first.bitboard();
    Some((king.file(), rooks.into_iter().map(Square::file).collect()))
}

fn wing_of(king: File, rook: File) -> CastlingSide {
    if rook > king { CastlingSide::King } else { CastlingSide::Queen }
}

fn outermost(position: &Position, side: Color, wing: CastlingSide) -> Option<(CastlingSide, File)> {
    let (king, rooks) = home_rank(position, side)?;
    let mut on_wing = rooks.into_iter().filter(|rook| wing_of(king, *rook) == wing);
    let rook = if wing == CastlingSide::King { on_wing.next_back() } else { on_wing.next() };
    rook.map(|file| (wing, file))
}

fn on_file(position: &Position, side: Color, file: File) -> Option<(CastlingSide, File)> {
    let (king, rooks) = home_rank(position, side)?;
    rooks.contains(&file).then(|| (wing_of(king, file), file))
}

/// Reads the en passant square; it stays only if a pawn may just have passed over it.
fn passed_square(
    field: Field<'_>,
    position: &Position,
    notes: &mut Vec<String>,
) -> Result<Option<Square>, FenError> {
    if field.text == "-" {
        return Ok(None);
    }
    let square = field.text.parse::<Square>().ok();
    let Some(square) = square.filter(|at| matches!(at.rank(), Rank::Third | Rank::Sixth)) else {
        let problem = format!("invalid en passant square '{}': expected rank 3 or 6", field.text);
        return Err(field.wrong(0, problem));
    };
    let mover = !position.to_move;
    let pieces = &position.pieces;
    let from = Square::new(square.file(), Rank::Second.relative_to(mover));
    let to = Square::new(square.file(), Rank::Fourth.relative_to(mover));
    let was_pushed = square.rank() == Rank::Third.relative_to(mover)
        && pieces.on(to) == Some((mover, Piece::Pawn))
        && pieces.on(square).is_none()
        && pieces.on(from).is_none();
    if !was_pushed {
        notes.push(format!("no pawn was pushed over {square}"));
    }
    Ok(was_pushed.then_some(square))
}

/// The letters of castling rights.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RightsNotation {
    /// X-FEN: KQkq for the outermost rook of its side of the king, else the file of the rook.
    #[default]
    XFen,
    /// Shredder-FEN: the file of the rook.
    Shredder,
}

impl Position {
    /// Writes the six fields of FEN.
    ///
    /// ```
    /// use chess_rules::{Position, RightsNotation};
    /// let position = Position::from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -")?;
    /// let fen = position.fen(RightsNotation::Shredder);
    /// assert_eq!(fen, "r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1");
    /// # Ok::<(), chess_rules::FenError>(())
    /// ```
    pub fn fen(&self, notation: RightsNotation) -> String {
        let Self { halfmove_clock, move_number, .. } = self;
        format!("{} {halfmove_clock} {move_number}", self.epd_fields(notation))
    }

    /// Writes the first four fields of FEN, with which a line of EPD begins.
    pub(crate) fn epd_fields(&self, notation: RightsNotation) -> String {
        let mut text = String::with_capacity(80);
        for rank in Rank::ALL.into_iter().rev() {
            push_rank(&mut text, &self.pieces, rank);
            text.push(if rank == Rank::First { ' ' } else { '/' });
        }
        text.push(if self.to_move == Color::White { 'w' } else { 'b' });
        text.push(' ');
        let before = text.len();
        text.extend(self.rights.iter().map(|right| letter_of_right(self, right, notation)));
        text.push_str(if text.len() == before { "- " } else { " " });
        match self.en_passant {
            Some(square) => push_square(&mut text, square),
            None => text.push('-'),
        }
        text
    }
}

impl fmt::Display for Position {
    /// Writes six fields in [`RightsNotation::XFen`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fen(RightsNotation::XFen))
    }
}

/// Appends the name of a square.
pub(crate) fn push_square(text: &mut String, square: Square) {
    text.push(char::from(square.file()));
    text.push(char::from(square.rank()));
}

fn push_rank(text: &mut String, pieces: &Pieces, rank: Rank) {
    let mut empty = 0;
    let push_empty = |text: &mut String, empty| {
        text.extend(char::from_digit(empty, 10).filter(|_| empty > 0));
    };
    for file in File::ALL {
        let Some((side, kind)) = pieces.on(Square::new(file, rank)) else {
            empty += 1;
            continue;
        };
        push_empty(text, empty);
        empty = 0;
        let letter = char::from(kind);
        text.push(if side == Color::White { letter.to_ascii_uppercase() } else { letter });
    }
    push_empty(text, empty);
}

fn letter_of_right(
    position: &Position,
    (side, wing, file): (Color, CastlingSide, File),
    notation: RightsNotation,
) -> char {
    let is_outermost = || outermost(position, side, wing) == Some((wing, file));
    let letter = match wing {
        _ if notation == RightsNotation::Shredder || !is_outermost() => char::from(file),
        CastlingSide::King => 'k',
        CastlingSide::Queen => 'q',
    };
    if side == Color::White { letter.to_ascii_uppercase() } else { letter }
}
