//! Sorts modules that were read from other objects into an order that TDL records can express.

use crate::module::{
    Base, Binding, CodeChunk, FIRST_EXTERNAL, Module, Reloc, RelocKind, RelocValue, Section,
    SourceOrderModule, SymbolValue, TableSymbol, Target,
};

/// Error returned by [`write_tdl`](super::write_tdl) for what a TDL object cannot express.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TdlWriteError(pub String);

pub(super) type WriteResult<T = ()> = Result<T, TdlWriteError>;

/// Returns the module by ascending address, or [`TdlWriteError`] for a field that TDL lacks.
pub(super) fn by_address(module: &Module) -> WriteResult<SourceOrderModule> {
    let mut order = Order { module, bases: Vec::new(), made: SourceOrderModule::default() };
    order.number_externals();
    order.symbols();
    for section in &module.sections {
        order.section(section)?;
    }
    let start = module.start.unwrap_or(Target { base: Base::Absolute, addend: 0 });
    order.made.start = order.resolve(start);
    order.made.ident = Some(module.name.clone());
    Ok(order.made)
}

struct Order<'m> {
    module: &'m Module,
    /// The base numbers of externals, by symbol.
    bases: Vec<Option<u32>>,
    made: SourceOrderModule,
}

impl Order<'_> {
    fn number_externals(&mut self) {
        let mut next = u32::from(FIRST_EXTERNAL);
        self.bases = (self.module.symbols.iter())
            .map(|symbol| {
                let number = symbol.value.is_external().then_some(next);
                next += u32::from(number.is_some());
                number
            })
            .collect();
        self.made.sizes = vec![0; next as usize];
    }

    fn symbols(&mut self) {
        for (index, symbol) in self.module.symbols.iter().enumerate() {
            let mut value = self.resolve(Target { base: Base::Symbol(index), addend: 0 });
            if let SymbolValue::Common { size } = symbol.value {
                self.made.sizes[value.base as usize] = size.into();
                value.number = size;
            }
            self.made.symbols.push(TableSymbol {
                name: symbol.name.clone(),
                value,
                external: symbol.value.is_external(),
                exported: symbol.binding != Binding::Local,
                entry: symbol.binding == Binding::Entry,
                ..TableSymbol::default()
            });
        }
    }

    fn section(&mut self, section: &Section) -> WriteResult {
        self.check_fields(section)?;
        let base = section.kind.base();
        self.made.sizes[usize::from(base)] = section.size;
        for run in &section.runs {
            let end = run.end();
            let within =
                |reloc: &&Reloc| (u32::from(run.offset)..end).contains(&u32::from(reloc.offset));
            let word =
                |reloc: &Reloc| (u32::from(reloc.offset - run.offset), self.resolve(reloc.target));
            let words = section.relocs.iter().filter(within).map(word).collect();
            let start = RelocValue { number: run.offset, base: base.into() };
            self.made.code.push(CodeChunk {
                start,
                bytes: run.bytes.clone(),
                words,
                ..<_>::default()
            });
        }
        Ok(())
    }

    /// Checks that every relocated field is a word among the bytes of its section.
    fn check_fields(&self, section: &Section) -> WriteResult {
        let mut free = 0;
        for reloc in &section.relocs {
            let fault = |what: &str| {
                let (module, place) = (&self.module.name, self.place(section, reloc.offset));
                Err(TdlWriteError(format!("module {module}, {place}: {what}")))
            };
            let first = u32::from(reloc.offset);
            let end = first + 2;
            if reloc.kind != RelocKind::Word {
                let target = self.named(reloc.target);
                return fault(&format!(
                    "a byte depends on {target}, and TDL objects relocate words only; write an \
                     ELF object (.o)"
                ));
            }
            let run = section.runs.partition_point(|run| run.offset <= reloc.offset).checked_sub(1);
            let within = run.is_some_and(|run| end <= section.runs[run].end());
            if first < free || !within {
                return fault("a relocated word is not within the bytes of its section");
            }
            free = end;
        }
        Ok(())
    }

    fn resolve(&self, target: Target) -> RelocValue {
        // Values are modulo 65536, so the upper half of an addend has no meaning.
        let addend = target.addend as u16;
        match target.base {
            Base::Absolute => RelocValue { number: addend, base: 0 },
            Base::Section(kind) => RelocValue { number: addend, base: kind.base().into() },
            Base::Symbol(index) => match self.module.symbols[index].value {
                SymbolValue::Absolute(value) => {
                    RelocValue { number: value.wrapping_add(addend), base: 0 }
                }
                SymbolValue::InSection(kind, at) => {
                    RelocValue { number: at.wrapping_add(addend), base: kind.base().into() }
                }
                SymbolValue::Undefined | SymbolValue::Common { .. } => {
                    RelocValue { number: addend, base: self.bases[index].unwrap_or_default() }
                }
            },
        }
    }

    fn named(&self, target: Target) -> String {
        match target.base {
            Base::Absolute => "a number".into(),
            Base::Section(kind) => kind.tdl_name().into(),
            Base::Symbol(index) => self.module.symbols[index].name.to_string(),
        }
    }

    /// Returns the nearest label of the section before an offset, and the distance from it.
    fn place(&self, section: &Section, offset: u16) -> String {
        let labels = self.module.symbols.iter().filter_map(|symbol| match symbol.value {
            SymbolValue::InSection(kind, at) if kind == section.kind => {
                Some((offset.checked_sub(at)?, symbol.name.as_str()))
            }
            _ => None,
        });
        let (distance, label) = labels.min().unwrap_or((offset, section.kind.tdl_name()));
        format!("at {label}+{distance}")
    }
}
