//! Files of SDCC: names of its linker, `.map` and `.cdb`.
//!
//! The linker gives more than labels: `C$main.c$5$0_0$3` is the code of a line of C, `A$start$5` that
//! of a line of an assembler module, `s__DATA` and `l__DATA` are start and length of an area,
//! `G$name$0$0` a global function or variable, `Fmodule$name$0$0` a static one, whose label is
//! `_name`, and `XG$` and `XF` are ends of functions (SDCC, "CDB File Format").

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::{DebugInfo, Parameter, SymbolKind, read_lines};
use crate::error::{DebugInfoError, LineError};
use crate::number::{hexadecimal, line_number};

/// Names of the linker that mean more than an address.
#[derive(Default)]
pub(super) struct Names {
    /// The lines of assembler modules.
    assembler_lines: Vec<(i64, Arc<str>, u32)>,
    /// The starts and lengths of areas, by their names.
    areas: BTreeMap<String, (Option<i64>, Option<i64>)>,
    /// The labels of C names.
    c_labels: Vec<(String, i64, bool)>,
    files: HashMap<String, Arc<str>>,
}

impl Names {
    /// Adds a name with its value.
    pub(super) fn add(&mut self, name: &str, value: i64, info: &mut DebugInfo) {
        let parts: Vec<&str> = name.split('$').collect();
        match parts[..] {
            ["C", file, line, ..] if line_number(line).is_some() => {
                let line = line_number(line).unwrap_or_default();
                info.add_line(value, &self.file(file), line);
            }
            ["A", module, line] if line_number(line).is_some() => {
                let line = line_number(line).unwrap_or_default();
                let module = self.file(module);
                self.assembler_lines.push((value, module, line));
            }
            [mark @ ("G" | "XG"), name, ..] => self.add_c_label(mark == "G", name, value, true),
            [scope, c_name, _, ..] if scope.starts_with(['F', 'L']) => {
                self.add_c_label(scope.starts_with('F'), c_name, value, false);
                self.add_plain(name, value, info);
            }
            [scope, _, _, ..] if scope.starts_with("XF") => {}
            _ => self.add_plain(name, value, info),
        }
    }

    fn add_c_label(&mut self, has_label: bool, name: &str, value: i64, exported: bool) {
        if has_label {
            self.c_labels.push((format!("_{name}"), value, exported));
        }
    }

    fn add_plain(&mut self, name: &str, value: i64, info: &mut DebugInfo) {
        if name.starts_with(".__.") {
            return; // of the assembler itself
        }
        if let Some(area) = name.strip_prefix("s_") {
            self.areas.entry(area.to_owned()).or_default().0 = Some(value);
        } else if let Some(area) = name.strip_prefix("l_") {
            self.areas.entry(area.to_owned()).or_default().1 = Some(value);
        }
        let is_linkers = ["s__", "l__"].iter().any(|prefix| name.starts_with(prefix));
        let kind = if is_linkers { SymbolKind::Constant } else { SymbolKind::Address };
        info.add_symbol(name, value, kind);
    }

    fn file(&mut self, name: &str) -> Arc<str> {
        Arc::clone(self.files.entry(name.to_owned()).or_insert_with(|| Arc::from(name)))
    }

    /// Adds lines at functions of C that begin without one: the line of their next code.
    fn add_function_starts(&self, info: &mut DebugInfo) {
        let by_address: BTreeMap<i64, (Arc<str>, u32)> = info
            .lines
            .iter()
            .map(|line| (line.address.into(), (Arc::clone(&line.file), line.line)))
            .collect();
        let code: HashSet<i64> = self.assembler_lines.iter().map(|(at, ..)| *at).collect();
        let functions = self.c_labels.iter().map(|(_, at, _)| *at).filter(|at| code.contains(at));
        for at in functions.filter(|at| !by_address.contains_key(at)) {
            if let Some((_, (file, line))) = by_address.range(at..).next() {
                info.add_line(at, file, *line);
            }
        }
    }

    /// Adds what is known after the last line.
    pub(super) fn finish(self, info: &mut DebugInfo) {
        self.add_function_starts(info);
        let known: HashSet<(String, i64)> =
            info.symbols.iter().map(|symbol| (symbol.name.clone(), symbol.value)).collect();
        for (name, value, exported) in self.c_labels {
            if !known.contains(&(name.clone(), value)) {
                info.add_symbol(&name, value, SymbolKind::Address);
                if let Some(symbol) = info.symbols.last_mut() {
                    symbol.exported = exported;
                }
            }
        }
        // The option -j adds `module.7` for each line.
        let lines: HashSet<String> =
            self.assembler_lines.iter().map(|(_, file, line)| format!("{file}.{line}")).collect();
        info.symbols.retain(|symbol| !lines.contains(&symbol.name));
        for (area, range) in self.areas {
            if let (Some(start), Some(length)) = range
                && !info.areas.iter().any(|known| known.name == area)
            {
                info.add_area(&area, start, length);
            }
        }
        add_assembler_lines(self.assembler_lines, info);
    }
}

/// Adds the lines of assembler modules that are not output of the compiler, whose lines of C have the
/// same addresses.
fn add_assembler_lines(lines: Vec<(i64, Arc<str>, u32)>, info: &mut DebugInfo) {
    let of_c: HashSet<i64> = info.lines.iter().map(|line| i64::from(line.address)).collect();
    let compiled: HashSet<Arc<str>> = lines
        .iter()
        .filter(|(at, ..)| of_c.contains(at))
        .map(|(_, module, _)| Arc::clone(module))
        .collect();
    for (at, module, line) in lines.iter().filter(|(_, module, _)| !compiled.contains(module)) {
        info.add_line(*at, module, *line);
    }
}

/// `L:G$main$0$0:8003` and other records, without addresses (SDCC, "CDB File Format").
pub(super) fn read_cdb(text: &str) -> Result<DebugInfo, LineError> {
    let mut names = Names::default();
    let expected = "of SDCC's .cdb, as L:G$main$0$0:8003";
    let mut info = read_lines(text, "SDCC's .cdb", expected, |line, info| {
        let (kind, rest) = line.split_once(':')?;
        match kind {
            "L" => {
                let (name, address) = rest.rsplit_once(':')?;
                names.add(name, hexadecimal(address)?, info);
            }
            "S" if !rest.is_empty() => info.parameters.extend(parameter(rest)),
            "M" | "F" | "T" if !rest.is_empty() => {}
            _ => return None,
        }
        Some(())
    })?;
    names.finish(&mut info);
    Ok(info)
}

/// Returns the parameter of a record such as `Lmul.add8$b$1_0$3({1}SC:U),B,1,5`: in the frame at IX+5.
/// SDCC has parameters at level 1 of a function, those in registers in block 0; z88dk has them at
/// level 0.
pub(super) fn parameter(record: &str) -> Option<Parameter> {
    let (symbol, rest) = record.strip_prefix('L')?.split_once('(')?;
    let [scope, name, level, block] = symbol.split('$').collect::<Vec<_>>()[..] else {
        return None;
    };
    let (_, function) = scope.rsplit_once('.')?;
    let (_, place) = rest.rsplit_once("),")?;
    let offset = place.strip_prefix("B,1,").and_then(|offset| offset.parse().ok());
    let of_z88dk = level == "0_0";
    let is_parameter = of_z88dk || level == "1_0" && (block == "0" || offset.is_some());
    let (function, name) = (function.to_owned(), name.to_owned());
    is_parameter.then_some(Parameter { function, name, offset, of_z88dk })
}

/// The length at which columns of a map cut names.
const CUT: usize = 9;

/// The map of sdld: areas, and below each its symbols, in three columns or, with the option -w, one
/// in a line with its module.
pub(super) fn read_map(text: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    let mut info = DebugInfo { format: "a map of sdld", ..DebugInfo::default() };
    let mut names = Names::default();
    let is_wide = text.contains("Global Defined In Module");
    let mut is_cut = false;
    for line in text.lines() {
        if let Some((name, start, length)) = area(line) {
            if !info.areas.iter().any(|known| known.name == name) {
                info.add_area(name, start, length);
            }
            continue;
        }
        for entry in line.split('|') {
            let Some((name, value)) = map_symbol(entry) else { continue };
            let may_be_cut = !is_wide && name.len() >= CUT;
            is_cut |= may_be_cut;
            // Numbers of lines may be cut, too.
            if !may_be_cut || !name.contains(['$', '.']) {
                names.add(name, value, &mut info);
            }
        }
    }
    names.finish(&mut info);
    if is_cut {
        let note =
            "the columns of the map cut names after 9 letters: link with -w, or give the .noi";
        info.notes.push(note.to_owned());
    }
    Ok(info)
}

/// `_CODE  00008000  00000173 =  371. bytes (REL,CON)`.
fn area(line: &str) -> Option<(&str, i64, i64)> {
    let (fields, rest) = line.split_once(" = ")?;
    let words: Vec<&str> = fields.split_whitespace().collect();
    let [name, start, length] = words[..] else { return None };
    let is_area = rest.contains(". bytes (");
    Some((name, hexadecimal(start).filter(|_| is_area)?, hexadecimal(length)?))
}

/// `00008000  _main  main`, after a page of memory such as `C:` for other processors.
fn map_symbol(entry: &str) -> Option<(&str, i64)> {
    let mut words = entry.split_whitespace();
    let (value, name) = (words.next()?, words.next()?);
    Some((name, hexadecimal(value).filter(|_| value.len() >= 4)?))
}

/// Returns `true` for an object of sdas.
pub(crate) fn is_object(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_end).skip_while(|line| line.starts_with(';'));
    let is_radix = |line: &str| {
        let mut letters = line.chars();
        letters.next().is_some_and(|letter| "XDQ".contains(letter))
            && letters.next().is_some_and(|letter| "HL".contains(letter))
            && letters.all(|letter| "234".contains(letter))
    };
    lines.next().is_some_and(is_radix) && lines.next().is_some_and(|line| line.starts_with("H "))
}

pub(super) fn refuse_object(_: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    Err(DebugInfoError::Unusable {
        what: "an object of sdas",
        instead: "link it with sdcc or sdldz80 -n -u, and give the .noi or .map",
    })
}

pub(super) fn refuse_relative(_: &str, _: &str) -> Result<DebugInfo, DebugInfoError> {
    Err(DebugInfoError::Unusable {
        what: "a symbol table of sdas, whose addresses are relative to areas",
        instead: "give the .noi, .map or .cdb of the linker, or the .rst",
    })
}
