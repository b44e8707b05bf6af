//! End-to-end tests of `rcflash`: the real program, real serial devices, simulated boards behind
//! them.

mod bench;
mod boards;
mod cli_conventions;
mod erase;
mod faults;
mod interrupted;
mod locks;
mod probe;
mod program_files;
mod programmer;
mod reset;
mod rig_file;
mod setup;
mod terminal;
