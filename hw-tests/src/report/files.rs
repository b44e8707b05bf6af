//! The files of a report, in a folder of their own.

use std::io;
use std::path::{Path, PathBuf};

use super::Report;
use super::{junit, markdown, page};

/// A report that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("can't write the report {}: {source}", path.display())]
pub struct WriteError {
    /// The file or folder.
    path: PathBuf,
    /// What the system said.
    source: io::Error,
}

/// Writes the files, each whole or not at all, and makes the folder if need be.
///
/// # Errors
/// The first file that can't be written; those before it stay.
pub fn write(report: &Report, folder: &Path) -> Result<(), WriteError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| WriteError { path, source }
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    let files = [
        ("report.json", json(report)),
        ("junit.xml", junit::junit(report)),
        ("report.html", page::page(report)),
        ("report.md", Ok(markdown::markdown(report))),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        let written = text.and_then(|text| tdlasm::output::write_whole(&path, text.as_bytes()));
        written.map_err(failed(&path))?;
    }
    Ok(())
}

/// `report.json`: the report as it is.
fn json(report: &Report) -> io::Result<String> {
    Ok(serde_json::to_string(report)? + "\n")
}
