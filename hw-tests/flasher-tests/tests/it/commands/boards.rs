//! Board profiles: their records of tests are correct, and agree with docs/BOARDS.md.

use std::process::Command;

use firmware::profile::{BoardProfile, TestedOn};

use crate::commands::bench::{RunEnd, rcflash};
use crate::programs;

const DOCUMENT: &str = include_str!("../../../../../docs/BOARDS.md");

fn profiles() -> impl Iterator<Item = BoardProfile> {
    BoardProfile::names().map(|name| BoardProfile::named(name).expect("it ships"))
}

#[test]
fn the_list_and_the_document_name_every_board_and_what_it_was_tried_on() {
    let listed = rcflash(&["boards"]).assert_ends(0, &[]).text();
    let mut lines = listed.lines();
    for profile in profiles() {
        for kit in &profile.boards {
            let name = &kit.name;
            let tried = kit.tried();
            let line = lines.next().unwrap_or_default();
            assert!(line.starts_with(&profile.name), "{line}");
            assert!(line.contains(name) && line.ends_with(&tried), "{line}");
            let row = format!("| `{}` | {name} | {tried} |", profile.name);
            assert!(DOCUMENT.lines().any(|line| line.starts_with(&row)), "no row {row}");
        }
        let heading = format!("## {}", profile.name);
        assert!(DOCUMENT.lines().any(|line| line == heading), "no chapter {heading}");
    }
    assert_eq!(lines.next(), None);
    let rows =
        DOCUMENT.lines().filter(|line| line.starts_with("| `rc2014-") || line.starts_with("| `sc"));
    assert_eq!(rows.count(), listed.lines().count(), "rows of boards that are not listed");
}

#[test]
fn boards_that_were_tried_by_simulation_pass_there() {
    for profile in profiles() {
        let is_tried = |tried: &TestedOn| *tried == TestedOn::Simulation;
        if profile.boards.iter().any(|kit| kit.tried.iter().any(is_tried)) {
            let mut run = Command::new(programs::path("hw-tests"));
            run.args(["run", "--tag", "document", "--board", &profile.name]);
            let ended = RunEnd::from_output(run.output().expect("it starts")).assert_ends(0, &[]);
            assert!(ended.text().contains("PASS: "), "{}: {}", profile.name, ended.text());
        }
    }
}
