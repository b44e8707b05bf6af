//! The content of the section `.tdl`: JSON with what ELF has no room for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::module::{Base, Binding, LineRow, Module, Place, SectionKind, SymbolValue, Target};

/// The facts that a reader needs besides the ELF file to have the module as it was.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Notes {
    /// The module's name.
    pub(super) name: Option<String>,
    /// The stretches of `.text`, `.data` and `.bss` that were written: offset and length.
    pub(super) runs: Vec<(String, Vec<(u16, u32)>)>,
    /// The high-water mark of the absolute code, if there is any.
    pub(super) absolute_size: Option<u32>,
    /// For each symbol in the module's order, its name.
    pub(super) order: Vec<String>,
    /// The symbols that are library entry points.
    pub(super) entries: Vec<String>,
    /// The absolute symbols that are labels, not plain numbers.
    #[serde(default)]
    pub(super) labels: Vec<String>,
    /// For each symbol in the module's order, file and line.
    pub(super) places: Vec<Option<(String, u32)>>,
    /// The files that `lines` speaks of.
    #[serde(default)]
    pub(super) files: Vec<String>,
    /// Which line made which bytes.
    #[serde(default)]
    pub(super) lines: Vec<NotedLine>,
    /// The start address: what it moves with and the addend.
    pub(super) start: Option<(String, i32)>,
}

/// Bytes that one line made: section (empty for absolute code), offset, size, file by its number,
/// line, and whether they are an instruction.
type NotedLine = (String, u16, u32, usize, u32, bool);

impl Notes {
    pub(super) fn new(module: &Module) -> Self {
        let (files, lines) = noted_lines(&module.lines);
        let flat = module.sections.iter().filter(|one| one.kind != SectionKind::Absolute);
        let symbols = &module.symbols;
        let entries = symbols.iter().filter(|symbol| symbol.binding == Binding::Entry);
        let labels = symbols.iter().filter(|symbol| {
            matches!(symbol.value, SymbolValue::InSection(SectionKind::Absolute, _))
        });
        let absolute = module.sections.iter().find(|one| one.kind == SectionKind::Absolute);
        Self {
            name: Some(module.name.clone()),
            runs: flat
                .map(|section| {
                    let runs = section.runs.iter().map(|run| (run.offset, run.bytes.len() as u32));
                    (super::section_name(section.kind).to_owned(), runs.collect())
                })
                .collect(),
            absolute_size: absolute.map(|section| section.size),
            order: symbols.iter().map(|symbol| symbol.name.to_string()).collect(),
            entries: entries.map(|symbol| symbol.name.to_string()).collect(),
            labels: labels.map(|symbol| symbol.name.to_string()).collect(),
            places: symbols.iter().map(|symbol| symbol.place.as_ref().map(place)).collect(),
            files,
            lines,
            start: module.start.map(|start| (base_name(module, start.base), start.addend)),
        }
    }

    /// Which line made which bytes; what names no file or section is left out.
    pub(super) fn lines(&self) -> Vec<LineRow> {
        let files: Vec<Arc<str>> = self.files.iter().map(|file| file.as_str().into()).collect();
        let row = |(section, offset, size, file, line, is_code): &NotedLine| {
            let section = match section.as_str() {
                "" => SectionKind::Absolute,
                name => super::section_kind(name)?,
            };
            let place = Place { file: Arc::clone(files.get(*file)?), line: *line };
            Some(LineRow { section, offset: *offset, size: *size, place, is_code: *is_code })
        };
        self.lines.iter().filter_map(row).collect()
    }

    /// The start address, with `symbol` to find symbols by name.
    pub(super) fn start(&self, symbol: impl Fn(&str) -> Option<usize>) -> Option<Target> {
        let (name, addend) = self.start.as_ref()?;
        let base = match name.as_str() {
            "" => Base::Absolute,
            section if section.starts_with('.') && super::section_kind(section).is_some() => {
                Base::Section(super::section_kind(section)?)
            }
            name => Base::Symbol(symbol(name)?),
        };
        Some(Target { base, addend: *addend })
    }
}

/// The files that lines are of, and the lines.
fn noted_lines(rows: &[LineRow]) -> (Vec<String>, Vec<NotedLine>) {
    let mut files: Vec<String> = Vec::new();
    let mut number = |name: &str| {
        files.iter().rposition(|file| file == name).unwrap_or_else(|| {
            files.push(name.to_owned());
            files.len() - 1
        })
    };
    let noted = |row: &LineRow| {
        let section = match row.section {
            SectionKind::Absolute => String::new(),
            kind => super::section_name(kind).to_owned(),
        };
        let Place { file, line } = &row.place;
        (section, row.offset, row.size, number(file), *line, row.is_code)
    };
    let lines = rows.iter().map(noted).collect();
    (files, lines)
}

fn place(place: &Place) -> (String, u32) {
    (place.file.to_string(), place.line)
}

fn base_name(module: &Module, base: Base) -> String {
    match base {
        Base::Absolute | Base::Section(SectionKind::Absolute) => String::new(),
        Base::Section(kind) => super::section_name(kind).to_owned(),
        Base::Symbol(index) => {
            module.symbols.get(index).map(|one| one.name.to_string()).unwrap_or_default()
        }
    }
}
