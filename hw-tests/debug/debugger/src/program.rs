//! Loads a user's program: assembles source, or reads an ELF or Intel HEX file.

use std::io;
use std::path::{Path, PathBuf};

use firmware::build::BuildError;
use firmware::code_map::MappedProgram;
use firmware::profile::BoardProfile;
use firmware::symbol_file::{SymbolFile, SymbolFileError};
use firmware::symbols::AmbiguousSymbol;
use tdlasm::image::{HexError, parse_intel_hex};
use tdlasm::link::{Layout, LayoutError, LinkErrors, Region, Rule, link};
use tdlasm::module::{Module, SectionKind, SymbolValue};
use tdlasm::object::{ObjectError, read_executable};
use tdlasm::project::{Project, ProjectError};
use tdlasm::source::DiskLoader;
use tdlasm::{AssembleError, Assembly, Options, assemble};

use super::dwarf;
use super::panes::{ExpressionPane, read_panes};
use z80_core::parse_number;

const ELF_EXTENSIONS: [&str; 3] = ["elf", "out", "axf"];
const HEX_EXTENSIONS: [&str; 3] = ["hex", "ihx", "ihex"];
/// The extensions of files that describe a program; see [`firmware::symbol_file`].
const DEBUG_EXTENSIONS: [&str; 4] = ["noi", "sld", "sym", "map"];
const SOURCE_EXTENSIONS: [&str; 4] = ["asm", "z80", "mac", "tdl"];

/// A user's program file, and how to load it.
#[derive(Debug, Clone, Default)]
pub struct ProgramFile {
    /// The file; its extension selects source, ELF executable or Intel HEX.
    pub path: PathBuf,
    /// The layout file for linking source; by default [`ram_layout`].
    pub layout: Option<PathBuf>,
    /// Symbols defined before the first source line.
    pub defines: Vec<(String, u16)>,
    /// Folders to search for inserted files, after the folder of the file itself.
    pub include: Vec<PathBuf>,
    /// A file with symbols of a program without any, `VALUE NAME` in each line; or the `.noi` of
    /// SDCC, the `.sld` of sjasmplus or the `.map` of z88dk, with lines.
    pub symbols: Option<PathBuf>,
    /// Entry of the program, a label or a number; overrides the entry in the file.
    pub entry: Option<String>,
}

/// Error returned if a program can't be loaded onto a board.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// A file can't be read.
    #[error("can't read {file}: {1}", file = .0.display())]
    Read(PathBuf, io::Error),
    /// The extension of the file is unknown.
    #[error(
        "{file}: unknown file type: expected source (.asm), an ELF executable (.elf) or Intel HEX \
         (.hex)",
        file = .0.display()
    )]
    UnknownFileType(PathBuf),
    /// The source has errors.
    #[error("the program does not assemble:\n{0}")]
    Assembly(AssembleError),
    /// The linker found errors.
    #[error("{file}: the program does not link:\n{1}", file = .0.display())]
    Link(PathBuf, LinkErrors),
    /// The layout file is invalid.
    #[error("{file}: {1}", file = .0.display())]
    Layout(PathBuf, LayoutError),
    /// The file is not an ELF executable for the Z80.
    #[error("{file}: {1}", file = .0.display())]
    Elf(PathBuf, ObjectError),
    /// The file is not valid Intel HEX.
    #[error("{file}: {1}", file = .0.display())]
    Hex(PathBuf, HexError),
    /// The symbol file is not of a format that is known.
    #[error(transparent)]
    Symbols(#[from] SymbolFileError),
    /// The program has no bytes.
    #[error("{file}: the program has no bytes", file = .0.display())]
    Empty(PathBuf),
    /// The entry is neither a number nor a label of the program.
    #[error("invalid entry '{0}': expected an address or a label of the program")]
    NoEntry(String),
    /// The entry may be one of several labels.
    #[error("entry {0}")]
    AmbiguousEntry(#[from] AmbiguousSymbol),
    /// The project file of the program, or a pane of it or of a test file, is invalid.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The monitor can't be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

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
        let is_one_of =
            |extensions: &[&str]| extensions.iter().any(|other| ending.eq_ignore_ascii_case(other));
        let mut warnings = String::new();
        let project_file = Project::find(&self.path);
        let project = project_file.as_deref().map(Project::read).transpose()?;
        let (mapped, entry) = if is_one_of(&SOURCE_EXTENSIONS) {
            self.assemble(profile, project.as_ref(), &mut warnings)?
        } else if is_one_of(&ELF_EXTENSIONS) {
            self.read_elf(&mut warnings)?
        } else if is_one_of(&HEX_EXTENSIONS) {
            self.read_hex(&mut warnings)?
        } else {
            return Err(ProgramError::UnknownFileType(self.path.clone()));
        };
        let empty = || ProgramError::Empty(self.path.clone());
        let (first, _) = mapped.image.bounds().ok_or_else(empty)?;
        let entry = self.chosen_entry(&mapped)?.or(entry).unwrap_or(first);
        let panes = project_file.as_deref().map(read_panes).transpose()?.unwrap_or_default();
        Ok(LoadedProgram { mapped, entry, warnings, panes })
    }

    fn chosen_entry(&self, mapped: &MappedProgram) -> Result<Option<u16>, ProgramError> {
        let Some(text) = &self.entry else { return Ok(None) };
        let value = match parse_number(text) {
            Some(number) => Some(number),
            None => mapped.symbols.find(text)?,
        };
        value.map(Some).ok_or_else(|| ProgramError::NoEntry(text.clone()))
    }

    fn assemble(
        &self,
        profile: &BoardProfile,
        project: Option<&Project>,
        warnings: &mut String,
    ) -> Result<(MappedProgram, Option<u16>), ProgramError> {
        // Report a missing file as `Read`, not as an error in source.
        read(&self.path)?;
        let mut options = Options {
            defines: self.defines.clone(),
            include_dirs: self.include.clone(),
            lines: true,
            ..Options::default()
        };
        let mut files = vec![self.path.clone()];
        let mut group = Vec::new();
        if let Some(project) = project {
            let program = project.program_of(&self.path);
            project.add_to(&mut options, program);
            if let Some(program) = program {
                files.clone_from(&program.files);
                group.clone_from(&program.modules);
            }
        }
        let assemble = |files: &[PathBuf]| {
            let assembly = assemble(&DiskLoader, files, &options);
            let Assembly { diagnostics, sources, modules, .. } =
                assembly.map_err(ProgramError::Assembly)?;
            let text = tdlasm::diag::render::human(&diagnostics, &sources, false);
            Ok::<_, ProgramError>((modules, text))
        };
        let (mut modules, mut text) = assemble(&files)?;
        if group.len() > 1 && !is_complete(&modules) {
            (modules, text) = (Vec::new(), String::new());
            for file in group {
                let (more, messages) = assemble(&[file])?;
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

    fn read_elf(
        &self,
        warnings: &mut String,
    ) -> Result<(MappedProgram, Option<u16>), ProgramError> {
        let bytes = read(&self.path)?;
        let elf =
            read_executable(&bytes).map_err(|error| ProgramError::Elf(self.path.clone(), error))?;
        let lines = dwarf::read_lines(&bytes);
        let mut mapped = MappedProgram { image: elf.image, lines, ..MappedProgram::default() };
        mapped.add_symbols(elf.symbols);
        self.add_symbol_file(&mut mapped, warnings)?;
        Ok((mapped, elf.entry))
    }

    fn read_hex(
        &self,
        warnings: &mut String,
    ) -> Result<(MappedProgram, Option<u16>), ProgramError> {
        let text = String::from_utf8_lossy(&read(&self.path)?).into_owned();
        let (image, entry) =
            parse_intel_hex(&text).map_err(|error| ProgramError::Hex(self.path.clone(), error))?;
        let mut mapped = MappedProgram { image, ..MappedProgram::default() };
        self.add_symbol_file(&mut mapped, warnings)?;
        Ok((mapped, entry))
    }

    /// Adds what the symbol file describes; by default those beside the program. A file beside it
    /// may be another tool's, and is then left out with a warning.
    fn add_symbol_file(
        &self,
        mapped: &mut MappedProgram,
        warnings: &mut String,
    ) -> Result<(), ProgramError> {
        let parse = |path: &Path| {
            let text = String::from_utf8_lossy(&read(path)?).into_owned();
            Ok::<_, ProgramError>(SymbolFile::parse(path, &text)?)
        };
        if let Some(path) = &self.symbols {
            mapped.add_symbol_file(parse(path)?);
            return Ok(());
        }
        let beside = DEBUG_EXTENSIONS.iter().map(|extension| self.path.with_extension(extension));
        for path in beside.filter(|path| path.is_file()) {
            match parse(&path) {
                Ok(file) => {
                    mapped.add_symbol_file(file);
                    return Ok(());
                }
                Err(error) => *warnings += &format!("warning: not used: {error}\n"),
            }
        }
        Ok(())
    }
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
