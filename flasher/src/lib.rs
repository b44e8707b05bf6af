//! Puts images on Z80 boards over a serial line, and knows that they are there.

pub mod exit;
pub mod flash;
pub mod link;
pub mod loader;
pub mod loaders;
pub mod port;
pub mod terminal;
pub mod transport;
