//! Facts that every form of the report shows: what ran where.

use super::boards::fault_sentence;
use super::{Report, compared};
use crate::runner::BaselineSummary;
use crate::suite::Suite;

/// The image of a run that had none yet when the report was written.
const NOT_SET_UP: &str = "none: the set-up did not end";

impl<S: Suite> Report<S> {
    /// Returns program, board and settings of the run, as names and values.
    #[must_use]
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let run = &self.run;
        let mut facts = Vec::new();
        if let Some(board) = &self.board {
            let mhz = board.clock_hz as f64 / 1e6;
            facts.push(("board", board.name.clone()));
            facts.push(("profile", format!("{}: {}", run.profile, board.title)));
            facts.push(("clock and line", format!("{mhz} MHz, {} baud", board.baud)));
        } else {
            facts.push(("profile", run.profile.clone()));
        }
        if self.run.boards.is_empty() {
            // A program without the protocol has no image; a run without an end, no set-up.
            let image = self.image.as_ref().map(ToString::to_string);
            let missing = || self.summary.is_none().then(|| NOT_SET_UP.to_owned());
            facts.extend(image.or_else(missing).map(|image| ("image", image)));
        } else {
            facts.push(("boards", self.run.boards.join(", ")));
        }
        if !self.earlier_boards.is_empty() {
            facts.push(("resumed from", self.earlier_boards.join(", ")));
        }
        facts.extend(
            self.fault_numbers().map(|(boards, code)| ("at fault", fault_sentence(boards, code))),
        );
        facts.push(("behaviour", run.behaviour.clone()));
        if !self.user_routines.is_empty() {
            facts.push(("own routines", self.user_routines.join(", ")));
        }
        facts.extend(run.seed.map(|seed| ("seed", seed.to_string())));
        facts.extend(run.shard.clone().map(|shard| ("shard", shard)));
        if run.repeat > 1 {
            facts.push(("repetitions", run.repeat.to_string()));
        }
        if let Some(rounds) = self.rounds {
            facts.push(("soak run", format!("{} of {} passed", rounds.pass, rounds.cases)));
        }
        if let Some(BaselineSummary { file, known, new, fixed }) = &self.baseline {
            let counts = compared([known, new, fixed].map(|cases| cases.len() as u64));
            facts.push(("baseline", format!("{file}: {counts}")));
        }
        facts.extend(self.faults.clone().map(|faults| ("faults", faults)));
        facts.push(("began", self.started.clone()));
        facts.push(("took", format!("{:.1} s", self.elapsed_ms as f64 / 1e3)));
        facts.push(("command", format!("hw-tests {}", self.arguments.join(" "))));
        facts.push(("program", run.program.clone()));
        facts
    }
}
