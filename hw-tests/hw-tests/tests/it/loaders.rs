//! `rcflash write --via` end to end: the real program against stand-ins of stock monitors, over a
//! serial device.

mod basic;
mod bench;
mod contact;
mod files;
mod flow;
mod hex;
mod hosted;
mod loads;
mod lossy;
use crate::programs;
mod corrupted_line;
mod states;
#[cfg(feature = "system-tests")]
mod system;
