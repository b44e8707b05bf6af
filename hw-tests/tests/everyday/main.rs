//! The everyday use of `rcflash`: the real program, real serial devices, simulated boards behind them.

mod bench;
mod contents;
mod erase;
mod interrupted;
mod locks;
mod probe;
#[path = "../common/rcflash.rs"]
mod program;
mod programmer;
mod reset;
mod rig_file;
mod terminal;
