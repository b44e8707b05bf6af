//! A suite whose cases are requests to an application on a board.

use std::fmt::Debug;

use board_simulator::{CallRecord, GuardConfig, Probe};
use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage};
use firmware::profile::BoardProfile;
use firmware_wire::{Frame, Identity, Reply, StatusReply};
use rcflash_link::{LinkError, RequestSpec};
use tdlasm::link::Program;

use super::LiveBoard;
use crate::suite::{CaseResult, Suite};

/// A suite whose cases are requests to an application on a board.
pub trait BoardSuite: Suite {
    /// What the suite knows of the application on a board.
    type State: Send;
    /// The decoded reply to a request for a single case.
    type Response: Debug;
    /// What a request for several cases needs of one case.
    type BatchItem: Debug;
    /// The decoded reply for one case of such a request.
    type BatchReply: Debug;

    /// The name of the code under test in messages.
    const CODE_UNDER_TEST: &'static str;

    /// Builds the application for a board.
    ///
    /// # Errors
    /// Returns an error if assembly or linking failed.
    fn build_application(
        &self,
        profile: &BoardProfile,
        kind: ProgramKind,
    ) -> Result<BuiltImage, BuildError>;

    /// Returns the probe that measures routines of an application on a simulated board, without
    /// guard.
    fn probe(&self, application: &BuiltImage) -> Probe;

    /// Returns what code under test may do on a simulated board.
    fn guard(application: &BuiltImage) -> GuardConfig;

    /// Returns the name of a routine under test.
    fn routine_name(program: &Program, address: u16) -> Option<&'static str>;

    /// Checks the application on the board.
    ///
    /// # Errors
    /// Returns a message if the application is not the one that this suite tests.
    fn check_application(&self, application: &Identity) -> Result<(), String>;

    /// Returns what the suite needs to know of a board on which the application runs. `own` names
    /// the routines of the user's own in it.
    fn state(application: &BuiltImage, identity: &Identity, own: &[String]) -> Self::State;

    /// Returns the user's own routines in the application.
    fn own_routines(live: &LiveBoard<Self>) -> &[&'static str];

    /// Returns names of what is not judged on this board.
    fn not_judged(_live: &LiveBoard<Self>) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns why the application can't run a case; `None` if it can.
    fn unsupported_reason(live: &LiveBoard<Self>, case: &Self::Case) -> Option<String>;

    /// Returns the requests for a case.
    fn plan(live: &LiveBoard<Self>, case: &Self::Case) -> CasePlan<Self>;

    /// Returns the most cases that fit in a request.
    fn batch_size(live: &LiveBoard<Self>) -> usize;

    /// Returns a request for several cases.
    fn batch_request(live: &LiveBoard<Self>, items: Vec<&Self::BatchItem>) -> RequestSpec;

    /// Decodes the frames of a reply. `records` are the calls that a simulated board has measured
    /// meanwhile.
    ///
    /// # Errors
    /// Returns an error if the reply is invalid.
    fn decode(
        live: &LiveBoard<Self>,
        replies: Vec<Reply>,
        records: Option<Vec<CallRecord>>,
    ) -> Result<Response<Self>, LinkError>;

    /// Judges the reply to a request for a single case.
    fn judge(
        live: &LiveBoard<Self>,
        case: &Self::Case,
        response: &Self::Response,
    ) -> CaseResult<Self>;

    /// Judges the reply for a case of a batch.
    ///
    /// # Errors
    /// Returns a reason if the case must be sent by itself. If it passes then, it is flaky for
    /// this reason.
    fn judge_in_batch(
        live: &LiveBoard<Self>,
        case: &Self::Case,
        item: &Self::BatchItem,
        reply: &Self::BatchReply,
    ) -> Result<CaseResult<Self>, String>;

    /// Returns the index of a byte in the payload of a reply whose change makes a result wrong,
    /// for fault injection; `None` for replies without results.
    fn result_byte(reply: &Frame) -> Option<usize>;

    /// Returns a request that takes about two seconds of T-states that do not depend on the line,
    /// by which a board's clock is measured; `None` if the application has none.
    fn clock_test(live: &LiveBoard<Self>) -> Option<RequestSpec>;
}

/// The requests for a case.
#[derive(Debug)]
pub struct CasePlan<S: BoardSuite> {
    /// The part of a request for several cases, if the case may share one.
    pub batch: Option<S::BatchItem>,
    /// The request for the case by itself.
    pub first: RequestSpec,
    /// A second request, sent if the first one passes.
    pub second: Option<RequestSpec>,
}

/// A decoded reply.
#[derive(Debug)]
pub enum Response<S: BoardSuite> {
    /// For a single case.
    Case(S::Response),
    /// For the cases of a batch.
    Batch(Vec<S::BatchReply>),
    /// To IDENT: whether the loaded application replied.
    Identity(bool),
    /// To STATUS.
    Status(StatusReply),
}
