//! Emulators of stock monitors, for testing loaders without the monitors' ROMs. Tests check each
//! emulator against recorded sessions of the original; none shares code with the loaders. Programs
//! that are loaded run on a board of the crate `board-simulator`.
//!
//! | part | file |
//! |---|---|
//! | the Small Computer Monitor 1.0.0 and 1.3.0 | `scm` |
//! | boot loader and debug monitor of RomWBW 3.5.1 | `romwbw` |
//! | boot loader and debug monitor of RomWBW 2.9.1 | `romwbw2` |
//! | ROM BASIC 4.7b and 4.7c | `basic`, `basic_statements`, `hload` |
//! | CP/M 2.2 with XM 12.5 | `cpm` |
//! | the factory's CP/M monitor 1.1 | `cpm_monitor` |
//! | sender and receiver of XMODEM | `xmodem` |
//! | memory, and guest programs that run on a simulated board | `machine` |
//! | serial receivers with finite buffers | `receiver` |
//! | output at line speed, and fault injection | `engine` |
//! | a monitor behind a pseudo-terminal, in real time | `server` |
//! | a monitor on a line within the process, in virtual time | `virtual_line` |

mod basic;
mod basic_statements;
mod cpm;
mod cpm_monitor;
mod engine;
mod hload;
mod machine;
mod receiver;
mod romwbw;
mod romwbw2;
mod scm;
mod server;
mod virtual_line;
mod xmodem;

use std::time::Duration;

pub use basic::Basic;
pub use cpm::{Cpm, EarlyEnd};
pub use cpm_monitor::CpmMonitor;
pub use engine::{FaultOptions, MonitorOptions};
pub use machine::{GuestExit, GuestProgram, Memory};
pub use receiver::{Receiver, ReceiverSpec};
pub use romwbw::Romwbw;
pub use romwbw2::Romwbw2;
pub use scm::{Scm, ScmRelease};
pub use server::MonitorServer;
pub use virtual_line::MonitorLine;
pub use xmodem::{TransferEnd, XmodemCheck, XmodemReceiver, XmodemSender, XmodemTiming};

/// The behaviour of a stock monitor. Its banner has been sent before the host opens the port.
pub trait MonitorModel: Send {
    /// Receives a character. Appends the reply to `out`.
    fn receive(&mut self, character: u8, out: &mut Vec<u8>);

    /// Presses the reset button. Appends the output to `out`.
    fn reset(&mut self, _out: &mut Vec<u8>) {}

    /// Sets the time by the line's clock, from the start of the line. It is set before each
    /// character and each call of [`Self::idle`].
    fn set_time(&mut self, _now: Duration) {}

    /// Ends the window in which input is discarded.
    fn end_ignore_window(&mut self) {}

    /// Returns `true` if control has returned to the program that started it.
    fn has_exited(&self) -> bool {
        false
    }

    /// Lets time pass; `since` is the time since the last received character. Returns `true` if a
    /// guest program runs, which must be called again soon.
    fn idle(&mut self, _since: Duration, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// Returns the properties of the monitor's serial receiver.
    fn receiver_spec(&self) -> ReceiverSpec;

    /// Returns how long the monitor processes a character, without the time to send its reply.
    fn processing_time(&self) -> Duration;

    /// Returns the memory for changing, or `None` if the emulator has none.
    fn memory(&mut self) -> Option<&mut Memory> {
        None
    }

    /// Returns the content of a file on the emulated disk.
    fn file(&self, _name: &str) -> Option<&[u8]> {
        None
    }

    /// Returns what was typed at CP/M's prompt since a program was started that transfers files, or
    /// what RomWBW's debug monitor has executed.
    fn typed_at_prompt(&self) -> &[u8] {
        &[]
    }

    /// Returns the lines of the stored BASIC program.
    fn lines(&self) -> Vec<String> {
        Vec::new()
    }
}
