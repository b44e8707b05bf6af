//! Source lines, source texts and labels of the programs on a board, for debuggers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Bound::{Excluded, Unbounded};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::build::BuiltImage;
use crate::{BUILT_IN_ROOT, source};
use program_formats::{
    DebugInfo, Symbol, SymbolError, SymbolKind, SymbolTable, is_data_line, line_table,
};
use tdlasm::image::Image;
use tdlasm::isa::{Decoded, decode};
use tdlasm::link::{LinkedLine, LinkedSymbol, Program};
use tdlasm::module::Binding;

/// Maps addresses of a board to source lines and labels. If two programs have bytes at an address,
/// the first one counts.
#[derive(Debug, Clone, Default)]
pub struct CodeMap {
    programs: Vec<MappedProgram>,
    /// The labels of code and data by address: exported ones, and those in no scope.
    labels: BTreeMap<u16, Label>,
    /// The local labels by address, as `START..L`.
    local_labels: BTreeMap<u16, Label>,
    texts: HashMap<Arc<str>, SourceText>,
}

/// A program as it was linked, or as a file describes it.
#[derive(Debug, Clone, Default)]
pub struct MappedProgram {
    /// The bytes.
    pub image: Image,
    /// The lines in ascending order of addresses; none if the file has no line table.
    pub lines: Vec<LinkedLine>,
    /// The values of symbols.
    pub symbols: SymbolTable,
    /// The labels.
    pub labels: Vec<(u16, Label)>,
    /// The prefix of its labels, as in `monitor.TABLE`, if it is not the program that is debugged.
    pub prefix: Option<&'static str>,
}

/// A label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The name.
    pub name: String,
    /// Whether it is exported to other modules.
    pub exported: bool,
    /// Whether its address is that of an instruction.
    pub is_code: bool,
    /// The page of memory, if the program has several.
    pub page: Option<u32>,
}

/// Error returned if a file of the user's is none of a map, or several.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// No program has it: the file, and the files that they have.
    #[error(
        "no program on the board has the source file {0}; known files: {files}",
        files = .1.join(", ")
    )]
    Unknown(String, Vec<String>),
    /// Several files have this name.
    #[error("the name {0} is ambiguous: give the path of one of {files}", files = .1.join(", "))]
    Ambiguous(String, Vec<String>),
}

#[derive(Debug, Clone, Default)]
struct SourceText {
    lines: Vec<String>,
    /// The file on the disk; `None` for built-in sources.
    path: Option<PathBuf>,
    modified: Option<SystemTime>,
}

impl From<&Program> for MappedProgram {
    fn from(program: &Program) -> Self {
        let mut symbols = SymbolTable::default();
        let mut added = HashSet::new();
        for symbol in program.symbols.iter().filter(|symbol| added.insert(&symbol.name)) {
            // Exported symbols have priority over local ones, and the first local one over others.
            let value = program.symbol(&symbol.name).unwrap_or(symbol.value);
            symbols.add(&symbol.name, value.into());
        }
        let label = |symbol: &LinkedSymbol| {
            let exported = symbol.binding != Binding::Local;
            let line = program.lines.at(symbol.value);
            let is_code = line.is_some_and(|line| line.is_code);
            (symbol.value, Label { name: symbol.name.to_string(), exported, is_code, page: None })
        };
        Self {
            image: program.image.clone(),
            lines: program.lines.iter().cloned().collect(),
            symbols,
            labels: program.symbols.iter().filter(|symbol| symbol.is_address).map(label).collect(),
            prefix: None,
        }
    }
}

impl MappedProgram {
    /// Adds what a file describes: lines if there are none, and symbols. Guesses which labels are of
    /// code.
    pub fn add_debug_info(&mut self, info: &DebugInfo) {
        let pages = info.pages();
        if self.lines.is_empty() {
            let lines = info.lines.iter().filter(|line| pages.shows(line.page)).cloned();
            self.lines = line_table(&lines.collect::<Vec<_>>(), &self.image);
            self.end_lines_at_data(info);
            self.mark_lines_of_data();
        }
        self.symbols.add_all(&info.symbols);
        let with_line: HashSet<u16> = self.lines.iter().map(|line| line.address).collect();
        for symbol in info.symbols.iter().filter(|symbol| symbol.kind != SymbolKind::Constant) {
            let Ok(value) = u16::try_from(symbol.value) else { continue };
            let is_code = match self.lines.is_empty() {
                true => self.image.byte(value).is_some(),
                false => with_line.contains(&value),
            };
            if pages.shows(symbol.page) {
                let (name, exported) = (symbol.name.clone(), symbol.exported);
                let page = symbol.page.filter(|_| pages.are_several());
                self.labels.push((value, Label { name, exported, is_code, page }));
            }
        }
    }

    /// Ends a line where a label begins that has none, as that of a table after a routine. A line of C
    /// goes on after local labels, which are the compiler's.
    fn end_lines_at_data(&mut self, info: &DebugInfo) {
        let is_label = |symbol: &&Symbol| symbol.kind != SymbolKind::Constant;
        let labels = info.symbols.iter().filter(is_label);
        let labels: BTreeSet<(u16, bool)> = labels
            .filter_map(|symbol| Some((u16::try_from(symbol.value).ok()?, symbol.exported)))
            .collect();
        for line in &mut self.lines {
            let is_c = line.place.file.ends_with(".c");
            let mut inner = labels.range((Excluded((line.address, true)), Unbounded));
            if let Some((label, _)) = inner.find(|(_, exported)| *exported || !is_c) {
                line.size = line.size.min(u32::from(label - line.address));
            }
        }
    }

    /// Some files have lines of data, too, which the source texts tell from code.
    fn mark_lines_of_data(&mut self) {
        let mut texts: HashMap<Arc<str>, Vec<String>> = HashMap::new();
        for line in self.lines.iter_mut().filter(|line| !line.place.file.ends_with(".c")) {
            let file = &line.place.file;
            let text =
                texts.entry(Arc::clone(file)).or_insert_with(|| read_source_text(file).lines);
            let text = text.get((line.place.line as usize).wrapping_sub(1));
            line.is_code &= !text.is_some_and(|text| is_data_line(text));
        }
    }

    fn line_at(&self, address: u16) -> Option<&LinkedLine> {
        let after = self.lines.partition_point(|line| line.address <= address);
        let line = self.lines.get(after.checked_sub(1)?)?;
        (u32::from(address) < line.end()).then_some(line)
    }
}

impl CodeMap {
    /// Creates a map of built images.
    pub fn new(images: &[&BuiltImage]) -> Self {
        Self::from_programs(images.iter().map(|image| MappedProgram::from(&image.program)))
    }

    /// Creates a map of programs in order of priority.
    pub fn from_programs(programs: impl IntoIterator<Item = MappedProgram>) -> Self {
        let mut map = Self::default();
        for program in programs {
            map.add(program);
        }
        map
    }

    fn add(&mut self, program: MappedProgram) {
        for (address, label) in &program.labels {
            let mut label = label.clone();
            if let Some(prefix) = program.prefix {
                label.name = format!("{prefix}.{}", label.name);
            }
            if label.name.contains("..") {
                self.local_labels.entry(*address).or_insert(label);
                continue;
            }
            // Exported labels are the better known ones.
            let known = self.labels.entry(*address).or_insert_with(|| label.clone());
            if label.exported && !known.exported {
                *known = label;
            }
        }
        for line in &program.lines {
            if !self.texts.contains_key(&line.place.file) {
                self.texts.insert(Arc::clone(&line.place.file), read_source_text(&line.place.file));
            }
        }
        self.programs.push(program);
    }

    /// Returns the source line of an address.
    pub fn line_at(&self, address: u16) -> Option<&LinkedLine> {
        self.programs.iter().find_map(|program| program.line_at(address))
    }

    /// Returns the lines of all programs, each program's in ascending order of addresses.
    pub fn lines(&self) -> impl Iterator<Item = &LinkedLine> {
        self.programs.iter().flat_map(|program| program.lines.iter())
    }

    /// Returns the first line at or after `line` that has instructions, and their addresses. `file`
    /// is one of [`CodeMap::files`].
    pub fn breakpoint_line(&self, file: &str, line: u32) -> Option<(u32, Vec<u16>)> {
        let wanted =
            |one: &&LinkedLine| one.is_code && one.place.line >= line && *one.place.file == *file;
        let first = self.lines().filter(wanted).map(|one| one.place.line).min()?;
        let of_it = self.lines().filter(wanted).filter(|one| one.place.line == first);
        Some((first, of_it.map(|one| one.address).collect()))
    }

    /// Returns the file that a user means: the one at that path. A name without folders, in any
    /// case, is that of a file of the program, or else of the firmware. Another path is that of a
    /// copy of a built-in source, with the same name and text, or of a source which is not where it
    /// was when the program was made: the file whose last folders are the same.
    ///
    /// # Errors
    /// Returns `FileError` if there is no such file, or if a name is that of several.
    pub fn find_file(&self, wanted: &str) -> Result<&str, FileError> {
        let files = self.files();
        let path = std::fs::canonicalize(wanted).ok();
        let is_same_path = |one: &&&str| path.is_some() && self.path(one) == path.as_deref();
        let exact = files.iter().find(|one| **one == wanted);
        if let Some(found) = exact.or_else(|| files.iter().find(is_same_path)) {
            return Ok(found);
        }
        if let Some(found) = files.iter().find(|file| self.is_copied_to(file, wanted)) {
            return Ok(found);
        }
        let found = match components(wanted).len() {
            1 => named(&files, wanted),
            _ => self.moved_files(&files, wanted),
        };
        let names = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect();
        match found[..] {
            [only] => Ok(only),
            [] => Err(FileError::Unknown(wanted.to_owned(), names(&files))),
            _ => Err(FileError::Ambiguous(wanted.to_owned(), names(&found))),
        }
    }

    /// Returns `true` if there is a copy of a built-in source at a path.
    fn is_copied_to(&self, file: &str, path: &str) -> bool {
        let is_same_name = last_component(file).eq_ignore_ascii_case(last_component(path));
        is_built_in(file)
            && is_same_name
            && std::fs::read_to_string(path).is_ok_and(|text| text.lines().eq(self.text(file)))
    }

    /// Returns the files that are not on the disk and have most of their last folders in common
    /// with a path.
    fn moved_files<'f>(&self, files: &[&'f str], wanted: &str) -> Vec<&'f str> {
        let wanted = components(wanted);
        let in_common = |file: &str| {
            let ends = components(file).into_iter().rev().zip(wanted.iter().rev());
            ends.take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count()
        };
        let is_moved = |file: &&&str| !is_built_in(file) && self.path(file).is_none();
        let moved: Vec<&str> = files.iter().filter(is_moved).copied().collect();
        let most = moved.iter().map(|file| in_common(file)).max().unwrap_or(0);
        moved.into_iter().filter(|file| most > 0 && in_common(file) == most).collect()
    }

    /// Returns a file's name without folders; the whole path if another file has the same name.
    pub fn short_name<'f>(&self, file: &'f str) -> &'f str {
        let name = last_component(file);
        let count = self.texts.keys().filter(|one| last_component(one) == name).count();
        if count > 1 { file } else { name }
    }

    /// Returns the value of a symbol; `None` if there is none or several. A local one is
    /// `START..L`.
    pub fn symbol(&self, name: &str) -> Option<u16> {
        self.find_symbol(name).ok().flatten()
    }

    /// Returns the value of a symbol that a user names.
    ///
    /// # Errors
    /// Returns [`SymbolError`] if several symbols of a program differ from the name in case only, or
    /// if the value is not an address.
    pub fn find_symbol(&self, name: &str) -> Result<Option<u16>, SymbolError> {
        for program in &self.programs {
            if let Some(found) = program.symbols.find(name)? {
                return Ok(Some(found));
            }
            let Some(prefix) = program.prefix else { continue };
            let own = name.split_at_checked(prefix.len());
            let own = own.filter(|(first, _)| first.eq_ignore_ascii_case(prefix));
            let own = own.and_then(|(_, rest)| rest.strip_prefix('.'));
            if let Some(found) = own.map_or(Ok(None), |own| program.symbols.find(own))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the address of the local label `..L` between the labels around an address.
    pub fn local_label(&self, name: &str, address: u16) -> Option<u16> {
        let first = self.labels.range(..=address).next_back().map_or(0, |(at, _)| *at);
        let ends_with = |label: &str| {
            let end = label.len().checked_sub(name.len()).and_then(|at| label.get(at..));
            end.is_some_and(|end| end.eq_ignore_ascii_case(name))
        };
        let mut within = self.local_labels.range(first..);
        let next = self.labels.range(address..).find(|(at, _)| **at > address);
        let is_before_next = |at: u16| next.is_none_or(|(next, _)| at < *next);
        within.find(|(at, label)| is_before_next(**at) && ends_with(&label.name)).map(|(at, _)| *at)
    }

    /// Returns where the code or data at an address is in another assembly of the program: by its
    /// label, by the nearest line with the same text, by its line, or after the label before it.
    pub fn moved_address(&self, address: u16, other: &Self) -> Option<u16> {
        let by_label = |label: &Label| other.symbol(&label.name);
        if let Some(found) = self.label(address).and_then(by_label) {
            return Some(found);
        }
        let line = self.line_at(address).filter(|line| line.address == address && line.is_code);
        if let Some(line) = line {
            let (file, number) = (&*line.place.file, line.place.line as usize);
            let text = self.text(file).get(number.wrapping_sub(1)).map(|text| text.trim());
            let same = (1..).zip(other.text(file)).filter(|(_, one)| Some(one.trim()) == text);
            let nearest = same.map(|(at, _)| at).min_by_key(|at: &usize| at.abs_diff(number));
            let (_, places) = other.breakpoint_line(file, nearest.unwrap_or(number) as u32)?;
            return places.first().copied();
        }
        match self.labels.range(..=address).next_back() {
            Some((at, label)) => by_label(label).map(|moved| moved.wrapping_add(address - at)),
            None => Some(address),
        }
    }

    /// Returns the label of an address; a local one if there is no other.
    pub fn label(&self, address: u16) -> Option<&Label> {
        self.labels.get(&address).or_else(|| self.local_labels.get(&address))
    }

    /// Returns all labels but local ones in ascending order of addresses.
    pub fn labels(&self) -> impl Iterator<Item = (u16, &Label)> {
        self.labels.iter().map(|(address, label)| (*address, label))
    }

    /// Returns the nearest code label at or before an address in the same module, and the distance
    /// from it. Without a line table the end of a module is unknown, and any label before counts.
    pub fn nearest_label(&self, address: u16) -> Option<(&str, u16)> {
        let module = self.line_at(address).map(|line| line.module);
        let before = self.labels.range(..=address).rev();
        let mut labels = before.filter(|(_, label)| label.is_code);
        let (at, label) = labels.next()?;
        let same = self.line_at(*at).map(|line| line.module) == module;
        let within = module.is_some() || self.byte(address).is_some();
        (same && within).then(|| (label.name.as_str(), address - at))
    }

    /// Returns the byte at an address in the linked programs.
    pub fn byte(&self, address: u16) -> Option<u8> {
        self.programs.iter().find_map(|program| program.image.byte(address))
    }

    /// Formats an address as `XCHNG+3`, that of a local label as `XCHNG..L`, or as `8123H`.
    pub fn address_name(&self, address: u16) -> String {
        self.symbolic_address(address).unwrap_or_else(|| format!("{address:04X}H"))
    }

    fn symbolic_address(&self, address: u16) -> Option<String> {
        if let Some(local) = self.local_labels.get(&address).filter(|label| label.is_code)
            && !self.labels.contains_key(&address)
        {
            return Some(local.name.clone());
        }
        let (name, distance) = self.nearest_label(address)?;
        Some(if distance == 0 { name.to_owned() } else { format!("{name}+{distance}") })
    }

    /// Formats an address with label and line: `8123H, XCHNG+3 (xchng.asm:61)`, and with the page if
    /// the program has several. A file is named as by [`CodeMap::short_name`].
    pub fn describe_address(&self, address: u16) -> String {
        let place = |line: &LinkedLine| {
            format!(" ({}:{})", self.short_name(&line.place.file), line.place.line)
        };
        let line = self.line_at(address).map(place).unwrap_or_default();
        match self.symbolic_address(address) {
            Some(name) => {
                let label = self.labels.range(..=address).next_back();
                let page = label.and_then(|(_, label)| label.page);
                let page = page.map(|page| format!(" on page {page}")).unwrap_or_default();
                format!("{address:04X}H{page}, {name}{line}")
            }
            None => format!("{address:04X}H{line}"),
        }
    }

    /// Returns the lines of a file's text; empty if the file can't be read.
    pub fn text(&self, file: &str) -> &[String] {
        self.texts.get(file).map_or(&[], |text| text.lines.as_slice())
    }

    /// Sets the text of a file that is neither on the disk nor built in.
    pub fn set_text(&mut self, file: &str, text: &str) {
        let lines = text.lines().map(str::to_owned).collect();
        self.texts.insert(file.into(), SourceText { lines, ..SourceText::default() });
    }

    /// Returns the path of a file on the disk; `None` for a built-in source.
    pub fn path(&self, file: &str) -> Option<&Path> {
        self.texts.get(file)?.path.as_deref()
    }

    /// Returns the source files that have changed since they were read, sorted by name.
    pub fn changed_files(&self) -> Vec<&str> {
        let mut files = self.files();
        files.retain(|file| {
            let text = &self.texts[*file];
            text.path.as_deref().is_some_and(|path| modification_time(path) != text.modified)
        });
        files
    }

    /// Returns the source files of code and data, sorted by name.
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = self.texts.keys().map(|file| &**file).collect();
        files.sort_unstable();
        files
    }

    /// Returns the instructions of a line with their addresses.
    pub fn instructions(&self, line: &LinkedLine) -> Vec<(u16, Decoded)> {
        let made = |program: &&MappedProgram| program.line_at(line.address) == Some(line);
        let Some(program) = self.programs.iter().find(made) else { return Vec::new() };
        decode_range(&program.image, u32::from(line.address)..line.end())
    }

    /// Returns the instructions of all programs by address. A program without a line table is
    /// disassembled from the start of each run.
    pub fn all_instructions(&self) -> BTreeMap<u16, Decoded> {
        let mut all = BTreeMap::new();
        for program in self.programs.iter().rev() {
            if program.lines.is_empty() {
                for run in program.image.runs() {
                    all.extend(decode_range(&program.image, u32::from(run.address)..run.end()));
                }
            }
            for line in program.lines.iter().filter(|line| line.is_code) {
                all.extend(decode_range(&program.image, u32::from(line.address)..line.end()));
            }
        }
        all
    }
}

/// Decodes a range of an image up to the first invalid instruction.
fn decode_range(image: &Image, addresses: std::ops::Range<u32>) -> Vec<(u16, Decoded)> {
    let byte = |at: u32| u16::try_from(at).ok().and_then(|at| image.byte(at)).unwrap_or(0);
    let mut at = addresses.start;
    let mut found = Vec::new();
    while at < addresses.end {
        let bytes: Vec<u8> = (at..at + 4).map(byte).collect();
        let Some(decoded) = decode(&bytes) else { break };
        let length = decoded.length as u32;
        found.push((at as u16, decoded));
        at += length;
    }
    found
}

/// Returns the text of a file: built in, or on the disk.
fn read_source_text(file: &str) -> SourceText {
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect();
    if let Some(text) = file.strip_prefix(BUILT_IN_ROOT).and_then(source) {
        return SourceText { lines: lines(text.as_bytes()), ..SourceText::default() };
    }
    match std::fs::read(file) {
        Ok(bytes) => SourceText {
            lines: lines(&bytes),
            path: std::fs::canonicalize(file).ok(),
            modified: modification_time(Path::new(file)),
        },
        Err(_) => SourceText::default(),
    }
}

fn modification_time(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|file| file.modified()).ok()
}

fn is_built_in(file: &str) -> bool {
    file.starts_with(BUILT_IN_ROOT)
}

/// Returns the files with a name without folders: those of users if there are any, and those with
/// the same case if there are any.
fn named<'f>(files: &[&'f str], name: &str) -> Vec<&'f str> {
    let is_same = |file: &&str| last_component(file).eq_ignore_ascii_case(name);
    let mut found: Vec<&str> = files.iter().copied().filter(is_same).collect();
    let preferences: [&dyn Fn(&str) -> bool; 2] =
        [&|file| !is_built_in(file), &|file| last_component(file) == name];
    for is_preferred in preferences {
        if found.iter().any(|file| is_preferred(file)) {
            found.retain(|file| is_preferred(file));
        }
    }
    found
}

/// Returns the folders of a path, and its name.
fn components(path: &str) -> Vec<&str> {
    path.split(['/', '\\']).filter(|one| !one.is_empty() && *one != ".").collect()
}

fn last_component(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
