//! Reads positions in Forsyth-Edwards Notation, with four fields (as in EPD) or all six.
//!
//! Positions that no game could reach are accepted: no king, nine queens, pawns on the last rank.
//! Errors have the field, the column and the problem.

use super::position::{Colour, Piece, Position, Square};

/// Error returned if a text is not a valid FEN.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("FEN field '{field}', column {column}: {problem}")]
pub struct FenError {
    /// Which field.
    pub field: &'static str,
    /// The column in the text, from 1.
    pub column: usize,
    /// The problem at that column.
    pub problem: String,
}

/// The fields' names, in order.
const FIELDS: [&str; 6] =
    ["pieces", "side to move", "castling", "en passant", "halfmove clock", "move number"];

/// A field and where it starts.
#[derive(Clone, Copy)]
struct Field<'a> {
    name: &'static str,
    text: &'a str,
    column: usize,
}

impl Field<'_> {
    fn error_at(&self, offset: usize, problem: impl Into<String>) -> FenError {
        FenError { field: self.name, column: self.column + offset, problem: problem.into() }
    }
}

/// Reads a FEN.
///
/// # Errors
/// Returns the first error in the text.
///
/// # Examples
/// ```
/// use sargon_reference::{PieceKind, Square, parse_fen};
///
/// let position = parse_fen("4k3/8/8/8/8/8/4N3/4K3 w - -")?;
/// let on_e2 = Square::named("e2").and_then(|square| position.on(square));
/// assert_eq!(on_e2.map(|piece| piece.kind), Some(PieceKind::Knight));
/// assert!(parse_fen("4k3/8/8/8/8/8/4N3/4K3 x - -").is_err());
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
pub fn parse_fen(text: &str) -> Result<Position, FenError> {
    let fields = split(text)?;
    let mut position = Position::empty(side_to_move(fields[1])?);
    pieces(fields[0], &mut position)?;
    castling(fields[2])?;
    en_passant(fields[3])?;
    for field in &fields[4..] {
        if field.text.parse::<u16>().is_err() {
            return Err(field.error_at(0, format!("'{}' is not a number", field.text)));
        }
    }
    Ok(position)
}

fn split(text: &str) -> Result<Vec<Field<'_>>, FenError> {
    let base = text.as_ptr() as usize;
    let words = text.split_ascii_whitespace().enumerate();
    let fields: Vec<_> = words
        .map(|(index, word)| Field {
            name: FIELDS.get(index).copied().unwrap_or("after the move number"),
            text: word,
            column: word.as_ptr() as usize - base + 1,
        })
        .collect();
    match fields.len() {
        4 | 6 => Ok(fields),
        count => {
            let missing = FIELDS.get(count).copied().unwrap_or("after the move number");
            let problem = format!("a FEN has 4 or 6 fields, this has {count}");
            Err(FenError { field: missing, column: text.len() + 1, problem })
        }
    }
}

fn pieces(field: Field<'_>, position: &mut Position) -> Result<(), FenError> {
    let mut rank = 7u8;
    let mut file = 0u8;
    for (offset, letter) in field.text.char_indices() {
        match letter {
            '/' if file != 8 => {
                let problem = format!("rank {} has {file} squares, not 8", rank + 1);
                return Err(field.error_at(offset, problem));
            }
            '/' if rank == 0 => return Err(field.error_at(offset, "more than 8 ranks")),
            '/' => (rank, file) = (rank - 1, 0),
            '1'..='8' => file += letter as u8 - b'0',
            _ => {
                let piece = Piece::from_letter(letter)
                    .ok_or_else(|| field.error_at(offset, format!("'{letter}' is not a piece")))?;
                if let Some(square) = Square::new(file, rank) {
                    position.set(square, Some(piece));
                }
                file += 1;
            }
        }
        if file > 8 {
            return Err(
                field.error_at(offset, format!("rank {} has more than 8 squares", rank + 1))
            );
        }
    }
    if (rank, file) != (0, 8) {
        let problem = format!("ends on rank {} after {file} squares", rank + 1);
        return Err(field.error_at(field.text.len(), problem));
    }
    Ok(())
}

fn side_to_move(field: Field<'_>) -> Result<Colour, FenError> {
    match field.text {
        "w" => Ok(Colour::White),
        "b" => Ok(Colour::Black),
        other => Err(field.error_at(0, format!("'{other}' is neither w nor b"))),
    }
}

fn castling(field: Field<'_>) -> Result<(), FenError> {
    let mut rest = field.text;
    for right in ['K', 'Q', 'k', 'q'] {
        rest = rest.strip_prefix(right).unwrap_or(rest);
    }
    if field.text == "-" || (rest.is_empty() && !field.text.is_empty()) {
        return Ok(());
    }
    let offset = field.text.len() - rest.len();
    Err(field
        .error_at(offset, format!("'{}' is neither - nor some of KQkq in this order", field.text)))
}

fn en_passant(field: Field<'_>) -> Result<(), FenError> {
    let square = Square::named(field.text);
    if field.text == "-" || square.is_some_and(|square| matches!(square.rank(), 2 | 5)) {
        return Ok(());
    }
    Err(field.error_at(0, format!("'{}' is neither - nor a square of rank 3 or 6", field.text)))
}
