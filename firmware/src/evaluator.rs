//! Which exchange evaluator the application gets: how it behaves, and routines of the user's own.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tdlasm::module::{Binding, Module, Place, SymbolValue};

/// The routines that a folder may bring, and the file that each comes in.
pub const ROUTINES: [(&str, &str); 6] = [
    ("XCHNG", "xchng.asm"),
    ("NEXTAD", "nextad.asm"),
    ("ATTACK", "attack.asm"),
    ("ATKSAV", "atksav.asm"),
    ("PINFND", "pinfnd.asm"),
    ("PNCK", "pnck.asm"),
];

/// How the evaluator treats what the program of 1978 got wrong (`sargon-src/README.md`, "As in 1978").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Behaviour {
    /// Faults mended, bounds kept.
    #[default]
    Mended,
    /// As the program that was printed in 1978.
    AsIn1978,
}

impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mended => "mended",
            Self::AsIn1978 => "1978",
        })
    }
}

impl FromStr for Behaviour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "mended" => Ok(Self::Mended),
            "1978" => Ok(Self::AsIn1978),
            _ => Err("the behaviours are mended and 1978".to_owned()),
        }
    }
}

/// The evaluator to build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evaluator {
    /// How it behaves.
    pub behaviour: Behaviour,
    /// A folder whose routines take the place of ours.
    pub own: Option<PathBuf>,
}

/// Why a folder's routines can't be used.
#[derive(Debug, thiserror::Error)]
pub enum OwnError {
    /// The folder can't be read.
    #[error("can't read the folder {}: {error}", folder.display())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// It has none of the files.
    #[error("{} holds none of {}", folder.display(), files())]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// A file lacks the routine that it is named for.
    #[error("{}: it does not define {routine}", file.display())]
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
        /// Where it is defined.
        place: Place,
        /// The routine.
        routine: &'static str,
    },
}

fn files() -> String {
    ROUTINES.map(|(_, file)| file).join(", ")
}

/// The files of a folder that bring routines, with the routine that each must bring; small and capital letters are
/// the same in their names.
pub(crate) fn own_files(folder: &Path) -> Result<Vec<(PathBuf, &'static str)>, OwnError> {
    let unreadable = |error| OwnError::Unreadable { folder: folder.to_owned(), error };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        found.extend(routine_of(&name).map(|routine| (folder.join(&name), routine)));
    }
    found.sort();
    if found.is_empty() {
        return Err(OwnError::Empty { folder: folder.to_owned() });
    }
    Ok(found)
}

/// The routine that a file of this name brings.
pub(crate) fn routine_of(name: impl AsRef<OsStr>) -> Option<&'static str> {
    let is_file = |&&(_, file): &&(&str, &str)| name.as_ref().eq_ignore_ascii_case(file);
    ROUTINES.iter().find(is_file).map(|(routine, _)| *routine)
}

/// Checks that the modules of a file export the routine that it is named for.
pub(crate) fn check_exported(
    modules: &[Module],
    routine: &'static str,
    file: &Path,
) -> Result<(), OwnError> {
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

/// Whether some module defines a symbol for the others.
pub(crate) fn exports(modules: &[Module], name: &str) -> bool {
    modules.iter().flat_map(|module| module.symbols.iter()).any(|symbol| {
        symbol.name == name
            && symbol.binding != Binding::Local
            && symbol.value != SymbolValue::Undefined
    })
}
