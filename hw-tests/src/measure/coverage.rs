//! Which lines and branches of the Z80 code have run.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::meter::Meter;
use crate::debug::CodeMap;

/// What has run, over any number of boards and builds.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// Each line that made instructions, by file and number.
    lines: BTreeMap<(String, u32), Line>,
}

/// A line, its instructions numbered from 0.
#[derive(Debug, Clone, Default)]
struct Line {
    /// Whether in some build all its instructions have run, and whether any has.
    all_ran: bool,
    any_ran: bool,
    /// Its instructions on condition: whether each went on, and whether it went elsewhere.
    branches: BTreeMap<usize, [bool; 2]>,
}

/// The figures of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileCoverage {
    /// The file.
    pub file: String,
    /// Lines that made instructions.
    pub lines: usize,
    /// Those of them of which every instruction has run.
    pub covered: usize,
    /// Ways out of instructions on condition: two of each.
    pub branches: usize,
    /// Those that were taken.
    pub taken: usize,
    /// The lines of which some instruction has not run.
    pub missed: Vec<u32>,
    /// The lines with a way out that was not taken.
    pub partial: Vec<u32>,
}

impl Coverage {
    /// Adds what was counted on a board.
    pub fn add(&mut self, meter: &Meter, code: &CodeMap) {
        for made in code.lines().filter(|line| line.is_code) {
            let key = (made.place.file.to_string(), made.place.line);
            let line = self.lines.entry(key).or_default();
            let instructions = code.instructions(made);
            let ran = |at: u16| meter.at(at).runs > 0;
            line.all_ran |= instructions.iter().all(|(at, _)| ran(*at));
            line.any_ran |= instructions.iter().any(|(at, _)| ran(*at));
            for (number, (at, decoded)) in instructions.iter().enumerate() {
                let clocks = decoded.form.clocks;
                let count = meter.at(*at);
                if clocks.taken != clocks.not_taken || is_jump(decoded.form.zilog) {
                    let [on, away] = line.branches.entry(number).or_default();
                    *on |= count.runs > count.jumps;
                    *away |= count.jumps > 0;
                }
            }
        }
    }

    /// The figures of each file.
    #[must_use]
    pub fn files(&self) -> Vec<FileCoverage> {
        let mut files: BTreeMap<&str, FileCoverage> = BTreeMap::new();
        for ((file, number), line) in &self.lines {
            let entry = files.entry(file).or_insert_with(|| FileCoverage::of(file));
            entry.lines += 1;
            if line.all_ran {
                entry.covered += 1
            } else {
                entry.missed.push(*number)
            }
            entry.branches += 2 * line.branches.len();
            let taken = line.branches.values().flatten().filter(|taken| **taken).count();
            entry.taken += taken;
            if line.any_ran && taken < 2 * line.branches.len() {
                entry.partial.push(*number);
            }
        }
        files.into_values().collect()
    }
}

impl FileCoverage {
    fn of(file: &str) -> Self {
        let (missed, partial) = (Vec::new(), Vec::new());
        Self { file: file.to_owned(), lines: 0, covered: 0, branches: 0, taken: 0, missed, partial }
    }

    /// All files together.
    #[must_use]
    pub fn total(files: &[Self]) -> Self {
        let sum = |figure: fn(&Self) -> usize| files.iter().map(figure).sum();
        Self {
            lines: sum(|one| one.lines),
            covered: sum(|one| one.covered),
            branches: sum(|one| one.branches),
            taken: sum(|one| one.taken),
            ..Self::of("all")
        }
    }

    /// Lines covered, in percent.
    #[must_use]
    pub fn percent(&self) -> f64 {
        percent(self.covered, self.lines)
    }
}

/// JP on condition, whose times do not tell it from JP.
fn is_jump(zilog: &str) -> bool {
    zilog.starts_with("JP ") && zilog.contains(',')
}

/// A table of files, for people, and what did not run.
#[must_use]
pub fn coverage_table(files: &[FileCoverage], code: &[CodeMap]) -> String {
    let mut text = String::from("lines  covered       %  branches   taken       %  file\n");
    for one in files.iter().chain([&FileCoverage::total(files)]) {
        let FileCoverage { file, lines, covered, branches, taken, .. } = one;
        let (of_lines, of_branches) = (one.percent(), percent(*taken, *branches));
        let _ = writeln!(
            text,
            "{lines:5}  {covered:7}  {of_lines:6.1}  {branches:8}  {taken:6}  {of_branches:6.1}  {file}"
        );
    }
    for (title, lines) in
        [("not run", missed as fn(&FileCoverage) -> &[u32]), ("one way only", partial)]
    {
        for one in files.iter().filter(|one| !lines(one).is_empty()) {
            for line in lines(one) {
                let known = code.iter().map(|map| map.text(&one.file));
                let source = known.filter_map(|text| text.get(*line as usize - 1)).next();
                let source = source.map_or("", |source| source.trim());
                let _ = writeln!(text, "{title}: {}:{line}: {source}", one.file);
            }
        }
    }
    text
}

fn missed(one: &FileCoverage) -> &[u32] {
    &one.missed
}

fn partial(one: &FileCoverage) -> &[u32] {
    &one.partial
}

fn percent(part: usize, all: usize) -> f64 {
    if all == 0 { 100.0 } else { part as f64 * 100.0 / all as f64 }
}
