//! Errors of the set-up of a board, and of its recovery.

use cli_support::exit::{CommandError, ENVIRONMENT, INTERRUPTED, USAGE};
use firmware::build::BuildError;
use firmware::profile::UartKind;
use firmware_wire::Identity;
use rcflash_link::LinkError;
use rcflash_link::flash::FlashError;
use rcflash_link::loader::LoadError;
use rcflash_link::rig::reset::ResetError;
use rcflash_monitors::LoaderError;

use crate::board::BoardError;

/// Error returned if a board can't be prepared.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The images could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The board can't be powered up or connected.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The application could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The application could not be written to flash.
    #[error(transparent)]
    Flash(#[from] FlashError),
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The stock monitor did not load or start the application.
    #[error(transparent)]
    MonitorLoad(#[from] LoaderError),
    /// This project's monitor is in the ROM instead of a stock monitor.
    #[error("{0} is in this board's ROM: run again without --via")]
    OwnMonitor(Box<Identity>),
    /// A stock monitor is in the ROM instead of this project's monitor.
    #[error(
        "{port}: found {monitor} instead of this project's monitor; to load through it, \
         {first_step}use `--via {via}`"
    )]
    StockMonitor {
        /// The port, as the user named it.
        port: String,
        /// Name and version of the monitor.
        monitor: String,
        /// Its value of `--via`.
        via: &'static str,
        /// What to do on the board before; empty if nothing.
        first_step: &'static str,
    },
    /// The application was started but does not reply, with the driver of this chip.
    #[error(
        "the application was started but does not reply with the driver of the {}: press the \
         board's reset button, and check that --board matches its serial chip and ports",
        tried_chips(*.0)
    )]
    NoReply(UartKind),
    /// The stock monitor did not reappear after the application was left.
    #[error("the board's monitor ({0}) did not reappear: press the board's reset button")]
    MonitorNotBack(&'static str),
    /// The user's ROM image for a simulated board does not start this project's monitor; its size,
    /// and its first byte.
    #[error(
        "the image of --rom does not start this project's monitor: it has {0} bytes{first}; \
         `rcflash image -o rom.bin` writes an image that does",
        first = .1.map_or_else(String::new, |byte| format!(", the first is {byte:02X}H"))
    )]
    NoMonitorInRom(usize, Option<u8>),
    /// A monitor of another build is in the ROM.
    #[error(
        "the monitor in ROM is {0}, expected build {1:08X}: program the current image \
         (`rcflash image`), or pass --any-monitor"
    )]
    StaleMonitor(Box<Identity>, u32),
    /// Another program than the loaded application replied.
    #[error("{0} replied instead of the application that was loaded")]
    WrongApplication(Box<Identity>),
    /// The board could not be reset by the method of the rig file.
    #[error(transparent)]
    Reset(#[from] ResetError),
    /// The board does not reply, and only a person can reset it.
    #[error("{0}; press the board's reset button and try again")]
    NeedsReset(Box<Self>),
    /// The application is not the one that the suite tests.
    #[error("{0}")]
    UntestedApplication(String),
}

impl From<SetupError> for CommandError {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Build(error) => error.into(),
            SetupError::Load(error) => error.into(),
            SetupError::Flash(error) => error.into(),
            SetupError::Board(
                error @ (BoardError::UnknownMachine(..) | BoardError::NotATranscript(_)),
            ) => Self::new(USAGE, error),
            SetupError::Board(error @ BoardError::Interrupted(_)) => Self::new(INTERRUPTED, error),
            SetupError::Link(error) => error.into(),
            SetupError::MonitorLoad(error) => error.into(),
            SetupError::Reset(error) => error.into(),
            other => Self::new(ENVIRONMENT, other),
        }
    }
}

/// Returns the chips whose drivers [`BoardConfig::with_either_chip`] tries.
///
/// [`BoardConfig::with_either_chip`]: super::BoardConfig::with_either_chip
fn tried_chips(kind: UartKind) -> String {
    match kind {
        UartKind::Acia | UartKind::Sio => "68B50 or the SIO".to_owned(),
        UartKind::Asci | UartKind::Ns550 => kind.to_string(),
    }
}

impl SetupError {
    /// Returns `true` if the line failed, not the board.
    pub(super) fn is_line_error(&self) -> bool {
        let line = |error: &LinkError| matches!(error, LinkError::Io { .. });
        match self {
            Self::Link(error) | Self::Load(LoadError::Link(error)) => line(error),
            Self::MonitorLoad(error) => matches!(error, LoaderError::Io { .. }),
            Self::Board(_) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_reply_is_named_with_the_chips_that_were_tried() {
        let message = |kind| SetupError::NoReply(kind).to_string();
        for kind in [UartKind::Acia, UartKind::Sio] {
            assert!(message(kind).contains("the driver of the 68B50 or the SIO:"));
        }
        assert!(message(UartKind::Asci).contains("the driver of the Z180 ASCI:"));
        assert!(message(UartKind::Ns550).contains("the driver of the 16C550:"));
    }
}
