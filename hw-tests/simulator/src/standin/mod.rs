//! Stand-ins for stock monitors: replays of recorded dialogues over a pseudo-terminal, so that
//! loaders can be tried without the monitors' ROMs. Each is played against the records by a test,
//! and shares no code with the loaders.
//!
//! | part | file |
//! |---|---|
//! | the Small Computer Monitor 1.0.0 and 1.3.0 | `scm` |
//! | boot loader and debug monitor of RomWBW 3.5.1 | `romwbw` |
//! | the same of RomWBW 2.9.1 | `romwbw2` |
//! | ROM BASIC 4.7b and 4.7c | `basic`, `basic_words`, `hload` |
//! | CP/M 2.2 with XM 12.5 | `cpm` |
//! | the factory's CP/M monitor 1.1 | `cpm_monitor` |
//! | the two ends of XMODEM | `xmodem` |
//! | memory, and programs that run in it | `machine` |
//! | receivers that lose characters | `receiver` |
//! | the pseudo-terminal, and faults made on purpose | `serve` |

mod basic;
mod basic_words;
mod cpm;
mod cpm_monitor;
mod hload;
mod machine;
mod receiver;
mod romwbw;
mod romwbw2;
mod scm;
mod serve;
mod xmodem;

use std::time::Duration;

pub use basic::Basic;
pub use cpm::Cpm;
pub use cpm_monitor::CpmMonitor;
pub use machine::{Memory, Running, Trap};
pub use receiver::{Receiver, Wiring};
pub use romwbw::Romwbw;
pub use romwbw2::Romwbw2;
pub use scm::{Scm, ScmRelease};
pub use serve::{Faults, Options, StandIn};
pub use xmodem::{Check, Habits, TransferEnd, XmodemReceiver, XmodemSender};

/// A monitor at the other end of the line. Its banner has passed long before anybody opens the
/// port.
pub trait Peer: Send {
    /// Takes a character; what it answers goes to `say`.
    fn hear(&mut self, character: u8, say: &mut Vec<u8>);

    /// Presses the reset button; what it says then goes to `say`.
    fn reset(&mut self, _say: &mut Vec<u8>) {}

    /// Ends a time in which it throws away what it hears.
    fn hurry(&mut self) {}

    /// Whether it was left for what started it.
    fn has_left(&self) -> bool {
        false
    }

    /// Lets time pass; `since` is how long nothing was heard. Returns whether a program runs that
    /// wants more of it soon.
    fn idle(&mut self, _since: Duration, _say: &mut Vec<u8>) -> bool {
        false
    }

    /// The serial chip and driver by which it takes characters.
    fn wiring(&self) -> Wiring;

    /// The time for which a character keeps it busy, besides saying something.
    fn busy(&self) -> Duration;

    /// Its memory, to spoil it.
    fn memory(&mut self) -> Option<&mut Memory> {
        None
    }

    /// The content of a file on its disk.
    fn file(&self, _name: &str) -> Option<&[u8]> {
        None
    }

    /// The lines of the BASIC program in it.
    fn lines(&self) -> Vec<String> {
        Vec::new()
    }
}
