//! Tests of the stand-ins, linked once.

mod dialogues;
