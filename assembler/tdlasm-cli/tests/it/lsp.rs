//! The language server as editors see it: the real program, over the real protocol.

mod chaos;
mod client;
mod navigation;
mod oracle;
mod renaming;
mod session;
mod typing;
mod words;
