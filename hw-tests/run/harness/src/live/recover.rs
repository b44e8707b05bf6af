//! Recovers a board that was unplugged, was reset, hangs, or runs another program.

use std::time::Duration;

use firmware_wire::{Identity, Role};
use rcflash_link::loader;
use rcflash_link::rig::reset::ResetOutcome;
use rcflash_link::{Link, LinkError};

use super::programs::START_TIMEOUT;
use super::{BoardConfig, LiveBoard, SetupError, stock_monitor};
use crate::board::{Board, BoardError};

/// How often a disconnected device is polled.
const DISCONNECT_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Polls before the user is notified; short disturbances end earlier.
const POLLS_BEFORE_NOTICE: u32 = 5;
/// Time until a board sends its banner after a reset.
const BOOT_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_ATTEMPTS: u32 = 3;

/// What [`LiveBoard::recover`] found on the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// The application was still running.
    Unchanged,
    /// The application had to be restarted; the reason.
    Restarted(String),
    /// Another program was running, and may have replied to requests; a message that names it.
    Replaced(String),
}

impl LiveBoard {
    /// Cancels all requests in flight, and restarts the application unless it still replies. A
    /// board that does not reply is reset by the method of its rig; at once if it was found not to
    /// reply, for the reason in `hang`.
    ///
    /// # Errors
    /// Returns the error of the last attempt, or [`SetupError::NeedsReset`] if only a person can
    /// reset the board.
    pub fn recover(&mut self, hang: Option<String>) -> Result<Recovery, SetupError> {
        self.link.cancel_all();
        let mut recovery = hang.map(Recovery::Restarted);
        let mut attempt = 1;
        let mut by_hand = false;
        if recovery.is_some() {
            by_hand = self.reset()? == ResetOutcome::ManualResetNeeded;
        }
        // `recovery` outlives the attempts, so the report shows the first cause and not the error
        // of a later attempt. Without a cause the application was running all the time.
        while let Err(error) = self.ensure_running(&mut recovery) {
            if by_hand && !error.is_line_error() {
                return Err(SetupError::NeedsReset(error.into()));
            }
            if attempt == MAX_ATTEMPTS {
                return Err(error);
            }
            attempt += 1;
            // A line error is no reason to reset the board, which would lose its state.
            if error.is_line_error() {
                reopen(&mut self.link, &mut *self.board, &self.config)?;
            } else {
                recovery.get_or_insert_with(|| {
                    Recovery::Restarted(format!("the board was reset after an error: {error}"))
                });
                by_hand = self.reset()? == ResetOutcome::ManualResetNeeded;
            }
        }
        self.board.on_recovered();
        Ok(recovery.unwrap_or(Recovery::Unchanged))
    }

    /// Loads and starts the application again, and discards the requests in flight.
    ///
    /// # Errors
    /// Returns an error if the board can't be loaded.
    pub fn reload(&mut self) -> Result<(), SetupError> {
        self.link.cancel_all();
        // A stock monitor's loader starts nothing while the application answers.
        if self.config.stock_monitor.is_some() {
            stock_monitor::leave(&mut self.link)?;
            self.link.drain_banner("returning to the monitor", START_TIMEOUT)?;
        }
        self.restart_application()
    }

    /// Returns `true` if the program on the board is the application that was loaded.
    ///
    /// # Errors
    /// Returns the error of the link if no program answers IDENT.
    pub fn is_expected_application(&mut self) -> Result<bool, LinkError> {
        loader::identify(&mut self.link).map(|identity| identity == self.identity)
    }

    /// Restarts the application if another program answers, and sets `recovery` to the first cause.
    fn ensure_running(&mut self, recovery: &mut Option<Recovery>) -> Result<(), SetupError> {
        let found = match self.config.stock_monitor {
            // A stock monitor does not answer, and not every frame is harmless to it.
            Some(_) => stock_monitor::identify_harmlessly(&mut self.link),
            None => loader::identify(&mut self.link),
        };
        let is_first = recovery.is_none();
        let cause = match found {
            Ok(found) if found == self.identity => return Ok(()),
            Ok(Identity { role: Role::Monitor, .. }) => {
                Recovery::Restarted("the board was reset: its monitor replied".to_owned())
            }
            Ok(found) => Recovery::Replaced(format!("another program replied: {found}")),
            Err(LinkError::Timeout { .. }) if self.config.stock_monitor.is_some() => {
                // Its monitor may be at its prompt, or the application may hang.
                if is_first {
                    self.press_reset()?;
                }
                Recovery::Restarted("the application stopped replying".to_owned())
            }
            Err(error) => return Err(error.into()),
        };
        recovery.get_or_insert(cause);
        self.restart_application()
    }

    /// Loads and starts the application.
    fn restart_application(&mut self) -> Result<(), SetupError> {
        let identity = self.programs.load_and_start(&self.config, &mut self.link)?;
        // The build id of a user's application is not known before it runs. Since the same bytes
        // were loaded as the first time, its identity must be the same.
        if identity != self.identity {
            return Err(SetupError::WrongApplication(Box::new(identity)));
        }
        self.link.set_window(identity.window);
        self.report_ready();
        Ok(())
    }

    /// Resets the board, or reopens the port if only a person can reset it.
    fn reset(&mut self) -> Result<ResetOutcome, SetupError> {
        let outcome = self.press_reset()?;
        if outcome == ResetOutcome::ManualResetNeeded {
            reopen(&mut self.link, &mut *self.board, &self.config)?;
            self.await_banner()?;
        }
        Ok(outcome)
    }

    /// Resets the board if that needs no person, and waits for its monitor's banner.
    fn press_reset(&mut self) -> Result<ResetOutcome, SetupError> {
        let outcome = self.board.reset(self.link.transport_mut())?;
        if outcome == ResetOutcome::Done {
            self.await_banner()?;
        }
        Ok(outcome)
    }

    fn await_banner(&mut self) -> Result<(), SetupError> {
        match self.link.drain_banner("resetting the board", BOOT_TIMEOUT) {
            Err(LinkError::Io { .. }) => reopen(&mut self.link, &mut *self.board, &self.config),
            other => Ok(other?),
        }
    }
}

/// Reopens the port, as soon as the device is connected.
pub(super) fn reopen(
    link: &mut Link,
    board: &mut dyn Board,
    config: &BoardConfig,
) -> Result<(), SetupError> {
    let notify = |board: &dyn Board, message: &str| {
        (config.on_notice)(&format!("{}: {message}", board.name()));
    };
    let max = (config.reconnect_timeout.as_millis() / DISCONNECT_POLL_INTERVAL.as_millis()).max(1);
    let mut polls = 1;
    while let Err(error) = link.reconnect(|| board.open()) {
        // A transcript that can't be written is no disconnected device: fail at once.
        if u128::from(polls) >= max || matches!(error, BoardError::Transcript(..)) {
            return Err(error.into());
        }
        if config.is_cancelled() {
            let (operation, hint) = ("waiting for the port", String::new());
            return Err(LinkError::Interrupted { operation, hint }.into());
        }
        if polls == POLLS_BEFORE_NOTICE {
            let seconds = config.reconnect_timeout.as_secs();
            notify(board, &format!("port disconnected; waiting up to {seconds} s"));
        }
        polls += 1;
        board.sleep(DISCONNECT_POLL_INTERVAL);
    }
    if polls > POLLS_BEFORE_NOTICE {
        notify(board, "port reconnected");
    }
    Ok(())
}
