//! In-circuit flash, end to end: the host's code, the monitor's and the simulated chip.

mod command;
mod kills;
mod line;
mod power_cuts;
use crate::programs;
mod progress;
mod start;
mod write;
