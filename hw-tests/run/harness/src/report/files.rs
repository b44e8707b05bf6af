//! Writes the files of a report into its folder.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use askama::Template;
use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use cli_support::text::Escape;

use super::escape::write_json;
use super::history::HistoryPage;
use super::{History, Report};
use super::{junit, markdown, page};
use crate::file_system::{FileSystem, PathKind};
use crate::suite::Suite;

/// The longest start of a file by which it is recognised.
const RECOGNISED_PREFIX_BYTES: u64 = 4096;

/// Returns `true` if a text is the start of a file of a report.
type Recogniser = fn(&str) -> bool;

/// The names of all files that a report may have.
pub const REPORT_FILES: [&str; 4] = ["report.json", "junit.xml", "report.html", "report.md"];
/// The names of the files of a history.
pub const HISTORY_FILES: [&str; 2] = ["history.html", "history.json"];

/// How each of [`REPORT_FILES`] is recognised.
const RECOGNISERS: [Recogniser; 4] = [
    |text| text.starts_with("{\"schema\":"),
    |text| text.contains("<testsuites name=\"hw-tests\""),
    is_page,
    is_markdown,
];

fn is_page(text: &str) -> bool {
    text.contains("<meta name=\"generator\" content=\"hw-tests\">")
}

fn is_markdown(text: &str) -> bool {
    let headings = ["# PASS: ", "# FAIL: ", "# INCOMPLETE: "];
    let first = text.lines().next().unwrap_or_default();
    text.starts_with(markdown::NO_RUN)
        || headings.iter().any(|heading| text.starts_with(heading))
            && first.ends_with(" cases pass")
}

/// Returns the error that a file of a report can't be written.
fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> CommandError {
    let path = path.escaped();
    move |error| CommandError::new(ENVIRONMENT, format!("can't write the report {path}: {error}"))
}

/// Returns the error that a path is taken by something else.
fn not_a_report(path: &Path) -> CommandError {
    let problem = "is not a report file of this program and was not changed: replace it with \
                   --force, or name another folder";
    CommandError::new(USAGE, format!("{} {problem}", path.escaped()))
}

/// Creates the folder of a report, and checks that only report files would be replaced in it. With
/// `force` other files may be replaced, but never devices or folders.
///
/// # Errors
/// Returns an error if a path is taken by something else or the folder can't be created.
pub fn prepare_folder(
    file_system: &dyn FileSystem,
    folder: &Path,
    force: bool,
) -> Result<(), CommandError> {
    file_system.create_dir_all(folder).map_err(unwritable(folder))?;
    let mut files = REPORT_FILES.into_iter().zip(RECOGNISERS);
    files.try_for_each(|(name, is_ours)| {
        check_replaceable(file_system, folder.join(name), is_ours, force)
    })
}

fn check_replaceable(
    file_system: &dyn FileSystem,
    path: PathBuf,
    is_ours: Recogniser,
    force: bool,
) -> Result<(), CommandError> {
    match path_kind(file_system, &path)? {
        PathKind::Missing | PathKind::File(0) => Ok(()),
        PathKind::File(_) if force => Ok(()),
        PathKind::File(_) => {
            let bytes = file_system
                .read_prefix(&path, RECOGNISED_PREFIX_BYTES)
                .map_err(unwritable(&path))?;
            let is_ours = is_ours(&String::from_utf8_lossy(&bytes));
            if is_ours { Ok(()) } else { Err(not_a_report(&path)) }
        }
        PathKind::Directory | PathKind::Other => Err(not_a_report(&path)),
    }
}

/// Writes `history.html` and `history.json` into a folder, which is created. With `force` other
/// files of these names are replaced.
///
/// # Errors
/// Returns an error if a path is taken by something else or a file can't be written.
pub fn write_history(
    file_system: &dyn FileSystem,
    history: &History,
    folder: &Path,
    force: bool,
) -> Result<(), CommandError> {
    file_system.create_dir_all(folder).map_err(unwritable(folder))?;
    let [page, data] = HISTORY_FILES.map(|name| folder.join(name));
    check_replaceable(file_system, page.clone(), is_page, force)?;
    check_replaceable(file_system, data.clone(), |text| text.starts_with("{\"history\":"), force)?;
    replace(file_system, &data, &mut |out| write_json(out, history))?;
    replace(file_system, &page, &mut |out| HistoryPage::new(history).write_into(out))
}

/// Writes why a run ended before it had results, as JUnit and Markdown, into a prepared folder.
/// Does nothing if the folder has the report of the run.
///
/// # Errors
/// Returns an error for the first file that can't be written.
pub fn write_no_run(
    file_system: &dyn FileSystem,
    folder: &Path,
    why: &str,
) -> Result<(), CommandError> {
    if has_report(file_system, folder)? {
        return Ok(());
    }
    let [junit, markdown] = ["junit.xml", "report.md"].map(|name| folder.join(name));
    replace(file_system, &junit, &mut |out| junit::write_no_run(why, out))?;
    replace(file_system, &markdown, &mut |out| markdown::write_no_run(why, out))
}

fn replace(
    file_system: &dyn FileSystem,
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CommandError> {
    let mut write_text = |out: &mut dyn Write| write(out).and_then(|()| out.write_all(b"\n"));
    file_system.replace(path, &mut write_text).map_err(unwritable(path))
}

/// Returns `true` if the folder has the report of a run.
///
/// # Errors
/// Returns an error if the folder can't be read.
pub(crate) fn has_report(
    file_system: &dyn FileSystem,
    folder: &Path,
) -> Result<bool, CommandError> {
    Ok(path_kind(file_system, &folder.join(REPORT_FILES[0]))? != PathKind::Missing)
}

fn path_kind(file_system: &dyn FileSystem, path: &Path) -> Result<PathKind, CommandError> {
    file_system.path_kind(path).map_err(unwritable(path))
}

/// Writes the files, each atomically and synced.
///
/// # Errors
/// Returns an error for the first file that can't be written; earlier files are kept.
pub fn write_files<S: Suite>(
    report: &Report<S>,
    file_system: &dyn FileSystem,
    folder: &Path,
) -> Result<(), CommandError> {
    let writers: [Writer<S>; 4] = [
        |report, out| write_json(out, report),
        junit::write_junit,
        page::write_page,
        markdown::write_markdown,
    ];
    for (name, write) in REPORT_FILES.iter().zip(writers) {
        replace(file_system, &folder.join(name), &mut |out| write(report, out))?;
    }
    Ok(())
}

/// Writes a file of a report.
type Writer<S> = fn(&Report<S>, &mut dyn Write) -> io::Result<()>;
