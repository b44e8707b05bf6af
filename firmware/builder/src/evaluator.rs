//! The exchange evaluator of the application: its behaviour, and override files of the user.

use cli_support::text::Escape;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, io};

use tdlasm::AssembleError;
use tdlasm::diag::DiagnosticCode;
use tdlasm::module::{Binding, Module, Place, SymbolValue};

/// The page of tables, which only an override file can replace.
pub(crate) const TABLES: &str = "TBASE";

/// The routines that can be overridden, with the file of each; `TBASE` is the page of tables.
pub const ROUTINES: [(&str, &str); 9] = [
    ("XCHNG", "xchng.asm"),
    ("NEXTAD", "nextad.asm"),
    ("ATTACK", "attack.asm"),
    ("ATKSAV", "atksav.asm"),
    ("PINFND", "pinfnd.asm"),
    ("PNCK", "pnck.asm"),
    ("POINTS", "points.asm"),
    ("NEWLST", "newlst.asm"),
    (TABLES, "tables.asm"),
];

/// Returns the other names that a routine's file must export for the rest of the application.
pub(crate) fn required_exports(routine: &str) -> &'static [&'static str] {
    match routine {
        "POINTS" => &["MOVER", "MOVED", "PTSL", "ALLST"],
        _ => &[],
    }
}

/// Names of `names.asm`, which listings of the original use without declaring them.
const DATA_PAGE_NAMES: [&str; 26] = [
    "ATKLST", "WACT", "BACT", "PLISTA", "PLIST", "PLISTD", "PLDIRA", "POSK", "POSQ", "M1", "M2",
    "M3", "M4", "T1", "T2", "T3", "INDX1", "INDX2", "NPINS", "P1", "P2", "P3", "PVALUE", "DIRECT",
    "BOARD", "NEXTAD",
];

/// One of the three evaluators (`sargon-src/README.md`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Behaviour {
    /// Bugs corrected, bounds checked.
    #[default]
    Corrected,
    /// Bugs included, as in the program printed in 1978.
    Original,
    /// The results of [`Self::Corrected`], optimized for speed.
    Fast,
}

impl Behaviour {
    /// All evaluators.
    pub const ALL: [Self; 3] = [Self::Corrected, Self::Original, Self::Fast];
}

impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Corrected => "corrected",
            Self::Original => "original",
            Self::Fast => "fast",
        })
    }
}

impl FromStr for Behaviour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "corrected" => Ok(Self::Corrected),
            "original" => Ok(Self::Original),
            "fast" => Ok(Self::Fast),
            _ => Err("the behaviours are corrected, original and fast".to_owned()),
        }
    }
}

/// The evaluator to build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evaluator {
    /// Its behaviour.
    pub behaviour: Behaviour,
    /// A folder of override files, or a listing, whose routines replace built-in ones.
    pub own: Option<PathBuf>,
}

/// Error returned if override files can't be used.
#[derive(Debug, thiserror::Error)]
pub enum OverrideError {
    /// The folder can't be read.
    #[error("can't read the folder {}: {error}", folder.escaped())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The folder has no override file.
    #[error(
        "{} contains no override file; expected at least one of {}",
        folder.escaped(), routine_file_names()
    )]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// The listing can't be read.
    #[error("can't read the listing {}: {error}", file.escaped())]
    UnreadableListing {
        /// The listing.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The listing has no routine.
    #[error(
        "{} has a label for none of {}; labels end with a colon, as in 'XCHNG:'",
        file.escaped(), ROUTINES.map(|(routine, _)| routine).join(", ")
    )]
    NoRoutine {
        /// The listing.
        file: PathBuf,
    },
    /// The folder has a file that is not used.
    #[error(
        "{}: unknown file name; expected one of {}, or a file that one of them inserts by .INSERT; \
         rename it, or move it out of the folder", .0.escaped(), routine_file_names()
    )]
    Unused(PathBuf),
    /// The page of tables is not linked to the start of a page.
    #[error(
        "TBASE is at {0:04X}H, not at the start of a page: call the module of tables.asm '.IDENT \
         TABLES'"
    )]
    Unaligned(u16),
    /// A file does not define the routine after which it is named.
    #[error("{}: it does not define {routine}", file.escaped())]
    Missing {
        /// The file.
        file: PathBuf,
        /// The routine.
        routine: &'static str,
    },
    /// A file does not export its routine.
    #[error(
        "{}:{}: {routine} is not exported; write '{routine}::' or add '.INTERN {routine}'",
        place.file, place.line
    )]
    NotExported {
        /// Location of its definition.
        place: Place,
        /// The routine.
        routine: &'static str,
    },
}

fn routine_file_names() -> String {
    ROUTINES.map(|(_, file)| file).join(", ")
}

/// A folder's files, sorted: override files with their routines, and the others.
pub(crate) struct OverrideFiles {
    pub(crate) routines: Vec<(PathBuf, &'static str)>,
    pub(crate) others: Vec<PathBuf>,
}

/// Lists the files of a folder. Names of override files are case-insensitive; folders and hidden
/// files of editors and version control are skipped.
pub(crate) fn override_files(folder: &Path) -> Result<OverrideFiles, OverrideError> {
    let unreadable = |error| OverrideError::Unreadable { folder: folder.to_owned(), error };
    let mut found = OverrideFiles { routines: Vec::new(), others: Vec::new() };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        match routine_of(&name) {
            Some(routine) => found.routines.push((entry.path(), routine)),
            None if entry.path().is_file() && !is_hidden(&name) => found.others.push(entry.path()),
            None => {}
        }
    }
    found.routines.sort();
    found.others.sort();
    if found.routines.is_empty() {
        return Err(OverrideError::Empty { folder: folder.to_owned() });
    }
    Ok(found)
}

/// The routines that find attackers. The fast ones depend on each other, so that an override of one
/// replaces all.
const ATTACK_FINDERS: [&str; 5] = ["ATTACK", "ATKSAV", "PINFND", "PNCK", "NEWLST"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FastParts {
    pub(crate) finding: bool,
    pub(crate) exchange: bool,
}

impl FastParts {
    /// Returns the parts for a behaviour; overrides work with the corrected evaluator's routines.
    pub(crate) fn new(behaviour: Behaviour, is_own: impl Fn(&'static str) -> bool) -> Self {
        let is_fast = behaviour == Behaviour::Fast;
        Self {
            finding: is_fast && !ATTACK_FINDERS.into_iter().any(&is_own),
            exchange: is_fast && !is_own("NEXTAD"),
        }
    }

    /// Returns the symbol that selects the fast attack finder.
    pub(crate) fn define(self) -> (&'static str, u16) {
        ("FAST", u16::from(self.finding))
    }
}

/// Returns `true` for hidden and backup files.
fn is_hidden(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') || name.ends_with('~') || name.ends_with(".bak")
}

/// Returns an error for files that were neither assembled nor included: otherwise a routine under a
/// misspelt name would be ignored silently.
pub(crate) fn check_used(others: Vec<PathBuf>, loaded: &[PathBuf]) -> Result<(), OverrideError> {
    let unused = others.into_iter().find(|file| !loaded.contains(file));
    unused.map_or(Ok(()), |file| Err(OverrideError::Unused(file)))
}

/// Returns a hint for an override file that does not assemble for want of names.
pub(crate) fn missing_header_hint(failure: &AssembleError) -> Option<&'static str> {
    let diagnostics = &failure.assembly().diagnostics;
    let mut undefined = diagnostics.iter().filter(|one| one.code == DiagnosticCode::Undefined);
    let is_of_header = |name: &str| DATA_PAGE_NAMES.contains(&name);
    undefined.any(|one| one.symbol.as_deref().is_some_and(is_of_header)).then_some(
        "a listing of the original needs a header: '.IDENT XCHNG', '.INTERN XCHNG' and '.INSERT \
         names.asm', which brings the names of the data page; names of other routines go behind \
         '.EXTERN' (sargon-src/README.md, \"Routines of your own\")",
    )
}

/// Returns the routine of an override file's name.
pub(crate) fn routine_of(name: impl AsRef<OsStr>) -> Option<&'static str> {
    let is_file = |&&(_, file): &&(&str, &str)| name.as_ref().eq_ignore_ascii_case(file);
    ROUTINES.iter().find(is_file).map(|(routine, _)| *routine)
}

pub(crate) fn check_exported(
    modules: &[Module],
    routine: &'static str,
    file: &Path,
) -> Result<(), OverrideError> {
    let mut wanted = std::iter::once(&routine).chain(required_exports(routine));
    wanted.try_for_each(|name| check_export(modules, name, file))
}

fn check_export(
    modules: &[Module],
    routine: &'static str,
    file: &Path,
) -> Result<(), OverrideError> {
    if exports(modules, routine) {
        return Ok(());
    }
    let symbols = modules.iter().flat_map(|module| module.symbols.iter());
    let hidden =
        symbols.filter(|symbol| symbol.name == routine && symbol.binding == Binding::Local);
    match hidden.filter_map(|symbol| symbol.place.clone()).next() {
        Some(place) => Err(OverrideError::NotExported { place, routine }),
        None => Err(OverrideError::Missing { file: file.to_owned(), routine }),
    }
}

/// Returns the routines that are not a user's own, separated by commas, or `none`.
pub fn built_in_beside(own: &[&str]) -> String {
    let all = ROUTINES.iter().map(|(routine, _)| *routine);
    let others: Vec<_> = all.filter(|routine| !own.contains(routine)).collect();
    if others.is_empty() { "none".to_owned() } else { others.join(", ") }
}

/// Returns `true` if a module exports a symbol.
pub(crate) fn exports(modules: &[Module], name: &str) -> bool {
    modules.iter().flat_map(|module| module.symbols.iter()).any(|symbol| {
        symbol.name == name
            && symbol.binding != Binding::Local
            && symbol.value != SymbolValue::Undefined
    })
}
