//! The language server as editors see it: the real program, over the real protocol.

mod client;
mod navigation;
mod session;
mod typing;
