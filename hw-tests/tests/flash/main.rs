//! In-circuit flash, end to end: the host's code, the monitor's and the simulated chip.

mod cuts;
mod line;
mod write;
