//! Loads an edited program again, and names breakpoints so that they can be set in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::execute;
use crate::render::source_number;
use crate::{Debugger, HaltReason, StopKind, WatchTarget, canonical_register_name, parse_number};

/// Loads the program again if its sources have changed, with the breakpoints, or
/// else restores the state in which the debugger was created. Logs what has changed.
pub(super) fn restart(debugger: &mut Debugger) -> HaltReason {
    let changed = debugger.code().changed_files().join(", ");
    if changed.is_empty() {
        return debugger.restart();
    }
    let Some(mut reload) = debugger.reload.take() else {
        let problem = "has changed since the program was loaded; quit, and debug it again";
        debugger.stops.log.push(format!("{changed} {problem}"));
        return debugger.restart();
    };
    match reload() {
        Ok(mut fresh) => {
            fresh.reload = Some(reload);
            fresh.stops.log.push(format!("{changed} has changed: the program is loaded again"));
            let code = Arc::clone(&fresh.code);
            let moved = |at| debugger.code().moved_address(at, &code);
            let place = |at| moved(at).map(|at| source_number(at, 4));
            for command in debugger.stop_commands(place) {
                if let Err(problem) = execute(&mut fresh, &command, &mut |_| true) {
                    fresh.stops.log.push(format!("{command}: {problem}"));
                }
            }
            *debugger = fresh;
            HaltReason::HistoryStart
        }
        Err(problem) => {
            debugger.reload = Some(reload);
            problem.lines().for_each(|line| debugger.stops.log.push(line));
            let summary = in_one_line(&problem);
            debugger.stops.log.push(format!("{summary}; the program is restarted as it was"));
            debugger.restart()
        }
    }
}

/// Returns the first message of an error in one line, with its place.
fn in_one_line(problem: &str) -> String {
    let lines: Vec<&str> = problem.lines().collect();
    let place = |line: &str| line.trim_start().strip_prefix("--> ").map(str::to_owned);
    let found = lines.windows(2).find_map(|pair| Some((place(pair[1])?, pair[0])));
    let first = || lines.first().map(|line| (*line).to_owned()).unwrap_or_default();
    found.map_or_else(first, |(place, message)| format!("{place}: {message}"))
}

impl Debugger {
    /// Returns the commands that set the breakpoints, watchpoints and displays again, by labels and
    /// lines, for a later session.
    pub fn saved_stops(&self) -> Vec<String> {
        self.stop_commands(|at| Some(self.place_name(at)))
    }

    /// Names an address by a label or a line that stands for this address alone, or else in digits.
    fn place_name(&self, at: u16) -> String {
        let code = self.code();
        let is_name =
            |name: &&str| canonical_register_name(name).is_none() && parse_number(name).is_none();
        let label = code.label(at).map(|label| label.name.as_str()).filter(is_name);
        if let Some(label) = label.filter(|label| code.symbol(label) == Some(at)) {
            return label.to_owned();
        }
        let line = code.line_at(at).map(|line| (&*line.place.file, line.place.line));
        let is_line = |(file, line): &(&str, u32)| {
            let found = code.breakpoint_line(file, *line);
            found.is_some_and(|(number, places)| number == *line && places == [at])
        };
        let line = line.filter(is_line);
        line.map_or_else(|| source_number(at, 4), |(file, line)| format!("{file}:{line}"))
    }

    /// Returns the commands that set all stops, in order; those without a place are left out.
    fn stop_commands(&self, place: impl Fn(u16) -> Option<String>) -> Vec<String> {
        let command = |kind: &StopKind| {
            let watch = match kind {
                StopKind::Breakpoint(address) => {
                    return Some(format!("break {}", place(*address)?));
                }
                StopKind::Watchpoint(watch) => watch,
            };
            let what = match watch.target {
                WatchTarget::Register(name) => name.to_owned(),
                WatchTarget::Ports => {
                    format!("port {},{}", source_number(watch.first, 2), watch.count)
                }
                WatchTarget::Memory => format!("{},{}", place(watch.first)?, watch.count),
            };
            let access = match (watch.reads, watch.writes) {
                (true, true) => " rw",
                (true, false) => " r",
                _ => "",
            };
            Some(format!("watch {what}{access}"))
        };
        let stops = self.stops.iter().filter_map(|(id, stop)| {
            Some((id, format!("{} {}", command(&stop.kind)?, stop.written).trim_end().to_owned()))
        });
        let displays = self.stops.displays().map(|(id, text)| (id, format!("display {text}")));
        let all: BTreeMap<u32, String> = stops.chain(displays).collect();
        all.into_values().collect()
    }
}
