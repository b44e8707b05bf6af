//! The book's contents name every page, and every link leads somewhere.

use std::path::Path;

use crate::book::{docs, pages};

/// The targets of the links in a page, without their fragments.
fn targets(page: &str) -> Vec<(String, Option<String>)> {
    let after = page.split("](").skip(1);
    let target = |rest: &str| rest.split(')').next().unwrap_or_default().to_owned();
    let split = |target: String| match target.split_once('#') {
        Some((file, fragment)) => (file.to_owned(), Some(fragment.to_owned())),
        None => (target, None),
    };
    after.map(target).filter(|target| !target.contains("://")).map(split).collect()
}

/// Returns the anchor of a heading: lower case, words joined by hyphens.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

fn has_anchor(page: &str, wanted: &str) -> bool {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).any(|one| one == wanted)
}

#[test]
fn the_contents_name_every_page_once() {
    let contents = std::fs::read_to_string(docs().join("SUMMARY.md")).expect("the contents");
    for page in pages().iter().filter(|page| *page != "SUMMARY.md") {
        assert_eq!(contents.matches(&format!("]({page})")).count(), 1, "{page}");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let readme = Path::new("../README.md").to_owned();
    let all = pages().into_iter().map(Into::into).chain([readme]);
    for path in all.map(|page| docs().join(page)) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        for (file, fragment) in targets(&text) {
            let to = if file.is_empty() { path.clone() } else { path.with_file_name(&file) };
            assert!(to.exists(), "{}: there is no {file}", path.display());
            if let Some(fragment) = fragment {
                let there = std::fs::read_to_string(&to).unwrap_or_default();
                let message = format!("{}: {file} has no #{fragment}", path.display());
                assert!(has_anchor(&there, &fragment), "{message}");
            }
        }
    }
}
