//! The simulated board: a Z80 with memory, a 68B50 and a serial line, true to the data sheets where the
//! tests need it, counted in T-states.
//!
//! | part | file |
//! |---|---|
//! | the processor, behind our own interface | `cpu` |
//! | memory and port decoding | `bus` |
//! | the serial chip | `acia` |
//! | what is at the other end of its line | `line`, `pty` |
//! | processor, bus and clock together | `board` |
//! | exact times of chosen routines | `probe` |
//! | a board in a thread, reached through a pseudo-terminal | `server` |

mod acia;
mod board;
mod bus;
mod cpu;
mod line;
mod probe;
mod pty;
mod server;

pub use acia::Acia;
pub use board::{BoardSpec, SimBoard, Stop};
pub use bus::BoardBus;
pub use cpu::{Bus, Cpu, Registers};
pub use line::{Line, QueueLine};
pub use probe::{CallRecord, Probe};
pub use pty::PtyLine;
pub use server::{Pace, ServerOptions, SimServer};
