//! Loads programs through a board's stock monitor and verifies them.
//!
//! [`load_hex`] loads through a monitor that accepts Intel HEX: the Small Computer Monitor,
//! RomWBW's debug monitor, ROM BASIC with a hex loader that is typed in first, or one that a
//! [`MonitorDescription`] describes. It measures the
//! line with a burst, sends chunks at the pace that the line supports, reads everything back, and
//! resends lines that differ. [`transfer_file`] sends a file to CP/M by XMODEM, [`probe()`]
//! identifies the monitor at the other end, and [`ResidentMonitor`] starts a program and waits until it
//! returns. [`Via`] is the choice among them on a command line.
//!
//! ```
//! use rcflash_monitors::{Pace, StockMonitor};
//! use tdlasm::image::{Image, ImageRun};
//!
//! let image = Image::new([ImageRun { address: 0x8000, bytes: vec![0xC9] }]);
//! let script = StockMonitor::Scm.script(&image, Some(0x8000), Pace::FULL);
//! assert_eq!(script, [":01800000C9B6", ":00000001FF", "G 8000"]);
//! ```

mod banner;
mod basic;
mod basic_output;
mod cpm;
mod described;
mod description;
mod dump;
mod error;
mod event;
mod exchange;
mod exit;
mod handshake;
mod hex_load;
mod host;
mod identify;
mod monitor;
mod pace;
mod probe;
mod processor;
mod prompt;
mod reach;
mod records;
mod romwbw;
mod routine;
mod scm;
mod session;
mod stock;
mod via;
mod xmodem;

pub use cpm::{CpmName, FileTransfer, transfer_command, transfer_file};
pub use description::{DescriptionError, MonitorDescription};
pub use error::LoaderError;
pub use event::{LoadEvent, LoadObserver, LoadStage};
pub use hex_load::{LoadRequest, LoadSummary, load_hex};
pub use host::{HostedProgram, ResidentMonitor};
pub use pace::Pace;
pub use probe::{ProbeResult, ProbedPeer, probe, probe_quick};
pub use prompt::{Peer, identify_prompt};
pub use reach::FlowControlMode;
pub use records::{HexRecord, hex_records};
pub use session::{MonitorSession, Processor};
pub use stock::StockMonitor;
pub use via::Via;
#[cfg(feature = "args")]
pub use via::ViaArgs;
pub use xmodem::{CheckMode, TransferSummary, XmodemSender, receive_file};
