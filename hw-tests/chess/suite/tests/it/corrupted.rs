//! Randomly corrupted input from boards: transcripts, and sessions with stock monitors. Every run
//! ends, and no wrong result is reported.

#[path = "../../../../../assembler/tdlasm/tests/it/corrupted_input.rs"]
mod corrupted_input;
mod monitors;
mod transcripts;

pub(crate) use corrupted_input::for_each_corrupted;
