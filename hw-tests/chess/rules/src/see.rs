//! Static Exchange Evaluation: the value of a move if both sides then only capture on its square.
//!
//! Written from the Chess Programming Wiki's pages "SEE - The Swap Algorithm" and "Static
//! Exchange Evaluation". A value is that of a legal move, which is played even if it loses; then
//! each side captures on the destination or stops, whichever is better for it.
//!
//! | item | result |
//! |---|---|
//! | [`move_values`] | the value of any move by every [`SeeDefinition`] |
//! | [`ExchangeStart::list`] | the iterative form with its list of gains, with and without pruning |
//! | [`ExchangeStart::swap_value`] | the value of that list, without its gains |
//! | [`ExchangeStart::see_ge`] | the threshold form: returns whether a value is reached |
//! | [`ExchangeStart::legal_minimax`] | minimax over the legal captures |
//! | [`pseudo_legal_gain`] | the gain of a side on a square if it may also decline |
//! | [`order_captures`] | the legal captures in the order of a search, with statistics |
//! | [`soma()`], [`soma_of`] | the line of exchanges that both sides would play over the whole board |
//!
//! ```
//! use chess_rules::Position;
//! use chess_rules::see::{PieceValues, move_values};
//!
//! let position = Position::from_fen("rnb1k3/P1P5/8/8/8/8/8/4K3 w - -")?;
//! let capture = position.find_move("cxb8=Q").ok_or("no such move")?;
//! let found = move_values(&position, capture, PieceValues::UNITS);
//! assert_eq!((found.swap, found.swap_promo, found.legal), (7, 11, Some(11)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod definition;
mod exchange_start;
mod legal;
mod ordering;
mod pseudo_legal;
mod soma;
mod swap;
mod values;

pub use definition::{SeeDefinition, ValuesByDefinition, move_value, move_values};
pub use exchange_start::ExchangeStart;
pub use legal::MAX_LEGAL_STATES;
pub use ordering::{OrderedCaptures, OrderingStats, ValuedCapture, order_captures};
pub use pseudo_legal::{NextCapturer, pseudo_legal_gain, pseudo_legal_value};
pub use soma::{SomaExchange, soma, soma_of};
pub use swap::SwapList;
pub use values::{PieceValues, PieceValuesError};
