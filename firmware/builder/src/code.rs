//! The lines, texts and names of the programs on a board.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::build::BuiltImage;
use crate::source;
use tdlasm::image::Image;
use tdlasm::isa::{Decoded, decode};
use tdlasm::link::{LinkedLine, LinkedSymbol, Program};
use tdlasm::module::Binding;

/// The programs on a board, as a debugger sees them. Where two have bytes at an address, the first
/// counts.
#[derive(Debug, Clone, Default)]
pub struct CodeMap {
    programs: Vec<KnownProgram>,
    /// The labels of code and data by address: those that are exported, and those that no scope
    /// hides.
    labels: BTreeMap<u16, Label>,
    texts: HashMap<Arc<str>, Text>,
}

/// A program as it was linked, or as a file describes it.
#[derive(Debug, Clone, Default)]
pub struct KnownProgram {
    /// The bytes.
    pub image: Image,
    /// The lines in ascending order of addresses; none if the file has no line table.
    pub lines: Vec<LinkedLine>,
    /// The values of symbols by name, in capitals.
    pub symbols: HashMap<String, u16>,
    /// The labels.
    pub labels: Vec<(u16, Label)>,
}

/// A name of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The name, in capitals.
    pub name: String,
    /// Whether other modules may use it.
    pub exported: bool,
    /// Whether an instruction is there.
    pub is_code: bool,
}

/// The text of a source file.
#[derive(Debug, Clone, Default)]
struct Text {
    lines: Vec<String>,
    /// The file on the disk; none for what the program carries.
    path: Option<PathBuf>,
}

impl From<&Program> for KnownProgram {
    fn from(program: &Program) -> Self {
        let mut symbols = HashMap::new();
        for symbol in program.symbols.iter() {
            // An exported symbol counts before a local one, and the first local one before others.
            let value = program.symbol(symbol.name).unwrap_or(symbol.value);
            symbols.entry(symbol.name.to_ascii_uppercase()).or_insert(value);
        }
        let label = |symbol: LinkedSymbol<'_>| {
            let exported = symbol.binding != Binding::Local;
            let line = program.lines.at(symbol.value);
            let is_code = line.is_some_and(|line| line.is_code);
            (symbol.value, Label { name: symbol.name.to_owned(), exported, is_code })
        };
        Self {
            image: program.image.clone(),
            lines: program.lines.iter().cloned().collect(),
            symbols,
            labels: program.symbols.iter().filter(|symbol| symbol.is_address).map(label).collect(),
        }
    }
}

impl KnownProgram {
    fn line_at(&self, address: u16) -> Option<&LinkedLine> {
        let after = self.lines.partition_point(|line| line.address <= address);
        let line = self.lines.get(after.checked_sub(1)?)?;
        (u32::from(address) < line.end()).then_some(line)
    }
}

impl CodeMap {
    /// A map of programs that were built here.
    #[must_use]
    pub fn new(images: &[&BuiltImage]) -> Self {
        Self::of(images.iter().map(|image| KnownProgram::from(&image.program)))
    }

    /// A map of programs, the one that counts first where two have bytes at an address.
    #[must_use]
    pub fn of(programs: impl IntoIterator<Item = KnownProgram>) -> Self {
        let mut map = Self::default();
        for program in programs {
            map.add(program);
        }
        map
    }

    fn add(&mut self, program: KnownProgram) {
        for (address, label) in &program.labels {
            // Of several, an exported one is what people know.
            let known = self.labels.entry(*address).or_insert_with(|| label.clone());
            if label.exported && !known.exported {
                *known = label.clone();
            }
        }
        for line in &program.lines {
            if !self.texts.contains_key(&line.place.file) {
                self.texts.insert(Arc::clone(&line.place.file), text_of(&line.place.file));
            }
        }
        self.programs.push(program);
    }

    /// The line that made the byte at an address.
    #[must_use]
    pub fn line_at(&self, address: u16) -> Option<&LinkedLine> {
        self.programs.iter().find_map(|program| program.line_at(address))
    }

    /// All lines of all programs, each program's in ascending order of addresses.
    pub fn lines(&self) -> impl Iterator<Item = &LinkedLine> {
        self.programs.iter().flat_map(|program| program.lines.iter())
    }

    /// The first line at or below `line` of a file that made an instruction, and where its
    /// instructions begin.
    #[must_use]
    pub fn breakable(&self, file: &str, line: u32) -> Option<(u32, Vec<u16>)> {
        let file = self.file_named(file)?;
        let wanted =
            |one: &&LinkedLine| one.is_code && one.place.line >= line && *one.place.file == *file;
        let first = self.lines().filter(wanted).map(|one| one.place.line).min()?;
        let of_it = self.lines().filter(wanted).filter(|one| one.place.line == first);
        Some((first, of_it.map(|one| one.address).collect()))
    }

    /// The file that a path of the user's means: the one that is at that path, or else the one
    /// whose name without folders is the same, small letters and capitals alike.
    #[must_use]
    pub fn file_named(&self, file: &str) -> Option<&str> {
        let files = self.files();
        let path = std::fs::canonicalize(file).ok();
        let same_path = |one: &&str| path.is_some() && self.path(one) == path.as_deref();
        let same_name = |one: &&str| stem(one) == stem(file);
        let exact = files.iter().find(|one| **one == file);
        exact
            .or_else(|| files.iter().find(|one| same_path(one)))
            .or_else(|| files.iter().find(|one| same_name(one)))
            .copied()
    }

    /// The value of a symbol; small and capital letters are the same.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<u16> {
        let name = name.to_ascii_uppercase();
        self.programs.iter().find_map(|program| program.symbols.get(&name)).copied()
    }

    /// The label of an address.
    #[must_use]
    pub fn label(&self, address: u16) -> Option<&Label> {
        self.labels.get(&address)
    }

    /// All labels, in ascending order of addresses.
    pub fn labels(&self) -> impl Iterator<Item = (u16, &Label)> {
        self.labels.iter().map(|(address, label)| (*address, label))
    }

    /// The label of code at or before an address in the bytes of the same module, and the distance
    /// from it. Without lines nothing tells where a module ends, and the nearest label below
    /// counts.
    #[must_use]
    pub fn nearest(&self, address: u16) -> Option<(&str, u16)> {
        let module = self.line_at(address).map(|line| line.module);
        let before = self.labels.range(..=address).rev();
        let mut labels = before.filter(|(_, label)| label.is_code);
        let (at, label) = labels.next()?;
        let same = self.line_at(*at).map(|line| line.module) == module;
        let within = module.is_some() || self.byte(address).is_some();
        (same && within).then(|| (label.name.as_str(), address - at))
    }

    /// The byte that a program was linked with at an address.
    #[must_use]
    pub fn byte(&self, address: u16) -> Option<u8> {
        self.programs.iter().find_map(|program| program.image.byte(address))
    }

    /// An address for people: `XCHNG+3`, or its four digits.
    #[must_use]
    pub fn name_of(&self, address: u16) -> String {
        match self.nearest(address) {
            Some((name, 0)) => name.to_owned(),
            Some((name, distance)) => format!("{name}+{distance}"),
            None => format!("{address:04X}"),
        }
    }

    /// An address with its label and its line: `8123H, XCHNG+3 (xchng.asm:61)`.
    #[must_use]
    pub fn place_of(&self, address: u16) -> String {
        let place = |line: &LinkedLine| {
            let file = line.place.file.rsplit(['/', '\\']).next().unwrap_or_default();
            format!(" ({file}:{})", line.place.line)
        };
        let line = self.line_at(address).map(place).unwrap_or_default();
        match self.nearest(address) {
            Some(_) => format!("{address:04X}H, {}{line}", self.name_of(address)),
            None => format!("{address:04X}H{line}"),
        }
    }

    /// The lines of a file's text; none if the file can't be read.
    #[must_use]
    pub fn text(&self, file: &str) -> &[String] {
        self.texts.get(file).map_or(&[], |text| text.lines.as_slice())
    }

    /// Takes the text of a file that is neither on the disk nor carried by the program.
    pub fn set_text(&mut self, file: &str, text: &str) {
        let lines = text.lines().map(str::to_owned).collect();
        self.texts.insert(file.into(), Text { lines, path: None });
    }

    /// The path of a file on the disk; `None` for a file that the program carries.
    #[must_use]
    pub fn path(&self, file: &str) -> Option<&Path> {
        self.texts.get(file)?.path.as_deref()
    }

    /// The files that code or data came from, by name.
    #[must_use]
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = self.texts.keys().map(|file| &**file).collect();
        files.sort_unstable();
        files
    }

    /// The instructions of a line, by their addresses.
    #[must_use]
    pub fn instructions(&self, line: &LinkedLine) -> Vec<(u16, Decoded)> {
        let made = |program: &&KnownProgram| program.line_at(line.address) == Some(line);
        let Some(program) = self.programs.iter().find(made) else { return Vec::new() };
        decoded(&program.image, u32::from(line.address)..line.end())
    }

    /// The instructions of all programs, by their addresses: those of lines, or, of a program
    /// without a line table, those that its bytes are from each run's beginning.
    #[must_use]
    pub fn all_instructions(&self) -> BTreeMap<u16, Decoded> {
        let mut all = BTreeMap::new();
        for program in self.programs.iter().rev() {
            if program.lines.is_empty() {
                for run in program.image.runs() {
                    all.extend(decoded(&program.image, u32::from(run.address)..run.end()));
                }
            }
            for line in program.lines.iter().filter(|line| line.is_code) {
                all.extend(decoded(&program.image, u32::from(line.address)..line.end()));
            }
        }
        all
    }
}

/// The instructions of a stretch of an image; the rest of it is left out from where there is none.
fn decoded(image: &Image, addresses: std::ops::Range<u32>) -> Vec<(u16, Decoded)> {
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

/// The text of a file: one that the program carries, or one of the user's own.
fn text_of(file: &str) -> Text {
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect();
    if let Some(text) = source(file) {
        return Text { lines: lines(text.as_bytes()), path: None };
    }
    match std::fs::read(file) {
        Ok(bytes) => Text { lines: lines(&bytes), path: std::fs::canonicalize(file).ok() },
        Err(_) => Text::default(),
    }
}

/// A file's name without folders, small letters and capitals the same.
fn stem(file: &str) -> String {
    file.rsplit(['/', '\\']).next().unwrap_or(file).to_ascii_lowercase()
}
