//! Monitor and application on the simulated boards against docs/PROTOCOL.md.

mod board;
mod flash;
mod hosted;
mod place;
mod requests;
