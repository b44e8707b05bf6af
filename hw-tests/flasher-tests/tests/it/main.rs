//! Tests of `rcflash` from end to end, with programs that use the same boards.

#[path = "../../../cli/tests/it/background_process.rs"]
mod background_process;
mod cable;
mod commands;
mod flash;
mod loaders;
mod network;
#[path = "../../../cli/tests/it/programs.rs"]
mod programs;
mod rcflash;
mod screen;
#[path = "../../../cli/tests/it/sim.rs"]
mod sim;
mod upload;
