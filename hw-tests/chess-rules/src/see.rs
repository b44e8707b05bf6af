//! Static Exchange Evaluation: what a move is worth if both sides then only take on its square.
//!
//! Written from the Chess Programming Wiki's pages "SEE - The Swap Algorithm" and "Static
//! Exchange Evaluation". A value is that of a legal move, which is played whatever it costs; then
//! each side takes on the square of destination or stops, whichever is better for it.
//!
//! | item | what it answers |
//! |---|---|
//! | [`values_of`] | the value of any move by all three [`Definition`]s |
//! | [`Opening::list`] | the iterative form with its list of gains, with and without pruning |
//! | [`Opening::by_recursion`] | the recursive form |
//! | [`Opening::by_bounds`] | the iterative form with two bounds in place of a list |
//! | [`Opening::is_at_least`] | the threshold form: only whether a value is reached |
//! | [`Opening::by_law`] | minimax over the legal captures |
//! | [`pseudo_legal_gain`] | what a side wins on a square if it may also decline |
//! | [`order_captures`] | the legal captures in the order of a search, with statistics |
//! | [`soma()`] | the line of exchanges that both sides would play over the whole board |
//! | [`quiescence`] | a plain capture search, to measure what pruning by values saves |
//!
//! ```
//! use chess_rules::Position;
//! use chess_rules::see::{Values, values_of};
//!
//! let position = Position::from_fen("rnb1k3/P1P5/8/8/8/8/8/4K3 w - -")?;
//! let capture = position.find_move("cxb8=Q").ok_or("no such move")?;
//! let found = values_of(&position, capture, Values::UNITS);
//! assert_eq!((found.swap, found.swap_promo, found.legal), (7, 11, Some(11)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod definition;
mod law;
mod opening;
mod ordering;
mod pseudo_legal;
pub mod quiescence;
mod soma;
mod swap;
mod values;

pub use definition::{ByDefinition, Definition, value_of, values_of};
pub use law::LIMIT;
pub use opening::Opening;
pub use ordering::{Capture, Ordered, Statistics, order_captures};
pub use pseudo_legal::{Taker, pseudo_legal_gain, pseudo_legal_value};
pub use soma::{Exchange, soma};
pub use swap::SwapList;
pub use values::{Values, ValuesError};
