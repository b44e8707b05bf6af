//! Static Exchange Evaluation as modern engines do it: what Sargon's residue is compared with.
//!
//! Written from the Chess Programming Wiki's pages "SEE - The Swap Algorithm" and "Static Exchange
//! Evaluation". Bitboards and attack sets come from `cozy-chess`. Promotion and en passant are not
//! considered, as in those pages.
//!
//! | form | function | what it answers |
//! |---|---|---|
//! | iterative swap list | [`swap`] | what a particular capture gains, with the list of gains |
//! | recursive | [`swap_off`] | what a side gains on a square if it may also decline |
//! | forced capture | [`capture`] | as [`swap`], by recursion |
//! | threshold | [`at_least`] | only whether a capture gains at least so much |
//! | whole position | [`soma`] | the line of exchanges that both sides would play |
//! | move ordering | [`order_captures`] | winning captures first, losing ones dropped, with statistics |

mod ordering;
mod pieces;
mod recursive;
mod soma;
mod swap;

pub use ordering::{Capture, Ordered, Statistics, order_captures};
pub use pieces::{Pieces, Values, ValuesError, side, square};
pub use recursive::{capture, swap_off};
pub use soma::{Exchange, soma};
pub use swap::{SwapList, at_least, swap};
