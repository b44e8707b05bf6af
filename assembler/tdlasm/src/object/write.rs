//! Writes modules as ELF relocatable objects.

use std::borrow::Cow;

use object::write::StringId;
use object::write::elf::{Rel, SectionHeader, SinglePhase, Sym, Writer};
use object::{Endianness, elf};

use super::elf::{
    RELOCATIONS, TDL_SECTION, addend_bias, file_header, plain_section, symbol as elf_symbol,
    write_data, write_section_headers,
};
use super::tdl_section;
use crate::module::{
    Base, Binding, Module, Reloc, Section, SectionKind, SectionRun, Symbol, SymbolValue,
};

/// A section in ELF form.
struct Flat<'m> {
    kind: SectionKind,
    name: String,
    /// The name of the section of its relocations.
    rela_name: String,
    address: u16,
    bytes: Option<Cow<'m, [u8]>>,
    size: u32,
    relocs: &'m [Reloc],
}

impl Flat<'_> {
    fn empty(kind: SectionKind, name: String) -> Self {
        let rela_name = format!(".rela{name}");
        Self { kind, name, rela_name, address: 0, bytes: None, size: 0, relocs: &[] }
    }
}

/// The sizes of a symbol table entry, and of a relocation with addend.
const SYMBOL_BYTES: u64 = 16;
const RELOCATION_BYTES: u64 = 12;

/// Returns an ELF relocatable object for a module. Equal modules give equal bytes.
///
/// # Panics
///
/// Never for modules below 2 GB, as all assembled ones are.
pub fn write_object(module: &Module) -> Vec<u8> {
    let mut sections: Vec<Flat<'_>> = module.sections.iter().flat_map(flatten).collect();
    sections.extend(named_only(module));
    // Enough for most modules: what has to grow is copied.
    let items = module.symbols.len() + module.lines.rows.len();
    let mut buffer = Vec::with_capacity(0x1_0000 + 24 * items);
    let mut header = Vec::new();
    let mut writer = Writer::new_single_phase(Endianness::Little, false, &mut buffer);
    // The sizes fit, so writing to memory cannot fail.
    let _ = writer.write_file_header(&file_header(elf::ET_REL, 0));
    let mut output =
        Output { writer, module, symbol_numbers: vec![0; module.symbols.len()], names: vec![0] };
    output.write(&sections);
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
    kinds.into_iter().map(|kind| Flat::empty(kind, kind.elf_name().to_owned()))
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
        ..Flat::empty(section.kind, section.kind.elf_name().to_owned())
    }]
}

fn absolute<'m>(section: &'m Section, run: &'m SectionRun) -> Flat<'m> {
    let first = section.relocs.partition_point(|reloc| reloc.offset < run.offset);
    let count =
        section.relocs[first..].partition_point(|reloc| u32::from(reloc.offset) < run.end());
    Flat {
        address: run.offset,
        bytes: Some(Cow::Borrowed(&run.bytes)),
        size: run.bytes.len() as u32,
        relocs: &section.relocs[first..first + count],
        ..Flat::empty(SectionKind::Absolute, format!(".abs.{:04X}", run.offset))
    }
}

/// Returns the symbols with their index in the module, local ones first.
fn in_elf_order(symbols: &[Symbol]) -> impl Iterator<Item = (usize, &Symbol)> {
    let is_local = |(_, symbol): &(usize, &Symbol)| symbol.binding == Binding::Local;
    let all = symbols.iter().enumerate();
    all.clone().filter(is_local).chain(all.filter(move |one| !is_local(one)))
}

/// Returns the number of the section header of a kind, if the file has one.
fn number_of(sections: &[Flat<'_>], kind: SectionKind) -> Option<u32> {
    sections.iter().position(|one| one.kind == kind).map(|at| at as u32 + 1)
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
    fn write(&mut self, sections: &'a [Flat<'_>]) {
        let mut loaded = Vec::new();
        for section in sections {
            let bytes = section.bytes.as_deref().unwrap_or_default();
            loaded.push(header(section, write_data(&mut self.writer, bytes).sh_offset));
        }
        let symbols = self.symbols(sections);
        let names = sections.iter().map(|one| self.writer.add_section_name(one.name.as_bytes()));
        let mut headers: Vec<(StringId, SectionHeader)> = names.zip(loaded).collect();
        let check = tdl_section::names_check(&self.names[1..]);
        let notes = tdl_section::write(self.module, &self.symbol_numbers, check);
        let header = write_data(&mut self.writer, &notes);
        headers.push((self.writer.add_section_name(TDL_SECTION.as_bytes()), header));
        // The symbol table follows `.tdl`, relocations and strings.
        let relocated = sections.iter().filter(|one| !one.relocs.is_empty()).count();
        let strings = (sections.len() + 2 + relocated) as u32;
        for (section, number) in sections.iter().zip(1..) {
            let offset = self.relocations(section, sections);
            let name = self.writer.add_section_name(section.rela_name.as_bytes());
            if !section.relocs.is_empty() {
                let size = section.relocs.len() as u64 * RELOCATION_BYTES;
                let header = SectionHeader {
                    sh_type: elf::SHT_RELA,
                    sh_flags: elf::SHF_INFO_LINK,
                    sh_link: strings + 1,
                    sh_info: number,
                    sh_addralign: 4,
                    sh_entsize: RELOCATION_BYTES,
                    ..plain_section(offset, size)
                };
                headers.push((name, header));
            }
        }
        let names = std::mem::take(&mut self.names);
        let header =
            SectionHeader { sh_type: elf::SHT_STRTAB, ..write_data(&mut self.writer, &names) };
        headers.push((self.writer.add_section_name(b".strtab"), header));
        let header = SectionHeader { sh_link: strings, ..symbols };
        headers.push((self.writer.add_section_name(b".symtab"), header));
        write_section_headers(&mut self.writer, &headers);
        self.writer.write_shstrtab_section_header();
    }

    /// Writes the symbol table: sections, local symbols, global symbols.
    fn symbols(&mut self, sections: &[Flat<'_>]) -> SectionHeader {
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
        SectionHeader {
            sh_type: elf::SHT_SYMTAB,
            sh_info: locals,
            sh_addralign: 4,
            sh_entsize: SYMBOL_BYTES,
            ..plain_section(offset, self.writer.offset() - offset)
        }
    }

    fn symbol(&self, at: usize, sections: &[Flat<'_>]) -> Sym {
        let symbol = &self.module.symbols[at];
        let (section, special, value, size) = match symbol.value {
            SymbolValue::Undefined => (None, elf::SymbolSection(0), 0, 0),
            SymbolValue::Common { size } => (None, elf::SHN_COMMON, 1, size),
            SymbolValue::InSection(kind, value) if kind != SectionKind::Absolute => {
                (number_of(sections, kind), elf::SymbolSection(0), value, 0)
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
                Base::Section(kind) => number_of(sections, kind).unwrap_or(0),
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
}

fn header(section: &Flat<'_>, offset: u64) -> SectionHeader {
    let code = matches!(section.kind, SectionKind::Prog | SectionKind::Absolute);
    let access = if code { elf::SHF_EXECINSTR } else { elf::SHF_WRITE };
    SectionHeader {
        sh_type: if section.bytes.is_some() { elf::SHT_PROGBITS } else { elf::SHT_NOBITS },
        sh_flags: elf::SHF_ALLOC | access,
        sh_addr: section.address.into(),
        ..plain_section(offset, section.size.into())
    }
}
