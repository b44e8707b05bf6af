//! One program as the assembler sees it: its texts, messages and names, and where they were
//! written.
//!
//! Messages are wanted at once, and the assembler gives them soonest if it notes nothing else.
//! Names and bytes are found out when they are asked for, from the same texts.

use std::cell::OnceCell;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tdlasm::asm::{self, Assembly, Options};
use tdlasm::listing::ListingLine;
use tdlasm::references::{Name, NameKind, ReferenceRole, References, SourceOrigin};
use tdlasm::source::{Loader, Origin, Source, Span};

use super::documents::{Snapshot, plain};
use super::foresight::Foresight;

/// A name where it was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The index of the file.
    pub(super) file: u32,
    /// The stretch of the file's text.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The index of the name.
    pub(super) name: u32,
    /// Whether the name gets its meaning here, or is said to be external.
    pub(super) role: ReferenceRole,
    /// Whether it stands there whole.
    pub(super) whole: bool,
}

impl Place {
    pub(super) fn stretch(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The result of assembling a program.
#[derive(Debug)]
pub(super) struct Analysis {
    /// The file that begins the program.
    pub(super) root: PathBuf,
    /// All files that are read one after the other, that one first.
    pub(super) roots: Vec<PathBuf>,
    options: Options,
    foresight: Foresight,
    /// The result without names and bytes.
    pub(super) outcome: Assembly,
    /// The files that were read, the root first.
    pub(super) files: Vec<PathBuf>,
    /// The texts that are files, by where they begin in the source map.
    texts: Vec<(u32, u32)>,
    /// The same result with the names.
    named: OnceCell<Assembly>,
    /// The same result with the names and the bytes of each statement.
    listed: OnceCell<Assembly>,
    places: OnceCell<Vec<Place>>,
}

impl Analysis {
    /// Assembles files as one program.
    pub(super) fn new(
        roots: &[PathBuf],
        loader: &dyn Loader,
        options: &Options,
        foresight: Foresight,
    ) -> Self {
        let two_passes = foresight.begins_with_two();
        let options = Options {
            force_two_passes: two_passes,
            single_pass_diagnostics: true,
            listing: false,
            references: false,
            macro_origins: true,
            skip_source_order: true,
            ..options.clone()
        };
        let outcome = asm::run(loader, roots, &options);
        let mut files = Vec::<PathBuf>::new();
        let mut texts = Vec::new();
        for source in outcome.sources.iter() {
            if matches!(source.origin, Origin::Macro(_)) {
                continue;
            }
            let path = plain(Path::new(&*source.name));
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
            foresight: foresight.after(&outcome),
            outcome,
            files,
            texts,
            named: OnceCell::new(),
            listed: OnceCell::new(),
            places: OnceCell::new(),
        }
    }

    /// The same program with other texts, read in the same way.
    pub(super) fn with(&self, loader: &dyn Loader) -> Self {
        Self::new(&self.roots, loader, &self.options, Foresight::of(&self.outcome))
    }

    /// The way in which the program is read best when something in it changes.
    pub(super) fn foresight(&self) -> Foresight {
        self.foresight
    }

    /// Assembles the same texts again, and notes more.
    fn again(&self, listing: bool) -> Assembly {
        let two_passes = self.outcome.used_two_passes;
        let options = Options {
            listing,
            references: true,
            force_two_passes: two_passes,
            ..self.options.clone()
        };
        asm::run(&Snapshot::of(&self.outcome.sources), &self.roots, &options)
    }

    /// The result with the bytes of each statement.
    pub(super) fn listed(&self) -> &Assembly {
        self.listed.get_or_init(|| self.again(true))
    }

    /// Finds out the bytes of each statement, and the names with them.
    pub(super) fn list(&self) {
        self.listed();
    }

    fn named(&self) -> &Assembly {
        self.listed.get().unwrap_or_else(|| self.named.get_or_init(|| self.again(false)))
    }

    /// The names and the places where they stand.
    pub(super) fn references(&self) -> &References {
        &self.named().references
    }

    /// Returns where a stretch of the source map was written that may be in the text of a macro.
    pub(super) fn written(&self, span: Span) -> Option<SourceOrigin> {
        self.outcome.references.written(&self.outcome.sources, span)
    }

    /// Whether this program reads a file, itself or inserted.
    pub(super) fn reads(&self, path: &Path) -> bool {
        self.file(path).is_some()
    }

    /// The index of a file.
    pub(super) fn file(&self, path: &Path) -> Option<u32> {
        self.files.iter().position(|file| file == path).map(|at| at as u32)
    }

    /// Which file a text is.
    fn file_of(&self, source: &Source) -> Option<u32> {
        let at = self.texts.binary_search_by_key(&source.base, |(base, _)| *base).ok()?;
        Some(self.texts[at].1)
    }

    /// The text of a file as it was assembled.
    pub(super) fn text(&self, file: u32) -> &[u8] {
        let base = self.texts.iter().find(|(_, one)| *one == file).map_or(0, |(base, _)| *base);
        &self.outcome.sources.source_at(base).text
    }

    /// The file of a stretch of the source map that is no macro's text, and the stretch in it.
    pub(super) fn in_file(&self, span: Span) -> Option<(u32, Range<usize>)> {
        let source = self.outcome.sources.source_at(span.start);
        let start = (span.start - source.base) as usize;
        let end = ((span.end - source.base) as usize).min(source.text.len()).max(start);
        Some((self.file_of(source)?, start..end))
    }

    /// All names where they were written, by place.
    pub(super) fn places(&self) -> &[Place] {
        self.places.get_or_init(|| {
            let mut places: Vec<Place> = self.mentions(|_| true).collect();
            places.sort_unstable();
            places.dedup();
            places
        })
    }

    /// Those in one file.
    pub(super) fn places_in(&self, file: u32) -> &[Place] {
        let places = self.places();
        let start = places.partition_point(|place| place.file < file);
        let end = places.partition_point(|place| place.file <= file);
        &places[start..end]
    }

    /// The places where names get their meaning, by place.
    pub(super) fn definitions(&self) -> Vec<Place> {
        let mut places: Vec<Place> = self.mentions(|role| role != ReferenceRole::Use).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The mentions of names in some roles.
    fn mentions(&self, is_wanted: impl Fn(ReferenceRole) -> bool) -> impl Iterator<Item = Place> {
        let Assembly { references, sources, .. } = self.named();
        let wanted = references.entries.iter().filter(move |mention| is_wanted(mention.role));
        wanted.filter_map(|mention| {
            let written = references.written(sources, mention.span)?;
            let (file, stretch) = self.in_file(written.span)?;
            Some(Place {
                file,
                start: stretch.start as u32,
                end: stretch.end as u32,
                name: mention.name,
                role: mention.role,
                whole: written.whole,
            })
        })
    }

    /// The names at an offset of a file, each of which stands there in some reading of the text.
    pub(super) fn at(&self, path: &Path, offset: usize) -> Vec<&Place> {
        let Some(file) = self.file(path) else { return Vec::new() };
        let offset = offset as u32;
        let places = self.places();
        let last = places.partition_point(|place| (place.file, place.start) <= (file, offset));
        let near = places[..last].iter().rev().take_while(|place| place.file == file);
        let touching = |place: &&Place| offset <= place.end && self.is_symbol(place.name);
        // Names do not overlap but where a macro's argument is used more than once.
        near.take(NEAR).filter(touching).collect()
    }

    /// Returns the bytes of the instruction whose mnemonic is at an offset of a file, for each time
    /// that it was read.
    pub(super) fn assembled_at(&self, path: &Path, offset: usize) -> Vec<ListingLine<'_>> {
        let Some(file) = self.file(path) else { return Vec::new() };
        let texts = self.texts.iter().filter(|(_, one)| *one == file);
        let offsets = texts.map(|(base, _)| base + offset as u32).collect();
        let listed = self.listed();
        let mut offsets = listed.references.expanded_offsets(offsets);
        offsets.sort_unstable();
        let holds = |line: &ListingLine<'_>| {
            let first = offsets.partition_point(|offset| *offset < line.span.start);
            line.clocks.is_some() && offsets.get(first).is_some_and(|one| *one < line.span.end)
        };
        listed.listing.lines().filter(holds).collect()
    }

    /// A name by its index.
    pub(super) fn name(&self, name: u32) -> &Name {
        &self.references().names[name as usize]
    }

    /// Whether a name is the program's, not the language's.
    pub(super) fn is_symbol(&self, name: u32) -> bool {
        self.name(name).kind != NameKind::Language
    }

    /// The file that the `.INSERT` at an offset inserts.
    pub(super) fn inserted_at(&self, path: &Path, offset: usize) -> Option<&Path> {
        let file = self.file(path)?;
        let source = self.outcome.sources.iter().find(|source| match source.origin {
            Origin::Insert(span) => self.in_file(span).is_some_and(|(at, stretch)| {
                at == file && stretch.start <= offset && offset <= stretch.end
            }),
            _ => false,
        })?;
        let inserted = self.file_of(source)?;
        Some(&self.files[inserted as usize])
    }
}

/// So many mentions before an offset may reach it.
const NEAR: usize = 64;
