//! The project file `tdl.toml`: the options that sources of a folder share, and the programs that
//! are made of them.
//!
//! ```toml
//! include = ["include"]            # folders of inserted files, besides beside the file
//! exclude = ["old"]                # folders whose sources editors pass over
//! long-symbols = true              # all letters of a symbol count; if not given, six
//! pabs = false                     # whether `.PROG.` is absolute code from 0 on
//!
//! [define]                         # symbols that are defined before the first line
//! DEBUG = 1
//!
//! [[program]]                      # what is said here comes before what is said above
//! files = ["head.asm", "tail.asm"] # together one program, in this order
//! output = "prog.hex"              # what `tdlasm asm` without files writes
//! layout = "rom.toml"
//! define = { ROM = 1 }
//!
//! [[program]]
//! modules = ["lib/*.asm", "!lib/names.asm"] # each assembled by itself; ! takes one out
//! ```
//!
//! Paths are relative to the folder of the file. The nearest file above a source holds for it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

use crate::asm::Options;
use crate::source::read_file;
use crate::syntax::lex;

/// The name of a project file.
pub const FILE_NAME: &str = "tdl.toml";

/// Error returned by [`Project::read`] and [`Project::parse`].
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The file, or a folder that it names, can't be read.
    #[error("cannot read {}: {}", .0.display(), .1)]
    Unreadable(PathBuf, io::Error),
    /// Not TOML, or not of the form above; the text says where.
    #[error("{}: {}", .0.display(), .1)]
    Syntax(PathBuf, String),
    /// A defined name that is no symbol.
    #[error("{}: {} is no symbol, so that it can't be defined", .0.display(), .1)]
    NoSymbol(PathBuf, String),
    /// A program without sources, or with both kinds of them.
    #[error("{}: a program has either files or modules", .0.display())]
    NoSources(PathBuf),
    /// An output that would be written for each of several modules.
    #[error("{}: modules have no output of their own; name it for a program of files", .0.display())]
    NoOutput(PathBuf),
}

/// The content of a project file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Project {
    /// Its folder, in the form in which it was found.
    folder: PathBuf,
    shared: Settings,
    excluded: Vec<PathBuf>,
    programs: Vec<Program>,
}

/// A program of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// The sources, in their order; paths as [`Project::read`] was given its own.
    pub files: Vec<PathBuf>,
    /// The file to write.
    pub output: Option<PathBuf>,
    /// The layout of the linked program.
    pub layout: Option<PathBuf>,
    settings: Settings,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Settings {
    include: Vec<PathBuf>,
    define: BTreeMap<String, u16>,
    long_symbols: Option<bool>,
    pabs: Option<bool>,
}

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Written {
    include: Vec<PathBuf>,
    exclude: Vec<PathBuf>,
    define: BTreeMap<String, u16>,
    long_symbols: Option<bool>,
    pabs: Option<bool>,
    program: Vec<WrittenProgram>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct WrittenProgram {
    files: Vec<PathBuf>,
    modules: Vec<PathBuf>,
    output: Option<PathBuf>,
    layout: Option<PathBuf>,
    include: Vec<PathBuf>,
    define: BTreeMap<String, u16>,
    long_symbols: Option<bool>,
    pabs: Option<bool>,
}

impl Project {
    /// Reads a project file.
    ///
    /// # Errors
    /// Returns [`ProjectError`] if it can't be read or is not understood.
    pub fn read(path: &Path) -> Result<Self, ProjectError> {
        let unreadable = |error| ProjectError::Unreadable(path.to_owned(), error);
        let text = String::from_utf8_lossy(&read_file(path).map_err(unreadable)?).into_owned();
        Self::parse(path, &text)
    }

    /// Reads the text of a project file; its patterns of modules are looked up on the disk.
    ///
    /// # Errors
    /// Returns [`ProjectError`] if it is not understood.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ProjectError> {
        let syntax = |error: toml::de::Error| {
            ProjectError::Syntax(path.to_owned(), error.to_string().trim_end().to_owned())
        };
        let written: Written = toml::from_str(text).map_err(syntax)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let Written { include, define, long_symbols, pabs, .. } = written;
        let shared = Settings { include, define, long_symbols, pabs }.within(path, &folder)?;
        let excluded = written.exclude.iter().map(|one| folder.join(one)).collect();
        let mut programs = Vec::new();
        for program in written.program {
            programs.extend(program.expanded(path, &folder)?);
        }
        Ok(Self { folder, shared, excluded, programs })
    }

    /// Looks for the project file that holds for a source, in its folder and those above.
    #[must_use]
    pub fn find(source: &Path) -> Option<PathBuf> {
        let mut folder = tidy(source.parent().unwrap_or(Path::new("")));
        // A relative path leads no further up than the working folder, whose parents have no names.
        let above = std::env::current_dir().map_or(0, |here| here.components().count());
        for _ in 0..folder.components().count() + above {
            let file = folder.join(FILE_NAME);
            if file.is_file() {
                return Some(file);
            }
            match folder.components().next_back() {
                Some(Component::Normal(_)) => folder = folder.parent()?.to_owned(),
                None | Some(Component::ParentDir) => folder.push(".."),
                Some(_) => return None,
            }
        }
        None
    }

    /// The programs, in the order of the file; each module is one.
    #[must_use]
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// Whether a source lies in a folder that is passed over.
    #[must_use]
    pub fn excludes(&self, source: &Path) -> bool {
        let source = absolute(source);
        self.excluded.iter().any(|folder| source.starts_with(absolute(folder)))
    }

    /// The program that a source is part of, by what the file says.
    #[must_use]
    pub fn program_of(&self, source: &Path) -> Option<&Program> {
        let source = absolute(source);
        self.programs.iter().find(|one| one.files.iter().any(|file| absolute(file) == source))
    }

    /// Adds to options what the file says for a program, or without one for all sources. What the
    /// options say already comes first.
    pub fn add_to(&self, options: &mut Options, program: Option<&Program>) {
        let own = program.map(|program| &program.settings);
        for settings in own.into_iter().chain([&self.shared]) {
            for (name, value) in &settings.define {
                let is_known =
                    options.defines.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
                if !is_known {
                    options.defines.push((name.clone(), *value));
                }
            }
            options.include_dirs.extend(settings.include.iter().cloned());
        }
        let of = |choose: fn(&Settings) -> Option<bool>| {
            own.and_then(choose).or_else(|| choose(&self.shared)).unwrap_or(false)
        };
        options.long_symbols |= of(|settings| settings.long_symbols);
        options.absolute |= of(|settings| settings.pabs);
    }
}

impl Settings {
    /// The settings with paths below the file's folder, and with names that are symbols.
    fn within(mut self, path: &Path, folder: &Path) -> Result<Self, ProjectError> {
        let is_symbol =
            |name: &&String| !lex::symbol(name.as_bytes()).is_ok_and(|(rest, _)| rest.is_empty());
        if let Some(name) = self.define.keys().find(is_symbol) {
            return Err(ProjectError::NoSymbol(path.to_owned(), name.clone()));
        }
        self.include.iter_mut().for_each(|one| *one = folder.join(&*one));
        Ok(self)
    }
}

impl WrittenProgram {
    /// The program of the files, or one for each module.
    fn expanded(self, path: &Path, folder: &Path) -> Result<Vec<Program>, ProjectError> {
        let Self { files, modules, output, layout, include, define, long_symbols, pabs } = self;
        let settings = Settings { include, define, long_symbols, pabs }.within(path, folder)?;
        let output = output.map(|output| folder.join(output));
        let layout = layout.map(|layout| folder.join(layout));
        if files.is_empty() == modules.is_empty() {
            return Err(ProjectError::NoSources(path.to_owned()));
        }
        if !files.is_empty() {
            let files = files.iter().map(|file| folder.join(file)).collect();
            return Ok(vec![Program { files, output, layout, settings }]);
        }
        if output.is_some() {
            return Err(ProjectError::NoOutput(path.to_owned()));
        }
        let mut found = Vec::new();
        for module in &modules {
            match module.to_str().and_then(|name| name.strip_prefix('!')) {
                Some(name) => found.retain(|file| *file != folder.join(name)),
                None => found.extend(matching(&folder.join(module))?),
            }
        }
        let program = |file| {
            let settings = settings.clone();
            Program { files: vec![file], output: None, layout: layout.clone(), settings }
        };
        Ok(found.into_iter().map(program).collect())
    }
}

/// The files that a pattern means: all with an ending for `folder/*.ending`, else the one.
fn matching(pattern: &Path) -> Result<Vec<PathBuf>, ProjectError> {
    let name = pattern.file_name().map(|name| name.to_string_lossy().into_owned());
    let ending = name.as_deref().and_then(|name| name.strip_prefix("*."));
    let (Some(ending), Some(folder)) = (ending, pattern.parent()) else {
        return Ok(vec![pattern.to_owned()]);
    };
    let unreadable = |error| ProjectError::Unreadable(folder.to_owned(), error);
    let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut found = Vec::new();
    for entry in fs::read_dir(shown).map_err(unreadable)? {
        let name = PathBuf::from(entry.map_err(unreadable)?.file_name());
        if name.extension().is_some_and(|one| one.eq_ignore_ascii_case(ending)) {
            found.push(folder.join(name));
        }
    }
    found.sort();
    Ok(found)
}

/// A path without `.` and without `..` after a name.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(tidy.components().next_back(), Some(Component::Normal(_))) =>
            {
                tidy.pop();
            }
            part => tidy.push(part),
        }
    }
    tidy
}

fn absolute(path: &Path) -> PathBuf {
    tidy(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> String {
        Project::parse(Path::new("a/tdl.toml"), text).expect_err(text).to_string()
    }

    #[test]
    fn what_a_program_says_comes_before_what_all_share() {
        let text = "include = [\"inc\"]\nlong-symbols = true\n[define]\nX = 1\nY = 0x10\n\
                    [[program]]\nfiles = [\"b.asm\", \"c.asm\"]\ndefine = { X = 2 }\n\
                    include = [\"own\"]\nlong-symbols = false\n";
        let project = Project::parse(Path::new("a/tdl.toml"), text).expect("a project");
        let named = |name: &str, value| (name.to_owned(), value);
        let mut options = Options { defines: vec![named("y", 3)], ..Options::default() };
        project.add_to(&mut options, project.program_of(Path::new("./a/x/../c.asm")));
        assert_eq!(options.defines, [named("y", 3), named("X", 2)]);
        assert_eq!(options.include_dirs, [PathBuf::from("a/own"), PathBuf::from("a/inc")]);
        assert!(!options.long_symbols);
        let mut options = Options::default();
        project.add_to(&mut options, project.program_of(Path::new("a/other.asm")));
        assert_eq!(options.defines, [named("X", 1), named("Y", 16)]);
        assert!(options.long_symbols);
    }

    #[test]
    fn mistakes_are_located() {
        for (text, expected) in [
            ("defines = 1", "unknown field"),
            ("[define]\nX = 65536", "line 2"),
            ("[define]\n\"1X\" = 1", "1X is no symbol"),
            ("[[program]]\n", "either files or modules"),
            ("[[program]]\nfiles=[\"a\"]\nmodules=[\"b\"]", "either files or modules"),
            ("[[program]]\noutput=\"x\"\nmodules=[\"b\"]", "no output of their own"),
            ("[[program]]\nmodules=[\"gone/*.asm\"]", "cannot read a/gone"),
        ] {
            let error = error_of(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn paths_become_tidy_without_the_disk() {
        for (path, expected) in [("./a/../b", "b"), ("../a/./b", "../a/b"), ("../..", "../..")] {
            assert_eq!(tidy(Path::new(path)), Path::new(expected));
        }
    }
}
