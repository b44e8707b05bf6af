//! Moves as text: writes SAN and UCI, and reads these and other notations found in files.

use cozy_chess::{File, Move, Piece, Rank, Square};

use crate::fen::{piece_kind, push_square};
use crate::{CastlingSide, Position};

impl Position {
    /// Writes a move in UCI. Castling is the king's step of two squares, or in Chess960
    /// ([`Position::is_chess960`]) the king taking its own rook.
    ///
    /// ```
    /// use chess_rules::Position;
    /// let position = Position::from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -")?;
    /// let castling = position.find_move("O-O").expect("it is legal");
    /// assert_eq!(position.uci(castling), "e1g1");
    /// # Ok::<(), chess_rules::FenError>(())
    /// ```
    pub fn uci(&self, m: Move) -> String {
        self.uci_as(m, self.is_chess960())
    }

    /// Writes a move in UCI as an ordinary game or as Chess960.
    pub fn uci_as(&self, m: Move, chess960: bool) -> String {
        let to = match self.castling(m) {
            Some(wing) if !chess960 => Square::new(wing.king_file(), m.to.rank()),
            _ => m.to,
        };
        let mut text = String::with_capacity(5);
        push_square(&mut text, m.from);
        push_square(&mut text, to);
        text.extend(m.promotion.map(char::from));
        text
    }

    /// Writes a legal move in Standard Algebraic Notation, with its signs of check and mate.
    ///
    /// ```
    /// use chess_rules::Position;
    /// let position = Position::from_fen("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - -")?;
    /// let mate = position.find_move("d1d8").expect("it is legal");
    /// assert_eq!(position.san(mate), "Rd8#");
    /// # Ok::<(), chess_rules::FenError>(())
    /// ```
    pub fn san(&self, m: Move) -> String {
        let mut text = match self.castling(m) {
            Some(CastlingSide::King) => "O-O".to_owned(),
            Some(CastlingSide::Queen) => "O-O-O".to_owned(),
            None => self.san_of_piece(m),
        };
        let after = self.play(m);
        if after.is_check() {
            text.push(if after.is_mate() { '#' } else { '+' });
        }
        text
    }

    fn san_of_piece(&self, m: Move) -> String {
        let mut text = String::with_capacity(8);
        let kind = self.pieces.on(m.from).map_or(Piece::Pawn, |(_, kind)| kind);
        if kind == Piece::Pawn {
            if self.is_capture(m) {
                text.push(char::from(m.from.file()));
            }
        } else {
            text.push(char::from(kind).to_ascii_uppercase());
            text.push_str(&self.origin(m, kind));
        }
        if self.is_capture(m) {
            text.push('x');
        }
        push_square(&mut text, m.to);
        if let Some(kind) = m.promotion {
            text.push('=');
            text.push(char::from(kind).to_ascii_uppercase());
        }
        text
    }

    /// Returns what distinguishes the move from others of its kind: file, else rank, else both.
    fn origin(&self, m: Move, kind: Piece) -> String {
        let same = self.pieces.kind(kind) & (self.pieces.side(self.to_move) - m.from.bitboard());
        let others = same & self.pieces.attackers(m.to, self.pieces.occupied());
        let others: Vec<Square> = others
            .into_iter()
            .filter(|from| self.keeps_king_safe(Move { from: *from, ..m }))
            .collect();
        if others.is_empty() {
            String::new()
        } else if others.iter().all(|other| other.file() != m.from.file()) {
            char::from(m.from.file()).to_string()
        } else if others.iter().all(|other| other.rank() != m.from.rank()) {
            char::from(m.from.rank()).to_string()
        } else {
            m.from.to_string()
        }
    }

    /// Finds the legal move of a text: SAN, UCI or long algebraic notation, with or
    /// without signs of check, capture, promotion, judgement and en passant. `None` if no legal
    /// move fits, or more than one.
    ///
    /// ```
    /// use chess_rules::Position;
    /// let position = Position::from_fen("1r2k3/P7/8/8/8/8/8/4K3 w - -")?;
    /// let same = ["axb8=N", "axb8N", "a7b8n", "a7xb8=N!?"].map(|text| position.find_move(text));
    /// assert!(same.iter().all(|m| m.is_some() && *m == same[0]));
    /// assert_eq!(position.find_move("Qh7"), None);
    /// # Ok::<(), chess_rules::FenError>(())
    /// ```
    pub fn find_move(&self, text: &str) -> Option<Move> {
        match self.moves_of(text).as_slice() {
            &[found] => Some(found),
            _ => None,
        }
    }

    /// Finds the legal move of a text, as [`Position::find_move`].
    ///
    /// # Errors
    /// Returns why there is no such move, or which moves fit.
    pub fn try_find_move(&self, text: &str) -> Result<Move, String> {
        let fitting = self.moves_of(text);
        if let &[found] = fitting.as_slice() {
            return Ok(found);
        }
        let bare = text.trim();
        let text = bare.escape_default();
        if !fitting.is_empty() {
            let from: Vec<_> = fitting.iter().map(|m| m.from.to_string()).collect();
            return Err(format!("{text} fits moves from {}", from.join(", ")));
        }
        let promotes =
            |piece| !self.moves_of(&format!("{}{piece}", without_signs(bare))).is_empty();
        Err(match promotes("=Q") || promotes("q") {
            true => format!("{text} lacks the piece of the promotion"),
            false => format!("{text} is not a legal move"),
        })
    }

    /// Returns all legal moves that a text fits.
    fn moves_of(&self, text: &str) -> Vec<Move> {
        let text = without_signs(text);
        let mut moves = self.legal_moves();
        if let Some(wing) = castling_text(text) {
            moves.retain(|m| self.castling(*m) == Some(wing));
        } else if let Some(m) = self.find_uci(text, &moves) {
            moves = vec![m];
        } else if let Some(pattern) = Pattern::of(text) {
            moves.retain(|m| self.fits(&pattern, *m));
        } else {
            moves.clear();
        }
        moves
    }

    /// Returns whether a text has the form of a move, legal or not.
    pub(crate) fn is_move_like(&self, text: &str) -> bool {
        let text = without_signs(text);
        let is_uci = |text: &str| {
            text.len() >= 4 && text.is_char_boundary(2) && {
                let (from, to) = text.split_at(2);
                from.parse::<Square>().is_ok() && Pattern::of(to).is_some()
            }
        };
        castling_text(text).is_some() || is_uci(text) || Pattern::of(text).is_some()
    }

    /// Returns the move of a UCI text, with castling in either form.
    fn find_uci(&self, text: &str, moves: &[Move]) -> Option<Move> {
        let lower = text.to_ascii_lowercase();
        let by = |chess960| moves.iter().find(|m| self.uci_as(**m, chess960) == lower);
        // In Chess960 a king's step may look like castling in an ordinary game, so the exact
        // form is tried first.
        by(true).or_else(|| by(false)).copied()
    }

    fn fits(&self, pattern: &Pattern, m: Move) -> bool {
        let kind = self.pieces.on(m.from).map(|(_, kind)| kind);
        self.castling(m).is_none()
            && m.to == pattern.to
            && m.promotion == pattern.promotion
            && kind == Some(pattern.kind)
            && pattern.file.is_none_or(|file| file == m.from.file())
            && pattern.rank.is_none_or(|rank| rank == m.from.rank())
    }
}

/// Removes signs of judgement, check and en passant after a move.
fn without_signs(text: &str) -> &str {
    let signs = ['!', '?', '+', '#'];
    let text = text.trim().trim_end_matches(signs);
    let text = ["e.p.", "ep.", "e.p", "ep"]
        .iter()
        .find_map(|mark| text.strip_suffix(mark))
        .unwrap_or(text);
    text.trim_end().trim_end_matches(signs)
}

fn castling_text(text: &str) -> Option<CastlingSide> {
    match text {
        "O-O" | "0-0" | "o-o" => Some(CastlingSide::King),
        "O-O-O" | "0-0-0" | "o-o-o" => Some(CastlingSide::Queen),
        _ => None,
    }
}

/// The properties of a move that are stated in algebraic notation.
struct Pattern {
    kind: Piece,
    file: Option<File>,
    rank: Option<Rank>,
    to: Square,
    promotion: Option<Piece>,
}

impl Pattern {
    fn of(text: &str) -> Option<Self> {
        let (rest, promotion) = promotion(text);
        let letter = rest.chars().next()?;
        let kind = Some(letter)
            .filter(char::is_ascii_uppercase)
            .map(|letter| piece_kind(letter.to_ascii_lowercase()));
        let (kind, rest) = match kind {
            Some(kind) => (kind?, &rest[1..]),
            None => (Piece::Pawn, rest),
        };
        let (origin, to) = rest.split_at_checked(rest.len().checked_sub(2)?)?;
        let origin = origin.trim_end_matches(['x', '-', ':']);
        let mut letters = origin.chars().peekable();
        let file = letters.next_if(char::is_ascii_lowercase).map(File::try_from);
        let rank = letters.next().map(Rank::try_from);
        if letters.next().is_some() {
            return None;
        }
        Some(Self {
            kind,
            file: file.transpose().ok()?,
            rank: rank.transpose().ok()?,
            to: to.parse().ok()?,
            promotion,
        })
    }
}

/// Splits the piece of a promotion from the end of a text: `=Q`, `Q`, `/Q` or `(Q)`.
fn promotion(text: &str) -> (&str, Option<Piece>) {
    let bare = text.strip_suffix(')').unwrap_or(text);
    let kind = bare.chars().last().filter(char::is_ascii_alphabetic);
    let kind = kind.and_then(|letter| piece_kind(letter.to_ascii_lowercase()));
    match kind {
        Some(kind) => (bare[..bare.len() - 1].trim_end_matches(['=', '/', '(']), Some(kind)),
        None => (text, None),
    }
}
