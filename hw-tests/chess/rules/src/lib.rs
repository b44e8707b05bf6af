//! Chess positions and moves, in the notations of players and programs.
//!
//! | item | content |
//! |---|---|
//! | [`Position`] | pieces, side to move, castling rights, en passant, clocks; FEN in and out |
//! | [`Position::legal_moves`] | every legal move; [`Position::play`] makes one |
//! | [`Position::san`], [`Position::uci`] | a move in the two common notations |
//! | [`Position::find_move`] | a move in SAN, UCI or long algebraic notation, as found in files |
//! | [`epd::read`] | the lines of a file: EPD, FEN, suites of exchange values |
//! | [`Pieces`] | the pieces alone, as bitboards, with the attackers of a square |
//!
//! Positions that no game could reach are accepted too: no king, nine queens, pawns on the last
//! rank. Bitboards and attack sets come from `cozy-chess`; move generation is written here, since
//! that crate refuses such positions.
//!
//! ```
//! use chess_rules::Position;
//!
//! let position = Position::from_fen("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2")?;
//! let capture = position.find_move("exd6").ok_or("no such move")?;
//! assert_eq!(position.uci(capture), "e5d6");
//! assert!(position.is_capture(capture));
//! assert_eq!(position.play(capture).to_string(), "4k3/8/3P4/8/8/8/8/4K3 b - - 0 2");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod epd;
mod fen;
mod moves;
mod notation;
mod pieces;
mod position;
mod rights;
pub mod see;
pub mod suite;

pub use fen::{FenError, ParsedFen, RightsNotation};
pub use moves::IllegalReason;
pub use pieces::Pieces;
pub use position::Position;
pub use rights::{CastlingRights, CastlingSide};

pub use cozy_chess::{BitBoard, Color, File, Move, Piece, Rank, Square};
