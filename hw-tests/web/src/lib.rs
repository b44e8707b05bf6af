//! The toolchain for a page of a browser: assembler, linker, simulated board, reference, debugger
//! and loader, behind requests and events as JSON (`docs/try/worker.d.ts` is their contract).
//!
//! [`Toolchain`] is plain Rust and is tested natively; `page`, which exists on WebAssembly alone,
//! hands it to JavaScript. A long run is a [`Job`](jobs::Job) that goes by slices, between which the
//! worker takes messages.

mod board;
mod examine;
mod exchange;
mod fault;
mod figures;
mod jobs;
#[cfg(target_family = "wasm")]
mod page;
mod placement;
mod toolchain;

pub use fault::Fault;
pub use toolchain::{Message, Post, Toolchain};
