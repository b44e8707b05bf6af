//! Writes a results file of many results, then resumes it and writes the report, so that the memory
//! for results can be measured, without that of a list of cases:
//!
//! `cargo run --release -p hil-testing --example results -- write 1000000 DIR`, then
//! `/usr/bin/time -v target/release/examples/results report 1000000 DIR`

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use hil_harness::file_system::OsFileSystem;
use hil_harness::report::{FollowUpOptions, RunTotals, WorstResults, prepare_folder, write_files};
use hil_harness::results::RunHeader;
use hil_testing::many_results::ManyResults;
use sargon_suite::{Report, ResultsWriter};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let [action, count, folder] = &words[..] else {
        return Err("expected write or report, the number of results, and a folder".into());
    };
    let (count, folder) = (count.parse()?, Path::new(folder));
    let file = folder.join("results.jsonl");
    let head = ManyResults::header(count, "rc2014-classic", &Vec::new());
    match action.as_str() {
        "write" => {
            std::fs::create_dir_all(folder)?;
            ManyResults::default().write(&file, &head, count)?;
        }
        "report" => report(&file, &head, &folder.join("report"))?,
        other => return Err(format!("unknown action {other}: expected write or report").into()),
    }
    Ok(())
}

/// Resumes the file as `hw-tests run --resume --report-dir` does, without its list of cases.
fn report(file: &Path, head: &RunHeader, folder: &Path) -> Result<(), Box<dyn Error>> {
    prepare_folder(&OsFileSystem, folder, false)?;
    let options = FollowUpOptions::default();
    let mut totals = RunTotals::new(options.clone());
    let mut results = WorstResults::new(Some(folder), head.cases);
    let mut add = |result| {
        totals.add(&result, None);
        results.add(&result);
    };
    let clock = Arc::new(Instant::now);
    drop(ResultsWriter::resume(&OsFileSystem, file, head, clock, &mut add)?);
    let mut report = Report::new(head.clone(), Vec::new(), SystemTime::now());
    report.set_cases(&mut results, Duration::ZERO, &options, None)?;
    write_files(&report, &mut results, &OsFileSystem, folder)?;
    println!("{}", totals.table());
    Ok(())
}
