//! Corrupted transcripts: each replay ends, and no corrupted reply is judged.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use firmware::profile::BoardProfile;
use hil_harness::board::{BoardKind, RecordOptions};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::{BoardConfig, Programs, SetupError};
use hil_harness::runner::{RunOptions, Verdict};
use sargon_corpus::{Case, builtin_corpus};
use sargon_suite::{CaseResult, SargonBoard, SargonConfig, run_cases};

use crate::corrupted::for_each_corrupted;

fn config(board: BoardKind) -> SargonConfig {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    BoardConfig { board, ..BoardConfig::simulated(profile) }.into()
}

/// Runs the cases on a board.
fn run(
    config: &SargonConfig,
    programs: &Arc<Programs>,
    cases: &[Case],
) -> Result<Vec<CaseResult>, SetupError> {
    let programs = Arc::clone(programs);
    let mut live = SargonBoard::prepare_with(config, programs, &OsFileSystem, |board| board)?;
    let stop = AtomicBool::new(false);
    let options = RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
    let mut results = Vec::new();
    run_cases(&mut live, cases.iter().cloned(), options, |result| results.push(result));
    Ok(results)
}

/// Two positions and an array.
fn cases() -> Vec<Case> {
    let chosen = ["byte.figure4", "byte.figure1", "odd.overflow"];
    let all = builtin_corpus().expect("the corpus");
    all.into_iter().filter(|case| chosen.contains(&case.id.as_str())).collect()
}

fn recorded(file: &Path, programs: &Arc<Programs>, cases: &[Case]) -> Vec<u8> {
    let mut config = config(BoardKind::InProcess);
    config.board.recording =
        Some(RecordOptions { file: file.to_owned(), cases: Vec::new(), force: false });
    run(&config, programs, cases).unwrap_or_else(|error| panic!("{error}"));
    std::fs::read(file).expect("a transcript")
}

#[test]
fn a_replay_of_any_bytes_ends_and_judges_no_corrupted_reply() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tape");
    let cases = cases();
    let replay = config(BoardKind::Replay(file.clone()));
    let programs = Arc::new(replay.programs().unwrap_or_else(|error| panic!("{error}")));
    let transcript = recorded(&file, &programs, &cases);
    // Without the upload, so that most corrupted lines are replayed.
    let lines: Vec<&[u8]> = transcript.split_inclusive(|byte| *byte == b'\n').collect();
    let is_ready = |line: &&[u8]| line.windows(7).any(|at| at == b"\"ready\"");
    let ready = lines.iter().position(is_ready).expect("the board became ready");
    let short = [lines[0], &lines[ready..].concat()].concat();
    let words: &'static [&'static [u8]] = &[
        b"{\"time_us\":1,\"read_timed_out\":{}}\n",
        b"{\"time_us\":0,\"reset\":{}}\n",
        b"{\"time_us\":18446744073709551615,\"read_timed_out\":{}}\n",
        b"{\"time_us\":2,\"read_failed\":\"\\u001b[2J\"}\n",
        b"\"received\":\"\"",
        b"\"sent\":",
        b"{\"time_us\":3,\"not_opened\":\"no\"}\n",
        b"{\"time_us\":3,\"opened\":{}}\n",
    ];
    std::fs::write(&file, &short).expect("it is written");
    let whole = run(&replay, &programs, &cases).unwrap_or_else(|error| panic!("{error}"));
    assert!(whole.iter().all(|at| at.verdict == Verdict::Pass) && whole.len() == 3, "{whole:?}");
    let (passed, refused) = (Cell::new(0), Cell::new(0));
    for_each_corrupted(&[short], words, 500, |bytes| {
        std::fs::write(&file, bytes).expect("it is written");
        match run(&replay, &programs, &cases) {
            Ok(results) => {
                let ids: Vec<&str> = results.iter().map(|result| result.id.as_str()).collect();
                assert!(ids.len() <= cases.len(), "{ids:?}");
                let failed = results.iter().find(|result| result.verdict == Verdict::Fail);
                assert!(failed.is_none(), "{failed:?}");
                let count = results.iter().filter(|at| at.verdict == Verdict::Pass).count();
                passed.set(passed.get() + count);
            }
            Err(error) => {
                assert!(!error.to_string().contains('\u{1b}'), "{error:?}");
                refused.set(refused.get() + 1);
            }
        }
    });
    assert!(passed.get() > 40 && refused.get() > 40, "{passed:?}, {refused:?}");
}
