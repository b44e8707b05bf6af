//! The project file of the sources on the command line.

use std::path::Path;

use cli_support::exit;
use tdlasm::project::{FILE_NAME, Project, ProjectError};

use super::ReportedError;

/// Returns the project of a source; for standard input, the project of the working folder.
pub(super) fn of(source: &Path) -> Result<Option<Project>, ReportedError> {
    let Some(path) = Project::find(source) else { return Ok(None) };
    Project::read(&path).map(Some).map_err(|error| {
        cli_support::eprint_error!("{error}");
        match error {
            ProjectError::Unreadable(..) => exit::ENVIRONMENT,
            _ => exit::USAGE,
        }
    })
}

/// Returns the project of the working folder, which must define programs.
pub(super) fn here() -> Result<Project, ReportedError> {
    let project = of(Path::new("-"))?;
    project.filter(|project| !project.programs().is_empty()).ok_or_else(|| {
        cli_support::eprint_error!("no source file is named, and no {FILE_NAME} names programs");
        cli_support::eprint_help!("name one, as in tdlasm asm monitor.asm");
        exit::USAGE
    })
}
