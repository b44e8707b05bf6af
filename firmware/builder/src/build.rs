//! The image builder: assembles and links a board's programs and gives each its build id.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use crc::{CRC_32_ISO_HDLC, Crc};
use tdlasm::link::{Layout, LayoutError, LinkErrors, Program, link};
use tdlasm::module::Module;
use tdlasm::source::Loader;
use tdlasm::{AssembleError, Options, assemble};

use crate::evaluator::{self, Behaviour, Evaluator, FastParts, OwnError};
use crate::profile::{Profile, UartKind};
use crate::sources::{self, ProgramKind, Sources};

/// The check that is a program's build id: zlib's CRC-32.
const BUILD_CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
/// The symbol under which a program keeps its build id, 4 bytes.
const BUILD_SYMBOL: &str = "BUILD";

/// The layout beside a monitor of another make, the same on all boards.
const HOSTED_LAYOUT: &str = "hosted-app";
/// The debug kernel's, the same on all boards.
const KERNEL_LAYOUT: &str = "kernel";

/// A program ready for a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltImage {
    /// All bytes from the first to the last address, gaps filled.
    pub bytes: Vec<u8>,
    /// The address of the first byte, which is also where the program is entered.
    pub address: u16,
    /// The build id that the program reports in its identity.
    pub build: u32,
    /// The linked program, for its symbols.
    pub program: Program,
    /// The routines of the user's own in it.
    pub own: Vec<&'static str>,
}

/// Error returned by [`build`] and its relatives.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The assembler found errors; the text shows them all.
    #[error("the program does not assemble:\n{0}")]
    Assembly(#[from] AssembleError),
    /// Errors in a file of the user's own, which lacks the names that our sources bring.
    #[error("the program does not assemble:\n{0}hint: {1}\n")]
    OwnAssembly(AssembleError, &'static str),
    /// The linker did.
    #[error("the program does not link:\n{0}")]
    Link(#[from] LinkErrors),
    /// The layout is wrong.
    #[error("layout '{0}': {1}")]
    Layout(String, LayoutError),
    /// The profile names a layout that does not ship.
    #[error("there is no layout '{0}'")]
    UnknownLayout(String),
    /// The board can't write its ROM.
    #[error("{0} has no flash that it can write; the application goes to its RAM")]
    NoFlash(String),
    /// The user's own routines can't be used.
    #[error(transparent)]
    Own(#[from] OwnError),
    /// The program has no place for its build id.
    #[error("the program defines no symbol BUILD with 4 bytes for its build id")]
    NoBuildId,
}

/// Builds a program for a board; the application with our evaluator, mended.
///
/// # Errors
/// Returns [`BuildError`] if assembling or linking fails.
pub fn build(profile: &Profile, kind: ProgramKind) -> Result<BuiltImage, BuildError> {
    build_with(profile, kind, &Evaluator::default())
}

/// Builds a program for a board; the monitor holds no evaluator and is always the same.
///
/// # Errors
/// Returns [`BuildError`] if assembling or linking fails.
pub fn build_with(
    profile: &Profile,
    kind: ProgramKind,
    evaluator: &Evaluator,
) -> Result<BuiltImage, BuildError> {
    build_replacing(profile, kind, evaluator, &[])
}

/// Builds a program with other texts for some of our files, each given as file name and text: with
/// a fault put in on purpose, for example, to see that it is found.
///
/// # Errors
/// Returns [`BuildError`] if assembling or linking fails.
pub fn build_replacing(
    profile: &Profile,
    kind: ProgramKind,
    evaluator: &Evaluator,
    replaced: &[(&str, &str)],
) -> Result<BuiltImage, BuildError> {
    let sources = Sources::ours(replaced);
    let (modules, own) = match kind {
        ProgramKind::Monitor => (monitor(&sources, profile)?, Vec::new()),
        ProgramKind::Application | ProgramKind::FlashApplication => {
            application(&sources, profile, evaluator, false)?
        }
        ProgramKind::HostedApplication => application(&sources, profile, evaluator, true)?,
        ProgramKind::Kernel => (kernel(&sources, profile)?, Vec::new()),
    };
    let layout = layout(profile, kind)?;
    let program = link(&modules, &layout)?;
    // Tables are reached by the low byte of an address alone; the layout aligns ours by its name.
    if let Some(at) = program.symbol("TBASE").filter(|at| at & 0xFF != 0) {
        return Err(OwnError::Unaligned(at).into());
    }
    let at = program.symbol(BUILD_SYMBOL).ok_or(BuildError::NoBuildId)?;
    let image = seal(program, at, layout.fill()).ok_or(BuildError::NoBuildId)?;
    Ok(BuiltImage { own, ..image })
}

/// Computes the build id of a program's bytes, with the four at `at` taken as zeros.
#[must_use]
pub fn build_id(bytes: &[u8], at: usize) -> u32 {
    let mut digest = BUILD_CRC.digest();
    digest.update(&bytes[..at.min(bytes.len())]);
    digest.update(&[0; 4]);
    digest.update(bytes.get(at + 4..).unwrap_or_default());
    digest.finalize()
}

/// The monitor's modules; those about flash where the board can write its own.
fn monitor(sources: &Sources, profile: &Profile) -> Result<Vec<Module>, BuildError> {
    let flash = sources::FLASH.iter().filter(|_| profile.chip.writable).map(|(name, _)| *name);
    let defines = [("HOSTED", 0)];
    assemble_all(sources, profile, &defines, ProgramKind::Monitor.files().chain(flash))
}

/// The debug kernel's modules. It polls the serial chip, and has no driver.
fn kernel(sources: &Sources, profile: &Profile) -> Result<Vec<Module>, BuildError> {
    let is_sio = u16::from(profile.uart.kind == UartKind::Sio);
    let defines = [&ports(profile)[..], &[("ISSIO", is_sio)]].concat();
    assemble_files(sources, &options(&defines), ProgramKind::Kernel.files())
}

/// The application's modules: ours, but for the routines that the user's own files export; and
/// those routines.
fn application(
    sources: &Sources,
    profile: &Profile,
    evaluator: &Evaluator,
    is_hosted: bool,
) -> Result<(Vec<Module>, Vec<&'static str>), BuildError> {
    let fault = fault(evaluator.behaviour);
    let own = match &evaluator.own {
        Some(folder) => own_modules(sources, folder, fault)?,
        None => Vec::new(),
    };
    let is_own = |routine| evaluator::exports(&own, routine);
    let is_wanted = |file: &&str| !evaluator::routine_of(file).is_some_and(&is_own);
    let fast = FastParts::new(evaluator.behaviour, is_own);
    let defines = [fault, fast.define(), ("HOSTED", u16::from(is_hosted))];
    let files = ProgramKind::Application.files().filter(is_wanted);
    let exchange = (if fast.exchange { sources::FAST_XCHNG } else { sources::XCHNG }).0;
    let exchange = (!is_own("XCHNG")).then_some(exchange);
    let finding = fast.finding.then_some(sources::SPREAD.0);
    let hosted = is_hosted.then_some(sources::HOSTED.0);
    let files = files.chain(exchange).chain(finding).chain(hosted);
    let mut modules = assemble_all(sources, profile, &defines, files)?;
    let routines = evaluator::ROUTINES.map(|(routine, _)| routine);
    let routines = routines.into_iter().filter(|routine| is_own(routine)).collect();
    modules.extend(own);
    Ok((modules, routines))
}

/// The symbol that says whether the faults of 1978 are wanted.
fn fault(behaviour: Behaviour) -> (&'static str, u16) {
    ("FAULT78", u16::from(behaviour == Behaviour::AsIn1978))
}

/// Returns the symbols that are defined before the first line of an evaluator's files, with no
/// routine of the user's own: for editors.
#[must_use]
pub fn evaluator_defines(behaviour: Behaviour) -> [(&'static str, u16); 3] {
    [fault(behaviour), FastParts::new(behaviour, |_| false).define(), ("HOSTED", 0)]
}

/// The modules of the user's own files.
fn own_modules(
    sources: &Sources,
    folder: &Path,
    fault: (&str, u16),
) -> Result<Vec<Module>, BuildError> {
    let loader = Recording { inner: sources.with_disk(), loaded: RefCell::default() };
    let options = options(&[fault]);
    let files = evaluator::own_files(folder)?;
    let mut all = Vec::new();
    for (file, routine) in files.routines {
        let modules =
            assemble(&loader, std::slice::from_ref(&file), &options).map_err(own_failure)?.modules;
        evaluator::check_exported(&modules, routine, &file)?;
        all.extend(modules);
    }
    evaluator::check_used(files.others, &loader.loaded.take())?;
    Ok(all)
}

/// An assembly error in a file of the user's own, with advice where the file lacks our names.
fn own_failure(failure: AssembleError) -> BuildError {
    match evaluator::hint(&failure.to_string()) {
        Some(hint) => BuildError::OwnAssembly(failure, hint),
        None => BuildError::Assembly(failure),
    }
}

/// A loader that remembers which files were read.
struct Recording {
    inner: Sources,
    loaded: RefCell<Vec<PathBuf>>,
}

impl Loader for Recording {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.loaded.borrow_mut().push(path.to_owned());
        self.inner.load(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }
}

/// The modules of files that we carry, and of the driver for the board's serial chip.
fn assemble_all(
    sources: &Sources,
    profile: &Profile,
    defines: &[(&str, u16)],
    files: impl Iterator<Item = &'static str>,
) -> Result<Vec<Module>, BuildError> {
    let driver = match profile.uart.kind {
        UartKind::Acia => sources::ACIA.0,
        UartKind::Sio => sources::SIO.0,
    };
    let options = options(&[&ports(profile)[..], defines].concat());
    assemble_files(sources, &options, files.chain([driver]))
}

fn assemble_files(
    sources: &Sources,
    options: &Options,
    files: impl Iterator<Item = &'static str>,
) -> Result<Vec<Module>, BuildError> {
    let mut modules = Vec::new();
    for file in files {
        modules.extend(assemble(sources, &[file.into()], options)?.modules);
    }
    Ok(modules)
}

/// The symbols by which the sources know a board.
fn ports(profile: &Profile) -> [(&'static str, u16); 6] {
    let uart = &profile.uart;
    [
        ("UARTC", uart.control_port.into()),
        ("UARTD", uart.data_port.into()),
        ("BANKED", u16::from(profile.banks.is_some())),
        ("BANKS", profile.banks.map_or(0, |banks| banks.port.into())),
        ("RAMPGE", profile.banks.map_or(0, |banks| banks.ram_page.into())),
        ("INCIRC", u16::from(profile.chip.writable)),
    ]
}

/// Options for the assembler: these symbols are defined, and files that we carry can be inserted
/// from anywhere.
fn options(defines: &[(&str, u16)]) -> Options {
    let defines = defines.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let include_dirs = vec![PathBuf::new()];
    Options { defines, include_dirs, lines: true, ..Options::default() }
}

fn layout(profile: &Profile, kind: ProgramKind) -> Result<Layout, BuildError> {
    let name = match kind {
        ProgramKind::Monitor => Some(profile.monitor.layout.as_str()),
        ProgramKind::Application => Some(profile.application.layout.as_str()),
        ProgramKind::FlashApplication => {
            profile.flash_application.as_ref().map(|program| program.layout.as_str())
        }
        ProgramKind::HostedApplication => Some(HOSTED_LAYOUT),
        ProgramKind::Kernel => Some(KERNEL_LAYOUT),
    };
    let name = name.ok_or_else(|| BuildError::NoFlash(profile.name.clone()))?;
    let text = sources::layout(name).ok_or_else(|| BuildError::UnknownLayout(name.to_owned()))?;
    Layout::parse(text).map_err(|error| BuildError::Layout(name.to_owned(), error))
}

/// Writes the build id into the image; `None` when it has no bytes there.
fn seal(mut program: Program, at: u16, fill: u8) -> Option<BuiltImage> {
    let (address, _) = program.image.bounds()?;
    let build = build_id(&program.image.flat(fill), usize::from(at.checked_sub(address)?));
    for (place, byte) in (at..).zip(build.to_le_bytes()) {
        program.image.set_byte(place, byte).then_some(())?;
    }
    let bytes = program.image.flat(fill);
    Some(BuiltImage { bytes, address, build, program, own: Vec::new() })
}

#[cfg(test)]
mod tests {
    use seeded_fuzz::{Seeds, each};

    use super::*;
    use crate::profile::SHIPPED;

    #[test]
    fn a_profile_that_is_spoilt_is_read_or_refused_with_a_line_and_its_monitor_built_or_refused() {
        let texts: Vec<&[u8]> = SHIPPED.iter().map(|(_, text)| text.as_bytes()).collect();
        let words: &[&[u8]] = &[b"[banks]\n", b"= 0\n", b"\"acia\"", b"0xFFFF", b"[memory]\n"];
        let mut built = 0;
        each(&Seeds { inputs: &texts, words }, 2000, |bytes| {
            match Profile::parse("spoilt", &String::from_utf8_lossy(bytes)) {
                Ok(profile) => {
                    let _ = build(&profile, ProgramKind::Monitor); // it may not fit anywhere
                    built += 1;
                }
                Err(error) => assert!(error.to_string().contains("line "), "{error}"),
            }
        });
        assert!(built > 300, "{built}");
    }
}
