//! Puts images on Z80 boards over a serial line, and knows that they are there.

mod busy;
pub mod exit;
pub mod flash;
pub mod inspect;
pub mod link;
pub mod loader;
pub mod loaders;
pub mod lock;
pub mod manual;
pub mod port;
pub mod programmer;
pub mod reset;
pub mod rig;
pub mod terminal;
pub mod transport;
