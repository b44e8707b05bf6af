//! The spaces, the reference, and the board's part, against a second model.

mod board;
#[path = "../../tests/it/exhaust/model.rs"]
mod model;
mod space;
