//! The toolchain for a page of a browser: assembler, linker, simulated board, reference, debugger
//! and loader, behind requests and events as JSON (`docs/try/worker.d.ts` is their contract).
//!
//! [`Toolchain`] is plain Rust and is tested natively; `page`, which exists on WebAssembly alone,
//! hands it to JavaScript. A long run is a `Job` that goes by slices, between which the worker
//! takes messages.

mod assemble;
mod board;
mod corpus;
mod debug;
mod editor;
mod examine;
mod exchange;
mod fault;
mod figures;
mod jobs;
#[cfg(target_family = "wasm")]
mod line;
mod machine;
mod message;
#[cfg(target_family = "wasm")]
mod page;
mod placement;
mod program;
mod serial;
mod sources;
mod toolchain;

pub use fault::Fault;
pub use message::{Message, Post};
pub use serial::{Open, Port};
pub use toolchain::Toolchain;
