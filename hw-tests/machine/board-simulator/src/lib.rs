//! Simulated Z80 boards: processor, memory, serial chips and a serial line, exact to the T-state
//! and modelled after the data sheets. The processor is the crate `z80-core`.
//!
//! # Examples
//! ```
//! use board_simulator::{BoardModel, QueueLine, RunStop, board_spec};
//! use firmware::profile::BoardProfile;
//!
//! let profile = BoardProfile::named("rc2014-classic")?;
//! let rom = [0x3E, 0x2A, 0x76]; // LD A,2Ah; HALT
//! let mut board = BoardModel::new(board_spec(&profile), &rom, QueueLine::default());
//! assert_eq!(board.run_for(1000), RunStop::Idle);
//! assert_eq!(board.registers().af >> 8, 0x2A);
//! # Ok::<(), firmware::profile::ProfileError>(())
//! ```
//!
//! | part | file |
//! |---|---|
//! | memory and port decoding | `bus`, `memory`, `banks` |
//! | chips for the ROM socket | `eprom`, `sst39sf`, `at28c256` |
//! | serial chips and their clock | `uart`, `acia`, `sio`, `ns550`, `ctc` |
//! | the devices of a Z180 | `z180` |
//! | the far end of the serial line | `line`, `pty`, `network`, `packets` |
//! | processor, bus and clock together | `board`, `clock` |
//! | durations of chosen routines | `probe` |
//! | what code under test must not do | `guard`, `violation` |
//! | a processor with memory alone, which calls routines | `routines` |
//! | a board in this process, with the simulated clock | `in_process` |
//! | a board in a thread, reached through a pseudo-terminal or a TCP port | `server` |

mod acia;
mod at28c256;
mod banks;
mod board;
mod bus;
mod clock;
mod ctc;
mod eprom;
mod guard;
mod in_process;
mod line;
mod memory;
mod network;
mod noise;
mod ns550;
mod packets;
mod probe;
pub mod profiling;
mod pty;
pub mod routines;
mod server;
mod sio;
mod spec;
mod sst39sf;
mod uart;
mod violation;
mod z180;

pub use acia::Acia;
pub use at28c256::{At28c256, PAGE_BYTES};
pub use banks::{BankedPage, Banks};
pub use board::{BoardModel, BoardSpec, RunStop, StepOutcome};
pub use bus::{AccessKind, AddressSet, BoardBus, BusAccess};
pub use ctc::Ctc;
pub use eprom::Eprom;
pub use guard::{Guard, GuardConfig};
pub use in_process::{BoardState, InProcessBoard};
pub use line::{QueueLine, SerialLine, corrupt_by_baud_mismatch};
pub use memory::{ChipKind, MemoryMap, RomChip};
pub use network::NetworkLine;
pub use ns550::Ns550;
pub use packets::{PacketTimer, UsbPacketing};
pub use probe::{CallRecord, Instrumentation, Probe};
pub use pty::PtyLine;
pub use server::{BoardServer, Pace, ServerOptions};
pub use sio::{Sio, SioPort};
pub use spec::board_spec;
pub use sst39sf::{SECTOR_BYTES, Sst39sf, SstModel};
pub use uart::UartModel;
pub use violation::{Violation, ViolationKind};
pub use z80_core::{Bus, Cpu, CpuEvent, Registers};
pub use z180::{Z180Devices, Z180Revision};
