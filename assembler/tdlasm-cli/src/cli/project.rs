//! The project file that holds for sources of the command line.

use std::path::Path;

use tdlasm::project::{FILE_NAME, Project, ProjectError};

use super::Failed;

/// The project that holds for a source; for standard input, that of the working folder.
pub(super) fn of(source: &Path) -> Result<Option<Project>, Failed> {
    let Some(path) = Project::find(source) else { return Ok(None) };
    Project::read(&path).map(Some).map_err(|error| {
        cli_support::tell!("error: {error}");
        match error {
            ProjectError::Unreadable(..) => Failed::File,
            _ => Failed::Usage,
        }
    })
}

/// The project of the working folder, which must name programs.
pub(super) fn here() -> Result<Project, Failed> {
    let project = of(Path::new("-"))?;
    project.filter(|project| !project.programs().is_empty()).ok_or_else(|| {
        cli_support::tell!("error: no source file is named, and no {FILE_NAME} names programs");
        cli_support::tell!("help: name one, as in tdlasm asm monitor.asm");
        Failed::Usage
    })
}
