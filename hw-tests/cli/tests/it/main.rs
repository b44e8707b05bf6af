//! Tests of the programs from end to end, and of the repository.

mod background_process;
mod book;
mod cable;
mod command;
mod exhaust;
mod flash;
mod house;
mod inputs_and_outputs;
mod listing;
mod loaders;
mod network;
mod own_routines;
mod programs;
mod rcflash;
mod rcflash_commands;
mod runs;
mod sargon;
mod screen;
mod sim;
#[cfg(feature = "system-tests")]
mod system;
mod test_files;
mod transcripts;
mod upload;
