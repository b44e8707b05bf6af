//! The files of a report, and which existing files they replace.

use std::path::Path;
use std::time::{Duration, SystemTime};

use cli_support::exit::CommandError;
use hil_harness::report::{FollowUpOptions, prepare_folder, write_files, write_no_run};
use hil_harness::results::RunHeader;
use hil_testing::many_results::ManyResults;
use hil_testing::simulated_disk::SimulatedDisk;
use sargon_suite::Report;
use serde_json::Value;

const FILES: [&str; 4] = ["report.json", "junit.xml", "report.html", "report.md"];

fn report() -> Report {
    Report::new(RunHeader::default(), Vec::new(), SystemTime::UNIX_EPOCH)
}

#[test]
fn a_report_of_ours_is_recognised_in_every_form_and_replaced() {
    let disk = SimulatedDisk::new(1);
    let folder = Path::new("folder");
    for _ in 0..2 {
        prepare_folder(&disk, folder, false).expect("it is ours");
        write_files(&report(), &disk, folder).expect("it is written");
    }
    assert_eq!(disk.paths().len(), FILES.len());
}

#[test]
fn whatever_else_is_there_is_left_as_it_is_without_force() {
    for name in FILES {
        for content in [&b"# My report\n"[..], b"{\"title\":1}", b"<testsuites name=\"x\">"] {
            let disk = SimulatedDisk::new(1);
            let folder = Path::new("folder");
            disk.insert_synced(&folder.join(name), content);
            let error = prepare_folder(&disk, folder, false).expect_err("it is not ours");
            assert!(error.message.contains(name), "{error:?}");
            assert_eq!(disk.content(&folder.join(name)).as_deref(), Some(content));
            prepare_folder(&disk, folder, true).expect("by force");
        }
    }
}

#[test]
fn a_run_without_results_leaves_its_reason_unless_there_is_an_earlier_report() {
    let disk = SimulatedDisk::new(1);
    let folder = Path::new("folder");
    prepare_folder(&disk, folder, false).expect("it is new");
    write_no_run(&disk, folder, "no <port>\u{1b}").expect("it is written");
    let text = |name: &str| disk.content(&folder.join(name)).expect("it is written");
    let page = String::from_utf8(text(FILES[1])).expect("it is text");
    assert!(page.contains(r#" tests="1" skipped="0" errors="1" failures="0">"#), "{page}");
    assert!(page.contains(r"no &lt;port&gt;\x1B"), "{page}");
    let page = String::from_utf8(text(FILES[3])).expect("it is text");
    assert_eq!(page, "# ERROR: no case was run\n\nno &lt;port&gt;\\\\x1B\n");
    assert_eq!(disk.paths().len(), 2);
    // It is replaced by the next run's report, which stays.
    prepare_folder(&disk, folder, false).expect("it is ours");
    write_files(&report(), &disk, folder).expect("it is written");
    let earlier = FILES.map(text);
    write_no_run(&disk, folder, "too late").expect("nothing is written");
    assert_eq!(FILES.map(text), earlier);
    assert_eq!(disk.paths().len(), FILES.len());
}

/// The most cases of which the page has all (docs/REPORTS.md).
const MAX_CASES_DRAWN: usize = 10_000;

/// Writes the report of `count` cases and returns the data of the page.
fn written(disk: &SimulatedDisk, folder: &Path, count: usize) -> Result<Value, CommandError> {
    let many = ManyResults::with_squares(1);
    let cases = (0..count).map(|number| many.result(number)).collect();
    let mut report = report();
    report.set_cases(cases, Duration::ZERO, &FollowUpOptions::default(), None);
    prepare_folder(disk, folder, false)?;
    write_files(&report, disk, folder)?;
    let page = disk.content(&folder.join("report.html")).expect("it is written");
    let page = String::from_utf8(page).expect("it is text");
    let (_, data) = page.split_once("type=\"application/json\">").expect("the data");
    let (data, _) = data.split_once("</script>").expect("its end");
    Ok(serde_json::from_str(data).expect("it is JSON"))
}

#[test]
fn a_large_page_has_the_failures_and_the_figures_of_all() {
    let disk = SimulatedDisk::new(1);
    let folder = Path::new("folder");
    let small = written(&disk, folder, MAX_CASES_DRAWN).expect("it is written");
    assert_eq!(small["cases"].as_array().map(Vec::len), Some(MAX_CASES_DRAWN));
    assert!(small["whole"].is_null());
    // Number 9,999 fails.
    let count = MAX_CASES_DRAWN + 1;
    let large = written(&disk, folder, count).expect("it is written");
    let cases = large["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 1);
    assert_eq!((&cases[0][0], &cases[0][2]), (&"many.0009999".into(), &"fail".into()));
    let many = ManyResults::with_squares(1);
    let results: Vec<_> = (0..count).map(|number| many.result(number)).collect();
    let squares: u64 = results.iter().map(|result| result.details.squares.len() as u64).sum();
    let times = large["whole"]["times"].as_array().expect("times");
    assert_eq!(times.iter().filter_map(|time| time[1].as_u64()).sum::<u64>(), squares);
    assert_eq!(large["whole"]["tags"]["play"]["pass"], MAX_CASES_DRAWN);
}
