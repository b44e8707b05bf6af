//! The application on a simulated board, asked in the test's own thread.

use board_debugger::Machine;
use firmware::evaluator::Evaluator;
use firmware::profile::Profile;
use firmware_wire::{Reply, Request};

/// A board that answers.
pub(crate) struct Board(Machine);

impl Board {
    /// Powers it up with the application in RAM.
    pub(crate) fn application() -> Self {
        let profile = Profile::named("rc2014-classic").expect("it ships");
        let machine = Machine::with_application(&profile, &Evaluator::default());
        Self(machine.unwrap_or_else(|error| panic!("{error}")))
    }

    /// Its one reply to a request.
    pub(crate) fn ask(&mut self, request: &Request) -> Reply {
        self.0.send(request);
        assert!(self.0.rest(), "the board comes to rest");
        let mut replies = self.0.replies();
        assert_eq!(replies.len(), 1, "{request:?}: {replies:?}");
        replies.remove(0)
    }
}
