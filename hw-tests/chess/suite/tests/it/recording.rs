//! Transcripts after power cuts, and the existing files that they may replace.

use std::path::Path;

use board_simulator::Probe;
use firmware::profile::BoardProfile;
use hil_harness::board::{Board, BoardError, InProcessBoard, RecordOptions, RecordedBoard};
use hil_testing::simulated_disk::SimulatedDisk;

/// The first bytes of a transcript.
const TRANSCRIPT_MAGIC: &[u8] = b"{\"transcript\":";
const FILE: &str = "transcript";

fn begin_on(disk: &SimulatedDisk) -> Result<RecordedBoard, BoardError> {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let board = Box::new(InProcessBoard::new(&profile, &[0x76], Probe::default()));
    let recording = RecordOptions { file: FILE.into(), cases: Vec::new(), force: false };
    let header = recording.header("a board", &profile.name, false);
    RecordedBoard::new(board, disk, &recording, &header)
}

#[test]
fn a_transcript_is_recognised_after_a_power_cut_however_little_is_left() {
    for seed in 0..100 {
        let disk = SimulatedDisk::new(seed);
        let mut board = begin_on(&disk).expect("a new file");
        drop(board.open().expect("it is opened"));
        drop(board);
        disk.cut_power();
        let content = disk.content(Path::new(FILE)).expect("its name was flushed");
        assert!(content.starts_with(TRANSCRIPT_MAGIC), "{seed}: {content:?}");
        begin_on(&disk).unwrap_or_else(|error| panic!("{seed}: {error}"));
    }
}

#[test]
fn a_torn_transcript_is_replaced_and_another_file_is_not() {
    for (content, is_ours) in [(&b"{\"transc\0\0"[..], true), (b"", true), (b"{", false)] {
        let disk = SimulatedDisk::new(1);
        disk.insert_synced(Path::new(FILE), content);
        assert_eq!(begin_on(&disk).is_ok(), is_ours, "{content:?}");
        let left = disk.content(Path::new(FILE)).expect("it is there");
        assert_eq!(left == content, !is_ours, "{content:?}");
    }
}
