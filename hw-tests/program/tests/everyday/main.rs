//! The everyday use of `rcflash`: the real program, real serial devices, simulated boards behind
//! them.

mod bench;
mod boards;
#[path = "../common/cable.rs"]
mod cable;
mod contents;
mod erase;
mod faults;
mod interrupted;
mod locks;
mod manners;
mod probe;
mod programmer;
#[path = "../common/programs.rs"]
mod programs;
mod reset;
mod rig_file;
#[path = "../common/screen.rs"]
mod screen;
mod terminal;
