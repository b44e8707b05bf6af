//! Modules to TDL object files.

use crate::module::{
    Base, Binding, Module, ObjectForm, Reloc, RelocKind, Run, Section, SectionKind, Symbol,
    SymbolValue, Target,
};
use crate::syntax::lex::is_symbol;

use super::record::{Entry, Form, Name, Output, Record};
use super::stream::Stream;
use super::{FIRST_EXTERNAL, base_of};

/// How many names, and how many entries of nine bytes, fill a record as far as one of code is filled.
const NAMES: usize = 4;
const ENTRIES: usize = 3;

/// The name of a module that has none a record could hold: that of the original for source without `.IDENT`.
const UNNAMED: &Name = b".MAIN.";

/// What a TDL object file cannot hold of a module.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TdlWriteError {
    /// A symbol that the records have no room for.
    #[error(
        "module {module}: {symbol} is no name for a TDL object: \
         that has one to six of A-Z, 0-9, $, % and ."
    )]
    Name {
        /// The module.
        module: String,
        /// The symbol, with its place in the source if that is known.
        symbol: String,
    },
    /// A relocated field of 8 bits.
    #[error(
        "module {module}, {at}: a byte depends on {target}, and TDL objects relocate words only; \
         write an ELF object (.o)"
    )]
    Byte {
        /// The module.
        module: String,
        /// The nearest label before the field and the distance from it, or section and offset.
        at: String,
        /// What the byte depends on.
        target: String,
    },
    /// A relocated word that is not among the section's bytes, or shares one with another.
    #[error("module {module}, {at}: a relocated word is not within the bytes of its section")]
    Outside {
        /// The module.
        module: String,
        /// Where the word should be.
        at: String,
    },
    /// More externals than there are base numbers.
    #[error("module {module} has {count} externals; a TDL object has room for 252")]
    Externals {
        /// The module.
        module: String,
        /// How many it has.
        count: usize,
    },
    /// A section whose size does not fit a word.
    #[error("module {module}: {section} ends with reserved space at FFFFH; reserve a byte less")]
    Size {
        /// The module.
        module: String,
        /// The section's TDL name.
        section: &'static str,
    },
    /// An external in an object without names.
    #[error(
        "module {module}, {at}: {symbol} is external, and .XLINK leaves its name out; \
         drop .XLINK from the source"
    )]
    Unnamed {
        /// The module.
        module: String,
        /// Where it is used.
        at: String,
        /// The external.
        symbol: String,
    },
}

/// The bytes of a TDL object file with these modules, in their order. Names of modules are cut to six characters.
///
/// # Errors
/// The first thing that the format has no room for.
pub fn write_tdl(modules: &[Module], form: ObjectForm) -> Result<Vec<u8>, TdlWriteError> {
    let records_form = if form.binary { Form::Binary } else { Form::Hex };
    let mut output = Output::new(records_form);
    for module in modules {
        Writer::new(module, form)?.write(&mut output)?;
    }
    Ok(output.bytes)
}

struct Writer<'m> {
    module: &'m Module,
    form: ObjectForm,
    /// By symbol: the base number of an external.
    bases: Vec<Option<u8>>,
}

type Written<T = ()> = Result<T, TdlWriteError>;

impl<'m> Writer<'m> {
    fn new(module: &'m Module, form: ObjectForm) -> Written<Self> {
        let mut next = usize::from(FIRST_EXTERNAL);
        let bases: Vec<Option<u8>> = (module.symbols.iter())
            .map(|symbol| {
                let number = is_external(symbol).then_some(next);
                next += usize::from(number.is_some());
                number.and_then(|number| u8::try_from(number).ok())
            })
            .collect();
        let count = next - usize::from(FIRST_EXTERNAL);
        if next > 0x100 {
            return Err(TdlWriteError::Externals { module: module.name.clone(), count });
        }
        Ok(Self { module, form, bases })
    }

    fn write(&self, output: &mut Output) -> Written {
        if self.form.linkage {
            self.linkage(output)?;
        }
        for section in &self.module.sections {
            self.check_fields(section)?;
            section.runs.iter().for_each(|run| self.code(section, run, output));
        }
        let start = self.module.start.unwrap_or(Target { base: Base::Absolute, addend: 0 });
        self.check_named(start, || "the start address".into())?;
        let (base, address) = self.resolve(start);
        output.record(&Record::End { address, base });
        if self.form.symbols {
            let entries = self.entries(|_| true)?;
            write_entries(&entries, Record::Symbols, output);
        }
        Ok(())
    }

    /// The records in front of the code.
    fn linkage(&self, output: &mut Output) -> Written {
        output.record(&Record::Module(module_name(&self.module.name)));
        let entry_points = self.module.symbols.iter().filter(|one| one.binding == Binding::Entry);
        let entry_points: Vec<Name> =
            entry_points.map(|symbol| self.name(symbol)).collect::<Written<_>>()?;
        for names in entry_points.chunks(NAMES) {
            output.record(&Record::EntryPoints(names.to_vec()));
        }
        write_entries(&self.base_entries()?, Record::Bases, output);
        let exports = self.entries(|symbol| symbol.binding != Binding::Local)?;
        write_entries(&exports, Record::Exports, output);
        Ok(())
    }

    /// The sections' sizes, and the externals with those of shared areas.
    fn base_entries(&self) -> Written<Vec<Entry>> {
        let mut entries = Vec::new();
        for section in self.module.sections.iter().filter(|one| one.kind != SectionKind::Absolute) {
            let name = padded(section.kind.tdl_name().as_bytes());
            let value = self.size(section)?;
            entries.push(Entry { name, base: base_of(section.kind), value });
        }
        for (symbol, base) in self.module.symbols.iter().zip(&self.bases) {
            if let Some(base) = *base {
                let value = if let SymbolValue::Common { size } = symbol.value { size } else { 0 };
                entries.push(Entry { name: self.name(symbol)?, base, value });
            }
        }
        Ok(entries)
    }

    /// The size as a word. That of a full section needs one bit more, but is known from its last byte.
    fn size(&self, section: &Section) -> Written<u16> {
        let end = section.runs.last().map_or(0, end_of);
        match u16::try_from(section.size) {
            Ok(size) => Ok(size),
            Err(_) if end == section.size => Ok(u16::MAX),
            Err(_) => {
                let (module, section) = (self.module.name.clone(), section.kind.tdl_name());
                Err(TdlWriteError::Size { module, section })
            }
        }
    }

    /// The symbols with a value of which `wanted` holds.
    fn entries(&self, wanted: impl Fn(&Symbol) -> bool) -> Written<Vec<Entry>> {
        let symbols = self.module.symbols.iter().enumerate();
        symbols
            .filter(|(_, symbol)| !is_external(symbol) && wanted(symbol))
            .map(|(index, symbol)| {
                let (base, value) = self.resolve(Target { base: Base::Symbol(index), addend: 0 });
                Ok(Entry { name: self.name(symbol)?, base, value })
            })
            .collect()
    }

    fn name(&self, symbol: &Symbol) -> Written<Name> {
        let name = symbol.name.as_bytes();
        let fits = |byte: &u8| is_symbol(*byte) && !byte.is_ascii_lowercase();
        if (1..=6).contains(&name.len()) && name.iter().all(fits) {
            return Ok(padded(name));
        }
        let place = symbol.place.as_ref();
        let place = place.map_or(String::new(), |at| format!(" ({}:{})", at.file, at.line));
        let (module, symbol) = (self.module.name.clone(), format!("{}{place}", symbol.name));
        Err(TdlWriteError::Name { module, symbol })
    }

    /// A target as base number and value.
    fn resolve(&self, target: Target) -> (u8, u16) {
        let addend = target.addend as u16;
        match target.base {
            Base::Absolute => (0, addend),
            Base::Section(kind) => (base_of(kind), addend),
            Base::Symbol(index) => match self.module.symbols[index].value {
                SymbolValue::Absolute(value) => (0, value.wrapping_add(addend)),
                SymbolValue::InSection(kind, at) => (base_of(kind), at.wrapping_add(addend)),
                SymbolValue::Undefined | SymbolValue::Common { .. } => {
                    (self.bases[index].unwrap_or_default(), addend)
                }
            },
        }
    }

    /// Whether every field of a section is a word among its bytes.
    fn check_fields(&self, section: &Section) -> Written {
        let mut free = 0;
        for reloc in &section.relocs {
            let at = || self.place(section, reloc.offset);
            let (first, end) = (u32::from(reloc.offset), u32::from(reloc.offset) + 2);
            if reloc.kind != RelocKind::Word {
                let (module, target) = (self.module.name.clone(), self.named(reloc.target));
                return Err(TdlWriteError::Byte { module, at: at(), target });
            }
            let run = section.runs.partition_point(|run| run.offset <= reloc.offset).checked_sub(1);
            let within = run.is_some_and(|run| end <= end_of(&section.runs[run]));
            if first < free || !within {
                return Err(TdlWriteError::Outside { module: self.module.name.clone(), at: at() });
            }
            self.check_named(reloc.target, at)?;
            free = end;
        }
        Ok(())
    }

    /// Without linkage records nothing tells which symbol the number of an external means.
    fn check_named(&self, target: Target, at: impl Fn() -> String) -> Written {
        if self.form.linkage || self.resolve(target).0 < FIRST_EXTERNAL {
            return Ok(());
        }
        let (module, symbol) = (self.module.name.clone(), self.named(target));
        Err(TdlWriteError::Unnamed { module, at: at(), symbol })
    }

    fn named(&self, target: Target) -> String {
        match target.base {
            Base::Absolute => "a number".into(),
            Base::Section(kind) => kind.tdl_name().into(),
            Base::Symbol(index) => self.module.symbols[index].name.to_string(),
        }
    }

    /// The nearest label of the section before an offset, and the distance from it.
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

    fn code(&self, section: &Section, run: &Run, output: &mut Output) {
        let base = base_of(section.kind);
        let first = section.relocs.partition_point(|reloc| reloc.offset < run.offset);
        let mut relocs = section.relocs[first..].iter().peekable();
        let mut stream = Stream::default();
        let (mut address, mut at) = (run.offset, 0);
        while let Some(byte) = run.bytes.get(at) {
            let here = run.offset + at as u16;
            match relocs.next_if(|reloc| reloc.offset == here) {
                Some(reloc) => {
                    self.push_word(reloc, base, &mut stream);
                    at += 2;
                }
                None => {
                    stream.push_byte(*byte);
                    at += 1;
                }
            }
            if stream.is_full() || at == run.bytes.len() {
                output.record(&Record::Code { address, base, stream: stream.take() });
                address = run.offset.wrapping_add(at as u16);
            }
        }
    }

    fn push_word(&self, reloc: &Reloc, own: u8, stream: &mut Stream) {
        let (base, value) = self.resolve(reloc.target);
        let prog = base_of(SectionKind::Prog);
        match base {
            0 => value.to_le_bytes().into_iter().for_each(|byte| stream.push_byte(byte)),
            _ if base == own || (own == 0 && base == prog && !self.form.linkage) => {
                stream.push_word(None, value);
            }
            _ => stream.push_word(Some(base), value),
        }
    }
}

/// Just past the last byte of a run.
fn end_of(run: &Run) -> u32 {
    u32::from(run.offset) + run.bytes.len() as u32
}

fn is_external(symbol: &Symbol) -> bool {
    matches!(symbol.value, SymbolValue::Undefined | SymbolValue::Common { .. })
}

fn write_entries(entries: &[Entry], record: fn(Vec<Entry>) -> Record, output: &mut Output) {
    entries.chunks(ENTRIES).for_each(|chunk| output.record(&record(chunk.to_vec())));
}

/// A name with blanks behind it; what passes six characters is cut.
fn padded(name: &[u8]) -> Name {
    let mut padded = [b' '; 6];
    padded.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
    padded
}

/// The module's name, or the original's for none if it has characters that no symbol has.
fn module_name(name: &str) -> Name {
    let capitals = name.to_ascii_uppercase();
    if !capitals.is_empty() && capitals.bytes().all(is_symbol) {
        padded(capitals.as_bytes())
    } else {
        *UNNAMED
    }
}
