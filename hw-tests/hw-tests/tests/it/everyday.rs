//! The everyday use of `rcflash`: the real program, real serial devices, simulated boards behind
//! them.

mod bench;
mod boards;
use crate::cable;
mod contents;
mod erase;
mod faults;
mod interrupted;
mod locks;
mod manners;
mod probe;
mod programmer;
use crate::programs;
mod reset;
mod rig_file;
use crate::screen;
mod terminal;
