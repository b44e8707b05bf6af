//! Transcripts: a recorded run is replayed without the board, with the same results.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assert_cmd::cargo::CommandCargoExt;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::{Decoder, DecoderEvent as Wire, Frame, REPLY_BIT, kind};
use hil_harness::board::RecordOptions;
use hil_harness::board::{BoardKind, HexBytes, TranscriptEntry, TranscriptEvent, read_header};
use hil_harness::live::BoardConfig;
use sargon_corpus as corpus;
use sargon_suite::SargonBoard;

use crate::programs::path;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    command.arg("run").args(arguments).output().expect("it starts")
}

/// Returns the printed results of the cases: without the line with the duration, without the
/// one that counts the line's bytes, in which the upload is missing, and without the commands that
/// look into a case, since a transcript does not know the file of the application.
fn findings(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let of_the_line = |line: &&str| ["line:", "limit:"].iter().any(|head| line.starts_with(head));
    let cases = text.lines().take_while(|line| !line.starts_with("to look into "));
    let lines = cases.filter(|line| !line.contains(" compared, in ") && !of_the_line(line));
    lines.collect::<Vec<_>>().join("\n")
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("transcript");
    (folder, file)
}

fn name(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

/// Returns the value of --rig that replays a transcript.
fn replay(path: &Path) -> String {
    format!("replay:{}", name(path))
}

/// An application in which a rook is worth four points.
fn cheap_rook(folder: &Path) -> PathBuf {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let image = build(&profile, ProgramKind::Application).unwrap_or_else(|e| panic!("{e}"));
    let values = image.program.symbol("TBASE").expect("the table page");
    let mut bytes = image.bytes;
    bytes[usize::from(values - image.address) + 4] = 4;
    let path = folder.join("cheap.bin");
    std::fs::write(&path, bytes).expect("a file");
    path
}

#[test]
fn a_failure_on_a_board_is_found_again_without_it() {
    let (folder, file) = scratch();
    let application = cheap_rook(folder.path());
    for way in [&["--rig", "direct"][..], &[]] {
        let options = ["--tag", "document", "--app", name(&application), "--force"];
        let recorded = run(&[way, &options, &["--record", name(&file)]].concat());
        assert_eq!(recorded.status.code(), Some(1));
        let replayed = run(&["--rig", &replay(&file)]);
        assert_eq!(replayed.status.code(), Some(1), "{replayed:?}");
        assert!(findings(&replayed).contains("residue: board 4, reference 5"));
        assert_eq!(findings(&replayed), findings(&recorded));
    }
}

#[test]
fn a_transcript_lists_its_cases_and_is_replayed_for_them() {
    let (_folder, file) = scratch();
    let recorded = run(&["--rig", "direct", "--tag", "document", "--record", name(&file)]);
    assert_eq!(recorded.status.code(), Some(0));
    let heading = read_header(&file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(heading.profile, "rc2014-classic");
    let cases = corpus::builtin_corpus().unwrap_or_else(|error| panic!("{error}"));
    let documents = cases.iter().filter(|case| case.tags.contains(&"document".to_owned()));
    assert_eq!(heading.cases, documents.map(|case| case.id.clone()).collect::<Vec<_>>());
    let replayed = run(&["--rig", &replay(&file)]);
    let passed = format!("{0} of {0} cases", heading.cases.len());
    assert!(String::from_utf8_lossy(&replayed.stdout).contains(&passed));
}

#[test]
fn a_long_run_is_replayed_request_by_request() {
    let (_folder, file) = scratch();
    let recorded = run(&["--rig", "direct", "--shard", "1/4", "--record", name(&file)]);
    let replayed = run(&["--rig", &replay(&file)]);
    assert_eq!(recorded.status.code(), Some(0), "{}", findings(&recorded));
    assert_eq!(findings(&replayed), findings(&recorded));
    assert_eq!(replayed.status.code(), Some(0));
}

#[test]
fn a_replay_is_recorded_as_any_board_is() {
    let (folder, file) = scratch();
    let copy = folder.path().join("copy");
    let recorded = run(&["--rig", "direct", "--tag", "document", "--record", name(&file)]);
    let again = run(&["--rig", &replay(&file), "--record", name(&copy)]);
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    let replayed = run(&["--rig", &replay(&copy)]);
    assert_eq!(findings(&replayed), findings(&recorded));
    assert_eq!(replayed.status.code(), Some(0));
}

#[test]
fn other_requests_than_recorded_are_distinguished_from_a_wrong_board() {
    let (_folder, file) = scratch();
    assert_eq!(
        run(&["--rig", "direct", "--tag", "array", "--record", name(&file)]).status.code(),
        Some(0)
    );
    let other = run(&["--rig", &replay(&file), "--tag", "document"]);
    assert_eq!(other.status.code(), Some(3));
    let shown = String::from_utf8_lossy(&other.stdout).into_owned();
    assert!(shown.contains("when this was recorded it sent"), "{shown}");
}

#[test]
fn a_truncated_transcript_ends_the_replay_as_a_rig_failure() {
    let (_folder, file) = scratch();
    assert_eq!(
        run(&["--rig", "direct", "--tag", "document", "--record", name(&file)]).status.code(),
        Some(0)
    );
    let whole = std::fs::read(&file).expect("the transcript");
    for keep in [whole.len() - 700, whole.len() / 2, 300, 0] {
        std::fs::write(&file, &whole[..keep]).expect("a part of it");
        let output = run(&["--rig", &replay(&file)]);
        assert_eq!(output.status.code(), Some(3), "{keep} of {}: {output:?}", whole.len());
    }
    std::fs::write(&file, "{\"transcript\":99}\n").expect("another file");
    assert_eq!(run(&["--rig", &replay(&file)]).status.code(), Some(3));
    assert_eq!(run(&["--rig", "replay:/nonexistent"]).status.code(), Some(3));
}

#[test]
fn the_board_within_this_program_makes_the_same_transcript_each_time() {
    let (_folder, file) = scratch();
    let cases = corpus::builtin_corpus().unwrap_or_else(|error| panic!("{error}"));
    let mut transcripts = Vec::new();
    for _ in 0..2 {
        let mut plan =
            BoardConfig::simulated(BoardProfile::named("rc2014-classic").expect("it ships"));
        plan.board = BoardKind::InProcess;
        plan.recording =
            Some(RecordOptions { file: file.clone(), cases: Vec::new(), force: false });
        let mut rig = SargonBoard::prepare(&plan.into()).unwrap_or_else(|error| panic!("{error}"));
        for case in &cases[..20] {
            if let corpus::CaseInput::Position { position, .. } = &case.subject {
                rig.request_position(position).unwrap_or_else(|error| panic!("{error}"));
            }
        }
        drop(rig);
        transcripts.push(std::fs::read_to_string(&file).expect("the transcript"));
    }
    assert!(transcripts[0].lines().count() > 100);
    assert_eq!(transcripts[0], transcripts[1]);
}

/// Changes the replies to the last request of a transcript.
fn change_replies(file: &Path, change: impl Fn(&mut Frame)) {
    let text = std::fs::read_to_string(file).expect("the transcript");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let asked = lines.iter().rposition(|line| line.contains("\"sent\"")).expect("a request");
    let mut decoder = Decoder::default();
    let mut received = Vec::new();
    for line in lines.split_off(asked + 1) {
        let entry: TranscriptEntry = serde_json::from_str(&line).expect("an entry");
        if let TranscriptEvent::Received(bytes) = entry.event {
            received.extend(bytes.0);
        }
    }
    let mut changed = Vec::new();
    for byte in received {
        if let Some(Wire::Frame(mut frame)) = decoder.push(byte) {
            change(&mut frame);
            changed.extend(frame.encode());
        }
    }
    let entry = TranscriptEntry {
        time_us: 10_000_000,
        event: TranscriptEvent::Received(HexBytes(changed)),
    };
    lines.push(serde_json::to_string(&entry).expect("JSON"));
    std::fs::write(file, lines.join("\n")).expect("the transcript, changed");
}

/// Corrupts a frame.
type Change = fn(&mut Frame);

#[test]
fn residues_fails_when_the_residues_agree_but_an_array_a_status_a_pin_or_a_square_does_not() {
    let squares = kind::POSITION + REPLY_BIT;
    let end = kind::POSITION_END + REPLY_BIT;
    // In a reply of squares: part, count, then records of square, piece, status, residue, array. At
    // the end: parts, squares, statuses, four royal squares, pins and their list.
    let changes: [(&str, u8, Change); 5] = [
        ("nothing", squares, |_| {}),
        ("array", squares, |frame| frame.payload[2 + 4] ^= 1),
        ("status", squares, |frame| frame.payload[2 + 2] ^= 1),
        ("pins", end, |frame| frame.payload[9] = frame.payload[9].wrapping_neg()),
        ("royal squares", end, |frame| frame.payload[3] += 1),
    ];
    let fen = "4k3/4r3/8/8/8/8/4N3/4K3 w - -";
    let residues = |arguments: &[&str]| {
        let mut command = Command::new(path("sargon"));
        command.args(["residues", "--fen", fen]).args(arguments).output().expect("it starts")
    };
    let (_folder, file) = scratch();
    for (what, kind, change) in changes {
        assert_eq!(
            residues(&["--rig", "direct", "--record", name(&file), "--force"]).status.code(),
            Some(0)
        );
        change_replies(&file, |frame| {
            if frame.kind == kind {
                change(frame);
            }
        });
        let output = residues(&["--rig", &replay(&file)]);
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(i32::from(what != "nothing")), "{what}: {shown}");
        assert!(what == "nothing" || shown.contains(&format!("{what}: board ")), "{what}: {shown}");
    }
}
