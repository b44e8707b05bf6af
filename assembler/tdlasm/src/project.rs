//! The project file `tdl.toml`: the options that sources of a folder share, and the programs that
//! are made of them.
//!
//! ```toml
//! include = ["include"]            # searched by .INSERT, after the directory of the file
//! exclude = ["old"]                # directories whose sources editors ignore
//! long-symbols = true              # all characters of a symbol are significant; default: six
//! zilog = true                     # the sources are in Zilog's notation
//! case-sensitive = true            # there, capital and small letters of symbols differ
//! pabs = false                     # whether `.PROG.` is absolute code from 0 on
//! cpu = "z180"                     # the processor, for messages: z80 (default) or z180
//!
//! [define]                         # symbols that are defined before the first line
//! DEBUG = 1
//!
//! [[program]]                      # overrides the settings above
//! files = ["head.asm", "tail.asm"] # together one program, in this order
//! output = "prog.hex"              # what `tdlasm asm` without files writes
//! layout = "rom.toml"
//! define = { ROM = 1 }
//!
//! [[program]]
//! modules = ["lib/*.asm", "!lib/names.asm"] # each assembled by itself, linked by debuggers
//!
//! [[pane]]                         # a pane that debuggers show, and read themselves
//! name = "queue"
//! rows = [{ name = "bytes", value = "{TAIL} - {HEAD}", format = "decimal" }]
//! ```
//!
//! Paths are relative to the folder of the file. The nearest file above a source holds for it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::asm::{Cpu, Notation, Options};
use crate::source::{normalize_path, read_file};
use crate::syntax::lex;

/// The name of a project file.
pub const FILE_NAME: &str = "tdl.toml";

/// Error returned by [`Project::read`] and [`Project::parse`].
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The file, or a directory that it names, cannot be read.
    #[error("cannot read {}: {}", .0.display(), .1)]
    Unreadable(PathBuf, io::Error),
    /// Not valid TOML, or not a project file.
    #[error("{}: {}", .0.display(), .1)]
    Syntax(PathBuf, String),
    /// A defined name that is not a symbol.
    #[error("{}: {} is not a symbol, so it cannot be defined", .0.display(), .1)]
    NoSymbol(PathBuf, String),
    /// A program without sources, or with both `files` and `modules`.
    #[error("{}: a program has either files or modules", .0.display())]
    NoSources(PathBuf),
    /// One output for several modules.
    #[error("{}: modules have no output of their own; name it for a program of files", .0.display())]
    NoOutput(PathBuf),
}

/// A project file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Project {
    /// The settings that all programs share.
    shared: Program,
    excluded: Vec<PathBuf>,
    programs: Vec<Program>,
}

/// A program of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Program {
    /// The sources, in order, relative to the same directory as the path of [`Project::read`].
    pub files: Vec<PathBuf>,
    /// All sources that `modules` names beside this one, which debuggers link together; empty for
    /// a program of `files`.
    pub modules: Vec<PathBuf>,
    /// The file to write.
    pub output: Option<PathBuf>,
    /// The layout of the linked program.
    pub layout: Option<PathBuf>,
    include: Vec<PathBuf>,
    define: BTreeMap<String, u16>,
    long_symbols: Option<bool>,
    zilog: Option<bool>,
    case_sensitive: Option<bool>,
    pabs: Option<bool>,
    cpu: Option<Cpu>,
}

/// The file in serialized form.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Written {
    include: Vec<PathBuf>,
    exclude: Vec<PathBuf>,
    define: BTreeMap<String, u16>,
    long_symbols: Option<bool>,
    zilog: Option<bool>,
    case_sensitive: Option<bool>,
    pabs: Option<bool>,
    cpu: Option<Cpu>,
    program: Vec<Program>,
    #[serde(rename = "pane")]
    _pane: IgnoredAny,
}

impl Project {
    /// Reads a project file.
    ///
    /// # Errors
    ///
    /// Returns [`ProjectError`] if it cannot be read or is not valid.
    pub fn read(path: &Path) -> Result<Self, ProjectError> {
        let unreadable = |error| ProjectError::Unreadable(path.to_owned(), error);
        let text = String::from_utf8_lossy(&read_file(path).map_err(unreadable)?).into_owned();
        Self::parse(path, &text)
    }

    /// Parses a project file. Patterns in `modules` are matched against the files on disk.
    ///
    /// # Errors
    ///
    /// Returns [`ProjectError`] if it is not valid.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ProjectError> {
        let syntax = |error: toml::de::Error| {
            ProjectError::Syntax(path.to_owned(), error.to_string().trim_end().to_owned())
        };
        let written: Written = toml::from_str(text).map_err(syntax)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let shared = Program {
            include: written.include,
            define: written.define,
            long_symbols: written.long_symbols,
            zilog: written.zilog,
            case_sensitive: written.case_sensitive,
            pabs: written.pabs,
            cpu: written.cpu,
            ..Program::default()
        };
        let shared = shared.within(path, &folder)?;
        let excluded = written.exclude.iter().map(|one| folder.join(one)).collect();
        let mut programs = Vec::new();
        for program in written.program {
            programs.extend(program.expanded(path, &folder)?);
        }
        Ok(Self { shared, excluded, programs })
    }

    /// Finds the project file of a source, in its directory and those above.
    pub fn find(source: &Path) -> Option<PathBuf> {
        let mut folder = normalize_path(source.parent().unwrap_or(Path::new("")));
        // A relative path can only go up to the working directory, whose parents it does not name.
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

    /// Returns the programs, in the order of the file. Each module is one.
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// Returns `true` if a source is in an excluded directory.
    pub fn excludes(&self, source: &Path) -> bool {
        let source = absolute(source);
        self.excluded.iter().any(|folder| source.starts_with(absolute(folder)))
    }

    /// Returns the program that contains a source.
    pub fn program_of(&self, source: &Path) -> Option<&Program> {
        let source = absolute(source);
        self.programs.iter().find(|one| one.files.iter().any(|file| absolute(file) == source))
    }

    /// Adds the settings of a program to options, or the common settings if there is none. Options
    /// that are already set take precedence.
    pub fn add_to(&self, options: &mut Options, program: Option<&Program>) {
        for settings in program.into_iter().chain([&self.shared]) {
            for (name, value) in &settings.define {
                let is_known =
                    options.defines.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
                if !is_known {
                    options.defines.push((name.clone(), *value));
                }
            }
            options.include_dirs.extend(settings.include.iter().cloned());
        }
        let of = |choose: fn(&Program) -> Option<bool>| {
            program.and_then(choose).or_else(|| choose(&self.shared)).unwrap_or(false)
        };
        options.long_symbols |= of(|settings| settings.long_symbols);
        options.case_sensitive |= of(|settings| settings.case_sensitive);
        if of(|settings| settings.zilog) {
            options.notation = Notation::Zilog;
        }
        options.absolute_prog |= of(|settings| settings.pabs);
        let cpu = program.and_then(|settings| settings.cpu).or(self.shared.cpu);
        options.cpu = options.cpu.or(cpu);
    }
}

impl Program {
    /// Returns the program with paths relative to the project, after checking names.
    fn within(mut self, path: &Path, folder: &Path) -> Result<Self, ProjectError> {
        let is_symbol =
            |name: &&String| !lex::symbol(name.as_bytes()).is_ok_and(|(rest, _)| rest.is_empty());
        if let Some(name) = self.define.keys().find(is_symbol) {
            return Err(ProjectError::NoSymbol(path.to_owned(), name.clone()));
        }
        let paths = self.include.iter_mut().chain(&mut self.files);
        let paths = paths.chain(&mut self.output).chain(&mut self.layout);
        paths.for_each(|one| *one = folder.join(&*one));
        Ok(self)
    }

    /// Returns the program of `files`, or one for each of `modules`.
    fn expanded(self, path: &Path, folder: &Path) -> Result<Vec<Self>, ProjectError> {
        let program = self.within(path, folder)?;
        if program.files.is_empty() == program.modules.is_empty() {
            return Err(ProjectError::NoSources(path.to_owned()));
        }
        if !program.files.is_empty() {
            return Ok(vec![program]);
        }
        if program.output.is_some() {
            return Err(ProjectError::NoOutput(path.to_owned()));
        }
        let mut found = Vec::new();
        for module in &program.modules {
            match module.to_str().and_then(|name| name.strip_prefix('!')) {
                Some(name) => found.retain(|file| *file != folder.join(name)),
                None => found.extend(matching(&folder.join(module))?),
            }
        }
        let module = |file: &PathBuf| Self {
            files: vec![file.clone()],
            modules: found.clone(),
            ..program.clone()
        };
        Ok(found.iter().map(module).collect())
    }
}

/// Returns the files that match a pattern: `dir/*.extension`, or the file itself.
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

fn absolute(path: &Path) -> PathBuf {
    normalize_path(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> String {
        Project::parse(Path::new("a/tdl.toml"), text).expect_err(text).to_string()
    }

    #[test]
    fn options_of_a_program_override_the_shared_ones() {
        let text = "include = [\"inc\"]\nlong-symbols = true\ncpu = \"z180\"\n[define]\nX = 1\nY = 0x10\n\
                    [[program]]\nfiles = [\"b.asm\", \"c.asm\"]\ndefine = { X = 2 }\n\
                    include = [\"own\"]\nlong-symbols = false\ncpu = \"z80\"\n";
        let project = Project::parse(Path::new("a/tdl.toml"), text).expect("a project");
        let named = |name: &str, value| (name.to_owned(), value);
        let mut options = Options { defines: vec![named("y", 3)], ..Options::default() };
        project.add_to(&mut options, project.program_of(Path::new("./a/x/../c.asm")));
        assert_eq!(options.defines, [named("y", 3), named("X", 2)]);
        assert_eq!(options.include_dirs, [PathBuf::from("a/own"), PathBuf::from("a/inc")]);
        assert!(!options.long_symbols);
        assert_eq!(options.cpu, Some(Cpu::Z80));
        let mut options = Options::default();
        project.add_to(&mut options, project.program_of(Path::new("a/other.asm")));
        assert_eq!(options.defines, [named("X", 1), named("Y", 16)]);
        assert!(options.long_symbols);
        assert_eq!(options.cpu, Some(Cpu::Z180));
        let mut options = Options { cpu: Some(Cpu::Z80), ..Options::default() };
        project.add_to(&mut options, None);
        assert_eq!(options.cpu, Some(Cpu::Z80));
    }

    #[test]
    fn mistakes_are_located() {
        for (text, expected) in [
            ("defines = 1", "unknown field"),
            ("[define]\nX = 65536", "line 2"),
            ("[define]\n\"1X\" = 1", "1X is not a symbol"),
            ("cpu = \"8080\"", "unknown variant"),
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
            assert_eq!(normalize_path(Path::new(path)), Path::new(expected));
        }
    }
}
