//! Builds modules from the records of a TDL object file.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::record::{Entry, Name, Record, text};
use super::stream::{Item, items};
use crate::module::{
    Base, Binding, FIRST_EXTERNAL, Lines, Module, Overlay, Reloc, RelocKind, Section, SectionKind,
    Symbol, SymbolValue, Target,
};

type TdlResult<T = ()> = Result<T, String>;

const NOT_ENDED: &str = "the previous module has no end record";

pub(super) struct ModuleBuilder<'n> {
    default_name: &'n str,
    modules: Vec<Module>,
    /// The indexes of the symbols of the last finished module, while records for it can follow.
    closed: Option<HashMap<String, usize>>,
    open: OpenModule,
}

/// The module whose end record has not been read.
#[derive(Default)]
struct OpenModule {
    /// Whether any record of the module has been read.
    has_started: bool,
    /// Whether there are records other than code, as written after `.LINK`.
    linkage: bool,
    name: Option<String>,
    symbols: Vec<Symbol>,
    by_name: HashMap<String, usize>,
    /// The symbols of the declared bases.
    externals: HashMap<u8, usize>,
    entry_points: Vec<String>,
    sections: BTreeMap<SectionKind, Content>,
}

/// The contents of a section so far.
#[derive(Default)]
struct Content {
    size: u32,
    code: Option<Overlay>,
    relocs: Vec<(u32, Reloc)>,
}

impl<'n> ModuleBuilder<'n> {
    pub(super) fn new(default_name: &'n str) -> Self {
        Self { default_name, modules: Vec::new(), closed: None, open: OpenModule::default() }
    }

    pub(super) fn take(&mut self, record: Record) -> TdlResult {
        match record {
            Record::Symbols(entries) => return self.add_symbols(&entries),
            Record::Program(..) => return Ok(()), // Linkers do not need it.
            _ => self.closed = None,
        }
        match record {
            Record::Code { is_hex: false, address, base, bytes } if bytes.is_empty() => {
                self.end(address, base)
            }
            record => self.open.take(record),
        }
    }

    pub(super) fn finish(self) -> TdlResult<Vec<Module>> {
        match (self.open.has_started, self.modules.is_empty()) {
            (true, _) => Err(NOT_ENDED.into()),
            (false, true) => Err("the file contains no module".into()),
            (false, false) => Ok(self.modules),
        }
    }

    fn end(&mut self, address: u16, base: u8) -> TdlResult {
        let open = std::mem::take(&mut self.open);
        let (module, names) = open.close(address, base, self.default_name)?;
        self.modules.push(module);
        self.closed = Some(names);
        Ok(())
    }

    /// Adds the symbols of a `.PSYM` record. New ones are local to the module that has just ended.
    fn add_symbols(&mut self, entries: &[Entry]) -> TdlResult {
        let (Some(names), Some(module)) = (&mut self.closed, self.modules.last_mut()) else {
            return Err(NOT_ENDED.into());
        };
        for entry in entries.iter().filter(|entry| entry.base < FIRST_EXTERNAL) {
            let name = required(entry.name)?;
            let is_section = SectionKind::from_name(&name).is_some();
            if !is_section && !names.contains_key(&name) {
                names.insert(name.clone(), module.symbols.len());
                let symbol = symbol(name, value(entry)?, Binding::Local);
                Arc::make_mut(&mut module.symbols).push(symbol);
            }
        }
        Ok(())
    }
}

impl OpenModule {
    fn take(&mut self, record: Record) -> TdlResult {
        self.linkage |= !matches!(record, Record::Code { .. });
        let first = !std::mem::replace(&mut self.has_started, true);
        match record {
            Record::Module(name) if first => self.name = Some(text(name)),
            Record::Module(_) => return Err(NOT_ENDED.into()),
            Record::EntryPoints(names) => {
                for name in names {
                    self.entry_points.push(required(name)?);
                }
            }
            Record::Bases(entries) => entries.iter().try_for_each(|entry| self.declare(entry))?,
            Record::Exports(entries) => entries.iter().try_for_each(|entry| self.export(entry))?,
            Record::Code { is_hex: true, .. } => {
                return Err("the code is Intel HEX (.PABS), which does not say what its words \
                            move with; assemble with .PREL"
                    .into());
            }
            Record::Code { address, base, bytes, .. } => self.code(address, base, &bytes)?,
            Record::Program(..) | Record::Symbols(_) => {} // the builder's
        }
        Ok(())
    }

    /// Sets the size of a section, or declares an external: a shared area if it has a size.
    fn declare(&mut self, entry: &Entry) -> TdlResult {
        let Entry { name, base, value: size } = *entry;
        let kind = SectionKind::from_base(base.into());
        if kind == Some(SectionKind::Absolute) || self.externals.contains_key(&base) {
            return Err(format!("relocation base {base} cannot be declared here"));
        }
        if let Some(kind) = kind {
            let content = self.sections.entry(kind).or_default();
            content.size = content.size.max(size.into());
            return Ok(());
        }
        let value = if size == 0 { SymbolValue::Undefined } else { SymbolValue::Common { size } };
        let index = self.add(name, value)?;
        self.externals.insert(base, index);
        Ok(())
    }

    fn export(&mut self, entry: &Entry) -> TdlResult {
        let value = value(entry)?;
        self.add(entry.name, value).map(|_| ())
    }

    fn add(&mut self, name: Name, value: SymbolValue) -> TdlResult<usize> {
        let name = required(name)?;
        let index = self.symbols.len();
        if self.by_name.insert(name.clone(), index).is_some() {
            return Err(format!("{name} is declared or defined twice"));
        }
        self.symbols.push(symbol(name, value, Binding::Global));
        Ok(index)
    }

    fn code(&mut self, address: u16, base: u8, stream: &[u8]) -> TdlResult {
        let own = self.base(base)?;
        let kind = match own {
            Base::Absolute => SectionKind::Absolute,
            Base::Section(kind) => kind,
            Base::Symbol(index) => {
                return Err(format!(
                    "it has code for the shared area {}, which can only be reserved",
                    self.symbols[index].name
                ));
            }
        };
        // Without linkage records a relocated word at an absolute address can only be relative to
        // `.PROG.`.
        let unlinked = own == Base::Absolute && !self.linkage;
        let own = if unlinked { Base::Section(SectionKind::Prog) } else { own };
        let mut bytes = Vec::new();
        let mut relocs = Vec::new();
        for item in items(stream)? {
            let offset = u32::from(address) + bytes.len() as u32;
            let (kind, base, value) = match item {
                Item::Byte(byte) => (RelocKind::Low, Base::Absolute, byte.into()),
                Item::Word(value) => (RelocKind::Word, own, value),
                Item::Based { base, value } => (RelocKind::Word, self.base(base)?, value),
                // The file does not contain whether such a byte is signed. Its low 8 bits are right
                // in any case.
                Item::BasedByte { base, value } => (RelocKind::Low, self.base(base)?, value.into()),
            };
            let is_fixed = base == Base::Absolute;
            let field = if is_fixed { value.to_le_bytes() } else { [0; 2] };
            bytes.extend_from_slice(&field[..kind.size()]);
            if u32::from(address) + bytes.len() as u32 > 0x1_0000 {
                return Err("its code goes past FFFFH".into());
            }
            let target = Target { base, addend: value.into() };
            relocs.extend((!is_fixed).then_some(Reloc { offset: offset as u16, kind, target }));
        }
        let content = self.sections.entry(kind).or_default();
        content.size = content.size.max(u32::from(address) + bytes.len() as u32);
        let code = content.code.get_or_insert_default();
        let owner = code.write(address, &bytes);
        content.relocs.extend(relocs.into_iter().map(|reloc| (owner, reloc)));
        Ok(())
    }

    fn base(&self, base: u8) -> TdlResult<Base> {
        match SectionKind::from_base(base.into()) {
            Some(SectionKind::Absolute) => Ok(Base::Absolute),
            Some(kind) => Ok(Base::Section(kind)),
            None => {
                let unknown = || format!("relocation base {base} is not declared before");
                Ok(Base::Symbol(*self.externals.get(&base).ok_or_else(unknown)?))
            }
        }
    }

    fn close(
        mut self,
        address: u16,
        base: u8,
        default_name: &str,
    ) -> TdlResult<(Module, HashMap<String, usize>)> {
        let base = self.base(base)?;
        for name in std::mem::take(&mut self.entry_points) {
            let symbol = self.by_name.get(&name).map(|index| &mut self.symbols[*index]);
            match symbol {
                Some(symbol) if !symbol.value.is_external() => symbol.binding = Binding::Entry,
                _ => return Err(format!("no earlier record gives the entry point {name} a value")),
            }
        }
        let start = Target { base, addend: address.into() };
        let sections = self.sections.into_iter().map(|(kind, Content { size, code, relocs })| {
            let (runs, relocs) = code.map(|code| code.finish(relocs)).unwrap_or_default();
            Section { kind, size, runs, relocs }
        });
        let module = Module {
            name: self.name.filter(|name| !name.is_empty()).unwrap_or(default_name.to_owned()),
            sections: sections.filter(|section| section.size > 0).collect(),
            symbols: self.symbols.into(),
            start: (base != Base::Absolute || address != 0).then_some(start),
            lines: Lines::default(),
            source_order: None,
        };
        Ok((module, self.by_name))
    }
}

fn symbol(name: String, value: SymbolValue, binding: Binding) -> Symbol {
    Symbol { name: name.into(), value, binding, place: None }
}

fn required(name: Name) -> TdlResult<String> {
    let name = text(name);
    if name.is_empty() { Err("a symbol has no name".into()) } else { Ok(name) }
}

fn value(entry: &Entry) -> TdlResult<SymbolValue> {
    match SectionKind::from_base(entry.base.into()) {
        Some(SectionKind::Absolute) => Ok(SymbolValue::Absolute(entry.value)),
        Some(kind) => Ok(SymbolValue::InSection(kind, entry.value)),
        None => {
            let name = text(entry.name);
            Err(format!("{name} is a place in a shared area, which cannot be linked"))
        }
    }
}
