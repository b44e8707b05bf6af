//! Words of boards, spoilt at random: transcripts, and the dialogues of stock monitors. Every run
//! ends, and nothing is believed that is not so.

mod monitors;
mod transcripts;
