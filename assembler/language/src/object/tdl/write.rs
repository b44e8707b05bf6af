//! Modules to TDL object files.

use std::borrow::Cow;

use crate::module::{Assembled, Listed, Module, ObjectForm, SectionKind, Stretch, TableSymbol};
use crate::syntax::lex::is_symbol;

use super::order::by_address;
use super::record::{Entry, Form, Name, Output, Record};
use super::stream::Stream;
use super::{FIRST_EXTERNAL, base_of};

/// The most names of an `@` record and the most entries of the other lists, as ZASM 2.21 writes
/// them.
const NAMES: usize = 8;
const ENTRIES: usize = 4;
/// The bytes that fill a record of Intel HEX: a word that begins before goes beyond.
const HEX_FULL: usize = 0x18;
/// The most bases: their numbers are bytes.
const MAX_BASES: usize = 0x100;
/// The end of a text on CP/M, and the size of its disk records.
const CPM_END: u8 = 0x1A;
const CPM_RECORD: usize = 128;

/// The sections whose sizes every module lists, empty ones too.
const SECTIONS: [SectionKind; 3] = [SectionKind::Prog, SectionKind::Data, SectionKind::Blank];

/// The name that the original gives to modules without `.IDENT`.
const UNNAMED: &Name = b".MAIN.";

/// Error returned by [`write_tdl`]: something of a module that a TDL object cannot hold.
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
        /// The symbol or section that the byte depends on.
        target: String,
    },
    /// A relocated word that is not among the section's bytes, or shares one with another.
    #[error("module {module}, {at}: a relocated word is not within the bytes of its section")]
    Outside {
        /// The module.
        module: String,
        /// The place of the word.
        at: String,
    },
    /// More externals than there are base numbers.
    #[error("module {module} has {count} externals; a TDL object has room for 252")]
    Externals {
        /// The module.
        module: String,
        /// The number of its externals.
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
}

pub(super) type Written<T = ()> = Result<T, TdlWriteError>;

/// Returns a TDL object file with these modules, in their order. Names of modules are cut to six
/// characters.
///
/// A module that was assembled here is written record for record as ZASM 2.21 writes it. After
/// `.PBIN` the file is filled up to whole CP/M disk records.
///
/// # Errors
/// Returns the first thing that the format has no room for.
pub fn write_tdl(modules: &[Module], form: ObjectForm) -> Result<Vec<u8>, TdlWriteError> {
    let records_form = if form.binary { Form::Binary } else { Form::Hex };
    let mut output = Output::new(records_form);
    for module in modules {
        let order = match &module.assembled {
            Some(assembled) => Cow::Borrowed(&**assembled),
            None => Cow::Owned(by_address(module)?),
        };
        Writer::new(module, &order, form)?.write(&mut output)?;
    }
    if form.binary {
        output.bytes.push(CPM_END);
        let whole = output.bytes.len().next_multiple_of(CPM_RECORD);
        output.bytes.resize(whole, 0);
    }
    Ok(output.bytes)
}

/// Returns what an object of this form leaves out although the program needs it: names of externals
/// after `.XLINK`, relocations after `.PABS`. The original leaves them out too.
#[must_use]
pub fn tdl_losses(modules: &[Module], form: ObjectForm) -> Vec<String> {
    let assembled = modules.iter().filter_map(|module| {
        let order = module.assembled.as_deref()?;
        Some((module.name.as_str(), order))
    });
    assembled.filter_map(|(name, order)| loss(name, order, form)).collect()
}

fn loss(module: &str, order: &Assembled, form: ObjectForm) -> Option<String> {
    let words = || {
        order.code.iter().flat_map(|stretch| stretch.words.iter().map(move |word| (stretch, word)))
    };
    if form.hex {
        let (stretch, (at, _)) = words().next()?;
        let address = address_after(stretch, *at as usize);
        return Some(format!(
            "module {module}: .PABS leaves out what the word at {address:04X}H moves with; \
             use .PREL, or .LOC for fixed addresses"
        ));
    }
    let is_external = |value: &Listed| value.base >= u32::from(FIRST_EXTERNAL);
    let (_, (_, value)) =
        words().find(|(_, (_, value))| is_external(value)).filter(|_| !form.linkage)?;
    let external = order.symbols.iter().find(|one| one.external && one.value.base == value.base)?;
    Some(format!("module {module}: .XLINK leaves out the name of {}; use .LINK", external.name))
}

struct Writer<'m> {
    module: &'m Module,
    order: &'m Assembled,
    form: ObjectForm,
}

impl<'m> Writer<'m> {
    fn new(module: &'m Module, order: &'m Assembled, form: ObjectForm) -> Written<Self> {
        let count = order.symbols.iter().filter(|symbol| symbol.external).count();
        if count > MAX_BASES - usize::from(FIRST_EXTERNAL) {
            return Err(TdlWriteError::Externals { module: module.name.clone(), count });
        }
        Ok(Self { module, order, form })
    }

    fn write(&self, output: &mut Output) -> Written {
        if self.form.linkage {
            self.linkage(output)?;
        }
        for stretch in &self.order.code {
            if self.form.hex {
                hex_code(stretch, output);
            } else {
                self.code(stretch, output);
            }
        }
        let Listed { number: address, base } = self.order.start;
        let base = number_of(base);
        let end = if self.form.hex {
            Record::HexEnd { address, base }
        } else {
            Record::End { address, base }
        };
        output.record(&end);
        if self.form.symbols {
            let mut entries = self.section_entries()?;
            entries.extend(self.entries(|_| true)?);
            write_entries(&entries, Record::Symbols, output);
        }
        Ok(())
    }

    /// Writes the records before the code.
    fn linkage(&self, output: &mut Output) -> Written {
        output.record(&Record::Module(self.module_name()));
        let entry_points = self.order.symbols.iter().filter(|symbol| symbol.entry);
        let entry_points: Vec<Name> =
            entry_points.map(|symbol| self.name(symbol)).collect::<Written<_>>()?;
        for names in entry_points.chunks(NAMES) {
            output.record(&Record::EntryPoints(names.to_vec()));
        }
        // The order of the records is the original's: bases come before all that refers to them by
        // number. Externals stand by their numbers, which is not the order of the symbol table.
        let mut bases = self.section_entries()?;
        let mut externals = self.entries(|symbol| symbol.external)?;
        externals.sort_by_key(|entry| entry.base);
        bases.append(&mut externals);
        write_entries(&bases, Record::Bases, output);
        // The original writes the entry points in records of their own, before the other exports.
        let exports =
            |entry| move |one: &TableSymbol| !one.external && one.exported && one.entry == entry;
        write_entries(&self.entries(exports(true))?, Record::Exports, output);
        write_entries(&self.entries(exports(false))?, Record::Exports, output);
        Ok(())
    }

    /// The name of `.IDENT`, or the original's for none if a record cannot hold it.
    fn module_name(&self) -> Name {
        let name = self.order.ident.as_deref().unwrap_or_default().to_ascii_uppercase();
        let fits = !name.is_empty() && name.bytes().all(is_symbol);
        if fits { padded(name.as_bytes()) } else { *UNNAMED }
    }

    fn section_entries(&self) -> Written<Vec<Entry>> {
        SECTIONS
            .into_iter()
            .map(|kind| {
                let name = padded(kind.tdl_name().as_bytes());
                Ok(Entry { name, base: base_of(kind), value: self.size(kind)? })
            })
            .collect()
    }

    /// The size as a word. That of a full section needs one bit more, but is known from its last
    /// byte.
    fn size(&self, kind: SectionKind) -> Written<u16> {
        let base = u32::from(base_of(kind));
        let size = self.order.size(base);
        let stretches = self.order.code.iter().filter(|stretch| stretch.start.base == base);
        let end = stretches
            .map(|stretch| u32::from(stretch.start.number) + stretch.bytes.len() as u32)
            .max();
        match u16::try_from(size) {
            Ok(size) => Ok(size),
            // 10000H does not fit the field. Where the section ends with bytes, the last one shows
            // a reader that there is one more than the field says; space that is only reserved
            // leaves no such trace.
            Err(_) if end == Some(size) => Ok(u16::MAX),
            Err(_) => {
                let module = self.module.name.clone();
                Err(TdlWriteError::Size { module, section: kind.tdl_name() })
            }
        }
    }

    /// The symbols of which `wanted` holds.
    fn entries(&self, wanted: impl Fn(&TableSymbol) -> bool) -> Written<Vec<Entry>> {
        let symbols = self.order.symbols.iter().filter(|symbol| wanted(symbol));
        symbols
            .map(|symbol| {
                let Listed { number: value, base } = symbol.value;
                Ok(Entry { name: self.name(symbol)?, base: number_of(base), value })
            })
            .collect()
    }

    fn name(&self, symbol: &TableSymbol) -> Written<Name> {
        let name = symbol.name.as_bytes();
        let fits = |byte: &u8| is_symbol(*byte) && !byte.is_ascii_lowercase();
        if (1..=6).contains(&name.len()) && name.iter().all(fits) {
            return Ok(padded(name));
        }
        let known = self.module.symbols.iter().find(|one| one.name == symbol.name);
        let place = known.and_then(|known| known.place.as_ref());
        let place = place.map_or(String::new(), |at| format!(" ({}:{})", at.file, at.line));
        let module = self.module.name.clone();
        Err(TdlWriteError::Name { module, symbol: format!("{}{place}", symbol.name) })
    }

    fn code(&self, stretch: &Stretch, output: &mut Output) {
        let base = number_of(stretch.start.base);
        let mut words = stretch.words.iter().peekable();
        let mut stream = Stream::default();
        let mut address = stretch.start.number;
        let mut at = 0;
        while let Some(byte) = stretch.bytes.get(at) {
            match words.next_if(|(place, _)| *place as usize == at) {
                Some((_, value)) => {
                    self.push_word(*value, base, &mut stream);
                    at += 2;
                }
                None => {
                    stream.push_byte(*byte);
                    at += 1;
                }
            }
            if stream.is_full() || at >= stretch.bytes.len() {
                output.record(&Record::Code { address, base, stream: stream.take() });
                address = address_after(stretch, at);
            }
        }
    }

    fn push_word(&self, value: Listed, own: u8, stream: &mut Stream) {
        let prog = base_of(SectionKind::Prog);
        let base = number_of(value.base);
        // Without linkage records a word at a fixed address moves with .PROG. unless it says
        // otherwise.
        let is_own = base == own || (own == 0 && base == prog && !self.form.linkage);
        match base {
            0 => value.number.to_le_bytes().into_iter().for_each(|byte| stream.push_byte(byte)),
            _ if is_own => stream.push_word(None, value.number),
            _ => stream.push_word(Some(base), value.number),
        }
    }
}

/// Writes a stretch as Intel HEX: the data bytes of a `;` record without its control bytes, so that
/// a word of another base is its number and the value, as the original has it.
fn hex_code(stretch: &Stretch, output: &mut Output) {
    let base = number_of(stretch.start.base);
    let mut words = stretch.words.iter().peekable();
    let mut bytes = Vec::with_capacity(HEX_FULL + 2);
    let mut address = stretch.start.number;
    let mut at = 0;
    while let Some(byte) = stretch.bytes.get(at) {
        match words.next_if(|(place, _)| *place as usize == at) {
            Some((_, value)) => {
                let is_plain = value.base == 0 || value.base == stretch.start.base;
                bytes.extend((!is_plain).then(|| number_of(value.base)));
                bytes.extend(value.number.to_le_bytes());
                at += 2;
            }
            None => {
                bytes.push(*byte);
                at += 1;
            }
        }
        if bytes.len() >= HEX_FULL || at >= stretch.bytes.len() {
            output.record(&Record::Hex { address, base, bytes: std::mem::take(&mut bytes) });
            address = address_after(stretch, at);
        }
    }
}

/// The address of a stretch's byte; addresses wrap.
fn address_after(stretch: &Stretch, at: usize) -> u16 {
    stretch.start.number.wrapping_add(at as u16)
}

/// The base as a record has it; [`Writer::new`] has checked that it fits.
fn number_of(base: u32) -> u8 {
    u8::try_from(base).unwrap_or(u8::MAX)
}

fn write_entries(entries: &[Entry], record: fn(Vec<Entry>) -> Record, output: &mut Output) {
    entries.chunks(ENTRIES).for_each(|chunk| output.record(&record(chunk.to_vec())));
}

/// A name with blanks after it; what passes six characters is cut.
fn padded(name: &[u8]) -> Name {
    let mut padded = [b' '; 6];
    padded.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
    padded
}
