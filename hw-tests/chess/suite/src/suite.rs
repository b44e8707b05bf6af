//! The suite for the engine.

use std::fmt::Write;

use board_simulator::{CallRecord, GuardConfig, Probe};
use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build_with};
use firmware::evaluator::{Behaviour as Built, Evaluator, ROUTINES};
use firmware::profile::BoardProfile;
use firmware_wire::{
    ExhaustRequest, Frame, Identity, REPLY_BIT, Reply, SQUARE_RECORD_BYTES, capability, kind,
    status,
};
use hil_harness::live::BoardSuite;
use hil_harness::suite::{FollowUp, FollowUpOptions, Page, Suite};
use rcflash_link::{LinkError, RequestSpec};
use sargon_analysis::diagram;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tdlasm::link::Program;

use crate::checks::ExpectedPosition;
use crate::compare::{Criteria, Difference};
use crate::probe::EvaluatorProbe;
use crate::residues::SquareEntry;
use crate::responses::{CaseResponse, ObservedCheck};
use crate::{CasePlan, CaseResult, LiveBoard, Response, follow_up, guard, judge, plan, requests};
use sargon_corpus::{Case, CaseInput, DocumentedResult, encode};
use sargon_reference::Square;

/// A request that keeps the board busy for two seconds, independent of the line.
const CLOCK_TEST: ExhaustRequest =
    ExhaustRequest { space: 0, attackers: 20, defenders: 0, piece: 0x02, count: 4000, crc: 0 };
/// Status bits, with their names and the remark on squares that have them.
const STATUS_BITS: [(u8, &str); 2] = [(status::OVERFLOW, "overflow"), (status::SHORT, "short")];

/// The suite of the exchange evaluator, with the evaluator under test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SargonSuite {
    /// The evaluator to build into the application.
    pub evaluator: Evaluator,
    /// Records each call of NEXTAD by XCHNG, on a simulated board.
    pub record_exchange_calls: bool,
}

impl From<Evaluator> for SargonSuite {
    fn from(evaluator: Evaluator) -> Self {
        Self { evaluator, ..Self::default() }
    }
}

/// What is known of the evaluator on a board.
#[derive(Debug, Clone)]
pub struct SargonState {
    pub(crate) probe: EvaluatorProbe,
    pub(crate) criteria: Criteria,
    /// Labels of the evaluator's routines that the user has overridden.
    pub own: Vec<&'static str>,
}

/// The fields of a result that only this suite has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PositionDetails {
    /// The position; `None` for an attackers array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fen: Option<String>,
    /// The occupied squares, with the values of board and reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub squares: Vec<SquareEntry>,
}

impl Suite for SargonSuite {
    type Case = Case;
    type Difference = Difference;
    type Details = PositionDetails;

    const VALUE_NOUN: &'static str = "squares";
    const SUBJECT: &'static str = "Position";
    const REMARKS: &'static [&'static str] = &["overflow", "count too high"];
    const PAGE: Page = Page {
        style: diagram::STYLE,
        scripts: &[diagram::SCRIPT, include_str!("page/squares.js")],
        search: "name, position, e5, residue …",
        legend: include_str!("page/legend.html"),
    };

    fn id(case: &Case) -> &str {
        &case.id
    }

    fn tags(case: &Case) -> &[String] {
        &case.tags
    }

    fn content(case: &Case) -> String {
        match &case.subject {
            CaseInput::Position { fen, expected, original, .. } => {
                format!("{fen}\t{}\t{}", residues(expected), residues(original))
            }
            CaseInput::Array { piece, array, expected, original } => {
                let now = stated(*expected);
                let then = original.map(stated).unwrap_or_default();
                format!("{}\t{:02X?}\t{now}\t{then}", piece.letter(), array.to_bytes())
            }
        }
    }

    fn details(case: &Case) -> PositionDetails {
        let fen = match &case.subject {
            CaseInput::Position { fen, .. } => Some(fen.clone()),
            CaseInput::Array { .. } => None,
        };
        PositionDetails { fen, squares: Vec::new() }
    }

    fn subject(details: &PositionDetails) -> Option<&str> {
        details.fen.as_deref()
    }

    fn value_count(details: &PositionDetails) -> u64 {
        details.squares.len() as u64
    }

    fn t_states(details: &PositionDetails) -> Vec<u64> {
        details.squares.iter().filter_map(|square| square.t_states).collect()
    }

    fn remarked(details: &PositionDetails, remark: usize) -> Vec<&str> {
        let (bit, _) = STATUS_BITS[remark];
        let flagged = details.squares.iter().filter(|at| at.status & bit != 0);
        flagged.map(|at| at.square.as_str()).collect()
    }

    fn page_values(details: &PositionDetails) -> Value {
        details.squares.iter().map(page_square).collect()
    }

    fn follow_up(result: &CaseResult, options: &FollowUpOptions) -> Option<FollowUp> {
        follow_up::follow_up(result, options)
    }
}

impl BoardSuite for SargonSuite {
    type State = SargonState;
    type Response = CaseResponse;
    type BatchItem = Box<ExpectedPosition>;
    type BatchReply = ObservedCheck;

    const CODE_UNDER_TEST: &'static str = "the evaluator";

    fn build_application(
        &self,
        profile: &BoardProfile,
        kind: ProgramKind,
    ) -> Result<BuiltImage, BuildError> {
        build_with(profile, kind, &self.evaluator)
    }

    fn probe(&self, application: &BuiltImage) -> Probe {
        EvaluatorProbe::new(application).probe(self.record_exchange_calls)
    }

    fn guard(application: &BuiltImage) -> GuardConfig {
        guard::guard(application)
    }

    fn routine_name(program: &Program, address: u16) -> Option<&'static str> {
        guard::routine_name(program, address)
    }

    fn check_application(&self, application: &Identity) -> Result<(), String> {
        let behaviour = behaviour(application);
        // An identity has the original behaviour as a flag, but not which corrected variant runs.
        if encode::behaviour(behaviour) == encode::behaviour(self.evaluator.behaviour) {
            return Ok(());
        }
        Err(format!(
            "{application} implements --behaviour {behaviour}: pass that option, so that the \
             reference matches"
        ))
    }

    /// All status bits of the built-in evaluator are compared, also those that it never sets. If
    /// routines are overridden, only bits are compared that none of them sets.
    fn state(application: &BuiltImage, identity: &Identity, own: &[String]) -> SargonState {
        let is_own = |routine: &&str| own.iter().any(|own| own == routine);
        let own: Vec<_> = ROUTINES.map(|(routine, _)| routine).into_iter().filter(is_own).collect();
        let are_built_in = |routines: [&str; 2]| !own.iter().any(|own| routines.contains(own));
        let short = if are_built_in(["XCHNG", "NEXTAD"]) { status::SHORT } else { 0 };
        let overflow = if are_built_in(["ATTACK", "ATKSAV"]) { status::OVERFLOW } else { 0 };
        let status_mask = if own.is_empty() { u8::MAX } else { short | overflow };
        let behaviour = encode::behaviour(behaviour(identity));
        let criteria = Criteria { behaviour, status_mask };
        SargonState { probe: EvaluatorProbe::new(application), criteria, own }
    }

    fn own_routines(live: &LiveBoard) -> &[&'static str] {
        &live.state.own
    }

    fn not_judged(live: &LiveBoard) -> Vec<&'static str> {
        let judged = live.state.criteria.status_mask;
        let not_judged = STATUS_BITS.iter().filter(|(bit, _)| judged & bit == 0);
        not_judged.map(|(_, name)| *name).collect()
    }

    fn unsupported_reason(live: &LiveBoard, case: &Case) -> Option<String> {
        plan::unsupported_reason(live, &case.subject)
    }

    fn plan(live: &LiveBoard, case: &Case) -> CasePlan {
        plan::plan(live, &case.subject)
    }

    fn batch_size(live: &LiveBoard) -> usize {
        plan::positions_per_check(live)
    }

    fn batch_request(live: &LiveBoard, items: Vec<&Box<ExpectedPosition>>) -> RequestSpec {
        let positions = items.iter().map(|expected| expected.request).collect();
        requests::checks_request(live, positions)
    }

    fn decode(
        live: &LiveBoard,
        replies: Vec<Reply>,
        records: Option<Vec<CallRecord>>,
    ) -> Result<Response, LinkError> {
        requests::decode(live, replies, records)
    }

    fn judge(live: &LiveBoard, case: &Case, response: &CaseResponse) -> CaseResult {
        judge::judge_case(case, live.state.criteria, response)
    }

    /// A matching CRC counts as a match of every byte.
    fn judge_in_batch(
        live: &LiveBoard,
        case: &Case,
        expected: &Box<ExpectedPosition>,
        seen: &ObservedCheck,
    ) -> Result<CaseResult, String> {
        if expected.crc == seen.crc {
            return Ok(judge::judge_by_crc(case, live.state.criteria, expected, seen));
        }
        Err(format!("the CRC of its replies was {:08X}h, expected {:08X}h", seen.crc, expected.crc))
    }

    fn result_byte(reply: &Frame) -> Option<usize> {
        const SQUARES: u8 = kind::POSITION + REPLY_BIT;
        const RESIDUE: u8 = kind::EXCHANGE + REPLY_BIT;
        match reply.kind {
            // Part, count, and the first record: square, piece, status, residue.
            SQUARES if reply.payload.len() >= 2 + SQUARE_RECORD_BYTES => Some(2 + 3),
            RESIDUE => Some(0),
            _ => None,
        }
    }

    fn clock_test(live: &LiveBoard) -> Option<RequestSpec> {
        let is_known = live.has_capability(capability::EXHAUST);
        is_known.then(|| requests::exhaust_request(live, CLOCK_TEST))
    }
}

fn behaviour(application: &Identity) -> Built {
    let is_original = application.capabilities & capability::ORIGINAL != 0;
    if is_original { Built::Original } else { Built::Corrected }
}

fn residues(stated: &[(Square, u8)]) -> String {
    stated.iter().fold(String::new(), |mut text, (square, points)| {
        let _ = write!(text, "{square}={points} ");
        text
    })
}

fn stated(DocumentedResult { residue, short }: DocumentedResult) -> String {
    format!("{residue} {short}")
}

/// Returns a square as a list of values, in the order that `page/squares.js` expects.
fn page_square(at: &SquareEntry) -> Value {
    let SquareEntry { square, piece, board, reference, status, t_states, .. } = at;
    let mut values =
        vec![json!(square), json!(piece), json!(hex(&at.array)), json!(board), json!(reference)];
    values.extend([json!(status), json!(t_states)]);
    values.extend(at.reference_array.map(|array| json!(hex(&array))));
    Value::Array(values)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

#[cfg(test)]
mod tests {
    use hil_harness::results::cases_digest;
    use hil_harness::runner::Verdict;

    use super::*;
    use crate::residues::exchange_entry;
    use sargon_corpus::{builtin_corpus, parse_positions};
    use sargon_reference::{AttackersArray, Colour, Piece, PieceKind};

    #[test]
    fn squares_are_selected_by_the_bits_of_their_status() {
        let piece = Piece { colour: Colour::White, kind: PieceKind::Pawn };
        let square = |(name, status): (&str, u8)| SquareEntry {
            square: name.to_owned(),
            ..exchange_entry(piece, &AttackersArray::from_bytes(&[0; 14]), 0, (0, status))
        };
        let squares = [("a1", 0), ("b1", 1), ("c1", 2), ("d1", 3)].map(square).to_vec();
        let details = PositionDetails { fen: None, squares };
        assert_eq!(SargonSuite::remarked(&details, 0), ["b1", "d1"]);
        assert_eq!(SargonSuite::remarked(&details, 1), ["c1", "d1"]);
        let case = builtin_corpus().expect("the corpus").remove(0);
        let result = CaseResult { details, ..CaseResult::new(&case, Verdict::Pass) };
        assert_eq!(crate::VerdictCounts::from_results([&result, &result]).values, 8);
    }

    #[test]
    fn the_digest_depends_on_position_and_documented_residues() {
        let mut cases = builtin_corpus().expect("the corpus");
        let all = cases_digest::<SargonSuite>(&cases);
        let array = cases.iter_mut().find_map(|case| match &mut case.subject {
            CaseInput::Array { expected, .. } => Some(expected),
            CaseInput::Position { .. } => None,
        });
        array.expect("an array").residue += 1;
        assert_ne!(cases_digest::<SargonSuite>(&cases), all);
        let of = |line: &str| {
            cases_digest::<SargonSuite>(&parse_positions("test", line).expect("a position"))
        };
        let first = of("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"one\";");
        assert_ne!(first, of("r3k3/2N5/8/8/3q4/8/8/4K3 b - - id \"one\";"));
        assert_ne!(first, of("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"two\";"));
        assert_ne!(first, of("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"one\"; tags \"x\";"));
        assert_ne!(first, of("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"one\"; residue \"a8=5\";"));
    }
}
