//! A simulated board with the evaluator's application, as debugger, profiler and coverage run it.

use std::ops::{Deref, DerefMut};

use board_debugger::{Debugger, Machine};
use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build_with};
use firmware::code_map::CodeMap;
use firmware::evaluator::Evaluator;
use firmware::profile::BoardProfile;

use crate::panes::add_panes;

/// A simulated board and the application for it.
pub struct EvaluatorMachine {
    /// The board and its monitor.
    machine: Machine,
    /// The application, which may not be loaded yet.
    pub application: BuiltImage,
}

impl EvaluatorMachine {
    /// Creates a board at power-up, with the monitor in its ROM.
    ///
    /// # Errors
    /// Returns `BuildError` if a program can't be built.
    pub fn new(
        profile: &BoardProfile,
        kind: ProgramKind,
        evaluator: &Evaluator,
    ) -> Result<Self, BuildError> {
        let application = build_with(profile, kind, evaluator)?;
        Ok(Self { machine: Machine::new(profile)?, application })
    }

    /// Creates a board on which the application runs from RAM and waits for requests.
    ///
    /// # Errors
    /// Returns `BuildError` if a program can't be built.
    pub fn started(profile: &BoardProfile, evaluator: &Evaluator) -> Result<Self, BuildError> {
        let machine = Self::new(profile, ProgramKind::Application, evaluator)?;
        Ok(Self::start(machine.machine, machine.application))
    }

    /// Starts an application on a board that has been powered up.
    pub fn start(mut machine: Machine, application: BuiltImage) -> Self {
        machine.start(&application);
        Self { machine, application }
    }

    /// The source lines and symbols of both programs.
    pub fn code(&self) -> CodeMap {
        CodeMap::new(&[&self.machine.monitor, &self.application])
    }

    /// Returns a debugger for the board, with the evaluator's panes; `code` is that of
    /// [`Self::code`].
    pub fn into_debugger(self, code: CodeMap) -> Debugger {
        let mut debugger = Debugger::new(self.machine.board, code);
        add_panes(&mut debugger);
        debugger
    }
}

impl Deref for EvaluatorMachine {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl DerefMut for EvaluatorMachine {
    fn deref_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }
}
