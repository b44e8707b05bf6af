//! The documents and the tree: what one names must be in the other.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every source file below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && !matches!(name.as_str(), "target" | "data" | "files" | "fuzz") {
            sources(&path, found);
        } else if name.ends_with(".rs") || name.ends_with(".asm") {
            found.push(path);
        }
    }
}

#[test]
fn the_architecture_page_names_every_source_file() {
    let page = std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).expect("the page");
    let mut files = Vec::new();
    for folder in ["assembler", "sargon-src", "firmware", "flasher", "hw-tests"] {
        sources(&root().join(folder), &mut files);
    }
    assert!(files.len() > 80, "{}", files.len());
    let missing: Vec<_> = (files.iter())
        .filter_map(|path| path.file_name())
        .filter(|name| !page.contains(&*name.to_string_lossy()))
        .collect();
    assert!(missing.is_empty(), "docs/ARCHITECTURE.md does not name {missing:?}");
}

#[test]
fn the_readme_begins_with_the_main_job_and_the_tests() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the page");
    let commands: Vec<_> = readme.lines().filter(|line| line.starts_with("    cargo ")).collect();
    assert_eq!(commands[0].trim(), "cargo run --release -p hw-tests -- run");
    assert_eq!(commands[1].trim(), "cargo test --workspace");
}
