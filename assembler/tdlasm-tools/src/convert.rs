//! Conversion of source between the mnemonics of TDL and those of Zilog; comments and layout stay
//! as they are.
//!
//! A source is parsed into statements that belong to neither dialect, its symbols get spellings
//! that are valid in the other dialect, and the statements are written at their old columns. A
//! statement without counterpart, or with another meaning for some assemblers, is left unchanged
//! and reported.

pub(crate) mod columns;
mod converter;
mod expand;
mod expr;
mod expr_tree;
mod options;
mod program;
mod read;
mod symbol_spelling;
mod write;

use std::io;
use std::path::{Path, PathBuf};

use tdlasm::source::{Loader, MemoryLoader, Origin, Source, SourceMap, plain_text};

use program::{Body, Statement, Unconverted};
use symbol_spelling::SpellingMap;
use write::ProgramFacts;

use crate::source_scan::SourceScan;

pub use options::{Dialect, Options, Target};

/// A remark on the conversion that the author should review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The line in the source, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub column: u32,
    /// `true` if the statement was copied unchanged.
    pub kept: bool,
    /// The message, without a full stop.
    pub message: String,
}

/// A converted source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// The source in the other dialect.
    pub text: Vec<u8>,
    /// Remarks for the author, by place.
    pub notes: Vec<Note>,
    /// The number of statements that were converted.
    pub converted: usize,
    /// The included files that were read.
    pub included: Vec<PathBuf>,
}

impl Conversion {
    /// Returns the number of statements that were copied unchanged.
    pub fn kept(&self) -> usize {
        self.notes.iter().filter(|note| note.kept).count()
    }
}

/// Converts a file.
///
/// A source that seems to be in the target dialect already, since more of its statements are valid
/// only there, is returned unchanged, with a note.
///
/// # Errors
/// The file cannot be read, or is larger than 4 GB.
///
/// ```
/// use tdlasm_tools::convert::{Dialect, Options, convert};
/// use tdlasm::source::MemoryLoader;
///
/// let loader = MemoryLoader::new().with("a.asm", "LOOP:   MOV A,5(X)      ; next\n");
/// let conversion = convert(&loader, "a.asm".as_ref(), &Options::new(Dialect::Zilog)).unwrap();
/// assert_eq!(conversion.text, b"LOOP:   LD A,(IX+5)     ; next\n");
/// ```
pub fn convert(loader: &dyn Loader, file: &Path, options: &Options) -> io::Result<Conversion> {
    let text = loader.load(file)?;
    let (text, removed) = plain_text(&text);
    let mut map = SourceMap::default();
    let name = file.display().to_string();
    let index = map
        .add(name.as_str().into(), Origin::File, text.to_vec())
        .ok_or(io::ErrorKind::FileTooLarge)?;
    let source = map.get(index);
    let (mut conversion, source_dialect_only) = convert_as_is(loader, file, source, options);
    if conversion.kept() > 0
        && let Some(expanded) = convert_expanded(loader, file, source, options)
        && expanded.kept() < conversion.kept()
    {
        conversion = Conversion { included: conversion.included, ..expanded };
    }
    if conversion.kept() > 0 {
        let to = options.to.opposite();
        let (_, target_dialect_only) =
            convert_as_is(loader, file, source, &Options { to, ..options.clone() });
        if target_dialect_only > source_dialect_only {
            conversion = Conversion { included: conversion.included, ..unchanged(source) };
        }
    }
    if let Some(removed) = removed {
        let message = format!("this file is not plain text: {removed}");
        conversion.notes.insert(0, Note { line: 1, column: 1, kept: false, message });
    }
    // Text after the end of the program is copied unchanged.
    conversion.text.extend_from_slice(&text[source.text.len()..]);
    Ok(conversion)
}

/// Converts the source without its macros and conditionals, for an assembler that is known to lack
/// them. Notes name the lines of the source itself.
fn convert_expanded(
    loader: &dyn Loader,
    file: &Path,
    source: &Source,
    options: &Options,
) -> Option<Conversion> {
    options.target?;
    let scan = scan(loader, file, source, options);
    let expanded = expand::expand(loader, file, &scan, options)?;
    let mut map = SourceMap::default();
    let index = map.add(source.name.clone(), Origin::File, expanded.text)?;
    let (mut conversion, _) = convert_as_is(&MemoryLoader::new(), file, map.get(index), options);
    for note in &mut conversion.notes {
        let line = expanded.lines.get(note.line as usize - 1);
        (note.line, note.column) = (line.copied().unwrap_or(note.line), 1);
    }
    let message = "macros, conditionals and second names are written out";
    conversion.notes.insert(0, Note { line: 1, column: 1, kept: false, message: message.into() });
    Some(conversion)
}

/// Returns `true` if a source has more statements that only Zilog's assemblers accept than
/// statements that only TDL's does; `false` if it cannot be read.
///
/// ```
/// use tdlasm_tools::convert::is_zilog;
/// use tdlasm::source::MemoryLoader;
///
/// let loader = MemoryLoader::new().with("a.asm", " ORG 100H\n LD A,5\n");
/// assert!(is_zilog(&loader, "a.asm".as_ref()));
/// ```
pub fn is_zilog(loader: &dyn Loader, file: &Path) -> bool {
    let mut map = SourceMap::default();
    let added = loader.load(file).ok().and_then(|text| map.add("".into(), Origin::File, text));
    let Some(index) = added else { return false };
    let only_in_source = |to| convert_as_is(loader, file, map.get(index), &Options::new(to)).1;
    only_in_source(Dialect::Tdl) > only_in_source(Dialect::Zilog)
}

/// Statements of other assemblers are translated up to this length.
const MAX_TRANSLATED: usize = 100;

/// Translates a statement in Zilog's mnemonics to TDL's, for [`tdlasm::Options::translate`].
///
/// Returns `None` if the statement has no counterpart, or is too long to be a statement.
///
/// ```
/// use tdlasm_tools::convert::translate;
///
/// assert_eq!(translate("LD", b" A,B").as_deref(), Some("MOV A,B"));
/// assert_eq!(translate("MOV", b" A,B"), None);
/// ```
pub fn translate(operator: &str, operands: &[u8]) -> Option<String> {
    if operator.len() + operands.len() > MAX_TRANSLATED {
        return None;
    }
    let text = [b" ", operator.as_bytes(), b" ", operands.trim_ascii(), b"\n"].concat();
    let loader = MemoryLoader::new().with("line.asm", text);
    let conversion = convert(&loader, Path::new("line.asm"), &Options::new(Dialect::Tdl)).ok()?;
    let done = conversion.converted == 1 && conversion.kept() == 0;
    done.then(|| String::from_utf8_lossy(conversion.text.trim_ascii()).into_owned())
}

fn unchanged(source: &Source) -> Conversion {
    let message = "most statements are in the target dialect already; the source is unchanged";
    let note = Note { line: 1, column: 1, kept: false, message: message.into() };
    Conversion { text: source.text.to_vec(), notes: vec![note], converted: 0, included: Vec::new() }
}

fn scan(loader: &dyn Loader, file: &Path, source: &Source, options: &Options) -> SourceScan {
    // On Zilog's side all letters count anyway.
    let long_symbols = options.long_symbols || options.to == Dialect::Tdl;
    SourceScan::scan_file(loader, file, &source.text, &options.include_dirs, long_symbols)
}

/// Converts without expansion; counts the statements valid only in the source's dialect.
fn convert_as_is(
    loader: &dyn Loader,
    file: &Path,
    source: &Source,
    options: &Options,
) -> (Conversion, usize) {
    let scan = scan(loader, file, source, options);
    let from = options.to.opposite();
    let program = read::read(source, options, &scan);
    let scopes = symbol_spelling::scopes(from, &program, &scan);
    let names = SpellingMap::new(from, &program, &scopes, &scan, options.long_symbols);
    let known = ProgramFacts { names: &names, scopes: &scopes, scan: &scan };
    let included = scan.included.iter().cloned().collect();
    let output = converter::write(&source.text, &program, options, &known);
    let remarks = [names.notes, missing_files(&program, &scan)].concat();
    let notes = notes(source, &remarks, &output.kept);
    let conversion = Conversion { notes, text: output.text, converted: output.written, included };
    (conversion, output.source_dialect_only)
}

fn notes(source: &Source, remarks: &[Unconverted], kept: &[Unconverted]) -> Vec<Note> {
    let note = |kept: bool, reason: &Unconverted| {
        let line = source.line(reason.at as u32);
        let column = reason.at as u32 - source.line_start(line) + 1;
        let what = if kept { "stays as it is: " } else { "" };
        Note { line, column, kept, message: format!("{what}{}", reason.message) }
    };
    let mut notes: Vec<Note> = remarks.iter().map(|reason| note(false, reason)).collect();
    notes.extend(kept.iter().map(|reason| note(true, reason)));
    notes.sort_by_key(|note| (note.line, note.column));
    notes
}

/// Returns a note for each included file that was not found.
fn missing_files(program: &[Statement<'_>], scan: &SourceScan) -> Vec<Unconverted> {
    let mut missing = Vec::new();
    for statement in program {
        if let Body::Insert(name) = statement.body
            && scan.included_file_name(name).is_none()
        {
            let name = String::from_utf8_lossy(name);
            let message = format!(
                "cannot find {name}; it may hold macros or .RADIX, which change other lines"
            );
            missing.push(Unconverted::new(statement.operator.start, message));
        }
    }
    missing
}
