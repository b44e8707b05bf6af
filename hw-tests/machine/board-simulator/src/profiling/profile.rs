//! T-states by routine and by line.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

use crate::profiling::step_counter::StepCounter;
use firmware::code_map::CodeMap;

/// The T-states of a routine.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct RoutineTime {
    /// The name of the routine.
    pub name: String,
    /// How often it was entered at its beginning: by a call, a jump or falling through.
    pub calls: u64,
    /// T-states of its own instructions.
    pub self_t_states: u64,
    /// T-states with callees, from entry to return.
    pub total_t_states: u64,
}

/// The T-states of a line.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LineTime {
    /// The file name.
    pub file: String,
    /// The line number, from 1.
    pub line: u32,
    /// How often the first instruction ran.
    pub runs: u64,
    /// T-states of all its instructions.
    pub t_states: u64,
}

/// Returns the routines that ran, in descending order of their own T-states.
pub fn routine_times(meter: &StepCounter, code: &CodeMap) -> Vec<RoutineTime> {
    let mut entered = HashMap::new();
    add_calls(meter, 0, &mut Vec::new(), &mut entered);
    let mut found: BTreeMap<u16, RoutineTime> = BTreeMap::new();
    for address in code.all_instructions().into_keys() {
        let start = meter.routines().owner(address).unwrap_or(address);
        let routine = found.entry(start).or_insert_with(|| {
            let Entries { calls, total } = entered.get(&start).copied().unwrap_or_default();
            RoutineTime {
                name: qualified_name(code, start),
                calls,
                self_t_states: 0,
                total_t_states: total,
            }
        });
        routine.self_t_states += meter.at(address).t_states;
    }
    let mut all: Vec<_> =
        found.into_values().filter(|one| one.self_t_states + one.total_t_states > 0).collect();
    all.sort_by(|a, b| b.self_t_states.cmp(&a.self_t_states).then_with(|| a.name.cmp(&b.name)));
    all
}

#[derive(Debug, Clone, Copy, Default)]
struct Entries {
    calls: u64,
    total: u64,
}

/// The name of a routine, with its file unless the name is exported and therefore unique.
pub fn qualified_name(code: &CodeMap, address: u16) -> String {
    let name = code.address_name(address);
    match (code.label(address), code.line_at(address)) {
        (Some(label), _) if label.exported => name,
        (_, Some(line)) => format!("{name} ({})", code.short_name(&line.place.file)),
        _ => name,
    }
}

/// Adds the calls and T-states of a node and its callees; a recursive routine is counted once.
fn add_calls(
    meter: &StepCounter,
    number: usize,
    above: &mut Vec<u16>,
    all: &mut HashMap<u16, Entries>,
) {
    let node = meter.calls().node(number);
    if number != 0 {
        let entry = all.entry(node.routine).or_default();
        entry.calls += node.calls;
        if !above.contains(&node.routine) {
            entry.total += meter.calls().total(number);
        }
    }
    above.push(node.routine);
    for callee in &node.callees {
        add_calls(meter, *callee, above, all);
    }
    above.pop();
}

/// Returns the lines that ran, in descending order of T-states.
pub fn line_times(meter: &StepCounter, code: &CodeMap) -> Vec<LineTime> {
    let mut found: BTreeMap<(&str, u32), LineTime> = BTreeMap::new();
    for line in code.lines().filter(|line| line.is_code) {
        let key = (&*line.place.file, line.place.line);
        let time = found.entry(key).or_insert_with(|| LineTime {
            file: key.0.to_owned(),
            line: key.1,
            runs: 0,
            t_states: 0,
        });
        time.runs += meter.at(line.address).runs;
        let all = code.instructions(line);
        time.t_states += all.iter().map(|(at, _)| meter.at(*at).t_states).sum::<u64>();
    }
    let mut all: Vec<LineTime> = found.into_values().filter(|line| line.runs > 0).collect();
    all.sort_by(|a, b| {
        b.t_states.cmp(&a.t_states).then_with(|| (&a.file, a.line).cmp(&(&b.file, b.line)))
    });
    all
}

/// Formats a table of routines.
pub fn routine_table(routines: &[RoutineTime]) -> String {
    let all: u64 = routines.iter().map(|one| one.self_t_states).sum();
    let mut text =
        String::from("own T-states   part    with callees       calls  T a call  routine\n");
    for RoutineTime { name, calls, self_t_states: own, total_t_states: total } in routines {
        let part = percentage(*own, all);
        let each =
            total.checked_div(*calls).map_or_else(|| "-".to_owned(), |each| each.to_string());
        let _ = writeln!(text, "{own:12}  {part:5.1}  {total:14}  {calls:10}  {each:>8}  {name}");
    }
    let _ = writeln!(text, "{all:12}  100.0 %");
    text
}

/// Formats a table of the routines of two programs: their own T-states per position, averaged over
/// `count` positions, and the second in percent of the first.
pub fn comparison_table(names: [&str; 2], times: &[Vec<RoutineTime>; 2], count: usize) -> String {
    let own = |at: usize, name: &str| {
        let of = times[at].iter().find(|one| one.name == name);
        of.map_or(0, |one| one.self_t_states)
    };
    let names_of = |at: usize| times[at].iter().map(|one| one.name.as_str());
    let all: BTreeSet<&str> = names_of(0).chain(names_of(1)).collect();
    let mut rows: Vec<_> = all.into_iter().map(|name| (own(0, name), own(1, name), name)).collect();
    rows.sort_by_key(|&(one, other, name)| (Reverse(one.max(other)), name));
    let sum = |at: usize| times[at].iter().map(|one| one.self_t_states).sum();
    rows.push((sum(0), sum(1), "all"));
    let [first, second] = names;
    let mut text = format!("{first:>12}  {second:>12}   part  routine (T-states a position)\n");
    let each = |own: u64| own / (count.max(1) as u64);
    for (one, other, name) in rows {
        let part = match one {
            0 => "-".to_owned(),
            _ => format!("{:.1} %", percentage(other, one)),
        };
        let _ = writeln!(text, "{:12}  {:12}  {part:>8}  {name}", each(one), each(other));
    }
    text
}

/// Formats a table of the first `max_rows` lines.
pub fn line_table(lines: &[LineTime], max_rows: usize, code: &CodeMap) -> String {
    let all: u64 = lines.iter().map(|one| one.t_states).sum();
    let mut text = String::from("    T-states   part        runs  line\n");
    for LineTime { file, line, runs, t_states } in lines.iter().take(max_rows) {
        let source = code.text(file).get(*line as usize - 1).map_or("", |line| line.trim());
        let part = percentage(*t_states, all);
        let _ = writeln!(text, "{t_states:12}  {part:5.1}  {runs:10}  {file}:{line}  {source}");
    }
    text
}

/// Formats a source file with T-states and runs before each line: blank for lines without
/// instructions, a dash for lines that never ran.
pub fn annotated_source(file: &str, meter: &StepCounter, code: &CodeMap) -> String {
    let times = line_times(meter, code);
    let of_line: HashMap<u32, &LineTime> =
        times.iter().filter(|one| one.file == file).map(|one| (one.line, one)).collect();
    let made = |line: u32| {
        code.lines().any(|one| one.is_code && &*one.place.file == file && one.place.line == line)
    };
    let mut text = format!("{file}\n    T-states        runs\n");
    for (line, source) in (1..).zip(code.text(file)) {
        let figures = match of_line.get(&line) {
            Some(time) => format!("{:12}  {:10}", time.t_states, time.runs),
            None if made(line) => format!("{:>12}  {:>10}", "-", 0),
            None => " ".repeat(24),
        };
        let _ = writeln!(text, "{}", format!("{figures}  {line:4}  {source}").trim_end());
    }
    text
}

fn percentage(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 * 100.0 / all as f64 }
}
