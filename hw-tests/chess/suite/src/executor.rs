//! A board as what runs the cases of the suite.

use hil_harness::campaign::{ConnectedBoard, Executor};
use hil_harness::live::{BoardConfig, LiveBoard};
use hil_harness::report::RunTarget;
use hil_harness::runner::{RunOptions, RunSummary};
use sargon_corpus::Case;

use crate::run::run_cases_from;
use crate::{CaseResult, SargonBoard, SargonConfig, SargonSuite};

impl Executor for SargonBoard {
    type Suite = SargonSuite;
    type Plan = SargonConfig;

    fn board_config(plan: &mut SargonConfig) -> Option<&mut BoardConfig> {
        Some(&mut plan.board)
    }

    fn live(&mut self) -> Option<&mut LiveBoard> {
        Some(&mut self.live)
    }

    fn board(&self) -> ConnectedBoard {
        ConnectedBoard {
            name: self.live.name().to_owned(),
            program: self.live.identity.to_string(),
            identity: Some(self.live.identity.clone()),
            own_routines: self.own.clone(),
            target: RunTarget::of_board(&self.live, self.not_judged()),
        }
    }

    fn run(
        &mut self,
        cases: &mut dyn Iterator<Item = Case>,
        options: RunOptions,
        on_result: &mut dyn FnMut(CaseResult),
    ) -> RunSummary {
        run_cases_from(self, cases, options, on_result)
    }
}
