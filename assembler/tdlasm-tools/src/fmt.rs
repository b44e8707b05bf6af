//! Layout of source: labels, operators, operands and comments in columns; the bytes stay the same.
//!
//! - Labels, names that are assigned a value, and brackets and comments that stand there already
//!   begin a line.
//! - Operators and assignment operators are in column 8 (from 0), or a blank after a longer label.
//! - Operands are one blank after the operator, or in column 16 if most of the file's are.
//! - Comments stand in column 32. One at any tab stop from 24 on stays; one that has no room goes
//!   to the next tab stop.
//! - Blanks at the ends of lines are removed, tabs become blanks.
//!
//! Operands, comments, texts of several lines, line ends and the text after `.END` are unchanged.
//! In Zilog's notation so are colons, which are optional there, and blanks before what joins words.
//! So are blanks after the arguments of a macro, since they are part of the last one.

mod write;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::convert::is_zilog;
use crate::mnemonics::Language;
use crate::source_scan::SourceScan;
use crate::statement::{self, StatementParts};
pub use tdlasm::Options;
use tdlasm::diag::DiagnosticCode;
use tdlasm::source::{Loader, Origin, Source, SourceMap, normalize_path, plain_text};
use tdlasm::{Notation, asm, module::Module};

/// Error returned by [`format()`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// Blanks in the text or arguments of a macro become bytes.
    #[error("the bytes of {0} depend on its blanks; the layout is unchanged")]
    Blanks(String),
    /// The text was to be read in TDL's notation.
    #[error("{0} is in Zilog's notation, and not TDL's; the layout is unchanged")]
    Zilog(String),
    /// The text is larger than 4 GB.
    #[error("{0} is larger than 4 GB")]
    Size(String),
}

/// Formats a text in columns.
///
/// The text is assembled before and after: its bytes and its messages stay the same.
///
/// # Errors
/// Blanks in the text count, it is in another notation than the options have, or it is too large.
///
/// ```
/// use tdlasm_tools::fmt::{Options, format};
/// use tdlasm::source::DiskLoader;
///
/// let text = b"LOOP: MOV A,M;next\n jmp  LOOP\n";
/// let formatted = format(&DiskLoader, "a.asm".as_ref(), text, &Options::default()).unwrap();
/// assert_eq!(formatted, b"LOOP:   MOV A,M                 ;next\n        jmp LOOP\n");
/// ```
pub fn format(
    loader: &dyn Loader,
    file: &Path,
    text: &[u8],
    options: &Options,
) -> Result<Vec<u8>, Error> {
    let name = || file.display().to_string();
    let given = text;
    let text = &*plain_text(given).0;
    let language = match options.notation {
        Notation::Zilog => Language::ZILOG,
        Notation::Tdl | Notation::Pasm => Language::default(),
    };
    let statements = Statements::read(loader, file, text, options, language)
        .ok_or_else(|| Error::Size(name()))?;
    let mut formatted = write::write(&statements);
    formatted.extend_from_slice(&text[statements.source().text.len()..]);
    if formatted == given {
        return Ok(formatted);
    }
    let overlay = |text: &[u8]| {
        let texts = BTreeMap::from([(normalize_path(file), text.to_vec())]);
        Overlay { loader, texts }
    };
    let before = overlay(text);
    let outcome_before = outcome(&before, file, options);
    let may_be_zilog = !language.is_zilog && outcome_before.1.contains(&DiagnosticCode::Operator);
    if may_be_zilog && is_zilog(&before, file) {
        return Err(Error::Zilog(name()));
    }
    if outcome_before != outcome(&overlay(&formatted), file, options) {
        return Err(Error::Blanks(name()));
    }
    Ok(formatted)
}

/// A text as statements.
#[derive(Debug)]
pub(crate) struct Statements {
    map: SourceMap,
    /// The offset of each, and its parts; `None` if its line does not begin with a statement.
    pub(crate) list: Vec<(usize, Option<StatementParts>)>,
    /// The end of what is read of the text.
    pub(crate) end: usize,
}

impl Statements {
    /// Reads a text that begins in a language; `None` if it is larger than 4 GB.
    pub(crate) fn read(
        loader: &dyn Loader,
        file: &Path,
        text: &[u8],
        options: &Options,
        language: Language,
    ) -> Option<Self> {
        let mut map = SourceMap::default();
        let index = map.add("".into(), Origin::File, text.to_vec())?;
        let source = map.get(index);
        let Options { include_dirs, long_symbols, .. } = options;
        let source_scan =
            SourceScan::scan_file(loader, file, &source.text, include_dirs, *long_symbols);
        let (list, end) = statement::statements(source, &source_scan, language);
        Some(Self { map, list, end })
    }

    /// The text, up to a mark of its end.
    pub(crate) fn source(&self) -> &Source {
        self.map.get(0)
    }
}

/// Returns the modules of the file, and the messages about it: a text with errors keeps its bytes
/// and its errors too.
fn outcome(
    loader: &dyn Loader,
    file: &Path,
    options: &Options,
) -> (Vec<Module>, Vec<DiagnosticCode>) {
    let options = Options { lines: false, listing: false, references: false, ..options.clone() };
    let outcome = asm::run(loader, &[file.to_owned()], &options);
    let codes = outcome.diagnostics.iter().map(|found| found.code).collect();
    (outcome.modules, codes)
}

/// The files of a loader, with some texts replaced.
pub(crate) struct Overlay<'l> {
    pub(crate) loader: &'l dyn Loader,
    /// The texts by their normalized paths.
    pub(crate) texts: BTreeMap<PathBuf, Vec<u8>>,
}

impl Loader for Overlay<'_> {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        let replaced = self.texts.get(&normalize_path(path)).cloned();
        replaced.map_or_else(|| self.loader.load(path), Ok)
    }

    fn exists(&self, path: &Path) -> bool {
        self.texts.contains_key(&normalize_path(path)) || self.loader.exists(path)
    }
}
