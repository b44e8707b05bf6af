//! Results files that are torn, edited or cut off by lost power.

use std::sync::atomic::{AtomicU64, Ordering};

use seeded_fuzz::{Seeds, each};

use super::*;
use crate::disk::{DiskFault, SimulatedDisk, SystemDisk};
use crate::results::FORMAT;
use crate::runner::Verdict;

const PATH: &str = "results";

fn path() -> &'static Path {
    Path::new(PATH)
}

fn head() -> Head {
    Head {
        results: FORMAT,
        program: "a test".to_owned(),
        profile: "rc2014-classic".to_owned(),
        behaviour: "mended".to_owned(),
        cases: 3,
        digest: "0123456789ABCDEF".to_owned(),
        repeat: 1,
        seed: None,
        shard: None,
        faults: None,
        boards: Vec::new(),
    }
}

/// A clock by which every line is due to be flushed, or none is.
fn clock(seconds: u64) -> Clock {
    let began = Instant::now();
    let count = AtomicU64::new(0);
    Arc::new(move || began + Duration::from_secs(count.fetch_add(seconds, Ordering::Relaxed)))
}

fn create(disk: &SimulatedDisk) -> Result<Log, ResultsError> {
    Log::create(disk, path(), &head(), false, clock(0))
}

fn resume(disk: &SimulatedDisk) -> Result<(Log, Vec<CaseResult>), ResultsError> {
    Log::resume(disk, path(), &head(), clock(0))
}

fn results(count: usize) -> Vec<CaseResult> {
    let cases = sargon_corpus::shipped().expect("the corpus");
    cases.iter().take(count).map(|case| CaseResult::new(case, Verdict::Pass)).collect()
}

fn ready() -> Ready {
    Ready { board: "a board".to_owned(), application: "an application".to_owned() }
}

/// A disk with a file of some results.
fn with_results(count: usize) -> SimulatedDisk {
    let disk = SimulatedDisk::new(1);
    let mut log = create(&disk).expect("a new file");
    log.ready(ready()).expect("written");
    for result in results(count) {
        log.case(&result).expect("written");
    }
    disk
}

fn text(disk: &SimulatedDisk) -> String {
    String::from_utf8(disk.content(path()).expect("it is there")).expect("it is text")
}

#[test]
fn every_record_is_a_line_in_its_order() {
    let disk = with_results(1);
    let (mut log, _) = resume(&disk).expect("it is ours");
    let counts = Counts::default();
    log.passed(counts).expect("written");
    let end = End { complete: true, why: None, counts };
    log.end(&end).expect("written");
    let mut sum = 0;
    let mut records = Vec::new();
    for line in text(&disk).lines() {
        let (record, next) = open::<Record>(line, sum).expect("a whole line");
        records.push(record);
        sum = next;
    }
    let [Record::Head(_), Record::Ready(_), Record::Case(_), Record::Passed(_), last] =
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
        disk.put(path(), content);
        let resumed = resume(&disk).map(|_| ());
        let is_torn_head = content.starts_with(MARK);
        assert_eq!(resumed.is_ok(), is_torn_head, "{content:?}: {resumed:?}");
        if !is_torn_head {
            assert!(matches!(resumed, Err(ResultsError::NotOurs(_))), "{resumed:?}");
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
    drop(Log::create(&disk, path(), &head(), true, clock(0)).expect("by force"));
    assert_eq!(text(&disk).lines().count(), 1, "the new head");
}

#[test]
fn a_torn_last_line_is_dropped_wherever_it_was_torn() {
    let whole = with_results(2);
    let content = text(&whole);
    for length in 0..content.len() {
        // Seven characters and less may be anybody's.
        if (1..8).contains(&length) {
            continue;
        }
        let disk = SimulatedDisk::new(1);
        disk.put(path(), &content.as_bytes()[..length]);
        let (log, found) = resume(&disk).unwrap_or_else(|error| panic!("{length}: {error}"));
        drop(log);
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
        disk.put(path(), changed.as_bytes());
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
    type Change = fn(&mut Head);
    let changes: [(&str, Change); 9] = [
        ("the board's profile", |head| head.profile.push('x')),
        ("the behaviour", |head| head.behaviour.push('x')),
        ("the number of cases", |head| head.cases += 1),
        ("the digest of the cases", |head| head.digest.push('x')),
        ("--repeat", |head| head.repeat += 1),
        ("--seed", |head| head.seed = Some(1)),
        ("--shard", |head| head.shard = Some("1/2".to_owned())),
        ("--faults", |head| head.faults = Some(1)),
        ("the list of boards", |head| head.boards.push("bench".to_owned())),
    ];
    for (what, change) in changes {
        let disk = with_results(1);
        let before = text(&disk);
        let mut other = head();
        change(&mut other);
        let error = Log::resume(&disk, path(), &other, clock(0)).err().expect("another run");
        assert!(matches!(&error, ResultsError::OtherRun(_, told, ..) if *told == what), "{error}");
        assert_eq!(text(&disk), before);
    }
}

#[test]
fn a_file_of_another_version_is_told_from_a_damaged_one() {
    let disk = SimulatedDisk::new(1);
    disk.put(path(), b"{\"head\":{\"results\":1,\"program\":\"hw-tests 0.1.0\"}}\n");
    let error = resume(&disk).err().expect("it is an old one");
    assert!(error.to_string().ends_with("the format is 1 there and 2 here"), "{error}");
}

#[test]
fn results_of_another_application_are_not_added() {
    let disk = with_results(1);
    let (mut log, _) = resume(&disk).expect("it is ours");
    let other = Ready { application: "another".to_owned(), ..ready() };
    assert!(matches!(log.ready(other), Err(ResultsError::OtherRun(..))));
    log.ready(Ready { board: "another board".to_owned(), ..ready() }).expect("the same program");
}

#[test]
fn each_of_several_boards_goes_on_with_its_own_application() {
    let disk = SimulatedDisk::new(1);
    let of = |board: &str, application: &str| Ready {
        board: board.to_owned(),
        application: application.to_owned(),
    };
    let head = Head { boards: vec!["a".to_owned(), "b".to_owned()], ..head() };
    for is_resumed in [false, true] {
        let (mut log, _) = Log::resume(&disk, path(), &head, clock(0)).expect("it is ours");
        log.ready(of("a", "one")).expect("the first");
        log.ready(of("b", "other")).expect("another board");
        if is_resumed {
            assert!(matches!(log.ready(of("a", "other")), Err(ResultsError::OtherRun(..))));
        }
    }
}

#[test]
fn a_full_or_broken_disk_leaves_whole_lines_at_every_access() {
    for fault in [DiskFault::Full, DiskFault::Broken] {
        for first in 0.. {
            let disk = SimulatedDisk::new(first);
            disk.fail(first, 1, fault);
            let written = (|| {
                let mut log = create(&disk)?;
                log.ready(ready())?;
                results(3).iter().try_for_each(|result| log.case(result))?;
                log.end(&End { complete: true, why: None, counts: Counts::default() })
            })();
            if disk.faults() == 0 {
                assert!(written.is_ok() && first > 8, "{first}");
                break;
            }
            // Cutting a torn line off is allowed to fail; all else is reported with the path.
            if let Err(error) = &written {
                assert!(error.to_string().contains(PATH), "{error}");
            }
            disk.mend();
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
        // By this clock a line is flushed when the one before it was not.
        let mut log = Log::create(&disk, path(), &head(), false, clock(seed % 2)).expect("new");
        log.ready(ready()).expect("written");
        let written = seed as usize % all.len();
        all[..written].iter().for_each(|result| log.case(result).expect("written"));
        let flushed = if seed % 2 == 1 { written } else { 0 };
        disk.cut_power();
        drop(log);
        match resume(&disk) {
            Ok((_, found)) => {
                assert!(found.len() >= flushed && all[..written].starts_with(&found), "{seed}");
            }
            // Zeros before the last line break: found and reported, and nothing is changed.
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
    let mut log = create(&disk).expect("a new file");
    log.ready(ready()).expect("written");
    let mut all = results(2);
    (all[0].verdict, all[0].why) = (Verdict::Timeout, Some("no answer".to_owned()));
    all.iter().for_each(|result| log.case(result).expect("written"));
    drop(log);
    for times in 0..20 {
        let (mut log, found) = resume(&disk).unwrap_or_else(|error| panic!("{times}: {error}"));
        assert_eq!(found, all, "{times}");
        log.ready(ready()).expect("written");
    }
    let lines = text(&disk);
    assert_eq!(lines.lines().filter(|line| line.contains("\"case\":")).count(), 2, "{lines}");
}

#[test]
fn any_bytes_are_refused_and_left_alone_or_continued_with_results_that_were_written() {
    let all = results(6);
    let content = text(&with_results(6));
    let other = text(&with_results(2));
    let words: &[&[u8]] =
        &[b"\"pass\"", b"\n", b",\"sum\":\"00000000\"}\n", b"{\"case\":", b"\0\0\0"];
    let seeds = Seeds { inputs: &[content.as_bytes(), other.as_bytes()], words };
    let mut continued = 0;
    each(&seeds, 3000, |bytes| {
        let disk = SimulatedDisk::new(1);
        disk.put(path(), bytes);
        match resume(&disk) {
            Ok((log, found)) => {
                drop(log);
                assert!(all.starts_with(&found), "{found:?}");
                continued += 1;
            }
            Err(error) => {
                assert!(error.to_string().contains(PATH), "{error}");
                assert_eq!(disk.content(path()).as_deref(), Some(bytes), "it was changed");
            }
        }
    });
    assert!(continued > 30, "{continued}");
}

#[test]
fn a_file_that_somebody_makes_in_the_same_moment_is_not_ours() {
    /// A disk on which a file comes to be after somebody has looked for it.
    struct Racing(SimulatedDisk);
    impl Disk for Racing {
        fn look(&self, path: &Path) -> std::io::Result<Found> {
            let found = self.0.look(path);
            self.0.put(path, b"another's");
            found
        }
        fn beginning(&self, path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
            self.0.beginning(path, limit)
        }
        fn create(&self, path: &Path) -> std::io::Result<Box<dyn crate::disk::DiskFile>> {
            self.0.create(path)
        }
        fn open(&self, path: &Path) -> std::io::Result<Box<dyn crate::disk::DiskFile>> {
            self.0.open(path)
        }
        fn replace(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
            self.0.replace(path, bytes)
        }
        fn make_folder(&self, path: &Path) -> std::io::Result<()> {
            self.0.make_folder(path)
        }
        fn remove(&self, path: &Path) -> std::io::Result<()> {
            self.0.remove(path)
        }
    }
    let disk = Racing(SimulatedDisk::new(1));
    let error = Log::create(&disk, path(), &head(), false, clock(0)).err().expect("it is there");
    assert!(matches!(error, ResultsError::Exists(_)), "{error}");
    assert_eq!(disk.0.content(path()).as_deref(), Some(&b"another's"[..]));
}

#[test]
fn a_file_that_is_too_long_is_refused_with_its_length_and_left_alone() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join(PATH);
    let file = std::fs::File::create(&path).expect("a file");
    file.set_len(LIMIT + 1).expect("a file without content takes no room");
    let error = Log::resume(&SystemDisk, &path, &head(), clock(0)).err().expect("it is too long");
    let text = error.to_string();
    assert!(text.contains("1073741825 bytes, and 1073741824 are the most"), "{text}");
    assert_eq!(std::fs::metadata(&path).expect("it is there").len(), LIMIT + 1);
}
