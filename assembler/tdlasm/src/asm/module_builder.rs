//! Finishes a module: its listing, its [`Module`], and that in source order.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::assembler::Assembler;
use super::code_buffer::{CodeBuffer, CodeReloc, kind_of};
use super::macro_definition::Macro;
use super::name_table::{NameEntry, NameId};
use super::pass::Pass;
use super::symbol::Symbol as State;
use super::value::{BaseId, Value};
use crate::diag::DiagnosticCode;
use crate::module::{
    Base, Binding, CodeChunk, Module, Overlay, Place, Reloc, RelocKind, RelocValue, Section,
    SectionKind, SourceOrderModule, Symbol, SymbolValue, TableSymbol, Target,
};
use crate::references::{Name, NameKind, Reference};
use crate::source::Span;

impl Assembler<'_> {
    /// Finishes the current module. The first pass keeps its names for the second.
    pub(super) fn finish_module(&mut self) {
        if self.pass == Pass::First {
            self.reading.is_complete = true;
            let module = (std::mem::take(&mut self.names), std::mem::take(&mut self.reading));
            self.first_pass.push_back(module);
            return;
        }
        self.check_early_uses();
        self.code.record_high_water();
        if self.options.references {
            self.finish_references();
        }
        let module = self.build_module();
        self.modules.push(module);
    }

    pub(super) fn build_module(&mut self) -> Module {
        let lines = std::mem::take(&mut self.lines);
        let (symbols, external_index) = self.symbols();
        let target = |value: Value| target_of(value, &external_index);
        let start = self.module.start_address.map(target);
        let (sections, is_overwritten) = sections(&self.code, &target);
        let source_order = Some(Arc::new(self.in_source_order()));
        if is_overwritten {
            let message = "some addresses are assembled twice; the later bytes count";
            self.error(DiagnosticCode::Overwrite, Span::default(), message);
        }
        let name = self.name_of_module();
        let symbols = Arc::new(symbols);
        Module { name, sections, symbols, start, lines, source_order }
    }

    /// Returns the symbols, and the index among them of each external.
    fn symbols(&self) -> (Vec<Symbol>, Vec<usize>) {
        let is_symbol = |name: &NameEntry| name.is_global_symbol() && !is_in_external_area(name);
        let names = self.names.iter().filter(|(_, name)| is_symbol(name));
        let mut symbols = Vec::with_capacity(self.names.len() as usize);
        let mut external_index = vec![0; self.names.externals.len()];
        for (id, name) in names {
            if let State::External(area) = name.symbol
                && let Some(external) = area.base.external()
            {
                external_index[external] = symbols.len();
            }
            symbols.push(self.symbol(id, name));
        }
        if self.options.lines {
            symbols.extend(self.local_symbols());
        }
        (symbols, external_index)
    }

    /// Returns the local labels for debuggers, each with the symbol before its scope: `START..L`.
    fn local_symbols(&self) -> impl Iterator<Item = Symbol> {
        let mut locals = self.names.locals();
        locals.retain(|(_, id)| self.names[*id].symbol.is_label());
        locals.into_iter().map(|(owner, id)| {
            let local = self.symbol(id, &self.names[id]);
            let owner = owner.map(|owner| self.names.spelling(owner)).unwrap_or_default();
            Symbol { name: format!("{owner}{}", local.name).into(), ..local }
        })
    }

    /// Returns the line of a symbol; in macro text, that of the outermost call.
    fn place(&self, name: &NameEntry) -> Place {
        let (source, line) = name.statement.file_line(&self.sources);
        Place { file: Arc::clone(&source.name), line }
    }

    fn name_of_module(&self) -> String {
        self.names.module_name.clone().unwrap_or_else(|| {
            let file = self.files.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
            file.file_stem().map_or(".MAIN.".into(), |stem| stem.to_string_lossy().into_owned())
        })
    }

    fn symbol(&self, id: NameId, name: &NameEntry) -> Symbol {
        let value = match name.symbol {
            State::External(area) => match self.code.size(area.base) {
                0 => SymbolValue::Undefined,
                size => SymbolValue::Common { size },
            },
            State::Undefined => SymbolValue::Absolute(0),
            State::Label(value) | State::Constant(value) | State::Variable(value) => {
                match value.base.section() {
                    Some(kind) if !value.is_absolute() => {
                        SymbolValue::InSection(kind, value.number)
                    }
                    _ if name.symbol.is_label() => {
                        SymbolValue::InSection(SectionKind::Absolute, value.number)
                    }
                    _ => SymbolValue::Absolute(value.number),
                }
            }
        };
        let binding = match name {
            NameEntry { is_library_entry: true, .. } => Binding::Entry,
            _ if name.exported || name.symbol.is_external() => Binding::Global,
            _ => Binding::Local,
        };
        let place = name.place.map(|_| self.place(name));
        Symbol { name: self.names.spelling(id), value, binding, place }
    }

    /// Returns the module as TDL objects and listings show it.
    fn in_source_order(&mut self) -> SourceOrderModule {
        SourceOrderModule {
            ident: self.names.module_name.clone(),
            symbols: self.table_symbols(),
            code: self.chunks(),
            sizes: std::mem::take(&mut self.code.high_water),
            start: self.module.start_address.map(Value::reloc_value).unwrap_or_default(),
            form: self.module.form,
            program: self.is_pasm().then(|| std::mem::take(&mut self.module.program)),
        }
    }

    /// Returns the code of the module, which is finished.
    fn chunks(&mut self) -> Vec<CodeChunk> {
        let runs = std::mem::take(&mut self.code.runs);
        let chunks = (0..).zip(runs).filter(|(_, run)| !run.bytes.is_empty());
        chunks
            .map(|(index, run)| CodeChunk {
                start: self.code.address_in(run.base, run.start).reloc_value(),
                bytes: run.bytes,
                words: self.relocs(index, false),
                low_bytes: self.relocs(index, true),
            })
            .collect()
    }

    /// Returns the relocated words or bytes of a run.
    fn relocs(&self, run: u32, is_byte: bool) -> Vec<(u32, RelocValue)> {
        let relocs = self.code.relocs_of(run).filter(|reloc| reloc.is_byte == is_byte);
        relocs.map(|reloc| (reloc.pos.at, reloc.value.reloc_value())).collect()
    }

    fn table_symbols(&self) -> Vec<TableSymbol> {
        let listed = self.names.iter().filter(|(_, name)| is_in_table(name));
        // A use alone makes no entry in the first pass, so symbols without a definition, whose
        // number is 0, come last.
        let place = |(id, name): (NameId, &NameEntry)| (name.entered.wrapping_sub(1), id);
        let mut listed: Vec<_> = listed.map(place).collect();
        listed.sort_unstable();
        listed.into_iter().map(|(_, id)| self.table_symbol(id, &self.names[id])).collect()
    }

    fn table_symbol(&self, id: NameId, name: &NameEntry) -> TableSymbol {
        let external = name.symbol.is_external();
        let mut value = name.symbol.value().map_or(RelocValue::default(), Value::reloc_value);
        if let (true, Some(external)) = (external, name.symbol.value()) {
            // The table shows how much of an external's area this module uses, not its start.
            value.number = self.code.high_water_mark(external.base);
        }
        TableSymbol {
            name: self.names.spelling(id),
            value,
            external,
            exported: name.exported,
            entry: name.is_library_entry,
            undefined: !name.symbol.is_defined(),
            multiply_defined: name.is_multiply_defined,
        }
    }

    /// Adds the names of the finished module, and its references, to the result.
    pub(super) fn finish_references(&mut self) {
        let references = &mut self.recorder.references;
        let first = references.names.len() as u32;
        let module = self.modules.len() as u32;
        references.names.extend(self.names.iter().map(|(id, name)| Name {
            spelling: self.names.spelling(id),
            kind: kind(name, &self.names.macros),
            value: value(name),
            exported: name.exported || name.is_library_entry,
            local: name.is_local,
            module,
        }));
        let open = std::mem::take(&mut self.recorder.unnumbered).into_iter();
        let renumbered = |(name, span, role)| Reference { name: first + name, span, role };
        references.entries.extend(open.map(renumbered));
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

/// Returns the sections of a module, and whether bytes were overwritten.
fn sections(code: &CodeBuffer, target: &dyn Fn(Value) -> Target) -> (Vec<Section>, bool) {
    let mut sections = Vec::new();
    let mut is_overwritten = false;
    for kind in SectionKind::ALL {
        let within = |base: BaseId| kind_of(base, code.absolute_prog) == Some(kind);
        let sizes = code.bases().filter(|base| within(*base)).map(|base| code.full_size(base));
        let size = sizes.max().unwrap_or(0);
        if size == 0 {
            continue;
        }
        let mut overlay = Overlay::default();
        let runs = || (0..).zip(&code.runs).filter(|(_, run)| within(run.base));
        let owners: Vec<u32> =
            runs().map(|(_, run)| overlay.write(run.start, &run.bytes)).collect();
        is_overwritten |= overlay.is_overwritten;
        let relocs = owners.into_iter().zip(runs()).flat_map(|(owner, (index, run))| {
            code.relocs_of(index).map(move |CodeReloc { pos, value, is_byte }| {
                let offset = run.start.wrapping_add(pos.at as u16);
                let kind = if *is_byte { RelocKind::Low } else { RelocKind::Word };
                (owner, Reloc { offset, kind, target: target(*value) })
            })
        });
        let (runs, relocs) = overlay.finish(relocs);
        sections.push(Section { kind, size, runs, relocs });
    }
    (sections, is_overwritten)
}

/// Returns `true` if a symbol is relative to an external without being one.
fn is_in_external_area(name: &NameEntry) -> bool {
    let Some(value) = name.symbol.value() else { return false };
    let is_relative = !value.is_absolute() && value.base.external().is_some();
    is_relative && !name.symbol.is_external()
}

fn is_in_table(name: &NameEntry) -> bool {
    let known = name.symbol.is_defined() || name.has_undefined_use;
    known && !name.is_local && name.built_in.is_none()
}

fn kind(name: &NameEntry, macros: &[Arc<Macro>]) -> NameKind {
    match name.symbol {
        _ if name.macro_index.is_some_and(|index| (index as usize) < macros.len()) => {
            NameKind::Macro
        }
        State::Label(_) => NameKind::Label,
        State::Constant(_) => NameKind::Constant,
        State::Variable(_) => NameKind::Variable,
        State::External(_) => NameKind::External,
        State::Undefined if name.built_in.is_some() || name.operator.is_some() => {
            NameKind::Language
        }
        State::Undefined => NameKind::Undefined,
    }
}

fn value(name: &NameEntry) -> Option<RelocValue> {
    name.symbol.value().filter(|_| !name.symbol.is_external()).map(Value::reloc_value)
}
