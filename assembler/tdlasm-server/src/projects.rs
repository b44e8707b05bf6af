//! The project files of the editor's workspace folders.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tdlasm::asm::Options;
use tdlasm::project::{FILE_NAME, Program, Project};

use super::documents::normalize_path;

/// The contents of a project file, or the error message.
pub(super) type LoadResult = Result<Project, String>;

#[derive(Debug, Default)]
pub(super) struct Projects {
    /// The project file that applies to the sources of a folder.
    folders: RefCell<BTreeMap<PathBuf, Option<PathBuf>>>,
    read: RefCell<BTreeMap<PathBuf, Rc<LoadResult>>>,
}

impl Projects {
    /// Returns `true` if a path is that of a project file.
    pub(super) fn is_file(path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == FILE_NAME)
    }

    pub(super) fn clear_cache(&mut self) {
        self.folders.get_mut().clear();
        self.read.get_mut().clear();
    }

    fn of(&self, source: &Path) -> Option<Rc<LoadResult>> {
        // A document without a file has no folder.
        let folder = source.parent().filter(|_| source.is_absolute())?;
        let mut folders = self.folders.borrow_mut();
        let found =
            folders.entry(folder.to_owned()).or_insert_with(|| Project::find(source)).clone()?;
        let mut read = self.read.borrow_mut();
        let entry = read.entry(found.clone());
        let project = entry
            .or_insert_with(|| Rc::new(Project::read(&found).map_err(|error| error.to_string())));
        Some(Rc::clone(project))
    }

    pub(super) fn options(&self, base: &Options, source: &Path) -> Options {
        let mut options = base.clone();
        if let Some(Ok(project)) = self.of(source).as_deref() {
            project.add_to(&mut options, project.program_of(source));
        }
        options
    }

    /// Returns the sources of the program that contains a source, in order.
    pub(super) fn files(&self, source: &Path) -> Vec<PathBuf> {
        let project = self.of(source);
        let program = match project.as_deref() {
            Some(Ok(project)) => project.program_of(source),
            _ => None,
        };
        let named =
            |program: &Program| program.files.iter().map(|file| normalize_path(file)).collect();
        program.map_or_else(|| vec![source.to_owned()], named)
    }

    /// Returns the sources of the project file's list of modules that begins with a source; empty
    /// if they have a layout, which may define symbols.
    pub(super) fn modules(&self, source: &Path) -> Vec<PathBuf> {
        let project = self.of(source);
        let program = match project.as_deref() {
            Some(Ok(project)) => project.program_of(source),
            _ => None,
        };
        let modules = program.filter(|program| program.layout.is_none());
        let modules = modules.map(|program| program.modules.as_slice()).unwrap_or_default();
        if modules.first().is_none_or(|first| normalize_path(first) != source) {
            return Vec::new();
        }
        modules.iter().map(|module| normalize_path(module)).collect()
    }

    /// Returns `true` if the sources of a folder are excluded.
    pub(super) fn excludes(&self, source: &Path) -> bool {
        matches!(self.of(source).as_deref(), Some(Ok(project)) if project.excludes(source))
    }

    pub(super) fn errors(&self) -> Vec<(PathBuf, String)> {
        let read = self.read.borrow();
        let wrong = read
            .iter()
            .filter_map(|(path, one)| Some((path.clone(), one.as_ref().as_ref().err()?)));
        wrong.map(|(path, message)| (path, message.clone())).collect()
    }
}
