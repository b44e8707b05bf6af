//! The rig file: a user's names for boards, with the port, the profile, the wiring and the reset
//! method of each. [`RigFile::resolve`] looks up a board, [`Rig::open`] opens its port, and
//! [`reset::reset`] resets it. Boards can also be places of labgrid.
//!
//! ```
//! use rcflash_rig::{DEFAULT_BOARD, Rig};
//!
//! let rig = Rig::from_port("/dev/ttyUSB0");
//! assert_eq!(rig.board, DEFAULT_BOARD);
//! ```

mod exit;
mod labgrid;
mod method;
pub mod reset;
mod rig;
mod rig_file;

pub use labgrid::LabgridPlace;
pub use method::{ActiveLevel, ResetConfig, ResetMethod};
pub use rig::{DEFAULT_BOARD, FlowControl, Pacing, Rig};
pub use rig_file::{NewBoard, RigFile, RigFileError};
