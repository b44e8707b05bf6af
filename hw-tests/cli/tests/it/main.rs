//! Tests of the programs from end to end, and of the repository.

mod background_process;
mod batch;
mod book;
mod command;
mod hangs;
mod helps;
mod house;
mod inputs_and_outputs;
mod listing;
mod own_routines;
mod programs;
mod runs;
mod sargon;
mod sim;
#[cfg(feature = "system-tests")]
mod system;
mod test_files;
mod transcripts;
