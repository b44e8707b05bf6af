//! The application on a simulated board in the test's thread.

use board_debugger::Machine;
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use firmware_wire::{Reply, Request};
use sargon_debugging::start_evaluator;

/// A board on which the application runs.
pub(crate) struct Board(Machine);

impl Board {
    /// Powers it up with the application in RAM.
    pub(crate) fn application() -> Self {
        let profile = BoardProfile::named("rc2014-classic").expect("it ships");
        let started = start_evaluator(&profile, &Evaluator::default());
        Self(started.unwrap_or_else(|error| panic!("{error}")).0)
    }

    /// Sends a request and returns the only reply.
    pub(crate) fn request(&mut self, request: &Request) -> Reply {
        self.0.send(request);
        assert!(self.0.run_until_idle(), "the board becomes idle");
        let mut replies = self.0.take_replies();
        assert_eq!(replies.len(), 1, "{request:?}: {replies:?}");
        replies.remove(0)
    }
}
