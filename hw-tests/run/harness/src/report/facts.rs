//! Facts that every form of the report shows: what ran where.

use super::{Report, compared};
use crate::runner::BaselineSummary;
use crate::suite::{FaultOrigin, Suite};

/// The image of a run that had none yet when the report was written.
const NOT_SET_UP: &str = "none: the set-up did not end";

impl<S: Suite> Report<S> {
    /// Returns program, board and settings of the run, as names and values.
    #[must_use]
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let Self { run, board, .. } = self;
        let list = |names: &[String]| (!names.is_empty()).then(|| names.join(", "));
        let profile = board
            .as_ref()
            .map_or(run.profile.clone(), |board| format!("{}: {}", run.profile, board.title));
        let clock = board
            .as_ref()
            .map(|board| format!("{} MHz, {} baud", board.clock_hz as f64 / 1e6, board.baud));
        // A program without the protocol has no image; a run without an end, no set-up.
        let image = self.image.as_ref().map(ToString::to_string);
        let image = image.or(self.summary.is_none().then(|| NOT_SET_UP.to_owned()));
        let baseline = self.baseline.as_ref().map(|BaselineSummary { file, known, new, fixed }| {
            let counts = compared([known, new, fixed].map(|cases| cases.len() as u64));
            format!("{file}: {counts}")
        });
        let faults = || self.cases.iter().filter_map(|case| case.fault.as_ref());
        let at_fault = (!run.boards.is_empty()).then(|| {
            let boards = faults().filter(|fault| matches!(fault, FaultOrigin::Boards(_))).count();
            let code = faults().filter(|fault| matches!(fault, FaultOrigin::Code(_))).count();
            format!("a board in {boards} cases, the code in {code}")
        });
        let facts = [
            ("board", board.as_ref().map(|board| board.name.clone())),
            ("profile", Some(profile)),
            ("clock and line", clock),
            ("image", image.filter(|_| run.boards.is_empty())),
            ("boards", list(&run.boards)),
            ("resumed from", list(&self.earlier_boards)),
            ("at fault", at_fault),
            ("behaviour", Some(run.behaviour.clone())),
            ("own routines", list(&self.user_routines)),
            ("seed", run.seed.map(|seed| seed.to_string())),
            ("shard", run.shard.clone()),
            ("repetitions", (run.repeat > 1).then(|| run.repeat.to_string())),
            ("soak run", self.rounds.map(|all| format!("{} of {} passed", all.pass, all.cases))),
            ("baseline", baseline),
            ("faults", self.faults.clone()),
            ("began", Some(self.started.clone())),
            ("took", Some(format!("{:.1} s", self.elapsed_ms as f64 / 1e3))),
            ("command", Some(format!("hw-tests {}", self.arguments.join(" ")))),
            ("program", Some(run.program.clone())),
        ];
        facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}
