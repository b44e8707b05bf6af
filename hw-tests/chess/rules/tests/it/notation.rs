//! Positions, moves and lines, compared with files, with `cozy-chess` and with results by hand.

mod file;
mod lines;
mod moves;
mod samples;
mod truth;
