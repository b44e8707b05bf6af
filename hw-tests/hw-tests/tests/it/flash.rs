//! In-circuit flash, end to end: the host's code, the monitor's and the simulated chip.

mod command;
mod cuts;
mod kills;
mod line;
use crate::programs;
mod progress;
mod start;
mod write;
