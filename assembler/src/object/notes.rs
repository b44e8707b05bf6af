//! The content of the section `.tdl`: JSON with what ELF has no room for.

use serde::{Deserialize, Serialize};

use crate::module::{Base, Binding, Module, Place, SectionKind, SymbolValue, Target};

/// What a reader needs besides the ELF file to have the module as it was.
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
    /// The start address: what it moves with and the addend.
    pub(super) start: Option<(String, i32)>,
}

impl Notes {
    pub(super) fn new(module: &Module) -> Self {
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
            start: module.start.map(|start| (base_name(module, start.base), start.addend)),
        }
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
