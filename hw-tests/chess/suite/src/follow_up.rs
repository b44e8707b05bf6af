//! Follow-up commands for failed cases, with the same evaluator as in the run.

use hil_harness::report::{FollowUp, FollowUpOptions, command_line};

use crate::CaseResult;

pub(crate) fn follow_up(result: &CaseResult, options: &FollowUpOptions) -> Option<FollowUp> {
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

/// Returns the square with the first wrong residue, or else the first with any difference.
fn wrong_square(result: &CaseResult) -> Option<&str> {
    let squares = || result.differences.iter().filter(|found| found.square.is_some());
    let found = squares().find(|found| found.field == "residue").or_else(|| squares().next());
    found?.square.as_deref()
}

#[cfg(test)]
mod tests {
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
