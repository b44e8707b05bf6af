//! Results files that are torn, edited or cut off by lost power.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hil_harness::file_system::{AppendFile, FileSystem, OsFileSystem, PathKind};
use hil_harness::results::line::decode_line;
use hil_harness::results::{BoardReady, Clock, RESULTS_FORMAT, ResultsError, RunHeader};
use hil_harness::runner::Verdict;
use hil_testing::simulated_disk::{DiskFault, SimulatedDisk};
use rcflash_transport::time::{Duration, Instant};
use sargon_suite::{CaseResult, Record, ResultsWriter, RunEndRecord, VerdictCounts};

use crate::corrupted::for_each_corrupted;

/// The first bytes of a results file.
const RESULTS_MAGIC: &[u8] = b"{\"head\":{\"results\":";
/// The length of a file without lines, in bytes: longer than any line.
const LONG_FILE_BYTES: u64 = 32 << 20;
/// The longest line that is read, in bytes.
const MAX_LINE_BYTES: usize = 16 << 20;
const PATH: &str = "results";

fn path() -> &'static Path {
    Path::new(PATH)
}

fn head() -> RunHeader {
    RunHeader {
        results: RESULTS_FORMAT,
        program: "a test".to_owned(),
        profile: "rc2014-classic".to_owned(),
        behaviour: "corrected".to_owned(),
        cases: 3,
        digest: "0123456789ABCDEF".to_owned(),
        repeat: 1,
        seed: None,
        shard: None,
        faults: None,
        boards: Vec::new(),
    }
}

/// A clock by which each line is due to be synced, or none is.
fn clock(seconds: u64) -> Clock {
    let began = Instant::now();
    let count = AtomicU64::new(0);
    Arc::new(move || began + Duration::from_secs(count.fetch_add(seconds, Ordering::Relaxed)))
}

fn create(disk: &SimulatedDisk) -> Result<ResultsWriter, ResultsError> {
    ResultsWriter::create(disk, path(), &head(), false, clock(0))
}

fn resume(disk: &SimulatedDisk) -> Result<(ResultsWriter, Vec<CaseResult>), ResultsError> {
    resume_with(disk, &head())
}

/// Resumes a run and collects the results of the earlier one.
fn resume_with(
    disk: &dyn FileSystem,
    head: &RunHeader,
) -> Result<(ResultsWriter, Vec<CaseResult>), ResultsError> {
    let mut results = Vec::new();
    let mut collect = |result| results.push(result);
    let writer = ResultsWriter::resume(disk, path(), head, clock(0), &mut collect)?;
    Ok((writer, results))
}

fn results(count: usize) -> Vec<CaseResult> {
    let cases = sargon_corpus::builtin_corpus().expect("the corpus");
    cases.iter().take(count).map(|case| CaseResult::new(case, Verdict::Pass)).collect()
}

fn ready() -> BoardReady {
    BoardReady { board: "a board".to_owned(), application: "an application".to_owned() }
}

/// A disk with a results file.
fn with_results(count: usize) -> SimulatedDisk {
    let disk = SimulatedDisk::new(1);
    let mut writer = create(&disk).expect("a new file");
    writer.write_board(ready()).expect("written");
    for result in results(count) {
        writer.write_result(&result).expect("written");
    }
    disk
}

fn text(disk: &SimulatedDisk) -> String {
    String::from_utf8(disk.content(path()).expect("it is there")).expect("it is text")
}

#[test]
fn every_record_is_a_line_in_its_order() {
    let disk = with_results(1);
    let (mut writer, _) = resume(&disk).expect("it is ours");
    let counts = VerdictCounts::default();
    writer.write(&Record::Progress(counts)).expect("written");
    let end = RunEndRecord { complete: true, reason: None, counts };
    writer.write(&Record::End(end.clone())).expect("written");
    let mut sum = 0;
    let mut records = Vec::new();
    for line in text(&disk).lines() {
        let (record, next) = decode_line::<Record>(line, sum).expect("a whole line");
        records.push(record);
        sum = next;
    }
    let [Record::Head(_), Record::Ready(_), Record::Case(_), Record::Progress(_), last] =
        &records[..]
    else {
        panic!("{records:?}")
    };
    assert_eq!(*last, Record::End(end));
}

#[test]
fn a_file_that_is_not_ours_is_left_as_it_is() {
    let contents: [&[u8]; 8] = [
        b"{",
        b"{\"head\"",
        b"a letter without a line break",
        b"a letter\n",
        b"{\"heading\":1}\n",
        b"\n",
        b"{\"head\":{\"results\":x",
        &[0x7F, b'E', b'L', b'F', 0, 0],
    ];
    for content in contents {
        let disk = SimulatedDisk::new(1);
        disk.insert_synced(path(), content);
        let resumed = resume(&disk).map(|_| ());
        let is_torn_head = content.starts_with(RESULTS_MAGIC);
        assert_eq!(resumed.is_ok(), is_torn_head, "{content:?}: {resumed:?}");
        if !is_torn_head {
            assert!(matches!(resumed, Err(ResultsError::NotAResultsFile(_))), "{resumed:?}");
            assert_eq!(disk.content(path()).as_deref(), Some(content));
            let created = create(&disk).map(|_| ());
            assert!(matches!(created, Err(ResultsError::Exists(_))), "{created:?}");
            assert_eq!(disk.content(path()).as_deref(), Some(content));
        }
    }
}

#[test]
fn a_file_is_replaced_only_by_force() {
    let disk = with_results(2);
    let before = text(&disk);
    assert!(create(&disk).is_err());
    assert_eq!(text(&disk), before);
    drop(ResultsWriter::create(&disk, path(), &head(), true, clock(0)).expect("by force"));
    assert_eq!(text(&disk).lines().count(), 1, "the new head");
}

#[test]
fn a_torn_last_line_is_dropped_wherever_it_was_torn() {
    let whole = with_results(2);
    let content = text(&whole);
    for length in 0..content.len() {
        // Seven characters or less are not recognised as ours.
        if (1..8).contains(&length) {
            continue;
        }
        let disk = SimulatedDisk::new(1);
        disk.insert_synced(path(), &content.as_bytes()[..length]);
        let (writer, found) = resume(&disk).unwrap_or_else(|error| panic!("{length}: {error}"));
        drop(writer);
        let lines = content[..length].matches('\n').count();
        assert_eq!(found.len(), lines.saturating_sub(2), "{length}");
        assert!(content.starts_with(&text(&disk)), "{length}: {}", text(&disk));
        assert_eq!(text(&disk).lines().count(), lines.max(1), "{length}: whole lines and a head");
    }
}

#[test]
fn a_changed_line_is_found_with_its_number_and_nothing_is_changed() {
    let content = text(&with_results(3));
    let lines: Vec<_> = content.lines().collect();
    let edited = content.replacen("\"verdict\":\"pass\"", "\"verdict\":\"fail\"", 1);
    let without_third = [&lines[..2], &lines[3..]].concat().join("\n") + "\n";
    let twice = [&lines[..3], &lines[2..]].concat().join("\n") + "\n";
    for (changed, number) in [(edited, 3), (without_third, 3), (twice, 4)] {
        let disk = SimulatedDisk::new(1);
        disk.insert_synced(path(), changed.as_bytes());
        let error = resume(&disk).err().expect("it was changed");
        assert!(
            error.to_string().contains(&format!("results:{number}: a damaged line")),
            "{error}"
        );
        assert_eq!(text(&disk), changed);
    }
}

#[test]
fn every_fact_of_a_run_must_be_the_same() {
    type Change = fn(&mut RunHeader);
    let changes: [(&str, Change); 9] = [
        ("the board's profile", |head| head.profile.push('x')),
        ("the behaviour", |head| head.behaviour.push('x')),
        ("the number of cases", |head| head.cases += 1),
        ("the digest of the cases", |head| head.digest.push('x')),
        ("--repeat", |head| head.repeat += 1),
        ("--shuffle", |head| head.seed = Some(1)),
        ("--shard", |head| head.shard = Some("1/2".to_owned())),
        ("--faults", |head| head.faults = Some(1)),
        ("the list of boards", |head| head.boards.push("bench".to_owned())),
    ];
    for (what, change) in changes {
        let disk = with_results(1);
        let before = text(&disk);
        let mut other = head();
        change(&mut other);
        let error = resume_with(&disk, &other).err().expect("another run");
        assert!(matches!(&error, ResultsError::OtherRun(_, fact, ..) if *fact == what), "{error}");
        assert_eq!(text(&disk), before);
    }
}

#[test]
fn a_file_of_another_version_is_distinguished_from_a_damaged_one() {
    let disk = SimulatedDisk::new(1);
    disk.insert_synced(path(), b"{\"head\":{\"results\":2,\"program\":\"hw-tests 0.1.0\"}}\n");
    let error = resume(&disk).err().expect("it is an old one");
    assert!(error.to_string().ends_with("the format is 2 there and 1 here"), "{error}");
}

#[test]
fn results_of_another_application_are_not_added() {
    let disk = with_results(1);
    let (mut writer, _) = resume(&disk).expect("it is ours");
    let other = BoardReady { application: "another".to_owned(), ..ready() };
    assert!(matches!(writer.write_board(other), Err(ResultsError::OtherRun(..))));
    writer
        .write_board(BoardReady { board: "another board".to_owned(), ..ready() })
        .expect("the same program");
}

#[test]
fn each_board_of_a_fleet_resumes_with_its_own_application() {
    let disk = SimulatedDisk::new(1);
    let of = |board: &str, application: &str| BoardReady {
        board: board.to_owned(),
        application: application.to_owned(),
    };
    let head = RunHeader { boards: vec!["a".to_owned(), "b".to_owned()], ..head() };
    for is_resumed in [false, true] {
        let (mut writer, _) = resume_with(&disk, &head).expect("it is ours");
        writer.write_board(of("a", "one")).expect("the first");
        writer.write_board(of("b", "other")).expect("another board");
        if is_resumed {
            assert!(matches!(
                writer.write_board(of("a", "other")),
                Err(ResultsError::OtherRun(..))
            ));
        }
    }
}

#[test]
fn a_full_or_broken_disk_leaves_whole_lines_at_every_access() {
    for fault in [DiskFault::Full, DiskFault::Broken] {
        for first in 0.. {
            let disk = SimulatedDisk::new(first);
            disk.inject_fault(first, 1, fault);
            let written = (|| {
                let mut writer = create(&disk)?;
                writer.write_board(ready())?;
                results(3).iter().try_for_each(|result| writer.write_result(result))?;
                writer.write(&Record::End(RunEndRecord {
                    complete: true,
                    reason: None,
                    counts: VerdictCounts::default(),
                }))
            })();
            if disk.faults() == 0 {
                assert!(written.is_ok() && first > 8, "{first}");
                break;
            }
            // Removing a torn line may fail; all other errors are reported with the path.
            if let Err(error) = &written {
                assert!(error.to_string().contains(PATH), "{error}");
            }
            disk.clear_fault();
            let content = disk.content(path()).unwrap_or_default();
            assert!(content.is_empty() || content.ends_with(b"\n"), "{fault:?} at {first}");
            let (_, found) = resume(&disk).expect("it is still ours");
            assert!(results(3).starts_with(&found));
        }
    }
}

#[test]
fn a_power_cut_takes_no_result_that_was_flushed_and_invents_none() {
    let all = results(12);
    for seed in 0..1000 {
        let disk = SimulatedDisk::new(seed);
        // By this clock each line is synced, or none is.
        let mut writer =
            ResultsWriter::create(&disk, path(), &head(), false, clock(seed % 2)).expect("new");
        writer.write_board(ready()).expect("written");
        let written = seed as usize % all.len();
        all[..written].iter().for_each(|result| writer.write_result(result).expect("written"));
        let flushed = if seed % 2 == 1 { written } else { 0 };
        disk.cut_power();
        drop(writer);
        match resume(&disk) {
            Ok((_, found)) => {
                assert!(found.len() >= flushed && all[..written].starts_with(&found), "{seed}");
            }
            // Zeros before the last line break are reported, and nothing is changed.
            Err(ResultsError::Damaged(..)) => assert_eq!(flushed, 0, "{seed}"),
            Err(error) => panic!("{seed}: {error}"),
        }
    }
}

#[test]
fn two_runs_do_not_write_one_file() {
    let disk = SimulatedDisk::new(1);
    let _first = create(&disk).expect("a new file");
    assert!(matches!(resume(&disk), Err(ResultsError::Busy(_))));
}

#[test]
fn a_case_without_an_answer_keeps_its_verdict_however_often_the_file_is_continued() {
    let disk = SimulatedDisk::new(1);
    let mut writer = create(&disk).expect("a new file");
    writer.write_board(ready()).expect("written");
    let mut all = results(2);
    (all[0].verdict, all[0].reason) = (Verdict::Timeout, Some("no answer".to_owned()));
    all.iter().for_each(|result| writer.write_result(result).expect("written"));
    drop(writer);
    for times in 0..20 {
        let (mut writer, found) = resume(&disk).unwrap_or_else(|error| panic!("{times}: {error}"));
        assert_eq!(found, all, "{times}");
        writer.write_board(ready()).expect("written");
    }
    let lines = text(&disk);
    assert_eq!(lines.lines().filter(|line| line.contains("\"case\":")).count(), 2, "{lines}");
}

#[test]
fn any_bytes_are_refused_and_left_alone_or_continued_with_results_that_were_written() {
    let all = results(6);
    let content = text(&with_results(6));
    let other = text(&with_results(2));
    let words: &'static [&'static [u8]] =
        &[b"\"pass\"", b"\n", b",\"sum\":\"00000000\"}\n", b"{\"case\":", b"\0\0\0"];
    let continued = Cell::new(0);
    for_each_corrupted(&[content, other], words, 3000, |bytes| {
        let disk = SimulatedDisk::new(1);
        disk.insert_synced(path(), bytes);
        match resume(&disk) {
            Ok((writer, found)) => {
                drop(writer);
                assert!(all.starts_with(&found), "{found:?}");
                continued.set(continued.get() + 1);
            }
            Err(error) => {
                assert!(error.to_string().contains(PATH), "{error}");
                assert_eq!(disk.content(path()).as_deref(), Some(bytes), "it was changed");
            }
        }
    });
    assert!(continued.get() > 30, "{continued:?}");
}

#[test]
fn a_file_created_at_the_same_time_is_not_replaced() {
    /// A disk on which a file is created between the check and the creation.
    struct Racing(SimulatedDisk);
    impl FileSystem for Racing {
        fn path_kind(&self, path: &Path) -> std::io::Result<PathKind> {
            let found = self.0.path_kind(path);
            self.0.insert_synced(path, b"another's");
            found
        }
        fn read_prefix(&self, path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
            self.0.read_prefix(path, limit)
        }
        fn create(&self, path: &Path) -> std::io::Result<Box<dyn AppendFile>> {
            self.0.create(path)
        }
        fn open(&self, path: &Path) -> std::io::Result<Box<dyn AppendFile>> {
            self.0.open(path)
        }
        fn replace(
            &self,
            path: &Path,
            write: &mut dyn FnMut(&mut dyn std::io::Write) -> std::io::Result<()>,
        ) -> std::io::Result<()> {
            self.0.replace(path, write)
        }
        fn create_dir_all(&self, path: &Path) -> std::io::Result<()> {
            self.0.create_dir_all(path)
        }
        fn remove_file(&self, path: &Path) -> std::io::Result<()> {
            self.0.remove_file(path)
        }
    }
    let disk = Racing(SimulatedDisk::new(1));
    let error =
        ResultsWriter::create(&disk, path(), &head(), false, clock(0)).err().expect("it is there");
    assert!(matches!(error, ResultsError::Exists(_)), "{error}");
    assert_eq!(disk.0.content(path()).as_deref(), Some(&b"another's"[..]));
}

#[test]
fn a_file_without_lines_is_refused_without_storing_it_and_left_alone() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join(PATH);
    let file = std::fs::File::create(&path).expect("a file");
    file.set_len(LONG_FILE_BYTES).expect("a file without content takes no room");
    let error = ResultsWriter::resume(&OsFileSystem, &path, &head(), clock(0), &mut |_| {})
        .err()
        .expect("it has no lines");
    assert!(matches!(error, ResultsError::NotAResultsFile(_)), "{error}");
    assert_eq!(std::fs::metadata(&path).expect("it is there").len(), LONG_FILE_BYTES);
}

#[test]
fn a_line_that_is_longer_than_any_result_is_damaged() {
    let disk = with_results(1);
    let whole = text(&disk);
    let long = " ".repeat(MAX_LINE_BYTES + 1);
    for (end, is_damaged) in [("\n", true), ("", false)] {
        disk.insert_synced(path(), format!("{whole}{long}{end}").as_bytes());
        match resume(&disk) {
            Ok((_, found)) => assert!(!is_damaged && found == results(1), "a torn line"),
            Err(error) => {
                assert!(error.to_string().contains("results:4: a damaged line"), "{error}");
                assert!(is_damaged, "{error}");
            }
        }
    }
}
