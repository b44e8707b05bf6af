//! The documents as a book: its contents, its links, and every command line in it, which is run.

mod bench;
mod commands;
mod links;
mod pictures;
#[allow(dead_code, reason = "command lines are run by a shell")]
#[path = "../common/programs.rs"]
mod programs;
#[path = "../common/sim.rs"]
mod sim;

use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The names of the pages, as the contents give them.
fn pages() -> Vec<String> {
    let entries = std::fs::read_dir(docs()).expect("the documents");
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut pages: Vec<_> = names.filter(|name| name.ends_with(".md")).collect();
    pages.sort();
    pages
}

/// Runs the command lines of every page, some pages at a time.
#[test]
fn every_command_line_works() {
    let mut all = pages();
    all.push("../README.md".to_owned());
    let next = std::sync::Mutex::new(all.into_iter());
    let run = || {
        let mut faults = Vec::new();
        loop {
            let page = next.lock().expect("nobody panics here").next();
            let Some(page) = page else { return faults };
            let text = std::fs::read_to_string(docs().join(&page)).expect("the page");
            faults.extend(bench::run_all(&page, &commands::command_lines(&text)));
        }
    };
    let faults: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("it ends")).collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
