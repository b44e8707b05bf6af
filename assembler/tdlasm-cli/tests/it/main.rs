//! Tests of the program `tdlasm`.

mod archive;
mod command;
mod convert;
mod editors;
mod files;
mod fmt;
mod lsp;
mod messages;
mod original;
mod project;
#[cfg(feature = "system-tests")]
mod system;
