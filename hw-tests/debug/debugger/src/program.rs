//! Loads a user's program: assembles source, or reads the output of any assembler or compiler.

use std::path::{Path, PathBuf};
use std::{io, slice};

use firmware::code_map::MappedProgram;
use firmware::profile::BoardProfile;
use program_formats::{DebugInfo, SymbolError, read_debug_info, read_program};
use tdlasm::diag::render::human;
use tdlasm::link::{Layout, LayoutError, LinkErrors, Region, Rule, link};
use tdlasm::module::{Module, SectionKind, SymbolValue};
use tdlasm::project::{Project, ProjectError};
use tdlasm::source::DiskLoader;
use tdlasm::{AssembleError, Options, assemble};

use super::panes::{ExpressionPane, read_panes};
use z80_core::parse_number;

/// The extensions of files beside a program that may describe it, the ones with lines first.
const DEBUG_EXTENSIONS: [&str; 8] = ["noi", "sld", "cdb", "sym", "map", "lbl", "lab", "lst"];
const SOURCE_EXTENSIONS: [&str; 4] = ["asm", "z80", "mac", "tdl"];

/// A user's program file, and how to load it.
#[derive(Debug, Clone, Default)]
pub struct ProgramFile {
    /// The file; its extension selects source, and its content other formats.
    pub path: PathBuf,
    /// The address of a binary.
    pub origin: Option<u16>,
    /// The layout file for linking source; by default [`ram_layout`].
    pub layout: Option<PathBuf>,
    /// Symbols defined before the first source line.
    pub defines: Vec<(String, u16)>,
    /// Folders to search for inserted files, after the folder of the file itself.
    pub include: Vec<PathBuf>,
    /// Files with symbols and lines; without any, the first one beside the program that has some.
    pub symbols: Vec<PathBuf>,
    /// Entry of the program, a label or a number; overrides the entry in the file.
    pub entry: Option<String>,
}

/// Error returned if a program can't be loaded onto a board.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// A file can't be read.
    #[error("can't read {file}: {1}", file = .0.display())]
    Read(PathBuf, io::Error),
    /// The source has errors.
    #[error("the program does not assemble:\n{0}")]
    Assembly(AssembleError),
    /// The linker found errors.
    #[error("{file}: the program does not link:\n{1}", file = .0.display())]
    Link(PathBuf, LinkErrors),
    /// The layout file is invalid.
    #[error("{file}: {1}", file = .0.display())]
    Layout(PathBuf, LayoutError),
    /// The file is not a program, or damaged.
    #[error("{file}: {1}", file = .0.display())]
    Program(PathBuf, program_formats::ProgramError),
    /// A symbol file is not of a format that is known.
    #[error("{}", .1.in_file(&.0.display().to_string()))]
    Symbols(PathBuf, program_formats::DebugInfoError),
    /// The entry is neither a number nor a label of the program.
    #[error("invalid entry '{0}': expected an address or a label of the program")]
    NoEntry(String),
    /// The entry may be one of several labels.
    #[error("entry {0}")]
    AmbiguousEntry(#[from] SymbolError),
    /// The project file of the program, or a pane of it or of a test file, is invalid.
    #[error(transparent)]
    Project(#[from] ProjectError),
}

/// A program, with the entry that its file has.
type WithEntry = (MappedProgram, Option<u16>);

/// A program that was loaded from a file.
pub struct LoadedProgram {
    pub(super) mapped: MappedProgram,
    /// The entry address.
    pub entry: u16,
    /// The assembler's warnings, as text.
    pub warnings: String,
    /// The panes that the debugger shows.
    pub panes: Vec<ExpressionPane>,
}

impl LoadedProgram {
    /// Creates a program that the caller has linked.
    pub fn new(mapped: MappedProgram, entry: u16) -> Self {
        Self { mapped, entry, warnings: String::new(), panes: Vec::new() }
    }
}

impl ProgramFile {
    /// Reads the program, or assembles and links it.
    ///
    /// # Errors
    /// Returns `ProgramError` if a file can't be read or is invalid.
    pub fn load(&self, profile: &BoardProfile) -> Result<LoadedProgram, ProgramError> {
        let ending = self.path.extension().unwrap_or_default().to_string_lossy();
        let is_source = SOURCE_EXTENSIONS.iter().any(|other| ending.eq_ignore_ascii_case(other));
        let mut warnings = String::new();
        let project_file = Project::find(&self.path);
        let project = project_file.as_deref().map(Project::read).transpose()?;
        let (mapped, entry) = match is_source {
            true => self.assemble(profile, project.as_ref(), &mut warnings)?,
            false => self.read_program(&mut warnings)?,
        };
        let empty =
            || ProgramError::Program(self.path.clone(), program_formats::ProgramError::Empty);
        let (first, _) = mapped.image.bounds().ok_or_else(empty)?;
        let entry = self.chosen_entry(&mapped)?.or(entry).unwrap_or(first);
        let panes = project_file.as_deref().map(read_panes).transpose()?.unwrap_or_default();
        Ok(LoadedProgram { mapped, entry, warnings, panes })
    }

    fn chosen_entry(&self, mapped: &MappedProgram) -> Result<Option<u16>, ProgramError> {
        let Some(text) = &self.entry else { return Ok(None) };
        let value = mapped.symbols.find(text)?.or_else(|| parse_number(text));
        value.map(Some).ok_or_else(|| ProgramError::NoEntry(text.clone()))
    }

    fn assemble(
        &self,
        profile: &BoardProfile,
        project: Option<&Project>,
        warnings: &mut String,
    ) -> Result<WithEntry, ProgramError> {
        // Report a missing file as `Read`, not as an error in source.
        read(&self.path)?;
        let mut options = Options {
            defines: self.defines.clone(),
            include_dirs: self.include.clone(),
            lines: true,
            ..Options::default()
        };
        let program = project.and_then(|project| project.program_of(&self.path));
        if let Some(project) = project {
            project.add_to(&mut options, program);
        }
        let files = program.map_or(slice::from_ref(&self.path), |program| &program.files);
        let group = program.map_or(&[][..], |program| &program.modules);
        let assemble = |files: &[PathBuf]| {
            let assembly =
                assemble(&DiskLoader, files, &options).map_err(ProgramError::Assembly)?;
            let text = human(&assembly.diagnostics, &assembly.sources, false);
            Ok::<_, ProgramError>((assembly.modules, text))
        };
        let (mut modules, mut text) = assemble(files)?;
        if group.len() > 1 && !is_complete(&modules) {
            (modules, text) = (Vec::new(), String::new());
            for file in group {
                let (more, messages) = assemble(slice::from_ref(file))?;
                modules.extend(more);
                text += &messages;
            }
        }
        *warnings = text;
        let program = link(&modules, &self.layout(profile)?)
            .map_err(|errors| ProgramError::Link(self.path.clone(), errors))?;
        Ok((MappedProgram::from(&program), program.entry))
    }

    fn layout(&self, profile: &BoardProfile) -> Result<Layout, ProgramError> {
        let Some(path) = &self.layout else { return Ok(ram_layout(profile)) };
        let text = String::from_utf8_lossy(&read(path)?).into_owned();
        Layout::parse(&text).map_err(|error| ProgramError::Layout(path.clone(), error))
    }

    fn read_program(&self, warnings: &mut String) -> Result<WithEntry, ProgramError> {
        let program = read_program(&read(&self.path)?, &self.path.to_string_lossy(), self.origin)
            .map_err(|error| ProgramError::Program(self.path.clone(), error))?;
        let mut mapped = MappedProgram { image: program.image, ..MappedProgram::default() };
        let mut info = program.debug;
        for symbols in &self.symbols {
            info.merge(read_symbols(symbols)?);
        }
        if self.symbols.is_empty() && info.symbols.is_empty() {
            self.add_symbols_beside(&mut info, warnings);
        }
        info.notes.iter().for_each(|note| *warnings += &format!("warning: {note}\n"));
        mapped.add_debug_info(&info);
        Ok((mapped, program.start))
    }

    /// Adds what the first file beside the program describes. It may be another tool's, and is then
    /// left out with a warning.
    fn add_symbols_beside(&self, info: &mut DebugInfo, warnings: &mut String) {
        let beside = DEBUG_EXTENSIONS.iter().map(|extension| self.path.with_extension(extension));
        for path in beside.filter(|path| path.is_file() && *path != self.path) {
            match read_symbols(&path) {
                Ok(found) => return info.merge(found),
                Err(error) => *warnings += &format!("warning: not used: {error}\n"),
            }
        }
    }
}

/// Reads a file with symbols and lines, and looks for the sources in its folder.
fn read_symbols(path: &Path) -> Result<DebugInfo, ProgramError> {
    let info = read_debug_info(&read(path)?, &path.to_string_lossy());
    let mut info = info.map_err(|error| ProgramError::Symbols(path.to_owned(), error))?;
    info.locate_sources(path.parent().unwrap_or(Path::new("")));
    Ok(info)
}

/// Returns `true` for a program by itself: with an entry, and without externals.
fn is_complete(modules: &[Module]) -> bool {
    let mut symbols = modules.iter().flat_map(|module| module.symbols.iter());
    modules.iter().any(|module| module.start.is_some())
        && symbols.all(|symbol| symbol.value != SymbolValue::Undefined)
}

fn read(path: &Path) -> Result<Vec<u8>, ProgramError> {
    std::fs::read(path).map_err(|error| ProgramError::Read(path.to_owned(), error))
}

/// Returns the default layout: all sections from the start of the board's RAM, one after the other.
pub fn ram_layout(profile: &BoardProfile) -> Layout {
    let ram = profile.ram;
    let size = u32::from(ram.end) - u32::from(ram.start) + 1;
    let region = Region { name: "ram".into(), start: ram.start, size, fill: 0 };
    let rule = |section| Rule { section, module: None, region: "ram".into(), align: 1 };
    let rules = [SectionKind::Prog, SectionKind::Data, SectionKind::Blank].map(rule);
    Layout { regions: vec![region], rules: rules.into(), ..Layout::default() }
}
