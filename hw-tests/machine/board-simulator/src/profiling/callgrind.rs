//! Exports profiles in callgrind's format (valgrind's manual, "Callgrind Format Specification"),
//! for KCachegrind and callgrind_annotate. The event is the T-state.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::profiling::profile::qualified_name;
use crate::profiling::step_counter::StepCounter;
use firmware::code_map::CodeMap;

#[derive(Default)]
struct Routine {
    /// T-states by file and line.
    lines: BTreeMap<(String, u32), u64>,
    /// The routines that it entered.
    entries: BTreeMap<u16, Entry>,
}

#[derive(Default)]
struct Entry {
    site: u16,
    calls: u64,
    total: u64,
}

/// A profile of one or more programs.
#[derive(Debug, Clone, Default)]
pub struct CallgrindProfile {
    routines: String,
    t_states: u64,
}

impl CallgrindProfile {
    /// Adds the counts of a board with these programs.
    pub fn add(&mut self, meter: &StepCounter, code: &CodeMap) {
        let mut routines: BTreeMap<u16, Routine> = BTreeMap::new();
        for at in code.all_instructions().into_keys() {
            let t_states = meter.at(at).t_states;
            if t_states > 0 {
                let owner = meter.routines().owner(at).unwrap_or(at);
                let lines = &mut routines.entry(owner).or_default().lines;
                *lines.entry(place(code, at)).or_default() += t_states;
                self.t_states += t_states;
            }
        }
        add_entries(meter, 0, &mut routines);
        for (at, routine) in &routines {
            write_routine(&mut self.routines, code, *at, routine);
        }
    }

    /// Returns the T-states of all instructions.
    #[must_use]
    pub fn t_states(&self) -> u64 {
        self.t_states
    }

    /// Returns the profile in callgrind's format; `command` is what was measured.
    #[must_use]
    pub fn to_text(&self, command: &str) -> String {
        let Self { routines, t_states } = self;
        format!(
            "# callgrind format\nversion: 1\ncreator: hw-tests {}\ncmd: {}\npositions: line\n\
             events: Tstates\nsummary: {t_states}\n{routines}",
            env!("CARGO_PKG_VERSION"),
            command.replace(char::is_control, " "),
        )
    }
}

/// Adds the entries below a node of the call tree to their callers.
fn add_entries(meter: &StepCounter, number: usize, routines: &mut BTreeMap<u16, Routine>) {
    let calls = meter.calls();
    let node = calls.node(number);
    for callee in &node.callees {
        let entered = calls.node(*callee);
        // The root is not a routine.
        if number != 0 {
            let entries = &mut routines.entry(node.routine).or_default().entries;
            let entry = entries.entry(entered.routine).or_default();
            entry.site = entered.site;
            entry.calls += entered.calls;
            entry.total += calls.total(*callee);
        }
        add_entries(meter, *callee, routines);
    }
}

fn write_routine(text: &mut String, code: &CodeMap, at: u16, routine: &Routine) {
    let (file, first) = place(code, at);
    let _ = writeln!(text, "\nfl={file}\nfn={}", qualified_name(code, at));
    let mut current = file;
    for ((file, line), t_states) in &routine.lines {
        if *file != current {
            let _ = writeln!(text, "fi={file}");
            current.clone_from(file);
        }
        let _ = writeln!(text, "{line} {t_states}");
    }
    for (callee, Entry { site, calls, total }) in &routine.entries {
        let (callee_file, callee_line) = place(code, *callee);
        let (_, line) = code.line_at(*site).map_or((String::new(), first), |_| place(code, *site));
        let name = qualified_name(code, *callee);
        // A routine entered only in its middle counts 0 calls; the format needs at least one.
        let calls = (*calls).max(1);
        let _ = writeln!(text, "cfl={callee_file}\ncfn={name}\ncalls={calls} {callee_line}");
        let _ = writeln!(text, "{line} {total}");
    }
}

/// File and line of an address; line 0 if it has none.
fn place(code: &CodeMap, at: u16) -> (String, u32) {
    let line = code.line_at(at);
    line.map_or(("???".to_owned(), 0), |line| (line.place.file.to_string(), line.place.line))
}
