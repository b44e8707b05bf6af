//! Every command line of README and of the pages, each a test of its own: `cargo test -p hw-tests
//! --test lines BOARDS` runs those of one page.
//!
//! The lines of a page are typed in their order, as its reader does: a line that is asked for alone
//! runs after those before it.

mod bench;
mod commands;
#[allow(dead_code, reason = "command lines are run by a shell")]
#[path = "../common/programs.rs"]
mod programs;
#[path = "../common/sim.rs"]
mod sim;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Failed, Trial};

use bench::Bench;
use commands::CommandLine;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![commands_found()];
    // Line by line through all pages, so that several pages are at work at a time.
    let mut pages: Vec<_> = pages().into_iter().map(|page| trials_of(page).into_iter()).collect();
    while !pages.is_empty() {
        trials.extend(pages.iter_mut().filter_map(Iterator::next));
        pages.retain(|rest| rest.len() > 0);
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn commands_found() -> Trial {
    Trial::test("command_lines_are_found_where_they_are_shown_as_such", || {
        commands::check();
        Ok(())
    })
}

/// The page names with their paths: README, and all documents.
fn pages() -> Vec<PathBuf> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let entries = std::fs::read_dir(&docs).expect("the documents").flatten();
    let mut pages: Vec<_> = entries.map(|entry| entry.path()).collect();
    pages.retain(|page| page.extension().is_some_and(|end| end == "md"));
    pages.push(docs.join("../README.md"));
    pages.sort();
    pages
}

/// A page whose lines are typed so far as they were asked for.
struct Page {
    lines: Vec<CommandLine>,
    /// The reader's surroundings, from the first line that is typed.
    bench: Option<Bench>,
    /// The fault of each line that was typed.
    faults: Vec<Option<String>>,
}

fn trials_of(path: PathBuf) -> Vec<Trial> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let lines = commands::command_lines(&std::fs::read_to_string(path).expect("the page"));
    let names: Vec<_> =
        lines.iter().map(|line| format!("{name}:{}: {}", line.line, line.text.trim())).collect();
    let page = Arc::new(Mutex::new(Page { lines, bench: None, faults: Vec::new() }));
    let trial = |(index, name): (usize, String)| {
        let page = Arc::clone(&page);
        Trial::test(name, move || {
            let mut page = page.lock().unwrap_or_else(PoisonError::into_inner);
            page.fault_of(index).map_or(Ok(()), |fault| Err(Failed::from(fault)))
        })
    };
    names.into_iter().enumerate().map(trial).collect()
}

impl Page {
    /// Types the lines up to this one, unless they were typed before, and returns its fault.
    fn fault_of(&mut self, index: usize) -> Option<String> {
        let bench = self.bench.get_or_insert_with(Bench::new);
        while self.faults.len() <= index {
            let line = &self.lines[self.faults.len()];
            self.faults.push(bench.run(&line.text));
        }
        let fault = self.faults[index].clone();
        if self.faults.len() == self.lines.len() {
            self.bench = None; // nothing is typed any more
        }
        fault
    }
}
