//! What a debugger shows: a simulated board; or a target, or its simulated twin.

use board_simulator::Registers;

use super::expression::MachineState;
use super::stops::Moment;
use super::target::Target;
use super::timeline::Timeline;

/// A simulated board, or a target with its twin; one of them is shown.
pub(super) struct Boards {
    /// The simulated board; the twin if there is a target.
    pub(super) timeline: Timeline,
    pub(super) target: Option<Box<Target>>,
}

impl Boards {
    /// The target, unless its twin is shown.
    pub(super) fn live_target(&self) -> Option<&Target> {
        self.target.as_deref().filter(|target| target.twin.present.is_none())
    }

    /// The target, whether it is shown or its twin.
    ///
    /// # Panics
    /// If there is none: its motions are not run then.
    pub(super) fn target_mut(&mut self) -> &mut Target {
        self.target.as_mut().expect("a motion of a target")
    }

    pub(super) fn live_target_mut(&mut self) -> Option<&mut Target> {
        self.target.as_deref_mut().filter(|target| target.twin.present.is_none())
    }

    /// The present, for hit counts.
    pub(super) fn moment(&self) -> Moment {
        match self.live_target() {
            Some(_) => Moment::Live,
            None => Moment::Step(self.timeline.step_count()),
        }
    }

    /// Returns `true` if a twin is shown that has caught up with the target.
    pub(super) fn twin_has_caught_up(&self) -> bool {
        let present = self.target.as_ref().and_then(|target| target.twin.present);
        present.is_some_and(|step| self.timeline.step_count() >= step)
    }
}

impl MachineState for Boards {
    fn registers(&self) -> Registers {
        self.live_target().map_or_else(|| self.timeline.registers(), Target::registers)
    }

    fn peek(&self, address: u16) -> u8 {
        self.live_target().map_or_else(|| self.timeline.peek(address), |live| live.peek(address))
    }
}
