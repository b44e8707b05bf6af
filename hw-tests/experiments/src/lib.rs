//! A small alpha-beta searcher with switchable parts, and matches between its variants, to measure
//! what exchange values are worth in a search; and a plain capture search ([`quiescence`]).
//!
//! Boards and legal moves come from `cozy-chess`, exchange values from `chess_rules`, residues from
//! `sargon_reference`. Time is counted, not measured ([`Work`]), so that results are reproducible.
//!
//! ```
//! use chess_experiments::{Limit, Node, Player, Search};
//! let player: Player = "swap+drop".parse()?;
//! let node = Node::from_fen("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1").ok_or("a bad FEN")?;
//! let found = Search::new(player).run(&node, &[], Limit::depth(3));
//! assert_eq!(found.best.map(|m| node.position.san(m)), Some("Rd8#".to_owned()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod evaluation;
mod game;
mod node;
mod ordering;
mod player;
pub mod quiescence;
mod random;
mod search;
pub mod statistics;
mod work;

pub use evaluation::{HangingPieces, static_score};
pub use game::{Game, Match, opening};
pub use node::Node;
pub use player::{CaptureOrder, LeafRule, Player};
pub use search::{Found, Limit, MATE, Search};
pub use work::{COSTS, Operation, Work};
