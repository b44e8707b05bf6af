//! The rig file: a user's names for boards, with the port, the profile, the wiring and the reset
//! method of each. [`RigFile::resolve`] looks up a board, [`Rig::open`] opens its port, and
//! [`reset::reset`] resets it. Boards can also be places of labgrid.
//!
//! ```
//! use rcflash_link::rig::{DEFAULT_BOARD, Rig};
//!
//! let rig = Rig::from_port("/dev/ttyUSB0");
//! assert_eq!(rig.board, DEFAULT_BOARD);
//! ```

mod exit;
mod labgrid;
mod method;
pub mod reset;
mod rig_file;
mod settings;

pub use labgrid::LabgridPlace;
pub use method::{ActiveLevel, ResetConfig, ResetMethod};
pub use rig_file::{NewBoard, RigFile, RigFileError};
pub use settings::{DEFAULT_BOARD, FlowControl, Pacing, Rig};
