//! The application on a simulated board in the test's thread.

use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;
use firmware_wire::{Reply, Request};
use sargon_debugging::EvaluatorMachine;

/// A board on which the application runs.
pub(crate) struct Board(EvaluatorMachine);

impl Board {
    /// Powers it up with the application in RAM.
    pub(crate) fn application() -> Self {
        let profile = BoardProfile::named("rc2014-classic").expect("it ships");
        let machine = EvaluatorMachine::started(&profile, &Evaluator::default());
        Self(machine.unwrap_or_else(|error| panic!("{error}")))
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
