//! The programs of the editor's workspace folders, reassembled when their files change.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::fmt::Statements;
use crate::mnemonics::Language;
use crate::statement::StatementParts;
use lsp_types::Uri;
use tdlasm::asm::Options;
use tdlasm::project::{FILE_NAME, Program, Project};
use tdlasm::source::{Loader, normalize_path};

use super::analysis::Analysis;
use super::documents::{self, Documents, is_test_file};
use super::positions::LineIndex;

/// The maximum number of sources that are searched.
const MAX_SOURCES: usize = 2000;
/// The maximum depth of folders that are searched.
const MAX_DEPTH: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Workspace {
    options: Options,
    pub(super) documents: Documents,
    pub(super) projects: Projects,
    /// The sources that may be programs.
    sources: BTreeSet<PathBuf>,
    analyses: BTreeMap<PathBuf, Analysis>,
    /// The files that were parsed since the last change.
    statements: RefCell<HashMap<PathBuf, Option<Rc<Statements>>>>,
}

impl Workspace {
    pub(super) fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    pub(super) fn options(&self, source: &Path) -> Options {
        self.projects.options(&self.options, source)
    }

    pub(super) fn add_folder(&mut self, folder: &Path) {
        let mut open = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = open.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let path = entry.path();
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder && depth < MAX_DEPTH && !is_hidden(&path) {
                    open.push((path, depth + 1));
                } else if !is_folder && is_source(&path) && self.sources.len() < MAX_SOURCES {
                    self.sources.insert(path);
                }
            }
        }
    }

    /// Handles a changed, new or removed source.
    pub(super) fn file_changed(&mut self, path: &Path) {
        self.statements.get_mut().clear();
        if Projects::is_file(path) {
            self.projects.clear_cache();
            self.analyses.clear();
            return;
        }
        let is_open = self.documents.open.contains_key(path);
        let exists = is_open || path.is_file();
        let is_wanted = is_source(path) || (is_open && !is_test_file(path));
        let is_new = exists && is_wanted && self.sources.insert(path.to_owned());
        if !exists {
            self.sources.remove(path);
        }
        // A missing included file may be this one.
        self.analyses.retain(|root, one| {
            let may_find_it = is_new && one.assembly.has_errors();
            root != path && one.file(path).is_none() && !may_find_it
        });
    }

    pub(super) fn refresh(&mut self) {
        for root in &self.sources {
            if self.analyses.contains_key(root) {
                continue;
            }
            let is_open = self.documents.open.contains_key(root);
            if self.projects.excludes(root) && !is_open {
                continue;
            }
            let files = self.projects.files(root);
            // A later source of a program is assembled with its first one.
            if files.first() == Some(root) {
                let options = self.options(root);
                let analysis = Analysis::new(&files, &self.documents, &options);
                self.analyses.insert(root.clone(), analysis);
            }
        }
        let sources = &self.sources;
        self.analyses.retain(|root, _| sources.contains(root));
    }

    /// Returns a file with its text; `None` if it cannot be read.
    pub(super) fn file(&self, path: PathBuf) -> Option<File<'_>> {
        let text = self.documents.load(&path).ok()?;
        Some(File { workspace: self, path, text })
    }

    /// Returns the programs: sources that no other one includes.
    pub(super) fn programs(&self) -> impl Iterator<Item = &Analysis> {
        let inserted: BTreeSet<&Path> = self.analyses.values().flat_map(included_files).collect();
        self.analyses.values().filter(move |one| !inserted.contains(&*one.root))
    }

    /// Returns the modules of a list in the project file, for its first; none for the others, so
    /// that each list is found once, and none unless all are known.
    pub(super) fn linked_modules(&self, program: &Analysis) -> Vec<&Analysis> {
        let modules = self.projects.modules(&program.root);
        let known = modules.iter().map(|module| self.analyses.get(module));
        known.collect::<Option<Vec<&Analysis>>>().unwrap_or_default()
    }

    pub(super) fn uri(&self, path: &Path) -> Option<Uri> {
        let open = self.documents.open.get(path);
        open.map(|document| document.uri.clone()).or_else(|| documents::from_path(path))
    }
}

/// A file of the workspace and its text.
pub(super) struct File<'w> {
    pub(super) workspace: &'w Workspace,
    pub(super) path: PathBuf,
    pub(super) text: Vec<u8>,
}

impl<'w> File<'w> {
    pub(super) fn lines(&self) -> LineIndex<'_> {
        LineIndex::new(&self.text)
    }

    /// Returns the statements, parsed on first use after a change.
    pub(super) fn statements(&self) -> Option<Rc<Statements>> {
        let Workspace { documents, statements, .. } = self.workspace;
        let read = || {
            let language = self.language();
            Statements::read(documents, &self.path, &self.text, &self.options(), language)
                .map(Rc::new)
        };
        statements.borrow_mut().entry(self.path.clone()).or_insert_with(read).clone()
    }

    /// Returns the programs that contain the file.
    pub(super) fn programs(&self) -> impl Iterator<Item = &'w Analysis> {
        self.workspace.programs().filter(|one| one.file(&self.path).is_some())
    }

    /// Returns the statement that contains an offset.
    pub(super) fn statement_at(&self, offset: usize) -> Option<StatementParts> {
        let statements = self.statements()?;
        let after = statements.list.partition_point(|(start, _)| *start <= offset);
        statements.list[after.checked_sub(1)?].1.clone()
    }

    /// Returns the language in which the file begins.
    pub(super) fn language(&self) -> Language {
        let languages = self.programs().filter_map(|program| program.language(&self.path));
        languages.max_by_key(|language| language.is_zilog).unwrap_or_default()
    }

    /// Returns the options of the program that contains the file.
    pub(super) fn options(&self) -> Options {
        let program = self.programs().next();
        let path = program.map_or(&self.path, |program| &program.root);
        self.workspace.options(path).for_source(path)
    }

    pub(super) fn uri(&self) -> Option<Uri> {
        self.workspace.uri(&self.path)
    }
}

fn included_files(analysis: &Analysis) -> impl Iterator<Item = &Path> {
    analysis.files.iter().map(PathBuf::as_path).filter(|file| *file != analysis.root)
}

fn is_source(path: &Path) -> bool {
    let is = |known| path.extension().is_some_and(|name| name.eq_ignore_ascii_case(known));
    is("asm") || is("z80")
}

/// Returns `true` for folders of version control and build products, which have no sources.
fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name.starts_with('.') || name == "target" || name == "node_modules")
}

/// A project file, and its contents or the error message.
type ProjectFile = Rc<(PathBuf, Result<Project, String>)>;

#[derive(Debug, Default)]
pub(super) struct Projects {
    /// The project file that applies to the sources of a folder.
    folders: RefCell<BTreeMap<PathBuf, Option<ProjectFile>>>,
}

impl Projects {
    /// Returns `true` if a path is that of a project file.
    pub(super) fn is_file(path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == FILE_NAME)
    }

    pub(super) fn clear_cache(&mut self) {
        self.folders.get_mut().clear();
    }

    fn of(&self, source: &Path) -> Option<ProjectFile> {
        // A document without a file has no folder.
        let folder = source.parent().filter(|_| source.is_absolute())?;
        let read = || {
            let found = Project::find(source)?;
            let project = Project::read(&found).map_err(|error| error.to_string());
            Some(Rc::new((found, project)))
        };
        self.folders.borrow_mut().entry(folder.to_owned()).or_insert_with(read).clone()
    }

    /// Calls `read` with the project file that applies to a source.
    fn with_project<T>(&self, source: &Path, read: impl FnOnce(&Project) -> T) -> Option<T> {
        self.of(source)?.1.as_ref().ok().map(read)
    }

    pub(super) fn options(&self, base: &Options, source: &Path) -> Options {
        let mut options = base.clone();
        self.with_project(source, |project| {
            project.add_to(&mut options, project.program_of(source));
        });
        options
    }

    /// Calls `read` with the program of the project file that contains a source.
    fn program_of<T>(&self, source: &Path, read: impl FnOnce(&Program) -> T) -> Option<T> {
        self.with_project(source, |project| project.program_of(source).map(read))?
    }

    /// Returns the sources of the program that contains a source, in order.
    pub(super) fn files(&self, source: &Path) -> Vec<PathBuf> {
        let files = self.program_of(source, |program| normalize_paths(&program.files));
        files.unwrap_or_else(|| vec![source.to_owned()])
    }

    /// Returns the sources of the project file's list of modules that begins with a source; empty
    /// if they have a layout, which may define symbols.
    pub(super) fn modules(&self, source: &Path) -> Vec<PathBuf> {
        let modules = self.program_of(source, |program| match program.layout {
            None => normalize_paths(&program.modules),
            Some(_) => Vec::new(),
        });
        modules.filter(|all| all.first().is_some_and(|one| one == source)).unwrap_or_default()
    }

    /// Returns `true` if the sources of a folder are excluded.
    pub(super) fn excludes(&self, source: &Path) -> bool {
        self.with_project(source, |project| project.excludes(source)).unwrap_or(false)
    }

    /// Returns the project files that cannot be read, and why.
    pub(super) fn errors(&self) -> BTreeMap<PathBuf, String> {
        let folders = self.folders.borrow();
        let error = |file: &ProjectFile| Some((file.0.clone(), file.1.as_ref().err()?.clone()));
        folders.values().flatten().filter_map(error).collect()
    }
}

fn normalize_paths(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().map(|path| normalize_path(path)).collect()
}
