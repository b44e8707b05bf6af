//! Looking into the board: profile, coverage, and the debugger with its front ends.

mod profile;
