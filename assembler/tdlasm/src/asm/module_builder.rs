//! Finishes a module: its listing, its [`Module`], and that in source order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::assembler::Assembler;
use super::code_buffer::{CodeBuffer, CodeRun, WordReloc, kind_of};
use super::name_table::{Name, NameId};
use super::pass::Pass;
use super::symbol::Symbol as State;
use super::value::{BaseId, Value};
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::listing::{ListedCode, ListedReloc};
use crate::module::{
    Base, Binding, CodeChunk, Lines, Module, Place, Reloc, RelocKind, RelocValue, Section,
    SectionKind, SectionRun, SourceOrderModule, Symbol, SymbolValue, TableSymbol, Target,
};
use crate::source::Span;

/// The number of addresses of a Z80.
const ADDRESSES: u32 = 0x10000;

impl Assembler<'_> {
    pub(super) fn build_module(&mut self) -> Module {
        let files = std::mem::take(&mut self.lines.files);
        let lines = Lines { files: files.names, rows: std::mem::take(&mut self.lines.rows) };
        let (symbols, external_index) = self.symbols();
        let target = |value: Value| target_of(value, &external_index);
        let start = self.module.start_address.map(target);
        let source_order = Some(Arc::new(self.in_source_order()));
        let output = std::mem::take(&mut self.code);
        let (sections, overwritten) = sections(output, &target);
        if overwritten {
            self.warn_overwritten();
        }
        let name = self.name_of_module();
        let symbols = Arc::new(symbols);
        Module { name, sections, symbols, start, lines, source_order }
    }

    /// Returns the symbols, and the index among them of each external.
    fn symbols(&self) -> (Vec<Symbol>, Vec<usize>) {
        let is_symbol = |name: &Name| name.is_global_symbol() && !is_in_external_area(name);
        let names = self.names.iter().filter(|(_, name)| is_symbol(name));
        let mut symbols = Vec::with_capacity(self.names.len() as usize);
        let mut external_index = vec![0; self.names.externals.len()];
        for (id, name) in names {
            if let Some(external) = self.external_number(name) {
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
    fn place(&self, name: &Name) -> Place {
        let (source, line) = name.statement.file_line(&self.sources);
        Place { file: Arc::clone(&source.name), line }
    }

    fn warn_overwritten(&mut self) {
        let message = "some addresses are assembled twice; the later bytes count";
        self.report(Diagnostic::new(DiagnosticCode::Overwrite, Span::default(), message));
    }

    fn name_of_module(&self) -> String {
        self.names.module_name.clone().unwrap_or_else(|| {
            let file = self.files.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
            file.file_stem().map_or(".MAIN.".into(), |stem| stem.to_string_lossy().into_owned())
        })
    }

    fn external_number(&self, name: &Name) -> Option<usize> {
        match name.symbol {
            State::External(area) => area.base.external(),
            _ => None,
        }
    }

    fn symbol(&self, id: NameId, name: &Name) -> Symbol {
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
            Name { entry: true, .. } => Binding::Entry,
            _ if name.exported || name.symbol.is_external() => Binding::Global,
            _ => Binding::Local,
        };
        let place = name.place.map(|_| self.place(name));
        Symbol { name: self.names.spelling(id), value, binding, place }
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
fn sections(output: CodeBuffer, target: &dyn Fn(Value) -> Target) -> (Vec<Section>, bool) {
    let mut sections = Vec::new();
    let mut overwritten = false;
    let kinds = [SectionKind::Absolute, SectionKind::Prog, SectionKind::Data, SectionKind::Blank];
    for kind in kinds {
        let within = |base: BaseId| kind_of(base, output.absolute_prog) == Some(kind);
        let sizes = output.bases().filter(|base| within(*base)).map(|base| output.full_size(base));
        let size = sizes.max().unwrap_or(0);
        if size == 0 {
            continue;
        }
        let relocs = output
            .relocs
            .iter()
            .filter(|one| within(output.runs[one.site.run as usize].base))
            .map(|one| (one.site.run, word_reloc(&output.runs, one, target)));
        let runs: Vec<(u32, &CodeRun)> =
            (0..).zip(&output.runs).filter(|(_, run)| within(run.base)).collect();
        let (runs, relocs, over) = merge(&runs, relocs);
        overwritten |= over;
        sections.push(Section { kind, size, runs, relocs });
    }
    (sections, overwritten)
}

fn word_reloc(runs: &[CodeRun], reloc: &WordReloc, target: &dyn Fn(Value) -> Target) -> Reloc {
    let run = &runs[reloc.site.run as usize];
    let offset = run.start.wrapping_add(reloc.site.at as u16);
    Reloc { offset, kind: RelocKind::Word, target: target(reloc.value) }
}

/// Sorts runs by address. Where they overlap, the later run overwrites bytes and relocations.
fn merge(
    runs: &[(u32, &CodeRun)],
    relocs: impl Iterator<Item = (u32, Reloc)>,
) -> (Vec<SectionRun>, Vec<Reloc>, bool) {
    let apart = runs.windows(2).all(|pair| pair[0].1.end() <= u32::from(pair[1].1.start));
    let wraps = runs.iter().any(|(_, run)| run.end() > ADDRESSES);
    let is_plain = apart && !wraps;
    let (pieces, overwritten) = if is_plain {
        (runs.iter().map(|(index, run)| Piece::whole(*index, run)).collect(), false)
    } else {
        remaining_pieces(runs)
    };
    let piece_at = |address: u32| {
        let after = pieces.partition_point(|piece| piece.start <= address);
        pieces[..after].last().filter(|piece| address < piece.end())
    };
    let is_kept = |run: u32, reloc: &Reloc| {
        let at = u32::from(reloc.offset);
        let is_own = |piece: &Piece<'_>| piece.run == run;
        piece_at(at).is_some_and(|piece| {
            is_own(piece) && (at + 1 < piece.end() || piece_at(at + 1).is_some_and(is_own))
        })
    };
    let kept = relocs.filter(|(run, reloc)| is_plain || is_kept(*run, reloc));
    let mut relocs: Vec<Reloc> = kept.map(|(_, reloc)| reloc).collect();
    relocs.sort_by_key(|reloc| reloc.offset);
    (joined(&pieces), relocs, overwritten)
}

/// Bytes of a run that no later run overwrites.
#[derive(Debug, Clone, Copy)]
struct Piece<'r> {
    start: u32,
    bytes: &'r [u8],
    /// The index of the run.
    run: u32,
}

impl<'r> Piece<'r> {
    fn whole(run: u32, code: &'r CodeRun) -> Self {
        Self { start: code.start.into(), bytes: &code.bytes, run }
    }

    fn end(&self) -> u32 {
        self.start + self.bytes.len() as u32
    }

    /// Splits a run at address 0, at which it continues after FFFFH, perhaps more than once.
    fn unwrapped(run: u32, code: &'r CodeRun) -> impl DoubleEndedIterator<Item = Self> {
        let (first, rest) =
            code.bytes.split_at(code.bytes.len().min(ADDRESSES as usize - usize::from(code.start)));
        let first = Self { start: code.start.into(), bytes: first, run };
        let rest = rest.chunks(ADDRESSES as usize).map(move |bytes| Self { start: 0, bytes, run });
        std::iter::once(first).chain(rest)
    }

    fn between(&self, start: u32, end: u32) -> Self {
        let bytes = &self.bytes[(start - self.start) as usize..(end - self.start) as usize];
        Self { start, bytes, run: self.run }
    }
}

/// Returns the bytes that remain, by address, and whether any were overwritten.
fn remaining_pieces<'r>(runs: &[(u32, &'r CodeRun)]) -> (Vec<Piece<'r>>, bool) {
    let mut taken: BTreeMap<u32, Piece<'_>> = BTreeMap::new();
    let mut overwritten = false;
    // The last bytes at an address remain, so that earlier ones fill the gaps.
    let parts = runs.iter().rev().flat_map(|(index, run)| Piece::unwrapped(*index, run).rev());
    for part in parts {
        let mut at = part.start;
        while at < part.end() {
            let before = taken.range(..=at).next_back().map_or(0, |(_, piece)| piece.end());
            if before > at {
                overwritten = true;
                at = before;
            } else {
                let end = taken.range(at..part.end()).next().map_or(part.end(), |next| *next.0);
                taken.insert(at, part.between(at, end));
                at = end;
            }
        }
    }
    (taken.into_values().collect(), overwritten)
}

/// Joins ascending pieces that touch.
fn joined(pieces: &[Piece<'_>]) -> Vec<SectionRun> {
    let mut joined: Vec<SectionRun> = Vec::with_capacity(pieces.len());
    for piece in pieces.iter().filter(|piece| !piece.bytes.is_empty()) {
        match joined.last_mut() {
            Some(last) if usize::from(last.offset) + last.bytes.len() == piece.start as usize => {
                last.bytes.extend_from_slice(piece.bytes);
            }
            _ => {
                joined.push(SectionRun { offset: piece.start as u16, bytes: piece.bytes.to_vec() })
            }
        }
    }
    joined
}

/// Returns `true` if a symbol is relative to an external without being one.
fn is_in_external_area(name: &Name) -> bool {
    let Some(value) = name.symbol.value() else { return false };
    let moves = !value.is_absolute() && value.base.external().is_some();
    moves && !name.symbol.is_external()
}

impl Assembler<'_> {
    /// Finishes the current module; `None` in the first pass.
    pub(super) fn finish(&mut self) -> Option<Module> {
        if self.pass == Pass::First {
            let names = std::mem::take(&mut self.names);
            self.first_pass.push_back(names);
            return None;
        }
        self.check_early_uses();
        self.code.record_high_water();
        self.finish_listing();
        if self.options.references {
            self.finish_references();
        }
        let module = self.build_module();
        self.recorder.module += 1;
        Some(module)
    }

    /// Copies the bytes of each statement to its listing line. Relocated words are shown as if
    /// every section began at 0.
    fn finish_listing(&mut self) {
        let module = self.recorder.module;
        let mut relocs: Vec<WordReloc> = self.code.relocs.clone();
        relocs.sort_unstable_by_key(|reloc| (reloc.site.run, reloc.site.at));
        let bytes = &mut self.recorder.listing.bytes;
        let kept = &mut self.recorder.listing.relocs;
        for line in self.recorder.listing.statements.iter_mut().filter(|line| line.module == module)
        {
            let ListedCode::Emitted { run, at, count } = line.code else { continue };
            let start = bytes.len();
            let first_kept = kept.len();
            let code = &self.code.runs[run as usize].bytes;
            bytes.extend_from_slice(&code[at as usize..(at + count) as usize]);
            let first = relocs.partition_point(|reloc| (reloc.site.run, reloc.site.at) < (run, at));
            let within = relocs[first..]
                .iter()
                .take_while(|reloc| reloc.site.run == run && reloc.site.at < at + count);
            for WordReloc { site, value } in within {
                let offset = start + (site.at - at) as usize;
                bytes[offset..offset + 2].copy_from_slice(&value.number.to_le_bytes());
                kept.push(ListedReloc { at: site.at - at, base: value.base.0 });
            }
            line.code = ListedCode::Stored {
                at: start as u32,
                count,
                relocs: first_kept as u32,
                reloc_count: (kept.len() - first_kept) as u32,
            };
        }
    }
}

impl Assembler<'_> {
    /// Returns the module as TDL objects and listings show it.
    pub(super) fn in_source_order(&self) -> SourceOrderModule {
        SourceOrderModule {
            ident: self.names.module_name.clone(),
            symbols: self.table_symbols(),
            code: chunks(&self.code),
            sizes: self.code.high_water.clone(),
            start: self.module.start_address.map(Value::reloc_value).unwrap_or_default(),
            form: self.module.form,
        }
    }

    fn table_symbols(&self) -> Vec<TableSymbol> {
        let mut listed: Vec<_> = self.names.iter().filter(|(_, name)| is_in_table(name)).collect();
        // A use alone makes no entry in the first pass, so symbols without a definition come last.
        listed.sort_unstable_by_key(|(id, name)| (name.entered == 0, name.entered, *id));
        listed.into_iter().map(|(id, name)| self.table_symbol(id, name)).collect()
    }

    fn table_symbol(&self, id: NameId, name: &Name) -> TableSymbol {
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
            entry: name.entry,
            undefined: !name.symbol.is_defined(),
            multiply_defined: name.is_multiply_defined,
        }
    }
}

fn is_in_table(name: &Name) -> bool {
    let known = name.symbol.is_defined() || name.has_undefined_use;
    known && !name.is_local() && name.built_in.is_none()
}

fn chunks(output: &CodeBuffer) -> Vec<CodeChunk> {
    let mut code: Vec<CodeChunk> = (output.runs.iter())
        .map(|run| {
            let start = output.place(run.base, run.start).reloc_value();
            CodeChunk { start, bytes: run.bytes.clone(), words: Vec::new() }
        })
        .collect();
    for reloc in &output.relocs {
        code[reloc.site.run as usize].words.push((reloc.site.at, reloc.value.reloc_value()));
    }
    code.retain(|chunk| !chunk.bytes.is_empty());
    code
}
