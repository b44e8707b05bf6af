//! Writes the files of a report into its folder.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use cli_support::text::{Escape, escape_json};
use flate2::{Compression, GzBuilder};

use super::{CaseResults, History, Report, history_page};
use super::{junit, markdown, page};
use crate::file_system::{FileSystem, PathKind};
use crate::runner::Verdict;
use crate::suite::Suite;

/// The longest start of a file by which it is recognised.
const RECOGNISED_PREFIX_BYTES: u64 = 4096;

/// Returns `true` if a text is the start of a file of a report.
type Recogniser = fn(&str) -> bool;

/// The names of all files that a report may have.
pub const REPORT_FILES: [&str; 5] =
    ["report.json", "junit.xml", "report.html", "report.md", PASSES_FILE];
/// The names of the files of a history.
pub const HISTORY_FILES: [&str; 2] = ["history.html", "history.json"];

/// The files of each report, and how each is recognised.
const FILES: [(&str, Recogniser); 4] = [
    ("report.json", |text| text.starts_with("{\"schema\":")),
    ("junit.xml", |text| text.contains("<testsuites name=\"hw-tests\"")),
    ("report.html", |text| text.contains("<meta name=\"generator\" content=\"hw-tests\">")),
    ("report.md", is_markdown),
];

/// The file of the passed cases if there are too many for the page, and a comment in its header, by
/// which it is recognised.
pub(super) const PASSES_FILE: &str = "passes.jsonl.gz";
const PASSES_COMMENT: &str = "passed cases of hw-tests";

fn is_markdown(text: &str) -> bool {
    let headings = ["# PASS: ", "# FAIL: ", "# INCOMPLETE: "];
    let first = text.lines().next().unwrap_or_default();
    text.starts_with(markdown::NO_RUN)
        || headings.iter().any(|heading| text.starts_with(heading))
            && first.ends_with(" cases pass")
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
    let passes: (&str, Recogniser) = (PASSES_FILE, |text| text.contains(PASSES_COMMENT));
    let mut files = FILES.into_iter().chain([passes]);
    files.try_for_each(|(name, is_ours)| {
        check_replaceable(file_system, folder.join(name), is_ours, force)
    })
}

fn check_replaceable(
    file_system: &dyn FileSystem,
    path: PathBuf,
    is_ours: Recogniser,
    force: bool,
) -> Result<(), WriteError> {
    match path_kind(file_system, &path)? {
        PathKind::Missing | PathKind::File(0) => Ok(()),
        PathKind::File(_) if force => Ok(()),
        PathKind::File(_) => {
            let bytes = file_system
                .read_prefix(&path, RECOGNISED_PREFIX_BYTES)
                .map_err(WriteError::of(&path))?;
            let is_ours = is_ours(&String::from_utf8_lossy(&bytes));
            if is_ours { Ok(()) } else { Err(WriteError::NotAReport(path)) }
        }
        PathKind::Directory | PathKind::Other => Err(WriteError::NotAReport(path)),
    }
}

/// Writes `history.html` and `history.json` into a folder, which is created. With `force` other
/// files of these names are replaced.
///
/// # Errors
/// Returns [`WriteError`] if a path is taken by something else or a file can't be written.
pub fn write_history(
    file_system: &dyn FileSystem,
    history: &History,
    folder: &Path,
    force: bool,
) -> Result<(), WriteError> {
    file_system.create_dir_all(folder).map_err(WriteError::of(folder))?;
    let [page, data] = HISTORY_FILES.map(|name| folder.join(name));
    check_replaceable(file_system, page.clone(), FILES[2].1, force)?;
    check_replaceable(file_system, data.clone(), |text| text.starts_with("{\"history\":"), force)?;
    let json =
        serde_json::to_string(history).map_err(|error| WriteError::of(&data)(error.into()))?;
    for (path, text) in [(data, escape_json(&json) + "\n"), (page, history_page(history).into())] {
        file_system.replace(&path, text.as_bytes()).map_err(WriteError::of(&path))?;
    }
    Ok(())
}

/// Writes why a run ended before it had results, as JUnit and Markdown, into a prepared folder.
/// Does nothing if the folder has the report of the run.
///
/// # Errors
/// Returns [`WriteError`] for the first file that can't be written.
pub fn write_no_run(
    file_system: &dyn FileSystem,
    folder: &Path,
    why: &str,
) -> Result<(), WriteError> {
    if has_report(file_system, folder)? {
        return Ok(());
    }
    for (name, text) in [("junit.xml", junit::no_run(why)), ("report.md", markdown::no_run(why))] {
        let path = folder.join(name);
        let written = text.and_then(|text| file_system.replace(&path, text.as_bytes()));
        written.map_err(WriteError::of(&path))?;
    }
    Ok(())
}

/// Returns `true` if the folder has the report of a run.
///
/// # Errors
/// Returns [`WriteError`] if the folder can't be read.
pub(crate) fn has_report(file_system: &dyn FileSystem, folder: &Path) -> Result<bool, WriteError> {
    Ok(path_kind(file_system, &folder.join(FILES[0].0))? != PathKind::Missing)
}

fn path_kind(file_system: &dyn FileSystem, path: &Path) -> Result<PathKind, WriteError> {
    file_system.path_kind(path).map_err(WriteError::of(path))
}

/// Writes the files, each atomically and synced, one result at a time.
///
/// # Errors
/// Returns [`WriteError`] for the first file that can't be written; earlier files are kept.
pub fn write_files<S: Suite>(
    report: &Report<S>,
    cases: &mut dyn CaseResults<S>,
    file_system: &dyn FileSystem,
    folder: &Path,
) -> Result<(), WriteError> {
    write_passes(report, cases, file_system, &folder.join(PASSES_FILE))?;
    let writers: [Writer<S>; 4] =
        [write_json, junit::write_junit, page::write_page, markdown::write_markdown];
    for ((name, _), write) in FILES.iter().zip(writers) {
        let path = folder.join(name);
        let written = file_system.replace_with(&path, &mut |out| write(report, cases, out));
        written.map_err(WriteError::of(&path))?;
    }
    Ok(())
}

/// Writes a file of a report.
type Writer<S> = fn(&Report<S>, &mut dyn CaseResults<S>, &mut dyn Write) -> io::Result<()>;

/// Writes the passed cases if the page has only their figures; otherwise removes the file that an
/// earlier report left.
fn write_passes<S: Suite>(
    report: &Report<S>,
    cases: &mut dyn CaseResults<S>,
    file_system: &dyn FileSystem,
    path: &Path,
) -> Result<(), WriteError> {
    if report.has_whole_page() {
        return match path_kind(file_system, path)? {
            PathKind::File(_) => file_system.remove_file(path).map_err(WriteError::of(path)),
            _ => Ok(()),
        };
    }
    let written = file_system.replace_with(path, &mut |out| {
        let gz = GzBuilder::new().comment(PASSES_COMMENT).write(out, Compression::default());
        let mut lines = BufWriter::new(gz);
        cases.visit(&mut |case| {
            if case.verdict == Verdict::Pass {
                serde_json::to_writer(&mut lines, case)?;
                lines.write_all(b"\n")?;
            }
            Ok(())
        })?;
        lines.into_inner()?.finish().map(drop)
    });
    written.map_err(WriteError::of(path))
}

/// Writes `report.json`: the report as it is, with the cases as its last field.
fn write_json<S: Suite>(
    report: &Report<S>,
    cases: &mut dyn CaseResults<S>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let text = serde_json::to_string(report)?;
    // The report ends with an empty list of cases.
    let open = text.strip_suffix("]}").unwrap_or(&text);
    out.write_all(escape_json(open).as_bytes())?;
    let mut separator = "";
    cases.visit_json(&mut |text| {
        write!(out, "{separator}{}", escape_json(text))?;
        separator = ",";
        Ok(())
    })?;
    out.write_all(b"]}\n")
}
