//! The simulated board: a Z80 with memory, devices and a serial line, true to the data sheets where
//! the tests need it, counted in T-states. The processor itself is the crate `z80-core`.
//!
//! | part | file |
//! |---|---|
//! | memory and port decoding | `bus`, `memory`, `banks` |
//! | chips for the ROM socket | `eprom`, `sst39sf`, `at28c256` |
//! | serial chips and their clock | `uart`, `acia`, `sio`, `ctc` |
//! | what is at the other end of the serial line | `line`, `pty`, `network` |
//! | processor, bus and clock together | `board`, `clock` |
//! | exact times of chosen routines | `probe` |
//! | a board in a thread, reached through a pseudo-terminal or a TCP port | `server` |

mod acia;
mod at28c256;
mod banks;
mod board;
mod bus;
mod clock;
mod ctc;
mod eprom;
mod line;
mod memory;
mod network;
mod noise;
mod probe;
mod pty;
mod server;
mod sio;
mod spec;
mod sst39sf;
pub mod standin;
mod uart;

pub use acia::Acia;
pub use at28c256::{At28c256, PAGE};
pub use banks::{Banks, Page};
pub use board::{BoardSpec, SimBoard, Stop, Turn};
pub use bus::{Access, AccessKind, BoardBus};
pub use ctc::Ctc;
pub use eprom::Eprom;
pub use line::{Line, QueueLine, garble};
pub use memory::{ChipKind, MemoryMap, RomChip};
pub use network::NetworkLine;
pub use probe::{CallRecord, Probe};
pub use pty::{Packets, PtyLine};
pub use server::{Pace, ServerOptions, SimServer};
pub use sio::{Port, Sio};
pub use spec::board_spec;
pub use sst39sf::{SECTOR, Sst39sf, SstModel};
pub use uart::UartModel;
pub use z80_core::{Bus, Cpu, Registers, Signal};
