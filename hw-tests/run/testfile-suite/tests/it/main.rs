//! Tests of test files: expectations, guards, properties, and errors in files.

mod boards;
mod broken_routines;
mod c_functions;
mod call_server;
mod console;
mod contracts;
mod corrupted;
mod counts;
mod errors;
mod expectations;
mod guards;
mod interrupts;
mod limits;
mod pasted;
mod programs;
mod properties;
mod seeded;
mod simulated_guards;
mod sweeps;

use std::path::Path;

use tdlasm::source::DiskLoader;
use tempfile::TempDir;
use testfile_suite::{
    FileErrors, Machine, RunError, TestFile, TestOptions, TestResult, Verdict, run_one,
};

/// A folder with a source, `prog.asm`.
fn folder(source: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let names: Vec<_> = source.lines().filter_map(|line| line.split_once(':')).collect();
    let names = names.iter().map(|(name, _)| *name);
    let names: Vec<_> = names.filter(|name| name.chars().all(char::is_alphanumeric)).collect();
    let text = format!("\t.INTERN {}\n{source}\n\t.END\n", names.join(","));
    std::fs::write(folder.path().join("prog.asm"), text).expect("a file");
    folder
}

fn parse(folder: &Path, text: &str) -> Result<TestFile, FileErrors> {
    let text = format!("sources = [\"prog.asm\"]\n{text}");
    TestFile::parse(&folder.join("prog.test.toml"), &text, &DiskLoader)
}

/// Runs the cases and properties of a file.
fn run(
    file: &TestFile,
    machine: &mut dyn Machine,
    options: &TestOptions<'_>,
    report: &mut dyn FnMut(TestResult),
) -> Result<(), RunError> {
    for index in 0..file.cases.len() {
        report(run_one(file, index, machine, options)?);
    }
    Ok(())
}

fn run_seeded(source: &str, text: &str, seed: Option<u64>) -> Vec<TestResult> {
    let folder = folder(source);
    let file = parse(folder.path(), text).unwrap_or_else(|error| panic!("{error}"));
    let mut machine = file.program.machine();
    let mut results = Vec::new();
    let options = TestOptions { seed, ..TestOptions::default() };
    let ran = run(&file, &mut machine, &options, &mut |result| results.push(result));
    ran.unwrap_or_else(|error| panic!("{error}"));
    results
}

fn results(source: &str, text: &str) -> Vec<TestResult> {
    run_seeded(source, text, Some(1))
}

/// The result of the only test.
fn result(source: &str, text: &str) -> TestResult {
    let [result] = <[_; 1]>::try_from(results(source, text)).expect("one test");
    result
}

/// What the only test finds.
fn findings(source: &str, text: &str) -> Vec<String> {
    let result = result(source, text);
    assert_eq!(result.verdict == Verdict::Fail, !result.differences.is_empty(), "{result:?}");
    result.differences.iter().map(ToString::to_string).collect()
}

/// What a case with these lines finds when it calls `RUN`.
fn case(source: &str, lines: &str) -> Vec<String> {
    findings(source, &format!("[[case]]\nname = \"one\"\ncall = \"RUN\"\n{lines}"))
}
