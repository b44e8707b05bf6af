//! Stand-ins for stock monitors: small scripts that hold their part of the dialogue over a pseudo-terminal, as it was
//! observed, so that loaders can be tried without the monitors' ROMs. They share no code with the loaders.
//!
//! | part | file |
//! |---|---|
//! | the Small Computer Monitor | `scm` |
//! | RomWBW's boot loader and debug monitor | `romwbw` |
//! | ROM BASIC, with enough of the language to load bytes | `basic` |
//! | CP/M with a program that receives and sends files | `cpm` |
//! | the two ends of XMODEM | `xmodem` |
//! | memory, and programs that run in it | `machine` |
//! | receivers that lose characters | `receiver` |
//! | the pseudo-terminal, and faults made on purpose | `serve` |

mod basic;
mod cpm;
mod machine;
mod receiver;
mod romwbw;
mod scm;
mod serve;
mod xmodem;

use std::time::Duration;

pub use basic::Basic;
pub use cpm::Cpm;
pub use machine::{Memory, Running};
pub use receiver::{Receiver, Wiring};
pub use romwbw::Romwbw;
pub use scm::Scm;
pub use serve::{Faults, Options, StandIn};
pub use xmodem::{Outcome, XmodemReceiver, XmodemSender};

/// A monitor's part in a dialogue. Its banner has passed long before anybody opens the port.
pub trait Peer: Send {
    /// Takes a character; what it answers goes to `say`.
    fn hear(&mut self, character: u8, say: &mut Vec<u8>);

    /// Lets time pass; `since` is how long nothing was heard. Whether a program runs that wants more of it soon.
    fn idle(&mut self, _since: Duration, _say: &mut Vec<u8>) -> bool {
        false
    }

    /// How its serial chip and driver take characters.
    fn wiring(&self) -> Wiring;

    /// How long it is busy with a character, besides saying something.
    fn busy(&self) -> Duration;

    /// Its memory, to spoil it.
    fn memory(&mut self) -> Option<&mut Memory> {
        None
    }

    /// What a file on its disk holds.
    fn file(&self, _name: &str) -> Option<&[u8]> {
        None
    }
}
