//! A board as what runs the cases of the suite.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use firmware::profile::BoardProfile;
use firmware_wire::Identity;
use hil_harness::board::FaultCounts;
use hil_harness::campaign::Executor;
use hil_harness::report::RunTarget;
use hil_harness::runner::{RunOptions, RunSummary};
use rcflash_link::LinkStats;
use sargon_corpus::Case;

use crate::run::run_cases_from;
use crate::{CaseResult, SargonBoard, SargonConfig, SargonSuite};

impl Executor for SargonBoard {
    type Suite = SargonSuite;
    type Plan = SargonConfig;

    fn planned_profile(plan: &SargonConfig) -> Option<&BoardProfile> {
        Some(&plan.board.profile)
    }

    fn complete_plan(
        plan: &mut SargonConfig,
        cancel: &Arc<AtomicBool>,
        case_ids: &mut dyn Iterator<Item = String>,
    ) {
        plan.board.cancel = Some(Arc::clone(cancel));
        if let Some(recording) = &mut plan.board.recording {
            recording.cases = case_ids.collect();
        }
    }

    fn name(&self) -> &str {
        self.live.name()
    }

    fn program(&self) -> String {
        self.live.identity().to_string()
    }

    fn identity(&self) -> Option<&Identity> {
        Some(self.live.identity())
    }

    fn own_routines(&self) -> &[&'static str] {
        &self.own
    }

    fn target(&self) -> RunTarget {
        RunTarget::of_board(&self.live, self.not_judged())
    }

    fn run(
        &mut self,
        cases: &mut dyn Iterator<Item = Case>,
        options: RunOptions,
        on_result: &mut dyn FnMut(CaseResult),
    ) -> RunSummary {
        run_cases_from(self, cases, options, on_result)
    }

    fn stats(&self) -> LinkStats {
        self.live.stats()
    }

    fn faults(&self) -> Option<FaultCounts> {
        self.live.faults()
    }
}
