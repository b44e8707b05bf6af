//! Positions, moves and lines judged by files, by `cozy-chess` and by hand.

mod file;
mod lines;
mod moves;
mod mutated;
mod samples;
mod truth;
