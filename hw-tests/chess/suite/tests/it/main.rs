//! Tests of runs on simulated boards.

#[path = "../../../debugging/tests/it/board.rs"]
mod board;
mod confirmation;
mod corrupted;
mod damage;
mod distance;
mod fleet;
mod guard;
mod prizes;
mod recording;
mod report_files;
mod results_file;
mod simulation;
mod throughput;
