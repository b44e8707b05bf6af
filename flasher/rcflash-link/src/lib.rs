//! A request/reply link to a Z80 board over a serial line: sequence numbers, deadlines, bounded
//! retries, and pipelining up to the board's receive window. On top of it: uploads to RAM
//! ([`loader`]), writes of flash ([`flash`]), reads and comparisons ([`inspect`]), and the client
//! of the debug kernel ([`kernel`]). The rig file ([`rig`]) names boards, their ports and resets.
//!
//! [`Link`] works over any [`rcflash_transport::Transport`]:
//!
//! ```no_run
//! use rcflash_link::{Link, loader};
//! use rcflash_transport::network;
//!
//! let transport = network::open("rfc2217://bench.local:2217", 115_200)?;
//! let mut link = Link::new(transport, 115_200);
//! println!("{}", loader::identify(&mut link)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(clippy::cast_possible_truncation)]

pub mod caller;
mod chip;
mod error;
mod exit;
pub mod flash;
pub mod inspect;
pub mod kernel;
mod link;
pub mod loader;
mod narrow;
mod queue;
pub mod rig;
mod rtt;
mod stats;
mod traffic;

pub use error::{LinkError, io_hint};
pub use link::Link;
pub use queue::{Completion, ReplyClassifier, ReplyStatus, RequestId, RequestSpec};
pub use stats::{LinkStats, RetryCounts};
pub use traffic::{RecentTraffic, escape_bytes};
