//! The language of documentation: first words of doc comments, headers of files, lines that fit.

use std::path::{Path, PathBuf};

use crate::{FOLDERS, files, read, root};

/// Words that begin a question or a riddle, not a noun phrase or a third-person verb.
const ODD: [&str; 5] = ["What", "How", "Where", "Who", "Why"];

pub(super) fn sources(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        files(&root().join(folder), ending, &mut found);
    }
    assert!(!found.is_empty());
    found
}

#[test]
fn every_file_begins_with_what_it_owns() {
    let headless = |path: &PathBuf| {
        let text = read(path);
        let first = text.lines().next().unwrap_or_default();
        !(first.starts_with("//! ") || first.starts_with("; "))
    };
    let found: Vec<_> = sources(".rs").into_iter().filter(headless).collect();
    assert!(found.is_empty(), "files without a header: {found:?}");
}

/// Returns the first line of each doc comment, with its place.
fn doc_comments(path: &Path) -> Vec<String> {
    let text = read(path);
    let mut found = Vec::new();
    let mut within = "";
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let mark = ["///", "//!"].into_iter().find(|mark| line.starts_with(mark)).unwrap_or("");
        if !mark.is_empty() && within != mark {
            let words = line[mark.len()..].trim();
            found.push(format!("{}:{}: {words}", path.display(), at + 1));
        }
        within = mark;
    }
    found
}

#[test]
fn no_doc_comment_begins_with_a_question_word() {
    let all: Vec<_> = sources(".rs").iter().flat_map(|path| doc_comments(path)).collect();
    let odd = |line: &&String| {
        let words = line.splitn(3, ':').nth(2).unwrap_or_default().trim();
        ODD.iter().any(|word| words.split(' ').next() == Some(word))
    };
    let found: Vec<_> = all.iter().filter(odd).map(String::as_str).collect();
    assert!(all.len() > 4000, "{} doc comments", all.len());
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), all.len(), found.join("\n"));
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
        // Rows of tables, pictures, links and examples can't be folded; code is rustfmt's.
        let fixed = ["|", "![", "<", "    ", "```"];
        let is_code = path.extension().is_some_and(|end| end == "rs");
        let kept = |line: &str| match is_code {
            true => !line.trim_start().starts_with("//") || line.contains("//! |"),
            false => fixed.iter().any(|start| line.starts_with(start)) || line.contains("://"),
        };
        let long = numbered.filter(|(_, line)| line.chars().count() > 100 && !kept(line));
        long.map(|(at, _)| format!("{}:{}", path.display(), at + 1)).collect::<Vec<_>>()
    };
    let found: Vec<_> = pages.iter().flat_map(long).collect();
    assert!(found.is_empty(), "{} lines over 100 columns:\n{}", found.len(), found.join("\n"));
}
