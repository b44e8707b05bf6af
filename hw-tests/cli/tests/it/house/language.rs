//! Every source file begins with a description, and lines fit in 100 columns.

use std::path::PathBuf;

use crate::house::{FOLDERS, files, read, root};

pub(super) fn sources(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        files(&root().join(folder), ending, &mut found);
    }
    assert!(!found.is_empty());
    found
}

#[test]
fn every_file_begins_with_a_description() {
    let headless = |path: &PathBuf| {
        let text = read(path);
        let first = text.lines().next().unwrap_or_default();
        !(first.starts_with("//! ") || first.starts_with("; "))
    };
    let found: Vec<_> = sources(".rs").into_iter().filter(headless).collect();
    assert!(found.is_empty(), "files without a header: {found:?}");
}

#[test]
fn lines_fit() {
    let mut pages = Vec::new();
    files(&root().join("docs"), ".md", &mut pages);
    pages.extend(["README.md", "CHANGELOG.md"].map(|name| root().join(name)));
    pages.extend(sources(".rs"));
    pages.extend(sources(".asm"));
    let long = |path: &PathBuf| {
        let text = read(path);
        let numbered = text.lines().enumerate();
        // Table rows, pictures, links and examples cannot be wrapped; rustfmt wraps code.
        let fixed = ["|", "![", "<", "    ", "```"];
        let is_code = path.extension().is_some_and(|end| end == "rs");
        let is_exempt = |line: &str| match is_code {
            true => !line.trim_start().starts_with("//") || line.contains("//! |"),
            false => fixed.iter().any(|start| line.starts_with(start)) || line.contains("://"),
        };
        let long = numbered.filter(|(_, line)| line.chars().count() > 100 && !is_exempt(line));
        long.map(|(at, _)| format!("{}:{}", path.display(), at + 1)).collect::<Vec<_>>()
    };
    let found: Vec<_> = pages.iter().flat_map(long).collect();
    assert!(found.is_empty(), "{} lines over 100 columns:\n{}", found.len(), found.join("\n"));
}
