//! What a file says about a program to debuggers: symbols, source lines, areas of memory.

mod asl;
mod bds;
mod data_line;
mod dwarf;
mod gnu;
mod listing;
mod name_value;
mod noice;
mod pages;
mod sdcc;
mod sld;
mod wla;
mod z88dk;

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use tdlasm::image::Image;
use tdlasm::link::LinkedLine;
use tdlasm::module::Place;

use crate::error::{DebugInfoError, LineError};
use crate::number;

pub use data_line::is_data_line;
pub(crate) use dwarf::read_elf;
pub use pages::Pages;
pub(crate) use sdcc::is_object as is_sdas_object;

/// What a symbol's value is, as far as the tool tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    /// The address of code or data.
    Address,
    /// A number, such as that of an EQU.
    Constant,
    /// Either of them: the format has no types.
    Unknown,
}

/// A symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name in the tool's own spelling: `outer.inner`, `other@inner`, `Fmul$twice$0$0`.
    pub name: String,
    /// The value; that of an EQU may be negative or more than 65,535.
    pub value: i64,
    /// What the value is.
    pub kind: SymbolKind,
    /// Whether the name is known in other modules; `true` if the format does not tell.
    pub exported: bool,
    /// The page or bank of memory, numbered as the tool numbers them.
    pub page: Option<u32>,
}

/// The source line of the code or data at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The address of the first byte.
    pub address: u16,
    /// The source file, as the tool names it. A module of SDCC has no extension.
    pub file: Arc<str>,
    /// The line, from 1; 0 where the line before ends and none begins.
    pub line: u32,
    /// The page or bank of memory, numbered as the tool numbers them.
    pub page: Option<u32>,
    /// Whether the tool shows that it has data, as a listing with the text of the line does.
    pub is_data: bool,
}

/// A section or area of memory, which may have no bytes in the program, such as that of variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// The name.
    pub name: String,
    /// The addresses.
    pub addresses: Range<u32>,
    /// Whether the tool says that the program may write it; `false` if it does not say.
    pub is_writable: bool,
}

/// A parameter of a C function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// The function.
    pub function: String,
    /// The parameter.
    pub name: String,
    /// Its offset in the frame, if it is on the stack; `None` in registers.
    pub offset: Option<u16>,
    /// Whether z88dk's own compilers made the function; otherwise SDCC did.
    pub of_z88dk: bool,
}

/// The contents of a file with symbols or lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DebugInfo {
    /// The format, as in "a map of sdld".
    pub format: &'static str,
    /// What a user should know of how the file was read, such as that the format is a guess.
    pub notes: Vec<String>,
    /// The symbols in the order of the file.
    pub symbols: Vec<Symbol>,
    /// The source lines in the order of the file; several may have an address.
    pub lines: Vec<SourceLine>,
    /// The areas of memory.
    pub areas: Vec<Area>,
    /// The parameters of C functions.
    pub parameters: Vec<Parameter>,
    /// The lines of sections whose addresses another file has.
    pub(crate) relative: Vec<RelativeSection>,
}

/// The lines of a section by their offsets from its start, which is known if a label is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RelativeSection {
    /// Names and offsets of labels.
    labels: Vec<(String, i64)>,
    /// Offset, file and number of lines.
    lines: Vec<(i64, Arc<str>, u32)>,
}

/// A reader of a format that a mark at its beginning, or a line of it, identifies.
/// It takes the text and the name of the file.
type Reader = fn(&str, &str) -> Result<DebugInfo, DebugInfoError>;

/// Reads a text with symbols or lines.
pub(crate) fn read_text(content: &[u8], name: &str) -> Result<DebugInfo, DebugInfoError> {
    let text = String::from_utf8_lossy(content);
    // CP/M fills the last sector with 1AH.
    let text = text.trim_end_matches(['\x1A', '\0']);
    match marked_reader(text, name) {
        Some(read) => read(text, name),
        None => name_value::read(text).map_err(DebugInfoError::Line),
    }
}

/// Returns the reader of a format with a mark.
fn marked_reader(text: &str, name: &str) -> Option<Reader> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let begins = |mark: &str| first.starts_with(mark);
    let has_line = |wanted: &str| text.lines().any(|line| line.trim_end() == wanted);
    Some(match () {
        () if begins("|SLD.data.version|") => sld::read,
        () if first.contains("ASxxxx Linker ") => sdcc::read_map,
        () if first.contains("ASxxxx Assembler ") => sdcc::refuse_relative,
        () if sdcc::is_object(text) => sdcc::refuse_object,
        () if begins("binary-debuggable-source") => bds::read,
        () if begins("Segment ") && text.contains("\nFile ") => asl::read_map,
        () if has_line("[labels]") => wla::read_symbols,
        () if begins("{") && text.contains("\"wla-dx-debug\"") => wla::read_json,
        () if text.contains("\nLinker script and memory map") => gnu::read_map,
        () => return z88dk::reader(text).or_else(|| listing::reader(text, name)),
    })
}

/// Reads the lines of a text that are neither empty nor comments with `add`, which returns `None` for
/// a line of another format.
fn read_lines(
    text: &str,
    format: &'static str,
    expected: &'static str,
    mut add: impl FnMut(&str, &mut DebugInfo) -> Option<()>,
) -> Result<DebugInfo, LineError> {
    let mut info = DebugInfo { format, ..DebugInfo::default() };
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim_end_matches(['\x1A', ' ', '\t', '\r']);
        if text.trim().is_empty() || text.starts_with(';') {
            continue;
        }
        let wrong = || LineError { line, text: text.trim().to_owned(), expected };
        add(text, &mut info).ok_or_else(wrong)?;
    }
    Ok(info)
}

impl DebugInfo {
    /// Returns `true` if nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        let has_lines = !self.lines.is_empty() || !self.relative.is_empty();
        self.symbols.is_empty() && self.areas.is_empty() && !has_lines
    }

    fn add_symbol(&mut self, name: &str, value: i64, kind: SymbolKind) {
        self.add_paged(name, value, kind, None);
    }

    fn add_paged(&mut self, name: &str, value: i64, kind: SymbolKind, page: Option<u32>) {
        self.symbols.push(Symbol { name: name.to_owned(), value, kind, exported: true, page });
    }

    /// Adds a line; an address beyond FFFFH has none.
    fn add_line(&mut self, address: i64, file: &Arc<str>, line: u32) {
        if let Some(address) = number::address(address) {
            let (file, page, is_data) = (Arc::clone(file), None, false);
            self.lines.push(SourceLine { address, file, line, page, is_data });
        }
    }

    /// Adds a line whose text a listing has.
    fn add_line_with_text(&mut self, address: i64, file: &Arc<str>, line: u32, text: &str) {
        let count = self.lines.len();
        self.add_line(address, file, line);
        self.lines[count..].iter_mut().for_each(|line| line.is_data = is_data_line(text));
    }

    pub(crate) fn add_area(&mut self, name: &str, start: i64, length: i64) {
        let range = u32::try_from(start).ok().zip(u32::try_from(length).ok());
        let end = range.and_then(|(start, length)| start.checked_add(length));
        if let (Some((start, 1..)), Some(end @ ..=0x1_0000)) = (range, end) {
            let (name, addresses) = (name.to_owned(), start..end);
            self.areas.push(Area { name, addresses, is_writable: false });
        }
    }

    /// Adds what another file says about the same program. Symbols and areas that are known are left
    /// out, and its lines if there are others: the first file is the one that a user named first.
    pub fn merge(&mut self, other: Self) {
        let known: HashSet<(&str, i64)> =
            self.symbols.iter().map(|symbol| (&*symbol.name, symbol.value)).collect();
        let is_new = |symbol: &Symbol| !known.contains(&(&*symbol.name, symbol.value));
        let new: Vec<Symbol> = other.symbols.into_iter().filter(is_new).collect();
        self.symbols.extend(new);
        for area in other.areas {
            if !self.areas.contains(&area) {
                self.areas.push(area);
            }
        }
        if self.lines.is_empty() {
            self.lines = other.lines;
        }
        self.notes.extend(other.notes);
        self.parameters.extend(other.parameters);
        self.relative.extend(other.relative);
        self.resolve_relative();
    }

    /// Adds the lines of sections whose start is known by a label. They replace other lines of their
    /// file, which are those of labels.
    fn resolve_relative(&mut self) {
        let mut unknown = Vec::new();
        for section in std::mem::take(&mut self.relative) {
            let start = |(name, offset): &(String, i64)| {
                let is_label = |one: &&Symbol| one.name == *name && one.kind == SymbolKind::Address;
                let mut values = self.symbols.iter().filter(is_label).map(|one| one.value);
                values
                    .next()
                    .filter(|_| values.next().is_none())
                    .map(|value| value.saturating_sub(*offset))
            };
            let Some(start) = section.labels.iter().find_map(start) else {
                unknown.push(section);
                continue;
            };
            let replaced: HashSet<(i64, &Arc<str>)> = section
                .lines
                .iter()
                .map(|(offset, file, _)| (start.saturating_add(*offset), file))
                .collect();
            self.lines.retain(|line| !replaced.contains(&(line.address.into(), &line.file)));
            for (offset, file, line) in &section.lines {
                self.add_line(start.saturating_add(*offset), file, *line);
            }
        }
        self.relative = unknown;
    }

    /// Gives the source files their paths, if they are in a folder: as they are named, with the
    /// extension of an assembler's source, or without the folders that they had when the program was
    /// built.
    pub fn locate_sources(&mut self, folder: &Path) {
        let mut located: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
        for line in &mut self.lines {
            let path = located.entry(Arc::clone(&line.file)).or_insert_with(|| {
                locate(folder, &line.file).map_or_else(|| Arc::clone(&line.file), Arc::from)
            });
            line.file = Arc::clone(path);
        }
    }
}

/// Returns the name of a file without folders and extension.
fn stem(name: &str) -> &str {
    Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

/// Returns the path of a source file.
fn locate(folder: &Path, file: &str) -> Option<String> {
    let last = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let names = match Path::new(last).extension() {
        Some(_) => vec![file.to_owned(), last.to_owned()],
        None => ["s", "asm", "z80", "z"].iter().map(|end| format!("{file}.{end}")).collect(),
    };
    let paths = names.iter().map(|name| folder.join(name));
    paths.into_iter().find(|path| path.is_file()).map(|path| path.display().to_string())
}

/// Returns the lines in ascending order of addresses, one for each address: the last one of those in
/// a file, since a function of C begins at the line of the brace before it. A line reaches to the
/// next one, or to where the program has no bytes.
pub fn line_table(lines: &[SourceLine], image: &Image) -> Vec<LinkedLine> {
    let mut starts: BTreeMap<u16, &SourceLine> = BTreeMap::new();
    for line in lines {
        let known = starts.entry(line.address).or_insert(line);
        if known.line == 0 || (known.file == line.file && line.line > known.line) {
            *known = line;
        }
    }
    let ends = starts.keys().skip(1).map(|at| u32::from(*at)).chain([0x1_0000]);
    let linked = |((address, line), end): ((&u16, &&SourceLine), u32)| {
        let first = u32::from(*address);
        let mut runs = image.runs().iter();
        let run = runs.find(|run| (run.address.into()..run.end()).contains(&first))?;
        (line.line > 0).then(|| LinkedLine {
            address: *address,
            size: end.min(run.end()) - first,
            module: 0,
            place: Place { file: Arc::clone(&line.file), line: line.line },
            is_code: !line.is_data,
        })
    };
    starts.iter().zip(ends).filter_map(linked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdlasm::image::ImageRun;

    #[test]
    fn an_area_beyond_the_address_space_is_left_out() {
        let mut info = DebugInfo::default();
        for (start, length) in [(0xFFFF_FFFF, 2), (0xFFFF, 2), (0x8000, 0), (-1, 1), (0x8000, -1)] {
            info.add_area("a", start, length);
        }
        assert_eq!(info.areas, []);
        info.add_area("a", 0xFFFE, 2);
        assert_eq!(info.areas[0].addresses, 0xFFFE..0x1_0000);
    }

    #[test]
    fn lines_of_data_are_told_by_their_directive() {
        for text in
            ["count: db 0", "        DEFW 1,2", "name ds 3", "name: .ascii \"a\" ; b", "db 0"]
        {
            assert!(is_data_line(text), "{text}");
        }
        for text in ["ld a,b ; db", "db: ld a,b", "word: ret", "", "loop: djnz loop"] {
            assert!(!is_data_line(text), "{text}");
        }
    }

    #[test]
    fn a_line_ends_at_the_next_one_at_an_end_or_with_the_bytes() {
        let line = |address, file: &str, line| SourceLine {
            address,
            file: Arc::from(file),
            line,
            page: None,
            is_data: false,
        };
        let runs = [(0x8000, 8), (0x9000, 4)];
        let runs = runs.map(|(address, count)| ImageRun { address, bytes: vec![0; count] });
        let lines = [
            line(0x8000, "a.c", 5),
            line(0x8002, "a.c", 6),
            line(0x8002, "a.c", 7),
            line(0x8002, "b.c", 9),
            line(0x8004, "", 0),
            line(0x9000, "", 0),
            line(0x9000, "a.c", 1),
            line(0xA000, "a.c", 2),
        ];
        let table = line_table(&lines, &Image::new(runs));
        let table: Vec<_> =
            table.iter().map(|one| (one.address, one.size, one.place.line)).collect();
        assert_eq!(table, [(0x8000, 2, 5), (0x8002, 2, 7), (0x9000, 4, 1)]);
    }
}
