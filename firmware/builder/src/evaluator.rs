//! Which exchange evaluator the application gets: how it behaves, and routines of the user's own.

use cli_support::text::Show;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tdlasm::module::{Binding, Module, Place, SymbolValue};

/// The routines that a folder may bring, and the file that each comes in; `TBASE` is the page of
/// tables.
pub const ROUTINES: [(&str, &str); 9] = [
    ("XCHNG", "xchng.asm"),
    ("NEXTAD", "nextad.asm"),
    ("ATTACK", "attack.asm"),
    ("ATKSAV", "atksav.asm"),
    ("PINFND", "pinfnd.asm"),
    ("PNCK", "pnck.asm"),
    ("POINTS", "points.asm"),
    ("NEWLST", "newlst.asm"),
    ("TBASE", "tables.asm"),
];

/// Returns the other names that a routine's file has to export, since the rest of the application
/// uses it.
fn companions(routine: &str) -> &'static [&'static str] {
    match routine {
        "POINTS" => &["MOVER", "MOVED", "PTSL", "ALLST"],
        _ => &[],
    }
}

/// Names that `names.asm` brings and that programs of 1978 use without declaring them.
const NAMES: [&str; 26] = [
    "ATKLST", "WACT", "BACT", "PLISTA", "PLIST", "PLISTD", "PLDIRA", "POSK", "POSQ", "M1", "M2",
    "M3", "M4", "T1", "T2", "T3", "INDX1", "INDX2", "NPINS", "P1", "P2", "P3", "PVALUE", "DIRECT",
    "BOARD", "NEXTAD",
];

/// Which of the three evaluators (`sargon-src/README.md`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Behaviour {
    /// Faults mended, bounds kept.
    #[default]
    Mended,
    /// Faults included, as in the program printed in 1978.
    AsIn1978,
    /// The results of [`Self::Mended`] in the least time.
    Fast,
}

impl Behaviour {
    /// All evaluators.
    pub const ALL: [Self; 3] = [Self::Mended, Self::AsIn1978, Self::Fast];
}

impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mended => "mended",
            Self::AsIn1978 => "1978",
            Self::Fast => "fast",
        })
    }
}

impl FromStr for Behaviour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "mended" => Ok(Self::Mended),
            "1978" => Ok(Self::AsIn1978),
            "fast" => Ok(Self::Fast),
            _ => Err("the behaviours are mended, 1978 and fast".to_owned()),
        }
    }
}

/// The evaluator to build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evaluator {
    /// Its behaviour.
    pub behaviour: Behaviour,
    /// A folder whose routines take the place of ours.
    pub own: Option<PathBuf>,
}

/// Error returned if a folder's routines can't be used.
#[derive(Debug, thiserror::Error)]
pub enum OwnError {
    /// The folder can't be read.
    #[error("can't read the folder {}: {error}", folder.shown())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The folder has none of the files.
    #[error("{} holds none of {}", folder.shown(), files())]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder has files that nothing uses.
    #[error(
        "{} is not used: a routine comes in one of {}, and no routine there inserts it; rename \
         it, or move it out of the folder", .0.shown(), files()
    )]
    Unused(PathBuf),
    /// The page of tables is linked where it can't be reached.
    #[error(
        "TBASE is at {0:04X}H, not at the start of a page: call the module of tables.asm '.IDENT \
         TABLES'"
    )]
    Unaligned(u16),
    /// A file lacks the routine that it is named for.
    #[error("{}: it does not define {routine}", file.shown())]
    Missing {
        /// The file.
        file: PathBuf,
        /// The routine.
        routine: &'static str,
    },
    /// A file has the routine, but keeps it to itself.
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

fn files() -> String {
    ROUTINES.map(|(_, file)| file).join(", ")
}

/// A folder's files, sorted: those that bring routines, each with the routine that it must bring,
/// and the others.
pub(crate) struct Folder {
    pub(crate) routines: Vec<(PathBuf, &'static str)>,
    pub(crate) others: Vec<PathBuf>,
}

/// Lists the files of a folder. Small and capital letters are the same in the names of routines'
/// files; folders, and what editors and version control hide there, are no files of ours.
pub(crate) fn own_files(folder: &Path) -> Result<Folder, OwnError> {
    let unreadable = |error| OwnError::Unreadable { folder: folder.to_owned(), error };
    let mut found = Folder { routines: Vec::new(), others: Vec::new() };
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
        return Err(OwnError::Empty { folder: folder.to_owned() });
    }
    Ok(found)
}

/// The routines that together find attackers: each of the fast evaluator's relies on its others.
const FINDERS: [&str; 5] = ["ATTACK", "ATKSAV", "PINFND", "PNCK", "NEWLST"];

/// The parts of the evaluator that are the fast ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FastParts {
    /// Finding attackers.
    pub(crate) finding: bool,
    /// Playing exchanges out.
    pub(crate) exchange: bool,
}

impl FastParts {
    /// The parts for a behaviour. A routine of the user's own works together with those of the
    /// evaluator mended.
    pub(crate) fn new(behaviour: Behaviour, is_own: impl Fn(&'static str) -> bool) -> Self {
        let is_fast = behaviour == Behaviour::Fast;
        Self {
            finding: is_fast && !FINDERS.into_iter().any(&is_own),
            exchange: is_fast && !is_own("NEXTAD"),
        }
    }

    /// The symbol that says whether attackers are found the fast way.
    pub(crate) fn define(self) -> (&'static str, u16) {
        ("FAST", u16::from(self.finding))
    }
}

/// Whether a name is one that editors and version control use beside the file that is meant.
fn is_hidden(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') || name.ends_with('~') || name.ends_with(".bak")
}

/// Refuses files that were neither assembled nor inserted: a routine under a misspelt name would
/// otherwise be left out in silence.
pub(crate) fn check_used(others: Vec<PathBuf>, loaded: &[PathBuf]) -> Result<(), OwnError> {
    let same = |file: &PathBuf, other: &PathBuf| file.file_name() == other.file_name();
    let unused = others.into_iter().find(|file| !loaded.iter().any(|other| same(file, other)));
    unused.map_or(Ok(()), |file| Err(OwnError::Unused(file)))
}

/// Returns advice for a routine that does not assemble for want of names.
pub(crate) fn hint(messages: &str) -> Option<&'static str> {
    let mut words = messages.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let is_undefined = messages.contains("undefined") || messages.contains("not defined");
    (is_undefined && words.any(|word| NAMES.contains(&word))).then_some(
        "a listing of 1978 needs a header: '.IDENT XCHNG', '.INTERN XCHNG' and '.INSERT \
         names.asm', which brings the names of the data page; names of other routines go behind \
         '.EXTERN' (sargon-src/README.md, \"Routines of your own\")",
    )
}

/// The routine that a file of this name brings.
pub(crate) fn routine_of(name: impl AsRef<OsStr>) -> Option<&'static str> {
    let is_file = |&&(_, file): &&(&str, &str)| name.as_ref().eq_ignore_ascii_case(file);
    ROUTINES.iter().find(is_file).map(|(routine, _)| *routine)
}

/// Checks that the modules of a file export the routine that it is named for, and what belongs to
/// it.
pub(crate) fn check_exported(
    modules: &[Module],
    routine: &'static str,
    file: &Path,
) -> Result<(), OwnError> {
    let mut wanted = std::iter::once(&routine).chain(companions(routine));
    wanted.try_for_each(|name| check_one(modules, name, file))
}

fn check_one(modules: &[Module], routine: &'static str, file: &Path) -> Result<(), OwnError> {
    if exports(modules, routine) {
        return Ok(());
    }
    let symbols = modules.iter().flat_map(|module| module.symbols.iter());
    let hidden =
        symbols.filter(|symbol| symbol.name == routine && symbol.binding == Binding::Local);
    match hidden.filter_map(|symbol| symbol.place.clone()).next() {
        Some(place) => Err(OwnError::NotExported { place, routine }),
        None => Err(OwnError::Missing { file: file.to_owned(), routine }),
    }
}

/// Returns whether some module defines a symbol for the others.
pub(crate) fn exports(modules: &[Module], name: &str) -> bool {
    modules.iter().flat_map(|module| module.symbols.iter()).any(|symbol| {
        symbol.name == name
            && symbol.binding != Binding::Local
            && symbol.value != SymbolValue::Undefined
    })
}
