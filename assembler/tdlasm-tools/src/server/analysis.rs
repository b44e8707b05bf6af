//! The result of assembling one program: its files, diagnostics, symbol references and bytes.

use std::cell::OnceCell;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tdlasm::Notation;
use tdlasm::asm::{self, Assembly, Options};
use tdlasm::listing::ListingLine;
use tdlasm::references::{Name, NameKind, Reference, ReferenceRole, References, SourceOrigin};
use tdlasm::source::{Loader, Origin, Source, Span, normalize_path};
use tdlasm::syntax::lex;

use crate::mnemonics::Language;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileReference {
    /// The index of the file.
    pub(super) file: u32,
    /// The byte range in the file.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The index of the name.
    pub(super) name: u32,
    /// Whether this is a definition, a declaration or a use.
    pub(super) role: ReferenceRole,
    /// `true` if the whole name is in the text, not joined from parts by a macro.
    pub(super) whole: bool,
}

impl FileReference {
    pub(super) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[derive(Debug)]
pub(super) struct Analysis {
    /// The first source file.
    pub(super) root: PathBuf,
    pub(super) roots: Vec<PathBuf>,
    options: Options,
    /// The result, with references and the bytes of each statement.
    pub(super) assembly: Assembly,
    /// The source and included files, the root first.
    pub(super) files: Vec<PathBuf>,
    /// For each file in the source map, the base of its text and its index.
    texts: Vec<(u32, u32)>,
    places: OnceCell<Vec<FileReference>>,
}

impl Analysis {
    pub(super) fn new(roots: &[PathBuf], loader: &dyn Loader, options: &Options) -> Self {
        let options = Options { listing: true, references: true, ..options.clone() };
        let outcome = asm::run(loader, roots, &options);
        let mut files = Vec::<PathBuf>::new();
        let mut texts = Vec::new();
        for source in outcome.sources.iter() {
            if matches!(source.origin, Origin::Macro(_)) {
                continue;
            }
            let path = normalize_path(Path::new(&*source.name));
            let known = files.iter().position(|file| *file == path);
            texts.push((source.base, known.unwrap_or(files.len()) as u32));
            if known.is_none() {
                files.push(path);
            }
        }
        Self {
            root: roots.first().cloned().unwrap_or_default(),
            roots: roots.to_vec(),
            options,
            assembly: outcome,
            files,
            texts,
            places: OnceCell::new(),
        }
    }

    /// Assembles the same program with other texts and the same options.
    pub(super) fn with_texts(&self, loader: &dyn Loader) -> Self {
        Self::new(&self.roots, loader, &self.options)
    }

    pub(super) fn references(&self) -> &References {
        &self.assembly.references
    }

    /// Returns the origin in a file of a range of the source map, which may be in a macro's text.
    pub(super) fn written(&self, span: Span) -> Option<SourceOrigin> {
        self.assembly.references.written(&self.assembly.sources, span)
    }

    /// Returns the language in which a file begins: that of its first statement, which statements
    /// before it in other files may have changed.
    pub(super) fn language(&self, path: &Path) -> Option<Language> {
        let file = self.file(path)?;
        if self.options.clone().for_source(&self.root).notation == Notation::Zilog {
            return Some(Language::ZILOG);
        }
        let sources = &self.assembly.sources;
        let lines = self.assembly.listing.lines();
        let before =
            lines.take_while(|line| self.file_of(sources.source_at(line.span.start)) != Some(file));
        Some(before.fold(Language::default(), |language, line| {
            let code = sources.slice(line.span).split(|byte| *byte == b';').next();
            let words = code.unwrap_or_default().split(|byte| !lex::is_symbol(*byte));
            words.fold(language, Language::behind)
        }))
    }

    /// Returns the index of a source or an included file of this program.
    pub(super) fn file(&self, path: &Path) -> Option<u32> {
        self.files.iter().position(|file| file == path).map(|at| at as u32)
    }

    /// Returns the index of the file with this text.
    fn file_of(&self, source: &Source) -> Option<u32> {
        let at = self.texts.binary_search_by_key(&source.base, |(base, _)| *base).ok()?;
        Some(self.texts[at].1)
    }

    /// The text of a file as it was assembled.
    pub(super) fn text(&self, file: u32) -> &[u8] {
        let base = self.texts.iter().find(|(_, one)| *one == file).map_or(0, |(base, _)| *base);
        &self.assembly.sources.source_at(base).text
    }

    /// The file of a range of the source map and the range in it; `None` for the text of a macro.
    pub(super) fn in_file(&self, span: Span) -> Option<(u32, Range<usize>)> {
        let source = self.assembly.sources.source_at(span.start);
        let start = (span.start - source.base) as usize;
        let end = ((span.end - source.base) as usize).min(source.text.len()).max(start);
        Some((self.file_of(source)?, start..end))
    }

    /// Returns all references, sorted by file and offset.
    pub(super) fn file_references(&self) -> &[FileReference] {
        self.places.get_or_init(|| {
            let Assembly { references, sources, .. } = &self.assembly;
            let in_file = |mention: &Reference| {
                let written = references.written(sources, mention.span)?;
                let (file, range) = self.in_file(written.span)?;
                Some(FileReference {
                    file,
                    start: range.start as u32,
                    end: range.end as u32,
                    name: mention.name,
                    role: mention.role,
                    whole: written.whole,
                })
            };
            let mut places: Vec<_> = references.entries.iter().filter_map(in_file).collect();
            places.sort_unstable();
            places.dedup();
            places
        })
    }

    /// Returns the references in a file; none if it is not of this program.
    pub(super) fn references_in(&self, path: &Path) -> &[FileReference] {
        let Some(file) = self.file(path) else { return &[] };
        let places = self.file_references();
        let start = places.partition_point(|place| place.file < file);
        let end = places.partition_point(|place| place.file <= file);
        &places[start..end]
    }

    /// Returns the definitions and declarations, sorted by file and offset.
    pub(super) fn definitions(&self) -> impl Iterator<Item = &FileReference> {
        self.file_references().iter().filter(|place| place.role != ReferenceRole::Use)
    }

    /// Returns the references at an offset; several if the text is assembled more than once.
    pub(super) fn references_at(&self, path: &Path, offset: usize) -> Vec<&FileReference> {
        let Some(file) = self.file(path) else { return Vec::new() };
        let offset = offset as u32;
        let places = self.file_references();
        let last = places.partition_point(|place| (place.file, place.start) <= (file, offset));
        let near = places[..last].iter().rev().take_while(|place| place.file == file);
        let touching = |place: &&FileReference| offset <= place.end && self.is_symbol(place.name);
        // References overlap only where a macro's argument is used more than once.
        near.take(MAX_OVERLAPPING_REFERENCES).filter(touching).collect()
    }

    /// Returns the bytes of the instruction at an offset, for each time that it was assembled.
    pub(super) fn assembled_at(&self, path: &Path, offset: usize) -> Vec<&ListingLine> {
        let Some(file) = self.file(path) else { return Vec::new() };
        let texts = self.texts.iter().filter(|(_, one)| *one == file);
        let offsets = texts.map(|(base, _)| base + offset as u32).collect();
        let assembly = &self.assembly;
        let mut offsets = assembly.references.expanded_offsets(offsets);
        offsets.sort_unstable();
        let holds = |line: &&ListingLine| {
            let first = offsets.partition_point(|offset| *offset < line.span.start);
            line.clocks.is_some() && offsets.get(first).is_some_and(|one| *one < line.span.end)
        };
        assembly.listing.lines().filter(holds).collect()
    }

    pub(super) fn name(&self, name: u32) -> &Name {
        &self.references().names[name as usize]
    }

    /// Returns `true` if a name is the program's, not a keyword.
    pub(super) fn is_symbol(&self, name: u32) -> bool {
        self.name(name).kind != NameKind::Language
    }

    /// Returns the file that the `.INSERT` at an offset includes.
    pub(super) fn included_file_at(&self, path: &Path, offset: usize) -> Option<&Path> {
        let file = self.file(path)?;
        let source = self.assembly.sources.iter().find(|source| match source.origin {
            Origin::Insert(span) => self.in_file(span).is_some_and(|(at, range)| {
                at == file && range.start <= offset && offset <= range.end
            }),
            _ => false,
        })?;
        let inserted = self.file_of(source)?;
        Some(&self.files[inserted as usize])
    }
}

/// The maximum number of references before an offset that are checked for reaching it.
const MAX_OVERLAPPING_REFERENCES: usize = 64;
