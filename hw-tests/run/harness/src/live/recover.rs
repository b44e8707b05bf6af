//! Recovers a board that was unplugged, was reset, or runs another program.

use std::sync::atomic::Ordering;
use std::time::Duration;

use firmware_wire::{Identity, Role};
use rcflash_link::LinkError;
use rcflash_link::loader::{self, LoadError};
use rcflash_monitors::LoaderError;

use super::BoardSuite;
use super::{LiveBoard, SetupError, stock_monitor};
use crate::board::BoardError;

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

impl<S: BoardSuite> LiveBoard<S> {
    /// Cancels all requests in flight, and restarts the application unless it still replies.
    ///
    /// # Errors
    /// Returns the error of the last attempt.
    pub fn recover(&mut self) -> Result<Recovery, SetupError> {
        self.link.cancel_all();
        self.records.clear();
        let mut recovery = None;
        let mut attempt = 1;
        // `recovery` outlives the attempts, so the report shows the first cause and not the error
        // of a later attempt. Without a cause the application was running all the time.
        while let Err(error) = self.ensure_running(&mut recovery) {
            if attempt == MAX_ATTEMPTS {
                return Err(error);
            }
            attempt += 1;
            // A line error is no reason to reset the board, which would lose its state.
            if is_line_error(&error) {
                self.reopen()?;
            } else {
                recovery.get_or_insert_with(|| {
                    Recovery::Restarted(format!("the board was reset after an error: {error}"))
                });
                self.reset()?;
            }
        }
        self.board.on_recovered();
        Ok(recovery.unwrap_or(Recovery::Unchanged))
    }

    /// Returns `true` if the program on the board is the application that was loaded.
    ///
    /// # Errors
    /// Returns the error of the link if no program answers IDENT.
    pub fn is_expected_application(&mut self) -> Result<bool, LinkError> {
        loader::identify(&mut self.link).map(|identity| identity == self.application)
    }

    /// Restarts the application if another program answers, and sets `recovery` to the first cause.
    fn ensure_running(&mut self, recovery: &mut Option<Recovery>) -> Result<(), SetupError> {
        let found = match self.config.stock_monitor {
            // A stock monitor does not answer, and not every frame is harmless to it.
            Some(_) => stock_monitor::identify_harmlessly(&mut self.link),
            None => loader::identify(&mut self.link),
        };
        let cause = match found {
            Ok(found) if found == self.application => return Ok(()),
            Ok(Identity { role: Role::Monitor, .. }) => {
                Recovery::Restarted("the board was reset: its monitor replied".to_owned())
            }
            Ok(found) => Recovery::Replaced(format!("another program replied: {found}")),
            Err(LinkError::Timeout { .. }) if self.config.stock_monitor.is_some() => {
                Recovery::Restarted("the application stopped replying".to_owned())
            }
            Err(error) => return Err(error.into()),
        };
        recovery.get_or_insert(cause);
        self.restart_application()
    }

    /// Loads and starts the application.
    pub(super) fn restart_application(&mut self) -> Result<(), SetupError> {
        let ready = self.programs.load_and_start(&self.config, &mut self.link)?;
        // The build id of a user's application is not known before it runs. Since the same bytes
        // were loaded as the first time, its identity must be the same.
        if ready.application != self.application {
            return Err(SetupError::WrongApplication(Box::new(ready.application)));
        }
        self.link.set_window(ready.application.window);
        self.board.on_ready(&ready);
        self.record_status();
        Ok(())
    }

    /// Reopens the port, as soon as the device is connected.
    fn reopen(&mut self) -> Result<(), SetupError> {
        let max = (self.config.reconnect_timeout.as_millis()
            / DISCONNECT_POLL_INTERVAL.as_millis())
        .max(1);
        let mut polls = 1;
        while let Err(error) = self.link.reconnect(|| self.board.open()) {
            // A transcript that can't be written is no disconnected device: fail at once.
            if u128::from(polls) >= max || matches!(error, BoardError::Transcript(..)) {
                return Err(error.into());
            }
            if self.is_cancelled() {
                let (operation, hint) = ("waiting for the port", String::new());
                return Err(LinkError::Interrupted { operation, hint }.into());
            }
            if polls == POLLS_BEFORE_NOTICE {
                let name = self.board.name();
                let seconds = self.config.reconnect_timeout.as_secs();
                (self.config.on_notice)(&format!(
                    "{name}: port disconnected; waiting up to {seconds} s"
                ));
            }
            polls += 1;
            self.board.sleep(DISCONNECT_POLL_INTERVAL);
        }
        if polls > POLLS_BEFORE_NOTICE {
            (self.config.on_notice)(&format!("{}: port reconnected", self.board.name()));
        }
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        self.config.cancel.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Resets the board if its reset line can be driven from here; else reopens the port.
    fn reset(&mut self) -> Result<(), SetupError> {
        match self.board.reset_fn() {
            Some(press) => press(),
            None => self.reopen()?,
        }
        match self.link.drain_banner("resetting the board", BOOT_TIMEOUT) {
            Err(LinkError::Io { .. }) => self.reopen(),
            other => Ok(other?),
        }
    }
}

/// Returns `true` if the line failed, not the board.
fn is_line_error(error: &SetupError) -> bool {
    let line = |error: &LinkError| matches!(error, LinkError::Io { .. });
    match error {
        SetupError::Link(error) | SetupError::Load(LoadError::Link(error)) => line(error),
        SetupError::MonitorLoad(error) => matches!(error, LoaderError::Io { .. }),
        SetupError::Board(_) => true,
        _ => false,
    }
}
