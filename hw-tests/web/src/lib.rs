//! The toolchain for a page of a browser: assembler, linker, simulated board, reference, debugger
//! and loader, behind requests and events as JSON (`docs/try/worker.d.ts` is their contract).
//!
//! [`Toolchain`] is plain Rust and is tested natively; `page`, which exists on WebAssembly alone,
//! exports it to JavaScript. A long run is a `Job` that advances in slices, between which the
//! worker handles messages.

mod assemble;
mod board;
mod build_info;
mod corpus;
mod debug;
mod editor;
mod error;
mod examine;
mod exchange;
mod fault;
mod jobs;
#[cfg(target_family = "wasm")]
mod line;
mod machine;
mod message;
#[cfg(target_family = "wasm")]
mod page;
mod position_view;
mod program;
mod serial;
mod sources;
mod tests;
mod toolchain;

pub use error::PageError;
pub use message::{Message, Post};
pub use serial::{Open, Port};
pub use toolchain::Toolchain;
