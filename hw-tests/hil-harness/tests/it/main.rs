//! Tests of runs on simulated boards.

#[path = "../../../board-debugger/tests/it/board.rs"]
mod board;
mod distance;
mod fleet;
mod prizes;
mod simulation;
mod spoilt;
mod throughput;
