//! The line of the link's own tests on which something is said whoever asks what.

#[path = "../../../flasher/rcflash-link/tests/it/babbler.rs"]
mod line;

pub(crate) use line::Babbler;
