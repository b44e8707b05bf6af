//! The files of a report, in a folder of their own.

use std::io;
use std::path::{Path, PathBuf};

use cli_support::exit::{Failure, RIG, USAGE};
use cli_support::text::{Show, visible_json};

use super::Report;
use super::{junit, markdown, page};
use crate::disk::{Disk, Found};

/// Bytes of a file by which it is recognised.
const BEGINNING: u64 = 4096;

/// Recognises a file of a report by its beginning.
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

/// An error of a report's files.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The system refused.
    #[error("can't write the report {}: {source}", path.shown())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is something else where a file of the report goes.
    #[error(
        "{} is not of a report of this program; it was not changed: replace it with --force, \
         or name another folder",
        .0.shown()
    )]
    NotOurs(PathBuf),
}

impl WriteError {
    fn of(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        let code = if matches!(error, WriteError::NotOurs(_)) { USAGE } else { RIG };
        Self::new(code, error)
    }
}

/// Makes the folder of a report, and checks that nothing in it but reports would be replaced. With
/// `force` other files are replaced, too, but never devices or folders.
///
/// # Errors
/// There is something else, or the system refused.
pub fn prepare_folder(disk: &dyn Disk, folder: &Path, force: bool) -> Result<(), WriteError> {
    disk.make_folder(folder).map_err(WriteError::of(folder))?;
    for (name, is_ours) in FILES {
        let path = folder.join(name);
        match disk.look(&path).map_err(WriteError::of(&path))? {
            Found::Nothing | Found::File(0) => {}
            Found::File(_) if force => {}
            Found::File(_) => {
                let bytes = disk.beginning(&path, BEGINNING).map_err(WriteError::of(&path))?;
                if !is_ours(&String::from_utf8_lossy(&bytes)) {
                    return Err(WriteError::NotOurs(path));
                }
            }
            Found::Folder | Found::Other => return Err(WriteError::NotOurs(path)),
        }
    }
    Ok(())
}

/// Writes the files, each whole or not at all, and flushed to the disk.
///
/// # Errors
/// The first file that can't be written; those before it stay.
pub fn write(report: &Report, disk: &dyn Disk, folder: &Path) -> Result<(), WriteError> {
    let texts =
        [json(report), junit::junit(report), page::page(report), Ok(markdown::markdown(report))];
    for ((name, _), text) in FILES.iter().zip(texts) {
        let path = folder.join(name);
        let written = text.and_then(|text| disk.replace(&path, text.as_bytes()));
        written.map_err(WriteError::of(&path))?;
    }
    Ok(())
}

/// Returns `report.json`: the report as it is.
fn json(report: &Report) -> io::Result<String> {
    Ok(visible_json(&serde_json::to_string(report)?).into_owned() + "\n")
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::disk::SimulatedDisk;
    use crate::results::Head;

    fn report() -> Report {
        Report::begin(Head::default(), Vec::new(), SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn a_report_of_ours_is_recognised_in_every_form_and_replaced() {
        let disk = SimulatedDisk::new(1);
        let folder = Path::new("folder");
        for _ in 0..2 {
            prepare_folder(&disk, folder, false).expect("it is ours");
            write(&report(), &disk, folder).expect("it is written");
        }
        assert_eq!(disk.paths().len(), FILES.len());
    }

    #[test]
    fn whatever_else_is_there_is_left_as_it_is_without_force() {
        for (name, _) in FILES {
            for content in [&b"# My report\n"[..], b"{\"title\":1}", b"<testsuites name=\"x\">"] {
                let disk = SimulatedDisk::new(1);
                let folder = Path::new("folder");
                disk.put(&folder.join(name), content);
                let error = prepare_folder(&disk, folder, false).expect_err("it is not ours");
                assert!(error.to_string().contains(name), "{error}");
                assert_eq!(disk.content(&folder.join(name)).as_deref(), Some(content));
                prepare_folder(&disk, folder, true).expect("by force");
            }
        }
    }
}
