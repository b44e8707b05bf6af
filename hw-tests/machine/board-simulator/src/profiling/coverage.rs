//! Line and branch coverage of the Z80 code.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::Serialize;
use tdlasm::link::LinkedLine;

use crate::profiling::step_counter::StepCounter;
use firmware::code_map::CodeMap;

/// Coverage over any number of boards and builds.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// The lines with instructions, by file and number.
    lines: BTreeMap<(String, u32), Line>,
    /// The routines by the place of their first line: name, and how often they were entered.
    routines: BTreeMap<(String, u32), (String, u64)>,
    /// The names of files by their paths on the disk, where two programs name one differently.
    names: BTreeMap<PathBuf, String>,
}

#[derive(Debug, Clone, Default)]
struct Line {
    /// Whether all instructions have run in some build, and whether any has.
    all_ran: bool,
    any_ran: bool,
    /// How often the first instruction ran.
    runs: u64,
    /// Conditional instructions by index in the line: how often each fell through and branched.
    branches: BTreeMap<usize, [u64; 2]>,
}

/// The coverage of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileCoverage {
    /// The file name.
    pub file: String,
    /// The number of lines with instructions.
    pub lines: usize,
    /// The number of lines whose instructions have all run.
    pub covered: usize,
    /// The number of branches: two per conditional instruction.
    pub branches: usize,
    /// The number of branches taken.
    pub taken: usize,
    /// The lines with an instruction that has not run.
    pub missed: Vec<u32>,
    /// The lines with a branch that was not taken.
    pub partial: Vec<u32>,
}

impl Coverage {
    /// Adds the counts of a board with these programs.
    pub fn add(&mut self, meter: &StepCounter, code: &CodeMap) {
        self.add_routines(meter, code);
        for made in code.lines().filter(|line| line.is_code) {
            let key = self.key(made, code);
            let line = self.lines.entry(key).or_default();
            let instructions = code.instructions(made);
            let ran = |at: u16| meter.at(at).runs > 0;
            line.all_ran |= instructions.iter().all(|(at, _)| ran(*at));
            line.any_ran |= instructions.iter().any(|(at, _)| ran(*at));
            line.runs += instructions.first().map_or(0, |(at, _)| meter.at(*at).runs);
            for (number, (at, decoded)) in instructions.iter().enumerate() {
                let clocks = decoded.form.clocks;
                let count = meter.at(*at);
                if clocks.taken != clocks.not_taken || is_conditional_jump(decoded.form.zilog) {
                    let [on, away] = line.branches.entry(number).or_default();
                    *on += count.runs - count.jumps;
                    *away += count.jumps;
                }
            }
        }
    }

    fn add_routines(&mut self, meter: &StepCounter, code: &CodeMap) {
        let mut entered: BTreeMap<u16, u64> = BTreeMap::new();
        for node in meter.calls().iter().skip(1) {
            *entered.entry(node.routine).or_default() += node.calls;
        }
        for start in meter.routines().starts() {
            let Some(line) = code.line_at(start) else { continue };
            // Code that was copied before it ran is not in the tree of calls.
            let has_run = u64::from(meter.at(start).runs > 0);
            let calls = entered.get(&start).copied().unwrap_or(0).max(has_run);
            let new = || (code.address_name(start), 0);
            let key = self.key(line, code);
            self.routines.entry(key).or_insert_with(new).1 += calls;
        }
    }

    /// Returns the file and number of a line. A file has one name, which was seen first.
    fn key(&mut self, line: &LinkedLine, code: &CodeMap) -> (String, u32) {
        let file = &line.place.file;
        let name = match code.path(file) {
            Some(path) if !self.names.contains_key(path) => {
                self.names.insert(path.to_owned(), file.to_string());
                file.to_string()
            }
            Some(path) => self.names[path].clone(),
            None => file.to_string(),
        };
        (name, line.place.line)
    }

    /// Removes other files than those for which `is_kept` returns `true`.
    pub fn retain_files(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.lines.retain(|(file, _), _| is_kept(file));
        self.routines.retain(|(file, _), _| is_kept(file));
    }

    /// Returns the lines of a file that have not run, as ranges with no other code in between.
    #[must_use]
    pub fn missed_ranges(&self, file: &str) -> Vec<RangeInclusive<u32>> {
        let lines = self.lines.range(line_keys(file));
        let lines: Vec<_> = lines.map(|((_, number), line)| (*number, line.all_ran)).collect();
        let runs = lines.chunk_by(|one, next| one.1 == next.1).filter(|run| !run[0].1);
        runs.map(|run| run[0].0..=run[run.len() - 1].0).collect()
    }

    /// Returns the coverage of each file.
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
            let taken = line.branches.values().flatten().filter(|taken| **taken > 0).count();
            entry.taken += taken;
            if line.any_ran && taken < 2 * line.branches.len() {
                entry.partial.push(*number);
            }
        }
        files.into_values().collect()
    }

    /// Returns the coverage as an lcov tracefile, for genhtml and editors. `FNDA` counts entries of
    /// a routine, `DA` runs of a line's first instruction, 0 if one of its instructions never ran,
    /// `BRDA` the branches of conditional instructions. `path` maps a file name to its path.
    pub fn lcov(&self, path: impl Fn(&str) -> String) -> String {
        let mut text = String::from("TN:\n");
        let files: BTreeSet<&str> = self.lines.keys().map(|(file, _)| file.as_str()).collect();
        for figures in self.files() {
            let Some(file) = files.get(figures.file.as_str()) else { continue };
            let _ = writeln!(text, "SF:{}", path(file));
            self.write_routines(&mut text, file);
            for ((_, number), line) in self.lines.range(line_keys(file)) {
                line.write_branches(&mut text, *number);
            }
            let FileCoverage { lines, covered, branches, taken, .. } = figures;
            let _ = writeln!(text, "BRF:{branches}\nBRH:{taken}");
            for ((_, number), line) in self.lines.range(line_keys(file)) {
                let runs = if line.all_ran { line.runs.max(1) } else { 0 };
                let _ = writeln!(text, "DA:{number},{runs}");
            }
            let _ = writeln!(text, "LF:{lines}\nLH:{covered}\nend_of_record");
        }
        text
    }

    fn write_routines(&self, text: &mut String, file: &str) {
        let mut names = BTreeSet::new();
        let mut counts = String::new();
        let (mut found, mut called) = (0, 0);
        for ((_, line), (name, calls)) in self.routines.range(line_keys(file)) {
            // Modules of a file may have local routines of the same name.
            let name = if names.insert(name) { name.clone() } else { format!("{name}:{line}") };
            let _ = writeln!(text, "FN:{line},{name}");
            let _ = writeln!(counts, "FNDA:{calls},{name}");
            found += 1;
            called += u32::from(*calls > 0);
        }
        let _ = writeln!(text, "{counts}FNF:{found}\nFNH:{called}");
    }
}

/// The key range of a file's lines.
fn line_keys(file: &str) -> RangeInclusive<(String, u32)> {
    (file.to_owned(), 0)..=(file.to_owned(), u32::MAX)
}

impl Line {
    fn write_branches(&self, text: &mut String, number: u32) {
        for (block, ways) in &self.branches {
            for (way, taken) in ways.iter().enumerate() {
                // A dash means that the instruction was never reached.
                let taken = if self.any_ran { taken.to_string() } else { "-".to_owned() };
                let _ = writeln!(text, "BRDA:{number},{block},{way},{taken}");
            }
        }
    }
}

impl FileCoverage {
    fn of(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            lines: 0,
            covered: 0,
            branches: 0,
            taken: 0,
            missed: Vec::new(),
            partial: Vec::new(),
        }
    }

    /// Returns the total of all files.
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

    /// Returns the share of covered lines in percent.
    pub fn percent(&self) -> f64 {
        percent(self.covered, self.lines)
    }
}

/// Returns `true` for JP with a condition, whose T-states are the same whether it is taken or not.
fn is_conditional_jump(zilog: &str) -> bool {
    zilog.starts_with("JP ") && zilog.contains(',')
}

/// Formats a table of the files, and a list of the lines and branches that did not run.
pub fn coverage_table(files: &[FileCoverage], code: &[&CodeMap]) -> String {
    let mut text = String::from("lines  covered       %  branches   taken       %  file\n");
    for one in files.iter().chain([&FileCoverage::total(files)]) {
        let FileCoverage { file, lines, covered, branches, taken, .. } = one;
        let of_lines = one.percent();
        let of_branches = percent(*taken, *branches);
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
