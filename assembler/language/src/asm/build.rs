//! The end of a module: its sections and symbols as data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diag::{Code, Diagnostic};
use crate::module::{
    Base, Binding, Lines, Module, Place, Reloc, RelocKind, Run, Section, SectionKind, Symbol,
    SymbolValue, Target,
};
use crate::source::Span;

use super::Assembler;
use super::eval::Evaluated;
use super::names::{Definition, Name, NameId, State};
use super::output::{OpenRun, Output, WordReloc};
use super::shared::is_in_shared;
use super::value::{BaseId, Value};

impl Assembler<'_> {
    pub(super) fn build_module(&mut self, values: &[Option<Value>]) -> Module {
        let files = std::mem::take(&mut self.emission.files);
        let lines = Lines { files: files.names, rows: std::mem::take(&mut self.emission.rows) };
        let (symbols, external_index) = self.symbols();
        let target = |value: Value| target_of(value, &external_index);
        let start = self.emission.start.and_then(|(evaluated, _)| match evaluated {
            Evaluated::Known(value) => Some(target(value)),
            Evaluated::Later(expression) => values[expression as usize].map(target),
        });
        // Bytes in areas of externals show there only.
        let needed = !self.options.without_order || !self.naming.externals.is_empty();
        let assembled = needed.then(|| Arc::new(self.in_source_order(values)));
        let output = std::mem::take(&mut self.emission.output);
        let (sections, overwritten) = sections(output, &target);
        if overwritten {
            self.warn_overwritten();
        }
        let name = self.name_of_module();
        let symbols = Arc::new(symbols);
        Module { name, sections, symbols, start, lines, assembled }
    }

    /// The symbols, and the number of each external among them.
    fn symbols(&self) -> (Vec<Symbol>, Vec<usize>) {
        let is_symbol = |name: &Name| name.is_global_symbol() && !is_in_shared(name);
        let names = self.naming.names.iter().filter(|(_, name)| is_symbol(name));
        let mut symbols = Vec::with_capacity(self.naming.names.len() as usize);
        let mut external_index = vec![0; self.naming.externals.len()];
        for (id, name) in names {
            if let Some(external) = self.external_number(name) {
                external_index[external] = symbols.len();
            }
            symbols.push(self.symbol(id, name));
        }
        (symbols, external_index)
    }

    /// The line of a file; for the text of a macro, that of the outermost call.
    fn place(&self, offset: u32) -> Place {
        let (source, line) = self.input.sources.file_line(offset);
        Place { file: Arc::clone(&source.name), line }
    }

    fn warn_overwritten(&mut self) {
        let message = "some addresses are assembled twice; the later bytes count";
        self.report(Diagnostic::new(Code::Overwrite, Span::default(), message));
    }

    fn name_of_module(&self) -> String {
        self.naming.module_name.clone().unwrap_or_else(|| {
            let file = self.input.files.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
            file.file_stem().map_or(".MAIN.".into(), |stem| stem.to_string_lossy().into_owned())
        })
    }

    fn external_number(&self, name: &Name) -> Option<usize> {
        match name.state {
            State::Value(value) if name.definition == Definition::External => value.base.external(),
            _ => None,
        }
    }

    fn symbol(&self, id: NameId, name: &Name) -> Symbol {
        let value = match (name.definition, name.state) {
            (Definition::External, State::Value(value)) => {
                match self.emission.output.size(value.base) {
                    0 => SymbolValue::Undefined,
                    size => SymbolValue::Common { size },
                }
            }
            (_, State::Value(value)) => match value.base.section() {
                Some(kind) if !value.is_absolute() => SymbolValue::InSection(kind, value.number),
                _ if name.definition == Definition::Label => {
                    SymbolValue::InSection(SectionKind::Absolute, value.number)
                }
                _ => SymbolValue::Absolute(value.number),
            },
            _ => SymbolValue::Absolute(0),
        };
        let binding = match name {
            Name { entry: true, .. } => Binding::Entry,
            Name { exported: true, .. } | Name { definition: Definition::External, .. } => {
                Binding::Global
            }
            _ => Binding::Local,
        };
        let place = (name.place != u32::MAX).then(|| self.place(name.place));
        Symbol { name: self.naming.names.spelling(id), value, binding, place }
    }
}

fn target_of(value: Value, external_index: &[usize]) -> Target {
    let base = match (value.is_absolute(), value.base.external(), value.base.section()) {
        (false, Some(external), _) => Base::Symbol(external_index[external]),
        (false, None, Some(kind)) => Base::Section(kind),
        _ => Base::Absolute,
    };
    Target { base, addend: i32::from(value.number) }
}

/// The sections of a module, and whether bytes were written over others.
fn sections(output: Output, target: &dyn Fn(Value) -> Target) -> (Vec<Section>, bool) {
    let mut sections = Vec::new();
    let mut overwritten = false;
    let kinds = [SectionKind::Absolute, SectionKind::Prog, SectionKind::Data, SectionKind::Blank];
    for kind in kinds {
        let within = |base: BaseId| kind_of(base, output.fixed) == Some(kind);
        let sizes = output.bases().filter(|base| within(*base)).map(|base| output.full_size(base));
        let size = sizes.max().unwrap_or(0);
        if size == 0 {
            continue;
        }
        let relocs =
            output.relocs.iter().filter(|one| within(output.runs[one.site.run as usize].base));
        let relocs: Vec<(u32, Reloc)> =
            relocs.map(|one| (one.site.run, word_reloc(&output.runs, one, target))).collect();
        let runs: Vec<(u32, &OpenRun)> =
            (0..).zip(&output.runs).filter(|(_, run)| within(run.base)).collect();
        let (runs, relocs, over) = merge(&runs, relocs);
        overwritten |= over;
        sections.push(Section { kind, size, runs, relocs });
    }
    (sections, overwritten)
}

/// The section that the bytes of a base are written to.
pub(super) fn kind_of(base: BaseId, fixed: bool) -> Option<SectionKind> {
    if fixed && base == BaseId::PROG { Some(SectionKind::Absolute) } else { base.section() }
}

fn word_reloc(runs: &[OpenRun], reloc: &WordReloc, target: &dyn Fn(Value) -> Target) -> Reloc {
    let run = &runs[reloc.site.run as usize];
    let offset = run.start.wrapping_add(reloc.site.at as u16);
    Reloc { offset, kind: RelocKind::Word, target: target(reloc.value) }
}

/// Runs by address; where they overlap, the later one counts and takes the place of relocations
/// too.
fn merge(runs: &[(u32, &OpenRun)], mut relocs: Vec<(u32, Reloc)>) -> (Vec<Run>, Vec<Reloc>, bool) {
    let apart = runs.windows(2).all(|pair| pair[0].1.end() <= u32::from(pair[1].1.start));
    let wraps = runs.iter().any(|(_, run)| run.end() > 0x10000);
    if apart && !wraps {
        relocs.sort_by_key(|(_, reloc)| reloc.offset);
        return (joined(runs), relocs.into_iter().map(|(_, reloc)| reloc).collect(), false);
    }
    let mut image = vec![0u8; 0x10000];
    let mut owner = vec![u32::MAX; 0x10000];
    let mut overwritten = false;
    for (index, run) in runs {
        // A run that passes FFFFH goes on at 0, perhaps more than once.
        let mut at = usize::from(run.start);
        let mut rest = &run.bytes[..];
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.len().min(image.len() - at));
            let place = at..at + part.len();
            image[place.clone()].copy_from_slice(part);
            overwritten |= owner[place.clone()].iter().any(|owner| *owner != u32::MAX);
            owner[place].fill(*index);
            (at, rest) = (0, after);
        }
    }
    relocs.retain(|(run, reloc)| {
        let at = usize::from(reloc.offset);
        owner[at] == *run && owner.get(at + 1) == Some(run)
    });
    relocs.sort_by_key(|(_, reloc)| reloc.offset);
    let relocs = relocs.into_iter().map(|(_, reloc)| reloc).collect();
    (written_runs(&image, &owner), relocs, overwritten)
}

/// Runs that ascend, those that touch made one.
fn joined(runs: &[(u32, &OpenRun)]) -> Vec<Run> {
    let mut joined: Vec<Run> = Vec::with_capacity(runs.len());
    for (_, run) in runs.iter().filter(|(_, run)| !run.bytes.is_empty()) {
        match joined.last_mut() {
            Some(last) if usize::from(last.offset) + last.bytes.len() == usize::from(run.start) => {
                last.bytes.extend_from_slice(&run.bytes);
            }
            _ => joined.push(Run { offset: run.start, bytes: run.bytes.clone() }),
        }
    }
    joined
}

/// The stretches of an image that have an owner.
fn written_runs(image: &[u8], owner: &[u32]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(skip) = owner[at..].iter().position(|owner| *owner != u32::MAX) {
        let start = at + skip;
        let length = owner[start..].iter().position(|owner| *owner == u32::MAX);
        let end = length.map_or(owner.len(), |length| start + length);
        runs.push(Run { offset: start as u16, bytes: image[start..end].to_vec() });
        at = end;
    }
    runs
}
