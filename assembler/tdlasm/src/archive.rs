//! Libraries: `ar` archives and object files from which only the required modules are linked.

mod pull;

use std::path::Path;

use object::read::archive::ArchiveFile;

use crate::module::Module;
use crate::object::{ObjectError, looks_like_tdl, read_modules};

pub use pull::pull;

/// The first bytes of an archive. Thin archives, whose members are separate files, differ.
const MAGIC: &[u8] = b"!<arch>\n";
const THIN: &[u8] = b"!<thin>\n";

/// The member of a library: modules that are linked together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The modules. More than one only for a TDL object of several modules in an archive.
    pub modules: Vec<Module>,
    /// Whether only entry points select the member, as in TDL libraries, or every exported symbol.
    pub by_entry: bool,
}

/// Error returned by [`read_library`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// The archive is damaged.
    #[error("the archive is damaged: {0}")]
    Archive(String),
    /// A thin archive, which contains only the names of its members.
    #[error("a thin archive does not hold its members; make it without `ar`'s T")]
    Thin,
    /// A member is not an object file.
    #[error("member {name}: {error}")]
    Member {
        /// The member's name.
        name: String,
        /// The cause.
        error: ObjectError,
    },
    /// The file is neither an archive nor an object file.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

/// Returns `true` if a file is an archive.
pub fn is_archive(data: &[u8]) -> bool {
    data.starts_with(MAGIC) || data.starts_with(THIN)
}

/// Returns the members of a library, in order: an archive with names as written by GNU or BSD `ar`,
/// or an object file. `name` is the name of modules whose object file contains none. The modules of
/// a TDL object file are members of their own, selected by their entry points.
///
/// # Errors
///
/// Returns [`LibraryError`] if the file is neither, is damaged, or has a member that is not an
/// object.
pub fn read_library(data: &[u8], name: &str) -> Result<Vec<Member>, LibraryError> {
    if is_archive(data) {
        return read_members(data);
    }
    let by_entry = looks_like_tdl(data);
    let alone = |module| Member { modules: vec![module], by_entry };
    Ok(read_modules(data, name)?.into_iter().map(alone).collect())
}

fn read_members(data: &[u8]) -> Result<Vec<Member>, LibraryError> {
    let damaged = |error: object::Error| LibraryError::Archive(error.to_string());
    let archive = ArchiveFile::parse(data).map_err(damaged)?;
    if archive.is_thin() {
        return Err(LibraryError::Thin);
    }
    let read = |member: object::Result<object::read::archive::ArchiveMember<'_>>| {
        let member = member.map_err(damaged)?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let stem = Path::new(&name).file_stem().unwrap_or_default().to_string_lossy();
        let content = member.data(data).map_err(damaged)?;
        match read_modules(content, &stem) {
            Ok(modules) => Ok(Member { modules, by_entry: false }),
            Err(error) => Err(LibraryError::Member { name, error }),
        }
    };
    archive.members().map(read).collect()
}
