//! A program of another tool that is in a folder, or that a command builds there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cli_support::exit::{CommandError, ENVIRONMENT};
use cli_support::text::{Escape, eprint_message};
use program_formats::{
    DebugInfo, ProgramError, ProgramFormat, SymbolKind, read_debug_info, read_program,
};
use tdlasm::source::DiskLoader;
use testfile_suite::{TestFile, TestOptions, Verdict, run_one};

/// Extensions of programs; those with an address come first.
const PROGRAMS: [&str; 13] =
    ["elf", "out", "hex", "ihx", "ihex", "srec", "s19", "com", "cmd", "cim", "bin", "rom", "raw"];
/// Extensions of files with symbols or lines.
const SYMBOLS: [&str; 12] =
    ["sld", "noi", "cdb", "map", "bds", "lst", "sym", "lbl", "lab", "symbol", "def", "rst"];
const MAKEFILES: [&str; 3] = ["Makefile", "makefile", "GNUmakefile"];
/// A routine that takes longer is left to the user.
const MAX_T_STATES: u64 = 1_000_000;
/// How many routines are tried.
const MAX_ROUTINES: usize = 200;

/// Returns the files with a name and one of the extensions, in a folder and in those in it, such as
/// `build`. The name may continue with an underscore and that of a section, as z88dk's.
fn named(folder: &Path, name: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let in_folder = |path: &Path| {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<BTreeSet<_>>()
    };
    let is_hidden =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let inner = in_folder(folder);
    let inner = inner.into_iter().filter(|path| path.is_dir() && !is_hidden(path));
    let folders = [folder.to_owned()].into_iter().chain(inner);
    let mut found: Vec<_> = folders
        .flat_map(|path| in_folder(&path))
        .filter_map(|path| {
            let text = path.file_stem()?.to_str()?;
            let is_section = text.strip_prefix(name)?.starts_with('_');
            let extension = path.extension()?.to_str()?;
            let rank = extensions.iter().position(|one| one.eq_ignore_ascii_case(extension))?;
            (is_section || text == name).then_some((is_section, rank, path))
        })
        .collect();
    found.sort_by_key(|(is_section, rank, _)| (*is_section, *rank));
    found.into_iter().map(|(.., path)| path).collect()
}

/// Returns the program with a name in a folder.
pub(super) fn find_program(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        let content = std::fs::read(path).unwrap_or_default();
        let format = ProgramFormat::detect(&content, &path.to_string_lossy());
        !content.is_empty() && format.is_ok_and(|format| format != ProgramFormat::Object)
    };
    named(folder, name, &PROGRAMS).into_iter().find(is_program)
}

/// Returns `true` if a folder has a makefile.
pub(super) fn has_makefile(folder: &Path) -> bool {
    MAKEFILES.iter().any(|name| folder.join(name).is_file())
}

/// The files of a program that another tool built.
pub(super) struct BuiltProgram {
    pub(super) program: PathBuf,
    pub(super) symbols: Vec<PathBuf>,
    /// The address of a binary.
    pub(super) origin: Option<u16>,
}

impl BuiltProgram {
    /// Finds the symbols of a program that has none itself, unless they are named, and the address of
    /// a binary, unless that is given.
    ///
    /// # Errors
    /// Returns an error if the program is not readable, or a binary whose address is not known.
    pub(super) fn complete(self, folder: &Path) -> Result<Self, CommandError> {
        let Self { program: path, mut symbols, mut origin } = self;
        let wrong = |message: String| {
            CommandError::new(ENVIRONMENT, format!("{}: {message}", path.escaped()))
        };
        let content = std::fs::read(&path).map_err(|error| wrong(error.to_string()))?;
        let read = |origin| read_program(&content, &path.to_string_lossy(), origin);
        let program = read(origin.or(Some(0))).map_err(|error| wrong(error.to_string()))?;
        if symbols.is_empty() && program.debug.symbols.is_empty() {
            symbols = find_symbols(&path, folder);
        }
        if origin.is_none() && read(None) == Err(ProgramError::NoOrigin) {
            let infos: Vec<_> = symbols.iter().filter_map(|path| read_symbols(path)).collect();
            origin = likely_origin(&infos, content.len());
            let message = "a binary, which does not contain its address: give --origin, as in --origin \
                           8000H";
            let origin = origin.ok_or_else(|| wrong(message.into()))?;
            let path = path.escaped();
            eprint_message(format!(
                "hw-tests: note: {path} is taken to begin at {origin:04X}H, by its symbols; --origin \
                 gives another address"
            ));
        }
        Ok(Self { program: path, symbols, origin })
    }
}

fn read_symbols(path: &Path) -> Option<DebugInfo> {
    read_debug_info(&std::fs::read(path).ok()?, &path.to_string_lossy()).ok()
}

/// Returns the files with a program's symbols and lines: one that has both, or one for each.
fn find_symbols(program: &Path, folder: &Path) -> Vec<PathBuf> {
    let stem = program.file_stem().unwrap_or_default().to_string_lossy();
    let of = |name: &str| -> Vec<(PathBuf, DebugInfo)> {
        let readable = |path: PathBuf| Some((path.clone(), read_symbols(&path)?));
        named(folder, name, &SYMBOLS).into_iter().filter_map(readable).collect()
    };
    let mut found = of(&stem);
    if let (true, Some((name, _))) = (found.is_empty(), stem.rsplit_once('_')) {
        found = of(name);
    }
    let with = |has: &dyn Fn(&DebugInfo) -> bool| {
        found.iter().find(|(_, info)| has(info)).map(|(path, _)| path.clone())
    };
    let both = with(&|info| !info.lines.is_empty() && !info.symbols.is_empty());
    let each = || [with(&|info| !info.symbols.is_empty()), with(&|info| !info.lines.is_empty())];
    both.map_or_else(|| each().into_iter().flatten().collect(), |path| vec![path])
}

/// Returns the address of a line or label from which a binary has the most others in its length; `None`
/// if there are none.
fn likely_origin(infos: &[DebugInfo], length: usize) -> Option<u16> {
    let lines = infos.iter().flat_map(|info| info.lines.iter().map(|line| line.address));
    let symbols = infos.iter().flat_map(|info| &info.symbols);
    let labels = symbols.filter(|symbol| symbol.kind != SymbolKind::Constant);
    let labels = labels.filter_map(|label| u16::try_from(label.value).ok());
    let mut places: Vec<u16> = lines.chain(labels).collect();
    places.sort_unstable();
    let count_from = |index: usize| {
        let end = usize::from(places[index]) + length;
        let after = places.partition_point(|place| usize::from(*place) < end);
        after - index
    };
    // Of several, the last one that `max_by_key` sees is the lowest.
    let best = (0..places.len()).rev().max_by_key(|index| count_from(*index));
    best.map(|index| places[index])
}

/// A routine for a first case.
pub(super) struct Routine {
    pub(super) name: String,
    /// Whether it returns as it should when it is called without arguments.
    pub(super) returns: bool,
}

/// Returns the first routine that returns when it is called, or else the first one. `header` is the
/// test file without cases.
///
/// # Errors
/// Returns an error if the program is not readable or has no labels.
pub(super) fn first_routine(path: &Path, header: &str) -> Result<Routine, CommandError> {
    let failed = |message| CommandError::new(ENVIRONMENT, message);
    let parse = |text: &str| {
        let parsed = TestFile::parse(path, text, &DiskLoader);
        parsed.map_err(|errors| failed(errors.0[0].message.clone()))
    };
    let program = parse(header)?.program;
    let mut labels: Vec<_> = program.map.labels().filter(|(_, label)| label.is_code).collect();
    labels.sort_by_key(|(address, label)| (!label.exported, *address));
    labels.truncate(MAX_ROUTINES);
    let case = |(address, _): &(u16, _)| {
        format!("[[case]]\nname = \"{address}\"\ncall = {address}\ntimeout = {MAX_T_STATES}\n")
    };
    let file = parse(&(header.to_owned() + &labels.iter().map(case).collect::<String>()))?;
    let mut machine = file.program.machine();
    let mut passes = |index: usize| {
        let result = run_one(&file, index, &mut machine, &TestOptions::default());
        result.is_ok_and(|result| result.verdict == Verdict::Pass)
    };
    let returning = (0..labels.len()).find(|index| passes(*index));
    let (_, label) = labels.get(returning.unwrap_or(0)).ok_or_else(|| {
        failed("the program has no labels of code: name its symbols, as in --symbols FILE".into())
    })?;
    Ok(Routine { name: label.name.clone(), returns: returning.is_some() })
}
