//! End-to-end tests of the language server over its protocol.

mod chaos;
mod client;
mod navigation;
mod oracle;
mod renaming;
mod session;
mod typing;
mod words;
mod zilog;
