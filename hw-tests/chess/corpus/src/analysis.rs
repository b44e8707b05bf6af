//! Analysis of chess positions beyond Sargon's residues: differences between evaluators and their
//! causes, the scores that the program derives from residues, second-order attacks, and exchanges
//! step by step.
//!
//! ```
//! use sargon_corpus::analysis::compare_evaluators;
//! use sargon_reference::{Square, parse_fen};
//!
//! let position = parse_fen("6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -")?;
//! let compared = compare_evaluators(&position);
//! let knight = compared.iter().find(|one| Some(one.square) == Square::named("e4"));
//! assert_eq!(knight.map(|one| one.residue), Some(1));
//! # Ok::<(), sargon_reference::FenError>(())
//! ```

pub mod behaviours;
mod capture_order;
mod capturers;
pub mod convert;
pub mod diagram;
mod differences;
mod exchange_line;
mod exchange_rules;
mod fetches;
mod move_value;
mod prizes;
mod relations;
mod resolve;
mod rules;
mod trace;

pub use capturers::{ArrayCapturers, array_capturers};
pub use differences::{EvaluatorDiff, EvaluatorStats, HigherLower, compare_evaluators};
pub use exchange_line::ExchangeLine;
pub use exchange_rules::SquareExchange;
pub use fetches::{PieceFetch, piece_fetches};
pub use move_value::{SargonMoveValue, sargon_move_value};
pub use prizes::{Prizes, ScoreAdjustment};
pub use relations::{Relation, RelationGroup, relations};
pub use rules::{Rule, Rules};
pub use trace::{
    ExchangeSide, ExchangeStep, StepAction, capturer_kinds, capturing_pieces, exchange_steps,
    with_values,
};
