//! Getting a board back that was unplugged, reset, or runs something else.

use std::time::Duration;

use firmware::wire::Role;
use rcflash::link::LinkError;
use rcflash::loader::{self, LoadError};

use super::{Rig, RigError};
use crate::board::BoardError;

/// How often to look whether a device that is gone has come back.
const LOOKS: u32 = 30;
/// How long to wait between two looks.
const LOOK: Duration = Duration::from_millis(100);
/// What a board may take until it says its banner after a reset.
const BOOT: Duration = Duration::from_secs(1);
/// How often to try before the board is given up.
const ATTEMPTS: u32 = 3;

/// What was the matter with the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing: the application still runs, as it did.
    Answers,
    /// It had to be started again, and why.
    Restarted(String),
}

impl Rig {
    /// Forgets what is under way, and makes sure that the application runs and answers.
    ///
    /// # Errors
    /// What the last attempt failed by.
    pub fn recover(&mut self) -> Result<Recovery, RigError> {
        self.link.abandon();
        self.watch.forget();
        let mut why = None;
        let mut attempt = 1;
        while let Err(error) = self.revive(&mut why) {
            if attempt == ATTEMPTS {
                return Err(error);
            }
            attempt += 1;
            if is_line(&error) {
                self.reopen()?;
            } else {
                why.get_or_insert_with(|| format!("the board was reset, because: {error}"));
                self.reset()?;
            }
        }
        self.board.note_recovered();
        Ok(why.map_or(Recovery::Answers, Recovery::Restarted))
    }

    /// Whether the application still is the one that was loaded.
    ///
    /// # Errors
    /// Nobody says.
    pub fn is_itself(&mut self) -> Result<bool, LinkError> {
        loader::identify(&mut self.link).map(|identity| identity == self.application)
    }

    /// Starts the application if another program answers, and notes which.
    fn revive(&mut self, why: &mut Option<String>) -> Result<(), RigError> {
        let found = loader::identify(&mut self.link)?;
        if found == self.application {
            return Ok(());
        }
        why.get_or_insert_with(|| match found.role {
            Role::Monitor => "the board was reset: its monitor answered".to_owned(),
            Role::Application => format!("another program answered: {found}"),
        });
        let ready = self.programs.bring_up(&self.plan, &mut self.link)?;
        self.link.set_window(ready.application.window);
        self.board.note_ready(&ready);
        self.application = ready.application;
        Ok(())
    }

    /// Opens the line anew, as soon as the device is there.
    fn reopen(&mut self) -> Result<(), BoardError> {
        let mut looks = 1;
        while let Err(error) = self.link.reconnect(|| self.board.open()) {
            if looks == LOOKS {
                return Err(error);
            }
            looks += 1;
            self.board.rest(LOOK);
        }
        Ok(())
    }

    /// Presses the button where there is one, and opens the line anew where there is none.
    fn reset(&mut self) -> Result<(), RigError> {
        match self.board.button() {
            Some(press) => press(),
            None => self.reopen()?,
        }
        match self.link.hear_out("resetting the board", BOOT) {
            Err(LinkError::Line { .. }) => Ok(self.reopen()?),
            other => Ok(other?),
        }
    }
}

/// Whether the line failed, not the board.
fn is_line(error: &RigError) -> bool {
    let line = |error: &LinkError| matches!(error, LinkError::Line { .. });
    match error {
        RigError::Link(error) | RigError::Load(LoadError::Link(error)) => line(error),
        RigError::Board(_) => true,
        _ => false,
    }
}
