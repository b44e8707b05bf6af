//! The suite for the engine.

use cli_support::text::command_line;
use firmware_wire::status;
use hil_harness::suite::{FollowUp, FollowUpOptions, Page, Suite};
use sargon_corpus::analysis::diagram;
use sargon_corpus::{Case, CaseInput};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::CaseResult;
use crate::compare::Difference;
use crate::residues::SquareEntry;

/// Status bits, with their names and the remark on squares that have them.
pub(crate) const STATUS_BITS: [(u8, &str); 2] =
    [(status::OVERFLOW, "overflow"), (status::SHORT, "short")];

/// The suite of the exchange evaluator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SargonSuite;

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
                format!("{fen} {expected:?} {original:?}")
            }
            CaseInput::Array { piece, array, expected, original } => {
                format!("{piece:?} {array:?} {expected:?} {original:?}")
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
        let mut commands = Vec::new();
        let mut add = |command: [&str; 2], options: &[String], subject: &[&str]| {
            let words = command.into_iter().chain(options.iter().map(String::as_str));
            commands.push(command_line(words.chain(subject.iter().copied())));
        };
        let simulated = options.simulated.as_deref();
        let fen = result.details.fen.as_ref();
        let square = wrong_square(result);
        let is_precise = fen.is_some() && square.is_some();
        if let (Some(fen), Some(square)) = (fen, square) {
            add(["sargon", "explain"], &options.board, &[fen, square]);
            if let Some(options) = simulated {
                add(["hw-inspect", "debug"], options, &[fen, square]);
            }
        } else if let Some(options) = simulated {
            add(["hw-inspect", "why"], options, &[fen.unwrap_or(&result.id)]);
        }
        (!commands.is_empty()).then(|| FollowUp { case: result.id.clone(), commands, is_precise })
    }
}

/// Returns the square with the first wrong residue, or else the first with any difference.
fn wrong_square(result: &CaseResult) -> Option<&str> {
    let squares = || result.differences.iter().filter(|found| found.square.is_some());
    let found = squares().find(|found| found.field == "residue").or_else(|| squares().next());
    found?.square.as_deref()
}

/// Returns a square as a list of values, in the order that `page/squares.js` expects.
fn page_square(at: &SquareEntry) -> Value {
    let SquareEntry { square, piece, board, reference, status, t_states, .. } = at;
    let array = hex(&at.array);
    let mut values = json!([square, piece, array, board, reference, status, t_states]);
    if let (Some(values), Some(array)) = (values.as_array_mut(), at.reference_array) {
        values.push(json!(hex(&array)));
    }
    values
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

#[cfg(test)]
mod follow_up_tests {
    use super::*;
    use crate::compare::Difference;
    use hil_harness::runner::Verdict;
    use sargon_corpus::builtin_corpus;

    fn failed(id: &str, differences: &[(Option<&str>, &'static str)]) -> CaseResult {
        let cases = builtin_corpus().expect("it ships");
        let case = cases.iter().find(|case| case.id == id).expect("it is there");
        let differences = differences.iter().map(|(square, what)| Difference {
            square: square.map(str::to_owned),
            field: (*what).into(),
            board: String::new(),
            reference: String::new(),
            arrays: None,
        });
        let differences = differences.collect();
        CaseResult { differences, ..CaseResult::new(case, Verdict::Fail) }
    }

    fn commands(result: &CaseResult, simulated: bool) -> Vec<String> {
        let word = |word: &str| word.to_owned();
        let board = ["--port", "my board"].map(word).to_vec();
        let simulated = simulated.then(|| ["--sargon-dir", "a'b"].map(word).to_vec());
        let options = FollowUpOptions { board, simulated };
        FollowUp::for_case(result, &options).map_or(Vec::new(), |found| found.commands)
    }

    #[test]
    fn a_wrong_residue_is_explained_before_what_else_is_wrong() {
        let wrong = [(None, "pins"), (Some("a1"), "status"), (Some("e5"), "residue")];
        let result = failed("cpw.position2", &wrong);
        let fen = result.details.fen.clone().expect("a position");
        let expected = [
            format!("sargon explain --port 'my board' '{fen}' e5"),
            format!("hw-inspect debug --sargon-dir 'a'\\''b' '{fen}' e5"),
        ];
        assert_eq!(commands(&result, true), expected);
        assert_eq!(commands(&result, false), expected[..1]);
        assert!(commands(&failed("cpw.position2", &wrong[..2]), false)[0].ends_with(" a1"));
    }

    #[test]
    fn a_difference_without_a_square_is_followed_up_by_why() {
        let result = failed("cpw.position2", &[(None, "pins")]);
        let fen = result.details.fen.clone().expect("a position");
        let expected = format!("hw-inspect why --sargon-dir 'a'\\''b' '{fen}'");
        assert_eq!(commands(&result, true), [expected]);
        assert_eq!(commands(&result, false), [""; 0]);
        let array = failed("byte.figure4", &[(None, "residue")]);
        assert_eq!(commands(&array, true), ["hw-inspect why --sargon-dir 'a'\\''b' byte.figure4"]);
        let passed = CaseResult { verdict: Verdict::Timeout, ..array };
        assert_eq!(commands(&passed, true), [""; 0]);
    }
}
