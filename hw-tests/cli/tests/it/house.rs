//! Rules of the source tree, checked by reading it: layers, module cycles, packages.

mod circles;
mod engine;
mod layers;
mod packages;
mod platform;
mod project;
mod readme;

use std::path::{Path, PathBuf};

/// The folders that hold crates.
const FOLDERS: [&str; 5] = ["assembler", "firmware", "flasher", "hw-tests", "sargon-src"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the text of a file below the root.
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Adds every file below a folder whose name ends in `ending`; build products and data are left
/// out.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir()
            && !matches!(name.as_str(), "target" | "data" | "files" | "golden" | "node_modules")
        {
            files(&path, ending, found);
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

/// The files below the folders of crates whose names end in `ending`.
fn sources(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        files(&root().join(folder), ending, &mut found);
    }
    assert!(!found.is_empty());
    found
}

/// The folders of all crates of the workspace.
fn crates() -> Vec<PathBuf> {
    let mut manifests = Vec::new();
    for folder in FOLDERS {
        files(&root().join(folder), "Cargo.toml", &mut manifests);
    }
    let members = manifests.iter().filter_map(|path| path.parent());
    let is_apart =
        |part: &std::ffi::OsStr| ["experiments", "fuzz", "web"].iter().any(|apart| part == *apart);
    let in_workspace = |folder: &&Path| !folder.iter().any(is_apart);
    let mut crates: Vec<PathBuf> = members.filter(in_workspace).map(Path::to_owned).collect();
    crates.sort();
    assert!(crates.len() > 15, "{crates:?}");
    crates
}
