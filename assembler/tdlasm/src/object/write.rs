//! Writes modules as ELF relocatable objects.

use std::borrow::Cow;

use object::write::StringId;
use object::write::elf::{Rel, SectionHeader, SectionIndex, SinglePhase, Sym, Writer};
use object::{Endianness, elf};

use super::elf::{
    RELOCATIONS, TDL_SECTION, addend_bias, file_header, plain_section, section_name,
    symbol as elf_symbol,
};
use super::tdl_section;
use crate::module::{
    Base, Binding, Module, Reloc, Section, SectionKind, SectionRun, Symbol, SymbolValue,
};

/// A section in ELF form.
struct Flat<'m> {
    kind: SectionKind,
    name: String,
    address: u16,
    bytes: Option<Cow<'m, [u8]>>,
    size: u32,
    relocs: &'m [Reloc],
}

impl Flat<'_> {
    fn empty(kind: SectionKind) -> Self {
        let name = section_name(kind).to_owned();
        Self { kind, name, address: 0, bytes: None, size: 0, relocs: &[] }
    }
}

/// The size of a symbol table entry.
const ENTRY_BYTES: u64 = 16;

/// Returns an ELF relocatable object for a module. Equal modules give equal bytes.
///
/// # Panics
///
/// Never for modules below 2 GB, as all assembled ones are.
pub fn write_object(module: &Module) -> Vec<u8> {
    let mut sections: Vec<Flat<'_>> = module.sections.iter().flat_map(flatten).collect();
    sections.extend(named_only(module));
    let relocated_names: Vec<String> =
        sections.iter().map(|one| format!(".rela{}", one.name)).collect();
    let mut buffer = Vec::new();
    let mut header = Vec::new();
    let mut writer = Writer::new_single_phase(Endianness::Little, false, &mut buffer);
    // The sizes fit, so writing to memory cannot fail.
    let _ = writer.write_file_header(&file_header(elf::ET_REL, 0));
    let mut output =
        Output { writer, module, symbol_numbers: vec![0; module.symbols.len()], names: vec![0] };
    output.write(&sections, &relocated_names);
    let _ = output.writer.write_file_header_to(&mut header);
    drop(output);
    buffer[..header.len()].copy_from_slice(&header);
    buffer
}

/// Returns the empty sections that symbols or relocations refer to.
fn named_only(module: &Module) -> impl Iterator<Item = Flat<'_>> {
    let symbols = module.symbols.iter().filter_map(|symbol| match symbol.value {
        SymbolValue::InSection(kind, _) => Some(kind),
        _ => None,
    });
    let fields = module.sections.iter().flat_map(|section| &section.relocs);
    let targets = fields.filter_map(|reloc| match reloc.target.base {
        Base::Section(kind) => Some(kind),
        _ => None,
    });
    let mut kinds: Vec<SectionKind> = symbols.chain(targets).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.retain(|kind| *kind != SectionKind::Absolute && module.section(*kind).is_none());
    kinds.into_iter().map(Flat::empty)
}

/// Returns the flat form of `.text`, `.data` or `.bss`, or each absolute run.
fn flatten(section: &Section) -> Vec<Flat<'_>> {
    if section.kind == SectionKind::Absolute {
        return section.runs.iter().map(|run| absolute(section, run)).collect();
    }
    let mut bytes = vec![0; section.size as usize];
    for run in &section.runs {
        let start = usize::from(run.offset);
        bytes[start..start + run.bytes.len()].copy_from_slice(&run.bytes);
    }
    let empty = section.runs.is_empty() && section.kind == SectionKind::Blank;
    vec![Flat {
        bytes: (!empty).then_some(Cow::Owned(bytes)),
        size: section.size,
        relocs: &section.relocs,
        ..Flat::empty(section.kind)
    }]
}

fn absolute<'m>(section: &'m Section, run: &'m SectionRun) -> Flat<'m> {
    let first = section.relocs.partition_point(|reloc| reloc.offset < run.offset);
    let count =
        section.relocs[first..].partition_point(|reloc| u32::from(reloc.offset) < run.end());
    Flat {
        kind: SectionKind::Absolute,
        name: format!(".abs.{:04X}", run.offset),
        address: run.offset,
        bytes: Some(Cow::Borrowed(&run.bytes)),
        size: run.bytes.len() as u32,
        relocs: &section.relocs[first..first + count],
    }
}

/// Returns the symbols with their index in the module, local ones first.
fn in_elf_order(symbols: &[Symbol]) -> impl Iterator<Item = (usize, &Symbol)> {
    let is_local = |(_, symbol): &(usize, &Symbol)| symbol.binding == Binding::Local;
    let all = symbols.iter().enumerate();
    all.clone().filter(is_local).chain(all.filter(move |one| !is_local(one)))
}

struct Symbols {
    offset: u64,
    size: u64,
    /// The number of local symbols, which come first.
    locals: u32,
}

struct Output<'a> {
    writer: Writer<'a, SinglePhase>,
    module: &'a Module,
    /// The index in the ELF symbol table of each symbol of the module.
    symbol_numbers: Vec<u32>,
    /// The names of the symbols after the empty one, each followed by a zero. The names of a module
    /// are distinct, so duplicates are not searched.
    names: Vec<u8>,
}

impl<'a> Output<'a> {
    fn write(&mut self, sections: &'a [Flat<'_>], rela_names: &'a [String]) {
        let offsets: Vec<u64> = sections
            .iter()
            .map(|one| self.data(one.bytes.as_deref().unwrap_or_default()))
            .collect();
        let symbols = self.symbols(sections);
        let check = tdl_section::names_check(&self.names[1..]);
        let notes = tdl_section::write(self.module, &self.symbol_numbers, check);
        let notes_at = self.data(&notes);
        let rela_at: Vec<u64> =
            sections.iter().map(|one| self.relocations(one, sections)).collect();
        let names: Vec<StringId> =
            sections.iter().map(|one| self.writer.add_section_name(one.name.as_bytes())).collect();
        let notes_name = self.writer.add_section_name(TDL_SECTION.as_bytes());
        let rela: Vec<StringId> =
            rela_names.iter().map(|name| self.writer.add_section_name(name.as_bytes())).collect();
        let names_of_symbols = std::mem::take(&mut self.names);
        let strings_at = self.data(&names_of_symbols);
        let table_names =
            [".strtab", ".symtab"].map(|name| self.writer.add_section_name(name.as_bytes()));
        let _ = self.writer.write_shstrtab();
        self.writer.write_null_section_header();
        for ((section, name), offset) in sections.iter().zip(names).zip(&offsets) {
            let header = self.header(section, name, *offset);
            self.writer.write_section_header(&header);
        }
        let notes_name = self.writer.section_name_offset(Some(notes_name));
        self.writer.write_section_header(&plain_section(notes_name, notes_at, notes.len() as u64));
        // The symbol table follows `.tdl`, relocations and strings.
        let relocated = sections.iter().filter(|one| !one.relocs.is_empty()).count();
        let symtab = SectionIndex((sections.len() + 3 + relocated) as u32);
        for (at, section) in sections.iter().enumerate().filter(|(_, one)| !one.relocs.is_empty()) {
            let target = SectionIndex(at as u32 + 1);
            let count = section.relocs.len();
            self.writer.write_relocation_section_header(
                rela[at],
                target,
                symtab,
                rela_at[at],
                count,
                true,
            );
        }
        let header = plain_section(0, strings_at, names_of_symbols.len() as u64);
        self.table_headers(table_names, header, &symbols);
        self.writer.write_shstrtab_section_header();
    }

    /// Writes the headers of the string table and, after it, of the symbol table that refers to it.
    fn table_headers(&mut self, names: [StringId; 2], strings: SectionHeader, symbols: &Symbols) {
        let [strings_name, symbols_name] =
            names.map(|name| self.writer.section_name_offset(Some(name)));
        let strings = self.writer.write_section_header(&SectionHeader {
            sh_name: strings_name,
            sh_type: elf::SHT_STRTAB,
            ..strings
        });
        let header = plain_section(symbols_name, symbols.offset, symbols.size);
        self.writer.write_section_header(&SectionHeader {
            sh_type: elf::SHT_SYMTAB,
            sh_link: strings.0,
            sh_info: symbols.locals,
            sh_addralign: 4,
            sh_entsize: ENTRY_BYTES,
            ..header
        });
    }

    fn data(&mut self, bytes: &[u8]) -> u64 {
        let offset = self.writer.write_align(1);
        self.writer.write(bytes);
        offset
    }

    /// Writes the symbol table: sections, local symbols, global symbols.
    fn symbols(&mut self, sections: &[Flat<'_>]) -> Symbols {
        let offset = self.writer.write_null_symbol();
        for at in 0..sections.len() {
            let info = elf::SymbolInfo::new(elf::STB_LOCAL, elf::STT_SECTION);
            self.writer.write_symbol(&elf_symbol(Some(at as u32 + 1), info, 0));
        }
        let mut locals = sections.len() as u32 + 1;
        for (at, symbol) in in_elf_order(&self.module.symbols) {
            let mut sym = self.symbol(at, sections);
            sym.st_name = self.names.len() as u32;
            self.names.extend_from_slice(symbol.name.as_bytes());
            self.names.push(0);
            self.symbol_numbers[at] = self.writer.write_symbol(&sym).0;
            locals += u32::from(symbol.binding == Binding::Local);
        }
        Symbols { offset, size: self.writer.offset() - offset, locals }
    }

    fn symbol(&self, at: usize, sections: &[Flat<'_>]) -> Sym {
        let symbol = &self.module.symbols[at];
        let section_of =
            |kind| sections.iter().position(|one| one.kind == kind).map(|at| at as u32 + 1);
        let (section, special, value, size) = match symbol.value {
            SymbolValue::Undefined => (None, elf::SymbolSection(0), 0, 0),
            SymbolValue::Common { size } => (None, elf::SHN_COMMON, 1, size),
            SymbolValue::InSection(kind, value) if kind != SectionKind::Absolute => {
                (section_of(kind), elf::SymbolSection(0), value, 0)
            }
            SymbolValue::Absolute(value) | SymbolValue::InSection(_, value) => {
                (None, elf::SHN_ABS, value, 0)
            }
        };
        let binding =
            if symbol.binding == Binding::Local { elf::STB_LOCAL } else { elf::STB_GLOBAL };
        let kind = if special == elf::SHN_COMMON { elf::STT_OBJECT } else { elf::STT_NOTYPE };
        let info = elf::SymbolInfo::new(binding, kind);
        Sym { st_shndx: special, st_size: size.into(), ..elf_symbol(section, info, value) }
    }

    fn relocations(&mut self, section: &Flat<'_>, sections: &[Flat<'_>]) -> u64 {
        let offset = self.writer.write_align_relocation();
        for reloc in section.relocs {
            let r_sym = match reloc.target.base {
                Base::Absolute | Base::Section(SectionKind::Absolute) => 0,
                Base::Section(kind) => {
                    sections.iter().position(|one| one.kind == kind).map_or(0, |at| at as u32 + 1)
                }
                Base::Symbol(index) => self.symbol_numbers.get(index).copied().unwrap_or(0),
            };
            let number =
                RELOCATIONS.iter().find(|(kind, _)| *kind == reloc.kind).map_or(0, |one| one.1);
            self.writer.write_relocation(
                true,
                &Rel {
                    r_offset: (reloc.offset - section.address).into(),
                    r_sym,
                    r_type: elf::RelocationType(number),
                    r_addend: i64::from(reloc.target.addend) + addend_bias(reloc.kind),
                },
            );
        }
        offset
    }

    fn header(&self, section: &Flat<'_>, name: StringId, offset: u64) -> SectionHeader {
        let code = matches!(section.kind, SectionKind::Prog | SectionKind::Absolute);
        let access = if code { elf::SHF_EXECINSTR } else { elf::SHF_WRITE };
        let name = self.writer.section_name_offset(Some(name));
        SectionHeader {
            sh_type: if section.bytes.is_some() { elf::SHT_PROGBITS } else { elf::SHT_NOBITS },
            sh_flags: elf::SHF_ALLOC | access,
            sh_addr: section.address.into(),
            ..plain_section(name, offset, section.size.into())
        }
    }
}
