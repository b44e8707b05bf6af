//! The end of a module: values that waited, fields, and the module as data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diag::{Code, Diagnostic};
use crate::listing::{Code as CodePlace, ListedReloc};
use crate::module::{
    Base, Binding, Module, Place, Reloc, RelocKind, Run, Section, SectionKind, Symbol, SymbolValue,
    Target,
};
use crate::source::Span;

use super::eval::{Deferred, DeferredOp, Evaluated};
use super::names::{Definition, Name, NameId, Names, State};
use super::output::{Field, OpenRun, Output, Site, WordReloc};
use super::shared::is_in_shared;
use super::value::{BaseId, Value};
use super::{Assembler, Findings, Pass};

/// Where the value of a deferred expression stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Todo,
    Doing,
    /// `None` after an error, which was reported.
    Done(Option<Value>),
}

impl Assembler<'_> {
    /// Ends the module that was assembled.
    pub(super) fn finish_module(&mut self) {
        let values = self.resolve_deferred();
        if self.pass == Pass::First {
            self.fix_symbols(&values);
            let names = std::mem::replace(&mut self.names, Names::new(false));
            let (macros, externals) =
                (std::mem::take(&mut self.macros), std::mem::take(&mut self.externals));
            return self.first_pass.push_back(Findings { names, macros, externals });
        }
        for at in 0..self.output.fixups.len() {
            let fixup = self.output.fixups[at];
            if let Some(value) = values[fixup.expression as usize] {
                self.set_field(fixup.site, fixup.field, value, fixup.span);
            }
        }
        self.fix_symbols(&values);
        self.check_exports();
        self.check_shared();
        self.finish_listing();
        let module = self.build_module(&values);
        self.modules.push(module);
    }

    /// Starts the next module of the same file.
    pub(super) fn reset_module(&mut self) {
        self.output = Output::new(self.options.absolute);
        self.deferred = Deferred::default();
        self.names = Names::new(self.options.long_symbols);
        self.externals.clear();
        self.macros.clear();
        self.export_uses.clear();
        self.assumed_undefined.clear();
        (self.module_name, self.start, self.created, self.radix) = (None, None, 0, 10);
        self.predefine();
        self.recall_first_pass();
    }

    /// Takes up what the first pass found in the module that begins.
    pub(super) fn recall_first_pass(&mut self) {
        if self.pass.is_second()
            && let Some(found) = self.first_pass.pop_front()
        {
            (self.names, self.macros, self.externals) =
                (found.names, found.macros, found.externals);
            self.names.restart_scopes();
        }
    }

    /// The values of all deferred expressions. The order is found with a stack of our own, as chains of
    /// definitions can be long.
    fn resolve_deferred(&mut self) -> Vec<Option<Value>> {
        let count = self.deferred.expressions.len();
        let mut progress = vec![Progress::Todo; count];
        let mut stack = Vec::new();
        for first in 0..count as u32 {
            stack.push(first);
            while let Some(current) = stack.last().copied() {
                if matches!(progress[current as usize], Progress::Done(_)) {
                    stack.pop();
                    continue;
                }
                progress[current as usize] = Progress::Doing;
                match self.next_dependency(current, &progress) {
                    Some(other) if progress[other as usize] == Progress::Doing => {
                        self.report_circle(current);
                        progress[current as usize] = Progress::Done(None);
                    }
                    Some(other) => stack.push(other),
                    None => {
                        progress[current as usize] =
                            Progress::Done(self.compute(current, &progress));
                    }
                }
            }
        }
        let value = |progress| if let Progress::Done(value) = progress { value } else { None };
        progress.into_iter().map(value).collect()
    }

    fn deferred_op(&self, expression: u32, at: u32) -> DeferredOp {
        let first = self.deferred.expressions[expression as usize].first;
        self.deferred.ops[(first + at) as usize]
    }

    /// The deferred expression that an operation needs.
    fn dependency(&self, op: DeferredOp) -> Option<u32> {
        match op {
            DeferredOp::Other(other) => Some(other),
            DeferredOp::Symbol(name, _) => match self.names[name].state {
                State::Deferred(other) => Some(other),
                _ => None,
            },
            _ => None,
        }
    }

    fn next_dependency(&self, expression: u32, progress: &[Progress]) -> Option<u32> {
        let count = self.deferred.expressions[expression as usize].count;
        (0..count)
            .filter_map(|at| self.dependency(self.deferred_op(expression, at)))
            .find(|other| !matches!(progress[*other as usize], Progress::Done(_)))
    }

    fn report_circle(&mut self, expression: u32) {
        let span = self.deferred.expressions[expression as usize].span;
        self.error(Code::Circular, span, "this value depends on itself");
    }

    fn compute(&mut self, expression: u32, progress: &[Progress]) -> Option<Value> {
        let found = self.deferred.expressions[expression as usize];
        let mut stack: Vec<Value> = Vec::new();
        for at in 0..found.count {
            let op = self.deferred_op(expression, at);
            let result = match op {
                DeferredOp::Negate => stack.pop().map(|value| Ok(value.negate())),
                DeferredOp::Not => stack.pop().map(Value::not),
                DeferredOp::Binary(op) => {
                    let right = stack.pop()?;
                    stack.pop().map(|left| left.binary(op, right))
                }
                operand => self.deferred_operand(operand, progress).map(Ok),
            };
            match result? {
                Ok(value) => stack.push(value),
                Err(_) => {
                    self.not_relocatable(found.span);
                    return None;
                }
            }
        }
        let value = stack.pop()?.settled();
        if value.is_err() {
            self.not_relocatable(found.span);
        }
        value.ok()
    }

    fn deferred_operand(&mut self, op: DeferredOp, progress: &[Progress]) -> Option<Value> {
        if let Some(other) = self.dependency(op) {
            return match progress[other as usize] {
                Progress::Done(value) => value,
                _ => None,
            };
        }
        match op {
            DeferredOp::Value(value) => Some(value),
            DeferredOp::Symbol(name, at) => match self.names[name].state {
                State::Value(value) => Some(value),
                _ => {
                    self.report_undefined(name, self.symbol_span(at));
                    None
                }
            },
            _ => None,
        }
    }

    pub(super) fn report_undefined(&mut self, name: NameId, span: Span) {
        if self.too_many_errors() {
            return;
        }
        let mut diagnostic = Diagnostic::new(
            Code::Undefined,
            span,
            format!("{} is not defined", self.names.spelling(name)),
        );
        if let Some(similar) = self.similar_symbol(name) {
            diagnostic = diagnostic.help(format!("did you mean {similar}?"));
        }
        self.report(diagnostic);
    }

    /// Puts a value into a field that is already written.
    pub(super) fn set_field(&mut self, site: Site, field: Field, value: Value, span: Span) {
        match field {
            Field::Word if value.is_absolute() => {
                let [low, high] = value.number.to_le_bytes();
                *self.output.byte(site, 0) = low;
                *self.output.byte(site, 1) = high;
            }
            Field::Word => self.output.relocs.push(WordReloc { site, value }),
            Field::Relative(here) => self.set_relative(site, here, value, span),
            _ if !value.is_absolute() => {
                let message = "a value that moves with a section does not fit a field of 8 bits";
                self.error(Code::Relocation, span, message);
            }
            Field::Byte => self.set_byte(site, value.number, span),
            Field::MarkedByte => {
                self.set_byte(site, value.number, span);
                *self.output.byte(site, 0) |= 0x80;
            }
            Field::Displacement => self.set_displacement(site, value.number, span),
            Field::Bits => self.set_bits(site, value.number, span),
        }
    }

    fn set_byte(&mut self, site: Site, number: u16, span: Span) {
        if !matches!(number >> 8, 0 | 0xFF) {
            let message =
                format!("{number:04X}H does not fit a byte; only {:02X}H is used", number & 0xFF);
            self.error(Code::Truncated, span, message);
        }
        *self.output.byte(site, 0) = number as u8;
    }

    fn set_displacement(&mut self, site: Site, number: u16, span: Span) {
        if (0x80..0x100).contains(&number) {
            let message =
                format!("the displacement {number} reaches backwards, as {}", number as u8 as i8);
            self.error(Code::Displacement, span, message);
        }
        self.set_byte(site, number, span);
    }

    fn set_bits(&mut self, site: Site, number: u16, span: Span) {
        if number > 7 {
            let message = format!("{number} is not in 0..7; {} is used", number & 7);
            self.error(Code::Truncated, span, message);
        }
        *self.output.byte(site, 0) |= (number as u8 & 7) << 3;
    }

    fn set_relative(&mut self, site: Site, here: Value, target: Value, span: Span) {
        *self.output.byte(site, 0) = 0xFE;
        if here.is_absolute() != target.is_absolute()
            || (!here.is_absolute() && here.base != target.base)
        {
            let message = "a relative jump stays in its section; use the absolute jump";
            return self.error(Code::Relocation, span, message);
        }
        let distance = target.number.wrapping_sub(here.number) as i16;
        match i8::try_from(i32::from(distance) - 2) {
            Ok(offset) => *self.output.byte(site, 0) = offset as u8,
            Err(_) => {
                let message = format!(
                    "the target is {distance} bytes away; a relative jump reaches -126..129"
                );
                let mnemonic = "the absolute jump has no such limit";
                self.report(Diagnostic::new(Code::Range, span, message).help(mnemonic));
            }
        }
    }

    /// Gives the symbols that waited their values.
    fn fix_symbols(&mut self, values: &[Option<Value>]) {
        for id in 0..self.names.len() {
            if let State::Deferred(expression) = self.names[id].state {
                let value = values[expression as usize].unwrap_or_default();
                self.names[id].state = State::Value(value);
            }
        }
    }

    fn check_exports(&mut self) {
        for (name, span) in std::mem::take(&mut self.export_uses) {
            if matches!(self.names[name].definition, Definition::None | Definition::External) {
                self.report_undefined(name, span);
            }
        }
    }

    /// Copies the bytes of each statement to its line of the listing, relocated words as they would be if every
    /// section began at 0.
    fn finish_listing(&mut self) {
        let module = self.modules.len() as u32;
        let mut relocs: Vec<WordReloc> = self.output.relocs.clone();
        relocs.sort_unstable_by_key(|reloc| (reloc.site.run, reloc.site.at));
        let (bytes, kept) = (&mut self.listing.bytes, &mut self.listing.relocs);
        for line in self.listing.statements.iter_mut().filter(|line| line.module == module) {
            let CodePlace::Emitted { run, at, count } = line.code else { continue };
            let (start, first_kept) = (bytes.len(), kept.len());
            let code = &self.output.runs[run as usize].bytes;
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
            line.code = CodePlace::Kept {
                at: start as u32,
                count,
                relocs: first_kept as u32,
                reloc_count: (kept.len() - first_kept) as u32,
            };
        }
    }

    fn build_module(&mut self, values: &[Option<Value>]) -> Module {
        let mut symbols = Vec::new();
        let mut external_index = vec![0; self.externals.len()];
        for (id, name) in self.names.iter() {
            if !name.is_global_symbol() || is_in_shared(name) {
                continue;
            }
            if let Some(external) = self.external_number(name) {
                external_index[external] = symbols.len();
            }
            symbols.push(self.symbol(id, name));
        }
        let target = |value: Value| target_of(value, &external_index);
        let start = self.start.and_then(|(evaluated, _)| match evaluated {
            Evaluated::Known(value) => Some(target(value)),
            Evaluated::Later(expression) => values[expression as usize].map(target),
            Evaluated::Faulty => None,
        });
        let output = std::mem::take(&mut self.output);
        let (sections, overwritten) = sections(output, &target);
        if overwritten {
            self.warn_overwritten();
        }
        Module { name: self.name_of_module(), sections, symbols: Arc::new(symbols), start }
    }

    fn warn_overwritten(&mut self) {
        let message = "some addresses are assembled twice; the later bytes count";
        self.report(Diagnostic::new(Code::Overwrite, Span::default(), message));
    }

    fn name_of_module(&self) -> String {
        self.module_name.clone().unwrap_or_else(|| {
            let file = self.files.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
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
            (Definition::External, State::Value(value)) => match self.output.size(value.base) {
                0 => SymbolValue::Undefined,
                size => SymbolValue::Common { size },
            },
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
        let place = (name.place != u32::MAX).then(|| {
            let (source, line) = self.sources.file_line(name.place);
            Place { file: Arc::clone(&source.name), line }
        });
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

/// The sections of a module, and whether bytes were written over others.
fn sections(output: Output, target: &dyn Fn(Value) -> Target) -> (Vec<Section>, bool) {
    let mut sections = Vec::new();
    let mut overwritten = false;
    let kinds = [SectionKind::Absolute, SectionKind::Prog, SectionKind::Data, SectionKind::Blank];
    for kind in kinds {
        let within = |base: BaseId| kind_of(base, output.fixed) == Some(kind);
        let size = (0..).zip(&output.sizes).filter(|(base, _)| within(BaseId(*base)));
        let size = size.map(|(_, size)| *size).max().unwrap_or(0);
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
fn kind_of(base: BaseId, fixed: bool) -> Option<SectionKind> {
    if fixed && base == BaseId::PROG { Some(SectionKind::Absolute) } else { base.section() }
}

fn word_reloc(runs: &[OpenRun], reloc: &WordReloc, target: &dyn Fn(Value) -> Target) -> Reloc {
    let run = &runs[reloc.site.run as usize];
    let offset = run.start.wrapping_add(reloc.site.at as u16);
    Reloc { offset, kind: RelocKind::Word, target: target(reloc.value) }
}

/// Runs by address; where they overlap, the later one counts and takes the place of relocations too.
fn merge(runs: &[(u32, &OpenRun)], mut relocs: Vec<(u32, Reloc)>) -> (Vec<Run>, Vec<Reloc>, bool) {
    let apart = runs.windows(2).all(|pair| pair[0].1.end() <= u32::from(pair[1].1.start));
    if apart {
        relocs.sort_by_key(|(_, reloc)| reloc.offset);
        return (joined(runs), relocs.into_iter().map(|(_, reloc)| reloc).collect(), false);
    }
    let mut image = vec![0u8; 0x10000];
    let mut owner = vec![u32::MAX; 0x10000];
    let mut overwritten = false;
    for (index, run) in runs {
        let start = usize::from(run.start);
        let end = start + run.bytes.len();
        image[start..end].copy_from_slice(&run.bytes);
        overwritten |= owner[start..end].iter().any(|owner| *owner != u32::MAX);
        owner[start..end].fill(*index);
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
