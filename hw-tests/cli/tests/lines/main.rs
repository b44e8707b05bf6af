//! Runs every command line of README and the pages, each as a test: `cargo test -p hw-tests --test
//! lines BOARDS` runs those of one page.
//!
//! The lines of a page run in order: a line that is selected alone runs after those before it.

mod bench;
mod commands;
#[allow(dead_code, reason = "command lines are run by a shell")]
#[path = "../it/programs.rs"]
mod programs;
#[path = "../it/sim.rs"]
mod sim;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Failed, Trial};

use bench::Bench;
use commands::CommandLine;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let threads = std::env::var("RUST_TEST_THREADS").ok().and_then(|threads| threads.parse().ok());
    arguments.test_threads = arguments.test_threads.or(threads);
    let mut trials = vec![commands_found()];
    // The last line of each page first, the longest pages before others: each runs its whole page,
    // so that pages run in parallel, and the other lines find their results.
    let mut pages: Vec<_> = pages().into_iter().map(trials_of).collect();
    pages.sort_by_key(|page| std::cmp::Reverse(page.len()));
    trials.extend(pages.iter_mut().filter_map(Vec::pop));
    trials.extend(pages.into_iter().flatten());
    if !cfg!(feature = "system-tests") {
        eprintln!(
            "{} more checks need installed programs: `.ci/run` installs these and runs them",
            system_checks()
        );
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    bench::remove_prepared();
    conclusion.exit_code()
}

fn commands_found() -> Trial {
    Trial::test("command_lines_are_found_where_they_are_shown_as_such", || {
        commands::check();
        Ok(())
    })
}

/// Returns the number of checks that the feature `system-tests` adds: command lines, and tests in
/// modules called `system`.
fn system_checks() -> usize {
    let lines = pages().into_iter().flat_map(|page| lines_of(&page));
    let lines = lines.filter(|line| line.needs_installed).count();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["assembler", "flasher", "hw-tests"].map(|folder| root.join(folder));
    lines + folders.iter().map(|folder| system_tests_of_crates(folder)).sum::<usize>()
}

/// Counts the tests in modules called `system` of all crates below a folder.
fn system_tests_of_crates(folder: &Path) -> usize {
    if folder.join("Cargo.toml").exists() {
        return system_tests(&folder.join("tests/it"), false);
    }
    let entries = std::fs::read_dir(folder).expect("a folder of crates").flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    folders.map(|path| system_tests_of_crates(&path)).sum()
}

/// Counts the tests below a folder that are in modules called `system`.
fn system_tests(folder: &Path, is_within: bool) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let tests = entries.map(|entry| {
        let path = entry.path();
        let is_system = is_within || path.file_stem().is_some_and(|name| name == "system");
        match path.is_dir() {
            true => system_tests(&path, is_system),
            false if is_system => {
                std::fs::read_to_string(path).unwrap_or_default().matches("#[test]").count()
            }
            false => 0,
        }
    });
    tests.sum()
}

/// Returns the command lines of a page.
fn lines_of(page: &Path) -> Vec<CommandLine> {
    commands::command_lines(&std::fs::read_to_string(page).expect("the page"))
}

/// Returns the paths of README and all pages.
fn pages() -> Vec<PathBuf> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let entries = std::fs::read_dir(&docs).expect("the documents").flatten();
    let mut pages: Vec<_> = entries.map(|entry| entry.path()).collect();
    pages.retain(|page| page.extension().is_some_and(|end| end == "md"));
    pages.push(docs.join("../README.md"));
    pages.sort();
    pages
}

/// A page, with the results of the lines that have run.
struct Page {
    lines: Vec<CommandLine>,
    /// The environment of the lines; `None` before the first one.
    bench: Option<Bench>,
    /// The failure of each line that has run.
    faults: Vec<Option<String>>,
}

fn trials_of(path: PathBuf) -> Vec<Trial> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut lines = lines_of(&path);
    if !cfg!(feature = "system-tests") {
        lines.retain(|line| !line.needs_installed);
    }
    let trial_name = |line: &CommandLine| {
        let module = if line.needs_installed { "system::" } else { "" };
        format!("{module}{name}:{}: {}", line.line, line.text.trim())
    };
    let names: Vec<_> = lines.iter().map(trial_name).collect();
    let page = Arc::new(Mutex::new(Page { lines, bench: None, faults: Vec::new() }));
    let trial = |(index, name): (usize, String)| {
        let page = Arc::clone(&page);
        Trial::test(name, move || {
            let mut page = page.lock().unwrap_or_else(PoisonError::into_inner);
            page.failure_of(index).map_or(Ok(()), |fault| Err(Failed::from(fault)))
        })
    };
    names.into_iter().enumerate().map(trial).collect()
}

impl Page {
    /// Runs the lines up to this one, unless they have run, and returns its failure.
    fn failure_of(&mut self, index: usize) -> Option<String> {
        let bench = self.bench.get_or_insert_with(Bench::new);
        while self.faults.len() <= index {
            let line = &self.lines[self.faults.len()];
            self.faults.push(bench.run(&line.text));
        }
        let fault = self.faults[index].clone();
        if self.faults.len() == self.lines.len() {
            self.bench = None; // it was the last line
        }
        fault
    }
}
