//! The exhaustive check: its spaces, its reference, the board's part, and the command.

mod board;
mod command;
mod model;
mod space;
