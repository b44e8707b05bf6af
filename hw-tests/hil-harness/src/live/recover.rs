//! Getting a board back that was unplugged, reset, or runs something else.

use std::sync::atomic::Ordering;
use std::time::Duration;

use firmware_wire::{Identity, Role};
use rcflash_link::LinkError;
use rcflash_link::loader::{self, LoadError};
use rcflash_monitors::LoaderError;

use super::{LiveBoard, SetupError, hosted};
use crate::board::BoardError;

/// The time between two looks for a device that is gone.
const LOOK: Duration = Duration::from_millis(100);
/// The look at which a person is told: a line that was only disturbed is there by then.
const TOLD: u32 = 5;
/// The time that a board may take until its banner after a reset.
const BOOT: Duration = Duration::from_secs(1);
/// The number of times to try before the board is given up.
const ATTEMPTS: u32 = 3;

/// The cause of a recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing: the application still runs, as it did.
    Answers,
    /// It had to be started again, and why.
    Restarted(String),
    /// Another program had taken its place, which one is said, and may have answered for it.
    Replaced(String),
}

impl LiveBoard {
    /// Forgets what is under way, and makes sure that the application runs and answers.
    ///
    /// # Errors
    /// What the last attempt failed by.
    pub fn recover(&mut self) -> Result<Recovery, SetupError> {
        self.link.cancel_all();
        self.watch.forget();
        let mut why = None;
        let mut attempt = 1;
        // `why` outlives the attempts: the first cause found is the one that the report shows, not
        // what a later attempt met. Without one the application has answered all along.
        while let Err(error) = self.revive(&mut why) {
            if attempt == ATTEMPTS {
                return Err(error);
            }
            attempt += 1;
            // A line that fails says nothing of the board, which would lose its state by a reset.
            if is_line(&error) {
                self.reopen()?;
            } else {
                why.get_or_insert_with(|| {
                    Recovery::Restarted(format!("the board was reset, because: {error}"))
                });
                self.reset()?;
            }
        }
        self.board.note_recovered();
        Ok(why.unwrap_or(Recovery::Answers))
    }

    /// Whether the application still is the one that was loaded.
    ///
    /// # Errors
    /// Nobody says.
    pub fn is_itself(&mut self) -> Result<bool, LinkError> {
        loader::identify(&mut self.link).map(|identity| identity == self.application)
    }

    /// Starts the application if another program answers, and notes which.
    fn revive(&mut self, why: &mut Option<Recovery>) -> Result<(), SetupError> {
        let found = match self.plan.host {
            // A stock monitor does not answer, and may not be sent any frame.
            Some(_) => hosted::identify(&mut self.link),
            None => loader::identify(&mut self.link),
        };
        let answers = match found {
            Ok(found) if found == self.application => return Ok(()),
            Ok(Identity { role: Role::Monitor, .. }) => {
                Recovery::Restarted("the board was reset: its monitor answered".to_owned())
            }
            Ok(found) => Recovery::Replaced(format!("another program answered: {found}")),
            Err(LinkError::Timeout { .. }) if self.plan.host.is_some() => {
                Recovery::Restarted("the application did not answer any more".to_owned())
            }
            Err(error) => return Err(error.into()),
        };
        why.get_or_insert(answers);
        let ready = self.programs.bring_up(&self.plan, &mut self.link)?;
        // The same bytes were loaded as the first time. An application of the user's has no build
        // id that is known beforehand, so that only this tells it from another program.
        if ready.application != self.application {
            return Err(SetupError::WrongApplication(Box::new(ready.application)));
        }
        self.link.set_window(ready.application.window);
        self.began.forget_waits();
        self.board.note_ready(&ready);
        Ok(())
    }

    /// Opens the line anew, as soon as the device is there.
    fn reopen(&mut self) -> Result<(), SetupError> {
        let most = (self.plan.reconnect.as_millis() / LOOK.as_millis()).max(1);
        let mut looks = 1;
        while let Err(error) = self.link.reconnect(|| self.board.open()) {
            // A file of ours that can't be written does not come back as a device does.
            if u128::from(looks) >= most || matches!(error, BoardError::Transcript(..)) {
                return Err(error.into());
            }
            if self.is_stopped() {
                return Err(LinkError::Interrupted { operation: "waiting for the port" }.into());
            }
            if looks == TOLD {
                let name = self.board.name();
                let seconds = self.plan.reconnect.as_secs();
                (self.plan.note)(&format!(
                    "{name}: the port is gone; waiting up to {seconds} s for it"
                ));
            }
            looks += 1;
            self.board.rest(LOOK);
        }
        if looks > TOLD {
            (self.plan.note)(&format!("{}: the port is back", self.board.name()));
        }
        Ok(())
    }

    /// Whether the user has stopped the run.
    fn is_stopped(&self) -> bool {
        self.plan.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Presses the button where there is one, and opens the line anew where there is none.
    fn reset(&mut self) -> Result<(), SetupError> {
        match self.board.button() {
            Some(press) => press(),
            None => self.reopen()?,
        }
        match self.link.drain_banner("resetting the board", BOOT) {
            Err(LinkError::Io { .. }) => self.reopen(),
            other => Ok(other?),
        }
    }
}

/// Whether the line failed, not the board.
fn is_line(error: &SetupError) -> bool {
    let line = |error: &LinkError| matches!(error, LinkError::Io { .. });
    match error {
        SetupError::Link(error) | SetupError::Load(LoadError::Link(error)) => line(error),
        SetupError::Host(error) => matches!(error, LoaderError::Line { .. }),
        SetupError::Board(_) => true,
        _ => false,
    }
}
