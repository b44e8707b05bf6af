//! The documents as a book: its contents, its links, its pictures. `lines` runs its command lines.

mod links;
mod pictures;

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
