//! What is known of the programs on a board: which line made which address, the texts, and the names.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use firmware::build::BuiltImage;
use firmware::source;
use tdlasm::isa::{Decoded, decode};
use tdlasm::link::{LinkedLine, Program};
use tdlasm::module::Binding;

/// The programs on a board, as a debugger sees them. Where two have bytes at an address, the first counts.
#[derive(Debug, Clone)]
pub struct CodeMap {
    programs: Vec<Program>,
    /// The labels of code and data by address: those that are exported, and those that no scope hides.
    labels: BTreeMap<u16, Label>,
    texts: HashMap<Arc<str>, Vec<String>>,
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

impl CodeMap {
    /// What was noted when these were built.
    #[must_use]
    pub fn new(images: &[&BuiltImage]) -> Self {
        let programs: Vec<Program> = images.iter().map(|image| image.program.clone()).collect();
        let mut labels = BTreeMap::new();
        for program in &programs {
            add_labels(&mut labels, program);
        }
        let files = programs.iter().flat_map(|program| program.lines.iter());
        let mut texts = HashMap::new();
        for file in files.map(|line| &line.place.file) {
            texts.entry(Arc::clone(file)).or_insert_with(|| text_of(file));
        }
        Self { programs, labels, texts }
    }

    /// The line that made the byte at an address.
    #[must_use]
    pub fn line_at(&self, address: u16) -> Option<&LinkedLine> {
        self.programs.iter().find_map(|program| program.lines.at(address))
    }

    /// All lines of all programs, each program's in ascending order of addresses.
    pub fn lines(&self) -> impl Iterator<Item = &LinkedLine> {
        self.programs.iter().flat_map(|program| program.lines.iter())
    }

    /// The first line at or below `line` of a file that made an instruction, and where its instructions begin. Files
    /// are told apart by their names without folders.
    #[must_use]
    pub fn breakable(&self, file: &str, line: u32) -> Option<(u32, Vec<u16>)> {
        let wanted = |one: &&LinkedLine| {
            one.is_code && one.place.line >= line && stem(&one.place.file) == stem(file)
        };
        let first = self.lines().filter(wanted).map(|one| one.place.line).min()?;
        let of_it = self.lines().filter(wanted).filter(|one| one.place.line == first);
        Some((first, of_it.map(|one| one.address).collect()))
    }

    /// The value of a symbol; small and capital letters are the same.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<u16> {
        let name = name.to_ascii_uppercase();
        self.programs.iter().find_map(|program| program.symbol(&name))
    }

    /// The label of an address.
    #[must_use]
    pub fn label(&self, address: u16) -> Option<&Label> {
        self.labels.get(&address)
    }

    /// The label of code at or before an address in the bytes of the same module, and how far before.
    #[must_use]
    pub fn nearest(&self, address: u16) -> Option<(&str, u16)> {
        let module = self.line_at(address)?.module;
        let before = self.labels.range(..=address).rev();
        let mut labels = before.filter(|(_, label)| label.is_code);
        let (at, label) = labels.next()?;
        let same = self.line_at(*at).is_some_and(|line| line.module == module);
        same.then(|| (label.name.as_str(), address - at))
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

    /// The lines of a file's text; none when the file is not to be had.
    #[must_use]
    pub fn text(&self, file: &str) -> &[String] {
        self.texts.get(file).map_or(&[], Vec::as_slice)
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
        let Some(program) =
            self.programs.iter().find(|one| one.lines.at(line.address) == Some(line))
        else {
            return Vec::new();
        };
        let byte = |at: u32| program.image.byte(at as u16).unwrap_or(0);
        let (mut at, mut found) = (u32::from(line.address), Vec::new());
        while at < line.end() {
            let bytes: Vec<u8> = (at..at + 4).map(byte).collect();
            let Some(decoded) = decode(&bytes) else { break };
            let length = decoded.length as u32;
            found.push((at as u16, decoded));
            at += length;
        }
        found
    }
}

fn add_labels(labels: &mut BTreeMap<u16, Label>, program: &Program) {
    for symbol in program.symbols.iter().filter(|symbol| symbol.is_address) {
        let exported = symbol.binding != Binding::Local;
        let line = program.lines.at(symbol.value);
        let is_code = line.is_some_and(|line| line.is_code);
        let label = Label { name: symbol.name.to_owned(), exported, is_code };
        // Of several, an exported one is what people know.
        let known = labels.entry(symbol.value).or_insert_with(|| label.clone());
        if exported && !known.exported {
            *known = label;
        }
    }
}

/// The text of a file: ours, or one of the user's own.
fn text_of(file: &str) -> Vec<String> {
    let ours = source(file).map(|text| text.as_bytes().to_vec());
    let bytes = ours.or_else(|| std::fs::read(file).ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

/// A file's name without folders, small letters and capitals the same.
fn stem(file: &str) -> String {
    file.rsplit(['/', '\\']).next().unwrap_or(file).to_ascii_lowercase()
}
