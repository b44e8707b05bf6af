//! Writes the files of a report into its folder.

use std::io;
use std::path::{Path, PathBuf};

use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use cli_support::text::{Escape, escape_json};

use super::Report;
use super::{junit, markdown, page};
use crate::file_system::{FileSystem, PathKind};

/// A file is recognised by its first bytes, so many at most.
const RECOGNISED_PREFIX_BYTES: u64 = 4096;

/// Returns `true` if a text is the start of a file of a report.
type Recogniser = fn(&str) -> bool;

/// The files, and how each is recognised.
const FILES: [(&str, Recogniser); 4] = [
    ("report.json", |text| text.starts_with("{\"schema\":")),
    ("junit.xml", |text| text.contains("<testsuites name=\"hw-tests\"")),
    ("report.html", |text| text.contains("<meta name=\"generator\" content=\"hw-tests\">")),
    ("report.md", is_markdown),
];

fn is_markdown(text: &str) -> bool {
    let headings = ["# PASS: ", "# FAIL: ", "# INCOMPLETE: "];
    let first = text.lines().next().unwrap_or_default();
    headings.iter().any(|heading| text.starts_with(heading)) && first.ends_with(" cases pass")
}

/// Error returned if the files of a report can't be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The system returned an error.
    #[error("can't write the report {}: {source}", path.escaped())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The path of a report file is taken by something else.
    #[error(
        "{} is not a report file of this program and was not changed: replace it with --force, \
         or name another folder",
        .0.escaped()
    )]
    NotAReport(PathBuf),
}

impl WriteError {
    fn of(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

impl From<WriteError> for CommandError {
    fn from(error: WriteError) -> Self {
        let code = if matches!(error, WriteError::NotAReport(_)) { USAGE } else { ENVIRONMENT };
        Self::new(code, error)
    }
}

/// Creates the folder of a report, and checks that only report files would be replaced in it. With
/// `force` other files may be replaced, but never devices or folders.
///
/// # Errors
/// Returns [`WriteError`] if a path is taken by something else or the folder can't be created.
pub fn prepare_folder(
    file_system: &dyn FileSystem,
    folder: &Path,
    force: bool,
) -> Result<(), WriteError> {
    file_system.create_dir_all(folder).map_err(WriteError::of(folder))?;
    for (name, is_ours) in FILES {
        let path = folder.join(name);
        match file_system.path_kind(&path).map_err(WriteError::of(&path))? {
            PathKind::Missing | PathKind::File(0) => {}
            PathKind::File(_) if force => {}
            PathKind::File(_) => {
                let bytes = file_system
                    .read_prefix(&path, RECOGNISED_PREFIX_BYTES)
                    .map_err(WriteError::of(&path))?;
                if !is_ours(&String::from_utf8_lossy(&bytes)) {
                    return Err(WriteError::NotAReport(path));
                }
            }
            PathKind::Directory | PathKind::Other => return Err(WriteError::NotAReport(path)),
        }
    }
    Ok(())
}

/// Writes the files, each atomically and synced.
///
/// # Errors
/// Returns [`WriteError`] for the first file that can't be written; earlier files are kept.
pub fn write_files(
    report: &Report,
    file_system: &dyn FileSystem,
    folder: &Path,
) -> Result<(), WriteError> {
    let texts =
        [json(report), junit::junit(report), page::page(report), Ok(markdown::markdown(report))];
    for ((name, _), text) in FILES.iter().zip(texts) {
        let path = folder.join(name);
        let written = text.and_then(|text| file_system.replace(&path, text.as_bytes()));
        written.map_err(WriteError::of(&path))?;
    }
    Ok(())
}

/// Returns `report.json`: the report as it is.
fn json(report: &Report) -> io::Result<String> {
    Ok(escape_json(&serde_json::to_string(report)?).into_owned() + "\n")
}
