//! The program under test: assembled, linked or read from files.

mod console;

use std::ops::Range;
use std::path::{Path, PathBuf};

use board_simulator::routines::{Allowed, RoutineMachine};
use cli_support::text::Escape;
use firmware::code_map::{CodeMap, MappedProgram};
use firmware::program_areas::ProgramAreas;
use program_formats::{
    DebugInfo, Parameter, ProgramError, ProgramFormat, SymbolError, read_debug_info, read_program,
};
use tdlasm::diag::DiagnosticCode;
use tdlasm::image::{Image, ImageRun};
use tdlasm::link::{Layout, link};
use tdlasm::module::Module;
use tdlasm::object::read_modules;
use tdlasm::project::Project;
use tdlasm::source::{Loader, MemoryLoader};
use tdlasm::{AssembleError, Options, assemble};

use crate::c_function::Convention;
pub use console::{Console, LinkedConsole};
pub(crate) use console::{MAX_INPUT, MAX_OUTPUT, jump};

/// Where a program is linked if its test file gives neither origin nor layout.
const DEFAULT_ORIGIN: u16 = 0x8000;
/// The letters of a symbol that count, unless a project says that all do.
const SHORT_SYMBOL: usize = 6;
/// The number of words that are no instruction from which a source is said to be in another dialect.
const MIN_FOREIGN_OPERATORS: usize = 5;
/// The ends of the names of files in which SDCC notes the default convention.
const NOTING_ENDINGS: [&str; 3] = ["rel", "asm", "lst"];
/// Where programs for CP/M call the BDOS.
const BDOS_ENTRY: u16 = 5;
/// Where the module of a console is linked for a program that is not linked here: at the first
/// address that is free. The first two lie in the RAM that callers leave to programs, beside a stock
/// monitor and on other boards.
const CONSOLE_ORIGINS: [u16; 3] = [0xAC00, 0xD700, 0xF000];

const BDOS_IN_ROM: &str = "console = \"cpm\" of a program that another tool linked is simulated only: it calls the BDOS at \
     0005H, which is ROM on a board; test it without a board, or name its routine that prints A, as \
     in console = { routine = \"PUTC\" }";

/// The files of a program. Paths are relative to the working directory.
#[derive(Debug, Clone, Default)]
pub struct ProgramFiles {
    /// Sources, each assembled by itself.
    pub sources: Vec<PathBuf>,
    /// Relocatable objects.
    pub objects: Vec<PathBuf>,
    /// A program that another tool built, instead of sources and objects.
    pub program: Option<PathBuf>,
    /// Files with its symbols and lines.
    pub symbols: Vec<PathBuf>,
    /// The folder in which its sources are looked for, apart from those of the symbols.
    pub folder: Option<PathBuf>,
    /// The address of the first section, or of a binary.
    pub origin: Option<u16>,
    /// The address of the first section if neither origin nor layout is given, and not 8000H.
    pub default_origin: Option<u16>,
    /// A layout file instead of an origin.
    pub layout: Option<PathBuf>,
    /// Symbols that are defined before the first line.
    pub defines: Vec<(String, u16)>,
    /// Folders that `.INSERT` searches after that of the source.
    pub include: Vec<PathBuf>,
    /// The console whose module is linked to the program, for [`Program::set_console`].
    pub console: Option<Console>,
}

/// A program under test.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The addresses of code and data.
    pub areas: ProgramAreas,
    /// Labels and source lines.
    pub map: CodeMap,
    /// The program as it was linked or read, with its bytes.
    pub linked: MappedProgram,
    /// The console.
    pub console: Option<LinkedConsole>,
    /// What a user should know of how its files were read.
    pub notes: Vec<String>,
    /// The parameters of its C functions, as far as known.
    pub(crate) parameters: Vec<Parameter>,
    /// The default convention of C functions, if a file of the compiler beside it notes that.
    pub(crate) convention: Option<Convention>,
    /// Whether only six letters of its symbols count, as in TDL's dialect.
    pub(crate) has_short_symbols: bool,
    /// What its calls may do though it is usually a mistake.
    pub(crate) allowed: Allowed,
    /// Why it can't run on a board, and what to do; `None` if it can.
    pub simulated_only: Option<&'static str>,
}

impl ProgramFiles {
    /// Assembles and links the program, or reads it, from files that `loader` has.
    ///
    /// # Errors
    /// Returns a message that names the file and, for sources, the line.
    pub fn load(&self, loader: &dyn Loader) -> Result<Program, String> {
        match &self.program {
            Some(program) => self.load_built(program, loader),
            None => self.link(loader),
        }
    }

    fn has_console_module(&self) -> bool {
        matches!(self.console, Some(Console::Cpm | Console::Routine(_)))
    }

    fn link(&self, loader: &dyn Loader) -> Result<Program, String> {
        let mut modules = Vec::new();
        let mut has_short_symbols = true;
        for source in &self.sources {
            let options = self.options(source)?;
            has_short_symbols &= !options.long_symbols;
            modules.extend(assemble_source(source, &options, loader)?);
        }
        for object in &self.objects {
            let name = object.file_stem().unwrap_or_default().to_string_lossy();
            let found = read_modules(&read(loader, object)?, &name);
            modules.extend(found.map_err(|error| format!("{}: {error}", object.escaped()))?);
        }
        if self.has_console_module() {
            modules.extend(console::module()?);
        }
        let layout = match &self.layout {
            Some(path) => Layout::parse(&String::from_utf8_lossy(&read(loader, path)?))
                .map_err(|error| format!("{}: {error}", path.escaped()))?,
            None => {
                let origin = self.origin.or(self.default_origin);
                Layout::flat(origin.unwrap_or(DEFAULT_ORIGIN))
            }
        };
        let program = link(&modules, &layout).map_err(|errors| errors.to_string())?;
        let linked = MappedProgram::from(&program);
        let areas = ProgramAreas::of_linked(&program, &linked);
        Program { linked, areas, has_short_symbols, ..Program::default() }.mapped()
    }

    /// Returns the options for a source: those of the test file, and those of its project.
    fn options(&self, source: &Path) -> Result<Options, String> {
        let mut options = Options {
            defines: self.defines.clone(),
            include_dirs: self.include.clone(),
            lines: true,
            ..Options::default()
        };
        if let Some(path) = Project::find(source) {
            let project = Project::read(&path).map_err(|error| error.to_string())?;
            project.add_to(&mut options, project.program_of(source));
        }
        Ok(options.for_source(source))
    }

    /// Reads a program and its symbols. Its sections are the memory that it may write.
    fn read_built(&self, path: &Path, loader: &dyn Loader) -> Result<Program, String> {
        let file = path.escaped();
        let program = read_program(&read(loader, path)?, &path.to_string_lossy(), self.origin)
            .map_err(|error| format!("{file}: {error}"))?;
        let needs_origin = matches!(program.format, ProgramFormat::Binary | ProgramFormat::Object);
        if self.origin.is_some() && !needs_origin {
            return Err(format!("{file} contains its addresses: omit the origin"));
        }
        let mut info = program.debug;
        let locate = |info: &mut DebugInfo, file: &Path| {
            for folder in [file.parent(), self.folder.as_deref()].into_iter().flatten() {
                info.locate_sources(folder);
            }
        };
        locate(&mut info, path);
        for path in &self.symbols {
            let name = path.to_string_lossy();
            let mut more = read_debug_info(&read(loader, path)?, &name)
                .map_err(|error| error.in_file(&path.escaped().to_string()))?;
            locate(&mut more, path);
            info.merge(more);
        }
        let mut linked = MappedProgram { image: program.image, ..MappedProgram::default() };
        linked.add_debug_info(&info);
        let areas = ProgramAreas::of_built(&linked, &info);
        let (notes, parameters) = (info.notes, info.parameters);
        // Files of the compiler that only may be there.
        let convention = NOTING_ENDINGS.iter().find_map(|ending| {
            let module = loader.load(&path.with_extension(ending)).ok()?;
            Convention::noted_in(&String::from_utf8_lossy(&module))
        });
        Ok(Program { linked, areas, notes, parameters, convention, ..Program::default() })
    }

    fn load_built(&self, path: &Path, loader: &dyn Loader) -> Result<Program, String> {
        let mut built = self.read_built(path, loader)?;
        built.simulated_only = (self.console == Some(Console::Cpm)).then_some(BDOS_IN_ROM);
        if self.has_console_module() {
            let modules = console::module()?;
            let origins = &CONSOLE_ORIGINS[if built.simulated_only.is_some() { 2 } else { 0 }..];
            let linked = origins.iter().map(|origin| link(&modules, &Layout::flat(*origin)));
            let known = &mut built.linked;
            let runs = known.image.runs().iter().map(|run| u32::from(run.address)..run.end());
            let used: Vec<_> = runs.chain(built.areas.sections.iter().cloned()).collect();
            let mut placed = linked.filter_map(Result::ok).map(|module| {
                let console = MappedProgram::from(&module);
                (ProgramAreas::of_linked(&module, &console), console)
            });
            let is_free = |(areas, _): &(ProgramAreas, _)| {
                !used.iter().any(|one| areas.sections.iter().any(|other| overlap(one, other)))
            };
            let placed = placed.find(is_free).ok_or("the console at F000H overlaps the program")?;
            let (areas, console) = placed;
            built.areas.add(areas);
            let runs = known.image.runs().iter().chain(console.image.runs());
            known.image = Image::new(runs.cloned());
            known.lines.extend(console.lines);
            known.lines.sort_by_key(|line| line.address);
            known.symbols.replace_with(console.symbols);
            known.labels.extend(console.labels);
        }
        built.mapped()
    }
}

impl Program {
    /// Maps the labels and lines of the program.
    fn mapped(self) -> Result<Self, String> {
        if self.linked.image.bounds().is_none() {
            return Err("the program has no bytes".to_owned());
        }
        Ok(Self { map: CodeMap::from_programs([self.linked.clone()]), ..self })
    }

    /// Returns the address of a label that a user names.
    ///
    /// # Errors
    /// Returns [`SymbolError`] if several symbols have the name, or if its value is not an address.
    pub(crate) fn find_label(&self, name: &str) -> Result<Option<u16>, SymbolError> {
        let short = name.get(..SHORT_SYMBOL).filter(|_| self.has_short_symbols);
        match (self.map.find_symbol(name)?, short) {
            (None, Some(short)) => self.map.find_symbol(short),
            (found, _) => Ok(found),
        }
    }

    /// Sets the console, and replaces its routine. [`ProgramFiles::console`] must have been set,
    /// unless it is a port.
    ///
    /// # Errors
    /// Returns a message if the program has no such routine, or one of less than 3 bytes.
    pub fn set_console(&mut self, kind: Console) -> Result<(), String> {
        self.console = Some(LinkedConsole::new(kind, self)?);
        self.map = CodeMap::from_programs([self.linked.clone()]);
        Ok(())
    }

    /// Returns an error if the program is not within the memory that the caller on a board leaves to
    /// programs.
    ///
    /// # Errors
    /// Returns a message with both ranges.
    pub fn check_room(&self, free: (u16, u16)) -> Result<(), String> {
        match self.linked.image.bounds() {
            Some((first, last)) if first < free.0 || last > free.1 => Err(format!(
                "the program occupies {first:04X}H to {last:04X}H, but the caller on the board \
                 leaves {:04X}H to {:04X}H to programs: change 'origin' or 'layout'",
                free.0, free.1
            )),
            _ => Ok(()),
        }
    }

    /// Returns a simulated machine with the program.
    pub fn machine(&self) -> RoutineMachine {
        let bdos = self.console.as_ref().and_then(LinkedConsole::bdos);
        let bdos = bdos.filter(|_| !self.overlaps(BDOS_ENTRY, BDOS_ENTRY + 2));
        let Some(bdos) = bdos else { return RoutineMachine::new(&self.linked, &self.areas) };
        let (mut linked, mut areas) = (self.linked.clone(), self.areas.clone());
        let entry = ImageRun { address: BDOS_ENTRY, bytes: jump(bdos).into() };
        areas.code.push(BDOS_ENTRY.into()..entry.end());
        linked.image = Image::new(linked.image.runs().iter().cloned().chain([entry]));
        RoutineMachine::new(&linked, &areas)
    }

    /// Returns `true` if one of the addresses has a byte of the program.
    pub fn overlaps(&self, first: u16, last: u16) -> bool {
        (first..=last).any(|address| self.linked.image.byte(address).is_some())
    }

    /// Formats an address with label and line: `8003H, MUL+3 (mul.asm:17)`.
    pub fn location(&self, address: u16) -> String {
        self.map.describe_address(address).escaped()
    }
}

/// Assembles a source.
fn assemble_source(
    source: &Path,
    options: &Options,
    loader: &dyn Loader,
) -> Result<Vec<Module>, String> {
    // A missing file is reported here, not as an error of the source, and so is another format.
    let content = read(loader, source)?;
    let file = source.escaped();
    match ProgramFormat::detect(&content, &source.to_string_lossy()) {
        Ok(_) if !content.is_empty() => {
            return Err(format!(
                "{file} is not TDL source, but a program or object: name it by program or objects"
            ));
        }
        Err(error @ ProgramError::Unusable { .. }) => return Err(format!("{file}: {error}")),
        _ => {}
    }
    let assembly = assemble(loader, &[source.to_owned()], options);
    Ok(assembly.map_err(|error| messages(&error, &file))?.modules)
}

/// Returns the messages about a source; only the first one of a source that is in another dialect.
fn messages(error: &AssembleError, file: &str) -> String {
    let all = error.to_string().trim_end().to_owned();
    let diagnostics = error.assembly().diagnostics.iter();
    let unknown = diagnostics.filter(|one| one.code == DiagnosticCode::Operator).count();
    if unknown < MIN_FOREIGN_OPERATORS {
        return all;
    }
    let first = all.split("\n\n").next().unwrap_or_default();
    format!(
        "{first}\n{file} is not in TDL's dialect: name what its assembler makes by program, symbols and \
         build (`hw-tests new --help`)"
    )
}

fn overlap(one: &Range<u32>, other: &Range<u32>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Assembles a module of this crate.
pub(crate) fn assemble_text(name: &str, text: &str) -> Result<Vec<Module>, String> {
    let path = PathBuf::from(name);
    let loader = MemoryLoader::new().with(&path, text);
    let assembly = assemble(&loader, &[path], &Options { lines: true, ..Options::default() });
    Ok(assembly.map_err(|error| error.to_string())?.modules)
}

pub(crate) fn read(loader: &dyn Loader, path: &Path) -> Result<Vec<u8>, String> {
    loader.load(path).map_err(|error| format!("can't read {}: {error}", path.escaped()))
}
