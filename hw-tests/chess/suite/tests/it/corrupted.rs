//! Randomly corrupted input from boards: transcripts, and sessions with stock monitors. Every run
//! ends, and no wrong result is reported.

mod monitors;
mod transcripts;
