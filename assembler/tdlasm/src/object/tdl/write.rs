//! Writes TDL object files.

use std::borrow::Cow;

use super::order::{TdlWriteError, WriteResult, by_address};
use super::record::{Encoding, Entry, Name, Output, Record};
use super::stream::Stream;
use crate::module::{
    CodeChunk, FIRST_EXTERNAL, Module, ObjectForm, ProgramId, RelocValue, SectionKind,
    SourceOrderModule, TableSymbol,
};
use crate::syntax::lex::is_symbol;

/// The most names of an `@` record, and entries of the other lists, as written by ZASM 2.21.
const NAMES: usize = 8;
const ENTRIES: usize = 4;
/// The maximum number of bases, whose numbers are bytes.
const MAX_BASES: usize = 0x100;
/// The CP/M end-of-file mark, and the size of a CP/M disk record.
const CPM_END: u8 = 0x1A;
const CPM_RECORD: usize = 128;

/// The sections whose sizes every module lists, even empty ones.
const SECTIONS: [SectionKind; 3] = [SectionKind::Prog, SectionKind::Data, SectionKind::Blank];

/// ZASM's name for modules without `.IDENT`.
const UNNAMED: &Name = b".MAIN.";

/// Returns a TDL object file with these modules, in order. Names of modules are cut to six
/// characters.
///
/// A module assembled by this crate is written record for record as by ZASM 2.21, in the form that
/// its directives and `form` select. After `.PBIN` the
/// file is padded to whole CP/M disk records.
///
/// # Errors
///
/// Returns [`TdlWriteError`] for the first item that the format cannot express.
pub fn write_tdl(modules: &[Module], form: ObjectForm) -> Result<Vec<u8>, TdlWriteError> {
    let encoding = if form.binary { Encoding::Binary } else { Encoding::Hex };
    let mut output = Output::new(encoding);
    for module in modules {
        let order = match &module.source_order {
            Some(assembled) => Cow::Borrowed(&**assembled),
            None => Cow::Owned(by_address(module)?),
        };
        let count = order.symbols.iter().filter(|symbol| symbol.external).count();
        if count > MAX_BASES - usize::from(FIRST_EXTERNAL) {
            let module = &module.name;
            return Err(TdlWriteError(format!(
                "module {module} has {count} externals; a TDL object has room for 252"
            )));
        }
        Writer { module, order: &order, form: form_of(&order, form) }.write(&mut output)?;
    }
    if form.binary {
        output.bytes.push(CPM_END);
        let whole = output.bytes.len().next_multiple_of(CPM_RECORD);
        output.bytes.resize(whole, 0);
    }
    Ok(output.bytes)
}

/// Returns the form of a module: `.PABS`, `.XLINK` and `.PSYM` apply to one module.
fn form_of(order: &SourceOrderModule, form: ObjectForm) -> ObjectForm {
    ObjectForm {
        binary: form.binary,
        hex: form.hex || order.form.hex,
        linkage: form.linkage && order.form.linkage,
        symbols: form.symbols || order.form.symbols,
    }
}

/// Returns what an object of this form leaves out although the program needs it: names of externals
/// after `.XLINK`, relocations after `.PABS`. ZASM leaves them out, too.
pub fn tdl_losses(modules: &[Module], form: ObjectForm) -> Vec<String> {
    let assembled = modules.iter().filter_map(|module| {
        let order = module.source_order.as_deref()?;
        Some((module.name.as_str(), order))
    });
    assembled.filter_map(|(name, order)| loss(name, order, form_of(order, form))).collect()
}

fn loss(module: &str, order: &SourceOrderModule, form: ObjectForm) -> Option<String> {
    let words =
        || order.code.iter().flat_map(|chunk| chunk.words_and_bytes().map(move |one| (chunk, one)));
    if form.hex {
        let (chunk, (at, _)) = words().next()?;
        let address = address_after(chunk, *at as usize);
        return Some(format!(
            "module {module}: .PABS leaves out what the word at {address:04X}H moves with; \
             use .PREL, or .LOC for fixed addresses"
        ));
    }
    let is_external = |value: &RelocValue| value.base >= u32::from(FIRST_EXTERNAL);
    let (_, (_, value)) =
        words().find(|(_, (_, value))| is_external(value)).filter(|_| !form.linkage)?;
    let external = order.symbols.iter().find(|one| one.external && one.value.base == value.base)?;
    Some(format!("module {module}: .XLINK leaves out the name of {}; use .LINK", external.name))
}

struct Writer<'m> {
    module: &'m Module,
    order: &'m SourceOrderModule,
    form: ObjectForm,
}

impl Writer<'_> {
    fn write(&self, output: &mut Output) -> WriteResult {
        if self.form.linkage {
            self.linkage(output)?;
        }
        self.order.code.iter().for_each(|chunk| self.code(chunk, output));
        let RelocValue { number: address, base } = self.order.start;
        self.code_record(address, number_of(base), Vec::new(), output);
        if self.form.symbols {
            let mut entries = self.section_entries()?;
            entries.extend(self.entries(|_| true)?);
            write_entries(&entries, Record::Symbols, output);
        }
        Ok(())
    }

    /// Writes the records before the code.
    fn linkage(&self, output: &mut Output) -> WriteResult {
        output.record(&Record::Module(self.module_name()));
        if let Some(ProgramId { name, version, revision }) = &self.order.program {
            output.record(&Record::Program(padded(name), *version, *revision));
        }
        let entry_points = self.order.symbols.iter().filter(|symbol| symbol.entry);
        let entry_points: Vec<Name> =
            entry_points.map(|symbol| self.name(symbol)).collect::<WriteResult<_>>()?;
        for names in entry_points.chunks(NAMES) {
            output.record(&Record::EntryPoints(names.to_vec()));
        }
        // As in ZASM, bases precede everything that refers to them by number. Externals are in the
        // order of their numbers, which is not that of the symbol table.
        let mut bases = self.section_entries()?;
        let mut externals = self.entries(|symbol| symbol.external)?;
        externals.sort_by_key(|entry| entry.base);
        bases.append(&mut externals);
        write_entries(&bases, Record::Bases, output);
        // ZASM writes entry points in separate records, before the other exports.
        let exports =
            |entry| move |one: &TableSymbol| !one.external && one.exported && one.entry == entry;
        write_entries(&self.entries(exports(true))?, Record::Exports, output);
        write_entries(&self.entries(exports(false))?, Record::Exports, output);
        Ok(())
    }

    /// Returns the name from `.IDENT`, or ZASM's default if a record cannot contain it.
    fn module_name(&self) -> Name {
        let name = self.order.ident.as_deref().unwrap_or_default().to_ascii_uppercase();
        let fits = !name.is_empty() && name.bytes().all(is_symbol);
        if fits { padded(name.as_bytes()) } else { *UNNAMED }
    }

    fn section_entries(&self) -> WriteResult<Vec<Entry>> {
        SECTIONS
            .into_iter()
            .map(|kind| {
                let name = padded(kind.tdl_name().as_bytes());
                Ok(Entry { name, base: kind.base(), value: self.size(kind)? })
            })
            .collect()
    }

    /// Returns the size as a word; a full section's needs one bit more, which its last byte gives.
    fn size(&self, kind: SectionKind) -> WriteResult<u16> {
        let base = u32::from(kind.base());
        let size = self.order.size(base);
        let chunks = self.order.code.iter().filter(|chunk| chunk.start.base == base);
        let end =
            chunks.map(|chunk| u32::from(chunk.start.number) + chunk.bytes.len() as u32).max();
        match u16::try_from(size) {
            Ok(size) => Ok(size),
            // 10000H does not fit the field. If the section ends with bytes, the last one shows a
            // reader that there is one more than the field contains; reserved space does not.
            Err(_) if end == Some(size) => Ok(u16::MAX),
            Err(_) => {
                let (module, section) = (&self.module.name, kind.tdl_name());
                Err(TdlWriteError(format!(
                    "module {module}: {section} ends with reserved space at FFFFH; reserve a byte \
                     less"
                )))
            }
        }
    }

    /// Returns the entries of the symbols for which `wanted` returns `true`.
    fn entries(&self, wanted: impl Fn(&TableSymbol) -> bool) -> WriteResult<Vec<Entry>> {
        let symbols = self.order.symbols.iter().filter(|symbol| wanted(symbol));
        symbols
            .map(|symbol| {
                let RelocValue { number: value, base } = symbol.value;
                Ok(Entry { name: self.name(symbol)?, base: number_of(base), value })
            })
            .collect()
    }

    fn name(&self, symbol: &TableSymbol) -> WriteResult<Name> {
        let name = symbol.name.as_bytes();
        let fits = |byte: &u8| is_symbol(*byte) && !byte.is_ascii_lowercase();
        if (1..=6).contains(&name.len()) && name.iter().all(fits) {
            return Ok(padded(name));
        }
        let known = self.module.symbols.iter().find(|one| one.name == symbol.name);
        let place = known.and_then(|known| known.place.as_ref());
        let place = place.map_or(String::new(), |at| format!(" ({}:{})", at.file, at.line));
        Err(TdlWriteError(format!(
            "module {}: {}{place} is not a name for a TDL object: that has one to six of A-Z, 0-9, \
             $, % and .",
            self.module.name, symbol.name
        )))
    }

    fn code_record(&self, address: u16, base: u8, bytes: Vec<u8>, output: &mut Output) {
        output.record(&Record::Code { is_hex: self.form.hex, address, base, bytes });
    }

    /// Writes a chunk. In Intel HEX these are the data bytes of a `;` record without its control
    /// bytes, so that, as in ZASM, a word of another base consists of its number and the value.
    fn code(&self, chunk: &CodeChunk, output: &mut Output) {
        let base = number_of(chunk.start.base);
        let mut words = chunk.words.iter().peekable();
        let mut low_bytes = chunk.low_bytes.iter().peekable();
        let mut stream = Stream::new(!self.form.hex);
        let mut address = chunk.start.number;
        let mut at = 0;
        while let Some(byte) = chunk.bytes.get(at) {
            match words.next_if(|(place, _)| *place as usize == at) {
                Some((_, value)) => {
                    self.push_word(*value, base, &mut stream);
                    at += 2;
                }
                None => {
                    match low_bytes.next_if(|(place, _)| *place as usize == at) {
                        Some((_, value)) => {
                            stream.push_based_byte(number_of(value.base), value.number as u8);
                        }
                        None => stream.push_byte(*byte),
                    }
                    at += 1;
                }
            }
            if stream.is_full() || at >= chunk.bytes.len() {
                self.code_record(address, base, stream.take(), output);
                address = address_after(chunk, at);
            }
        }
    }

    fn push_word(&self, value: RelocValue, own: u8, stream: &mut Stream) {
        let base = number_of(value.base);
        // Without linkage records a relocated word at an absolute address is relative to `.PROG.`
        // by default.
        let is_default = own == 0 && base == SectionKind::Prog.base() && !self.form.linkage;
        match base {
            0 => value.number.to_le_bytes().into_iter().for_each(|byte| stream.push_byte(byte)),
            _ if base == own || (is_default && !self.form.hex) => {
                stream.push_word(None, value.number);
            }
            _ => stream.push_word(Some(base), value.number),
        }
    }
}

/// Returns the address of a byte of a chunk; addresses wrap.
fn address_after(chunk: &CodeChunk, at: usize) -> u16 {
    chunk.start.number.wrapping_add(at as u16)
}

/// Returns the number of a base; [`write_tdl`] has checked that it fits.
fn number_of(base: u32) -> u8 {
    u8::try_from(base).unwrap_or(u8::MAX)
}

fn write_entries(entries: &[Entry], record: fn(Vec<Entry>) -> Record, output: &mut Output) {
    entries.chunks(ENTRIES).for_each(|chunk| output.record(&record(chunk.to_vec())));
}

/// Pads a name with blanks, or cuts it to six characters.
fn padded(name: &[u8]) -> Name {
    let mut padded = [b' '; 6];
    padded.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
    padded
}
