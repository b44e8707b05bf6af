//! Source texts: how they are loaded, and the positions of their bytes.

mod bounded;
mod plain;

use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub use bounded::{MAX_FILE, read_bounded, read_file};
pub(crate) use plain::as_read;
pub use plain::plain_text;
pub(crate) use plain::{cut_at_end, is_plain};

/// A range of source bytes, as offsets into the concatenation of all texts of a [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Creates a span from `start` up to `end`.
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end: end.max(start) }
    }
}

/// Loads source files. Implement this to assemble from memory or from other storage.
pub trait Loader {
    /// Returns the contents of a file.
    ///
    /// # Errors
    ///
    /// Returns the error that prevented the file from being read.
    fn load(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Returns `true` if the file exists.
    fn exists(&self, path: &Path) -> bool;
}

/// Loads files from disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiskLoader;

impl Loader for DiskLoader {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        read_file(path)
    }

    fn exists(&self, path: &Path) -> bool {
        path.is_file()
    }
}

/// Loads files from memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryLoader {
    files: HashMap<PathBuf, Vec<u8>>,
}

impl MemoryLoader {
    /// Creates an empty set of files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, replacing one of the same name.
    #[must_use]
    pub fn with(mut self, path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), text.into());
        self
    }
}

impl Loader for MemoryLoader {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn exists(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }
}

/// Returns the file that `.INSERT name` in a file of the first folder names: its name there, and its
/// path. Tries the name as it is written, with the extension `.ASM`, and since CP/M ignored case, all
/// that in small letters and in capitals.
pub fn find_inserted(
    loader: &dyn Loader,
    folders: &[&Path],
    name: &str,
) -> Option<(String, PathBuf)> {
    let name = without_drive(name);
    let names = [name.to_owned(), name.to_lowercase(), name.to_uppercase()];
    let names = names.map(|name| [name.clone(), format!("{name}.ASM"), format!("{name}.asm")]);
    let places = folders.iter().flat_map(|folder| {
        names.as_flattened().iter().map(|name| (name.clone(), folder.join(name)))
    });
    places.into_iter().find(|(_, path)| loader.exists(path))
}

/// Returns the name of a file of CP/M without its drive, `A:`; a path of Windows has one.
fn without_drive(name: &str) -> &str {
    match name.split_once(':') {
        Some((drive, file)) if drive.len() == 1 && !file.starts_with(['/', '\\']) => file,
        _ => name,
    }
}

/// Returns a path without `.`, and without `..` after a name or the root.
pub fn normalize_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match plain.components().next_back() {
                Some(Component::Normal(_)) => drop(plain.pop()),
                Some(Component::RootDir) => {}
                _ => plain.push(part),
            },
            part => plain.push(part),
        }
    }
    plain
}

/// The origin of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file named by the caller.
    File,
    /// A file named by the `.INSERT` at this position.
    Insert(Span),
    /// The text of the macro called at this position.
    Macro(Span),
}

/// A source text and its position in the map.
#[derive(Debug)]
pub struct Source {
    /// The file name as given, or the name of the macro.
    pub name: Arc<str>,
    /// The origin of the text.
    pub origin: Origin,
    /// The text, up to a CP/M end-of-file mark (1AH).
    pub text: Arc<Vec<u8>>,
    /// The offset of its first byte in the map.
    pub base: u32,
    line_starts: OnceLock<Vec<u32>>,
    brackets: OnceLock<Vec<(u32, u32)>>,
}

/// Returns a name without terminal control characters and bidirectional overrides.
pub fn visible(name: &str) -> String {
    let escape = |one: char| match is_hidden(one) {
        true => one.escape_default().to_string(),
        false => one.to_string(),
    };
    name.chars().map(escape).collect()
}

/// Returns `true` for characters that a terminal or editor may interpret instead of display. The
/// command-line programs have the same rule; a test compares them.
fn is_hidden(letter: char) -> bool {
    let code = u32::from(letter);
    letter.is_control()
        || matches!(code, 0x00AD | 0x061C | 0x180E | 0xFEFF | 0xFFF9..=0xFFFB)
        || matches!(code, 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F)
        || matches!(code, 0xE0000..=0xE007F)
}

impl Source {
    /// Returns the name, escaped for messages.
    pub fn escaped_name(&self) -> String {
        visible(&self.name)
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| line_starts(&self.text))
    }

    /// Returns the line, from 1, that contains the byte at `offset` of this text.
    pub fn line(&self, offset: u32) -> u32 {
        self.line_starts().partition_point(|&start| start <= offset) as u32
    }

    /// Returns the offset of the first byte of a line, counted from 1.
    pub fn line_start(&self, line: u32) -> u32 {
        let starts = self.line_starts();
        starts.get(line.saturating_sub(1) as usize).copied().unwrap_or(self.text.len() as u32)
    }

    /// Returns the offset of the `]` that closes the `[` at `offset`. Brackets in comments count.
    pub fn closing_bracket(&self, offset: u32) -> Option<u32> {
        let pairs = self.brackets.get_or_init(|| bracket_pairs(&self.text));
        pairs.binary_search_by_key(&offset, |pair| pair.0).ok().map(|index| pairs[index].1)
    }
}

/// Returns the offsets at which the lines of a text begin, whatever the line ends are.
pub fn line_starts(text: &[u8]) -> Vec<u32> {
    let behind = line_ends(text, text.len()).map(|end| end as u32 + 1);
    std::iter::once(0).chain(behind).collect()
}

/// Returns the offsets of the last bytes of the line ends, whatever these are, among the first
/// `count` bytes of a text.
pub(crate) fn line_ends(text: &[u8], count: usize) -> impl Iterator<Item = usize> {
    memchr::memchr2_iter(b'\n', b'\r', &text[..count])
        .filter(|&end| text[end] == b'\n' || text.get(end + 1) != Some(&b'\n'))
}

/// Returns the pairs of brackets in a text by the offset of the first. Brackets in comments count.
pub fn bracket_pairs(text: &[u8]) -> Vec<(u32, u32)> {
    let mut open = Vec::new();
    let mut pairs = Vec::new();
    for at in memchr::memchr2_iter(b'[', b']', text) {
        if text[at] == b'[' {
            open.push(at as u32);
        } else if let Some(start) = open.pop() {
            pairs.push((start, at as u32));
        }
    }
    pairs.sort_unstable();
    pairs
}

/// A position as file, line and column.
#[derive(Debug, Clone)]
pub struct Location<'a> {
    /// The file or macro text.
    pub source: &'a Source,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub column: u32,
}

/// All source texts of a run.
#[derive(Debug, Default)]
pub struct SourceMap {
    sources: Vec<Source>,
    /// The offsets of the texts, which are looked up often: side by side they fill few cache lines.
    bases: Vec<u32>,
    /// The number of texts that the pass has added.
    added: usize,
}

impl SourceMap {
    /// Adds a text. Returns `None` if all texts together exceed 4 GB.
    pub fn add(
        &mut self,
        name: Arc<str>,
        origin: Origin,
        text: impl Into<Arc<Vec<u8>>>,
    ) -> Option<usize> {
        let mut text = text.into();
        if let Some(end) = memchr::memchr(plain::END, &text) {
            Arc::make_mut(&mut text).truncate(end);
        }
        self.add_without_end(name, origin, text)
    }

    /// Adds a text that has no CP/M end-of-file mark. As long as a second pass adds the texts of the
    /// first, they keep their offsets.
    pub(crate) fn add_without_end(
        &mut self,
        name: Arc<str>,
        origin: Origin,
        text: Arc<Vec<u8>>,
    ) -> Option<usize> {
        let index = self.added;
        self.added += 1;
        let is_same =
            |known: &Source| known.origin == origin && known.name == name && known.text == text;
        if self.sources.get(index).is_some_and(is_same) {
            return Some(index);
        }
        // Offsets ascend in each pass, so that all later texts are new ones, too.
        self.added = self.sources.len() + 1;
        // One offset more than the text has, so that its end is not the next one's start.
        let base = self.sources.last().map_or(0, |last| last.base + last.text.len() as u32 + 1);
        base.checked_add(u32::try_from(text.len()).ok()?)?.checked_add(1)?;
        self.bases.push(base);
        self.sources.push(Source {
            name,
            origin,
            text,
            base,
            line_starts: OnceLock::new(),
            brackets: OnceLock::new(),
        });
        Some(self.sources.len() - 1)
    }

    /// Begins the second pass over the same texts.
    pub(crate) fn begin_second_pass(&mut self) {
        self.added = 0;
    }

    /// Returns the text with this index.
    pub fn get(&self, index: usize) -> &Source {
        &self.sources[index]
    }

    /// Returns all texts, in the order in which they were added.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Source> {
        self.sources.iter()
    }

    /// Returns the text that contains an offset of the map.
    pub fn source_at(&self, offset: u32) -> &Source {
        let after = self.bases.partition_point(|base| *base <= offset);
        &self.sources[after.saturating_sub(1)]
    }

    /// Returns file, line and column of an offset of the map.
    pub fn location(&self, offset: u32) -> Location<'_> {
        let source = self.source_at(offset);
        let within = offset - source.base;
        let line = source.line(within);
        Location { source, line, column: within - source.line_start(line) + 1 }
    }

    /// Returns the span from an offset to the end of its line.
    pub(crate) fn rest_of_line(&self, offset: u32) -> Span {
        let source = self.source_at(offset);
        let rest = &source.text[(offset - source.base) as usize..];
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        Span::new(offset, offset + length as u32)
    }

    /// Returns the bytes of a span.
    pub fn slice(&self, span: Span) -> &[u8] {
        let source = self.source_at(span.start);
        let end = (span.end - source.base).min(source.text.len() as u32);
        &source.text[(span.start - source.base).min(end) as usize..end as usize]
    }

    /// Returns file and line of an offset. For macro text, those of the end of the outermost call.
    pub fn file_line(&self, mut offset: u32) -> (&Source, u32) {
        let mut source = self.source_at(offset);
        while let Origin::Macro(call) = &source.origin {
            offset = call.end.saturating_sub(1).max(call.start);
            source = self.source_at(offset);
        }
        (source, source.line(offset - source.base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> SourceMap {
        let mut map = SourceMap::default();
        map.add("first".into(), Origin::File, b"other\n".to_vec());
        map.add("second".into(), Origin::File, text.as_bytes().to_vec());
        map
    }

    #[test]
    fn every_kind_of_line_end_counts_once() {
        let map = source("a\r\nb\nc\rd");
        let lines: Vec<u32> =
            [0, 3, 5, 7].iter().map(|at| map.location(map.get(1).base + at).line).collect();
        assert_eq!(lines, [1, 2, 3, 4]);
    }

    #[test]
    fn a_second_pass_finds_the_texts_of_the_first_until_one_differs() {
        let mut map = SourceMap::default();
        let added = |texts: [&str; 3], map: &mut SourceMap| {
            texts.map(|text| map.add("a".into(), Origin::File, text.as_bytes().to_vec()))
        };
        assert_eq!(added(["x", "y", "z"], &mut map), [Some(0), Some(1), Some(2)]);
        map.begin_second_pass();
        assert_eq!(added(["x", "other", "z"], &mut map), [Some(0), Some(3), Some(4)]);
    }

    #[test]
    fn text_ends_at_the_cpm_mark() {
        assert_eq!(**source("NOP\n\x1Agarbage").get(1).text, *b"NOP\n");
    }

    #[test]
    fn brackets_pair_by_raw_counting() {
        let map = source("]a[b[c]d]e[");
        let found = [2, 4, 10].map(|at| map.get(1).closing_bracket(at));
        assert_eq!(found, [Some(8), Some(6), None]);
    }
}
