//! The image builder: assembles and links a board's programs and gives each its build id.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use crc::{CRC_32_ISO_HDLC, Crc};
use tdlasm::link::{Layout, LayoutError, LinkErrors, Program, link};
use tdlasm::module::Module;
use tdlasm::source::Loader;
use tdlasm::{AssembleError, Options, assemble};

use crate::evaluator::{self, Behaviour, Evaluator, FastParts, OverrideError};
use crate::listing::{Listing, ListingLoader};
use crate::profile::{BoardProfile, UartKind};
use crate::sources::{self, BUILT_IN_ROOT, ProgramKind, Sources, built_in_path};

/// The build id is a CRC-32, as zlib's.
const BUILD_CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
/// The symbol of a program's 4 bytes for its build id.
const BUILD_SYMBOL: &str = "BUILD";

/// The symbol of the application's 2 bytes for its length, which STATUS checks.
const LENGTH_SYMBOL: &str = "IMGLEN";

/// The layout beside a stock monitor, the same on all boards.
const HOSTED_LAYOUT_NAME: &str = "hosted-app";
/// The debug kernel's layout, the same on all boards.
const KERNEL_LAYOUT_NAME: &str = "kernel";
/// The caller's layout in RAM, the same on all boards.
const CALLER_LAYOUT_NAME: &str = "caller";
/// The caller's layout in flash.
const FLASH_CALLER_LAYOUT_NAME: &str = "flash-caller";
/// The caller's layout beside a stock monitor.
const HOSTED_CALLER_LAYOUT_NAME: &str = "hosted-caller";

/// A program ready for a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltImage {
    /// All bytes from the first to the last address, with gaps filled.
    pub bytes: Vec<u8>,
    /// The address of the first byte, which is also where the program is entered.
    pub address: u16,
    /// The build id that the program reports in its identity.
    pub build: u32,
    /// The linked program, for its symbols.
    pub program: Program,
    /// The routines that override files replace.
    pub overridden: Vec<&'static str>,
}

/// Error returned if an image can't be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The assembler found errors, all in the text.
    #[error("the program does not assemble:\n{0}")]
    Assembly(#[from] AssembleError),
    /// An override file does not assemble because it lacks the names in `names.asm`.
    #[error("the program does not assemble:\n{0}hint: {1}\n")]
    OverrideAssembly(AssembleError, String),
    /// The linker found errors.
    #[error("the program does not link:\n{0}")]
    Link(#[from] LinkErrors),
    /// The layout is invalid.
    #[error("layout '{0}': {1}")]
    Layout(String, LayoutError),
    /// The profile names an unknown layout.
    #[error("unknown layout '{0}'")]
    UnknownLayout(String),
    /// The board can't write its ROM.
    #[error("{0} has no flash that it can write; the application goes to its RAM")]
    NoFlash(String),
    /// The override files can't be used.
    #[error(transparent)]
    Override(#[from] OverrideError),
    /// The application was requested of a builder without its evaluator.
    #[error("this program has no evaluator: build it with the feature `evaluator` of `firmware`")]
    NoEvaluator,
    /// The program has no place for its build id.
    #[error("the program defines no symbol BUILD with 4 bytes for its build id")]
    NoBuildId,
}

/// Builds a program for a board, the application with the corrected evaluator.
pub fn build(profile: &BoardProfile, kind: ProgramKind) -> Result<BuiltImage, BuildError> {
    build_with(profile, kind, &Evaluator::default())
}

/// Builds a program for a board with an evaluator. The monitor does not depend on it.
pub fn build_with(
    profile: &BoardProfile,
    kind: ProgramKind,
    evaluator: &Evaluator,
) -> Result<BuiltImage, BuildError> {
    build_with_sources(profile, kind, evaluator, &[])
}

/// Builds a program with other texts for some built-in files, each as file name and text; for
/// example with an injected fault, to test that it is detected.
pub fn build_with_sources(
    profile: &BoardProfile,
    kind: ProgramKind,
    evaluator: &Evaluator,
    replaced: &[(&str, &str)],
) -> Result<BuiltImage, BuildError> {
    let sources = Sources::with_replaced(replaced);
    let (modules, overridden) = match kind {
        ProgramKind::Monitor => (assemble_monitor(&sources, profile)?, Vec::new()),
        ProgramKind::Application | ProgramKind::FlashApplication => {
            assemble_application(&sources, profile, evaluator, false)?
        }
        ProgramKind::HostedApplication => assemble_application(&sources, profile, evaluator, true)?,
        ProgramKind::Kernel => (assemble_kernel(&sources, profile)?, Vec::new()),
        ProgramKind::Caller | ProgramKind::FlashCaller | ProgramKind::HostedCaller => {
            (assemble_caller(&sources, profile, kind)?, Vec::new())
        }
    };
    let layout = layout(profile, kind)?;
    let program = link(&modules, &layout)?;
    // Code indexes the tables by the low byte of an address. The layout aligns the built-in ones.
    if let Some(at) = program.symbol("TBASE").filter(|at| at & 0xFF != 0) {
        return Err(OverrideError::Unaligned(at).into());
    }
    let at = program.symbol(BUILD_SYMBOL).ok_or(BuildError::NoBuildId)?;
    let image = embed_build_id(program, at, layout.fill()).ok_or(BuildError::NoBuildId)?;
    Ok(BuiltImage { overridden, ..image })
}

/// Computes the build id of a program's bytes, with the four at `at` taken as zeros.
pub fn build_id(bytes: &[u8], at: usize) -> u32 {
    let mut digest = BUILD_CRC.digest();
    digest.update(&bytes[..at.min(bytes.len())]);
    digest.update(&[0; 4]);
    digest.update(bytes.get(at + 4..).unwrap_or_default());
    digest.finalize()
}

fn assemble_monitor(sources: &Sources, profile: &BoardProfile) -> Result<Vec<Module>, BuildError> {
    let flash = sources::FLASH.iter().filter(|_| profile.chip.writable).map(|(name, _)| *name);
    let defines = [("HOSTED", 0)];
    assemble_all(sources, profile, &defines, ProgramKind::Monitor.files().chain(flash))
}

/// Assembles the debug kernel. It polls the serial chip, and has no driver.
fn assemble_kernel(sources: &Sources, profile: &BoardProfile) -> Result<Vec<Module>, BuildError> {
    let quiet = [("QUIETN", quiet_passes(profile))];
    let defines = [&board_defines(profile)[..], &quiet].concat();
    assemble_files(sources, &assembler_options(&defines), ProgramKind::Kernel.files())
}

/// Returns how often the debug kernel's loop has to be passed while three characters leave the
/// serial chip, at the slowest speed of a board. Not every chip tells when it has sent all.
fn quiet_passes(profile: &BoardProfile) -> u16 {
    /// T-states of a pass on a Z180; on a Z80 it takes 26.
    const PASS_T_STATES: u64 = 20;
    /// Start bit, eight data bits and stop bit of each character.
    const BITS: u64 = 3 * 10;
    let uart = &profile.uart;
    let slowest = uart.other_bauds.iter().fold(uart.baud, |slowest, baud| slowest.min(*baud));
    let t_states = (profile.clock_hz * BITS).div_ceil(u64::from(slowest.max(1)));
    t_states.div_ceil(PASS_T_STATES).try_into().unwrap_or(u16::MAX)
}

fn assemble_caller(
    sources: &Sources,
    profile: &BoardProfile,
    kind: ProgramKind,
) -> Result<Vec<Module>, BuildError> {
    let is_hosted = kind == ProgramKind::HostedCaller;
    let hosted = is_hosted.then_some(sources::HOSTED.0);
    let defines = [("HOSTED", u16::from(is_hosted))];
    assemble_all(sources, profile, &defines, kind.files().chain(hosted))
}

/// Assembles the application with override files in place of routines; also returns their names.
fn assemble_application(
    sources: &Sources,
    profile: &BoardProfile,
    evaluator: &Evaluator,
    is_hosted: bool,
) -> Result<(Vec<Module>, Vec<&'static str>), BuildError> {
    if !cfg!(feature = "evaluator") {
        return Err(BuildError::NoEvaluator);
    }
    let original_bugs = original_bugs_define(evaluator.behaviour);
    let overrides = match &evaluator.own {
        Some(file) if file.is_file() => assemble_listing(sources, file, original_bugs)?,
        Some(folder) => assemble_overrides(sources, folder, original_bugs)?,
        None => Vec::new(),
    };
    let is_overridden = |routine| evaluator::exports(&overrides, routine);
    let is_wanted = |file: &&str| !evaluator::routine_of(file).is_some_and(&is_overridden);
    let fast = FastParts::new(evaluator.behaviour, is_overridden);
    let defines = [original_bugs, fast.define(), ("HOSTED", u16::from(is_hosted))];
    let files = ProgramKind::Application.files().filter(is_wanted);
    let exchange = (if fast.exchange { sources::FAST_XCHNG } else { sources::XCHNG }).0;
    let exchange = (!is_overridden("XCHNG")).then_some(exchange);
    let finding = fast.finding.then_some(sources::SPREAD.0);
    let hosted = is_hosted.then_some(sources::HOSTED.0);
    let files = files.chain(exchange).chain(finding).chain(hosted);
    let mut modules = assemble_all(sources, profile, &defines, files)?;
    let routines = evaluator::ROUTINES.map(|(routine, _)| routine);
    let routines = routines.into_iter().filter(|routine| is_overridden(routine)).collect();
    modules.extend(overrides);
    Ok((modules, routines))
}

/// Returns the symbol that selects the bugs of the original.
fn original_bugs_define(behaviour: Behaviour) -> (&'static str, u16) {
    ("ORIGINAL", u16::from(behaviour == Behaviour::Original))
}

/// Returns the symbols defined for an evaluator's files without overrides, for editors.
pub fn evaluator_defines(behaviour: Behaviour) -> [(&'static str, u16); 3] {
    [original_bugs_define(behaviour), FastParts::new(behaviour, |_| false).define(), ("HOSTED", 0)]
}

/// Assembles the override files.
fn assemble_overrides(
    sources: &Sources,
    folder: &Path,
    original_bugs: (&str, u16),
) -> Result<Vec<Module>, BuildError> {
    let loader = RecordingLoader { inner: sources.with_disk(), loaded: RefCell::default() };
    let options = assembler_options(&[original_bugs]);
    let files = evaluator::override_files(folder)?;
    let mut all = Vec::new();
    for (file, routine) in files.routines {
        let modules = assemble(&loader, std::slice::from_ref(&file), &options)
            .map_err(override_error)?
            .modules;
        evaluator::check_exported(&modules, routine, &file)?;
        all.extend(modules);
    }
    evaluator::check_used(files.others, &loader.loaded.take())?;
    Ok(all)
}

fn assemble_listing(
    sources: &Sources,
    file: &Path,
    original_bugs: (&str, u16),
) -> Result<Vec<Module>, BuildError> {
    let listing = Listing::read(file)?;
    let loader = ListingLoader { listing: &listing, sources: sources.with_disk() };
    let assembly = assemble(&loader, &listing.files(), &assembler_options(&[original_bugs]));
    let modules = assembly.map_err(|failure| {
        let hint = listing.hint(&failure);
        BuildError::OverrideAssembly(failure, hint)
    })?;
    for routine in &listing.routines {
        evaluator::check_exported(&modules.modules, routine, file)?;
    }
    Ok(modules.modules)
}

/// Adds a hint to an assembly error of an override file that lacks the names in `names.asm`.
fn override_error(failure: AssembleError) -> BuildError {
    match evaluator::missing_header_hint(&failure) {
        Some(hint) => BuildError::OverrideAssembly(failure, hint.to_owned()),
        None => BuildError::Assembly(failure),
    }
}

struct RecordingLoader {
    inner: Sources,
    loaded: RefCell<Vec<PathBuf>>,
}

impl Loader for RecordingLoader {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.loaded.borrow_mut().push(path.to_owned());
        self.inner.load(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }
}

/// Assembles built-in files and the driver for the board's serial chip.
fn assemble_all(
    sources: &Sources,
    profile: &BoardProfile,
    defines: &[(&str, u16)],
    files: impl Iterator<Item = &'static str>,
) -> Result<Vec<Module>, BuildError> {
    let driver = match profile.uart.kind {
        UartKind::Acia => sources::ACIA.0,
        UartKind::Sio => sources::SIO.0,
        UartKind::Asci => sources::ASCI.0,
        UartKind::Ns550 => sources::NS550.0,
    };
    let options = assembler_options(&[&board_defines(profile)[..], defines].concat());
    assemble_files(sources, &options, files.chain([driver]))
}

fn assemble_files(
    sources: &Sources,
    options: &Options,
    files: impl Iterator<Item = &'static str>,
) -> Result<Vec<Module>, BuildError> {
    let mut modules = Vec::new();
    for file in files {
        modules.extend(assemble(sources, &[built_in_path(file)], options)?.modules);
    }
    Ok(modules)
}

/// Returns the symbols that describe a board to the sources.
fn board_defines(profile: &BoardProfile) -> [(&'static str, u16); 10] {
    let uart = &profile.uart;
    [
        ("ISSIO", u16::from(uart.kind == UartKind::Sio)),
        ("IS550", u16::from(uart.kind == UartKind::Ns550)),
        ("UARTC", uart.control_port.into()),
        ("UARTD", uart.data_port.into()),
        ("UARTDV", (uart.clock_hz / (16 * u64::from(uart.baud.max(1)))) as u16),
        ("Z180", u16::from(profile.is_z180())),
        ("BANKED", u16::from(profile.banks.is_some())),
        ("BANKS", profile.banks.map_or(0, |banks| banks.port.into())),
        ("RAMPGE", profile.banks.map_or(0, |banks| banks.ram_page.into())),
        ("INCIRC", u16::from(profile.chip.writable)),
    ]
}

/// Returns assembler options with these symbols, and with the built-in files found from any folder.
fn assembler_options(defines: &[(&str, u16)]) -> Options {
    let defines = defines.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let include_dirs = vec![BUILT_IN_ROOT.into()];
    Options { defines, include_dirs, lines: true, ..Options::default() }
}

fn layout(profile: &BoardProfile, kind: ProgramKind) -> Result<Layout, BuildError> {
    let name = match kind {
        ProgramKind::Monitor => Some(profile.monitor.layout.as_str()),
        ProgramKind::Application => Some(profile.application.layout.as_str()),
        ProgramKind::FlashApplication => {
            profile.flash_application.as_ref().map(|program| program.layout.as_str())
        }
        ProgramKind::HostedApplication => Some(HOSTED_LAYOUT_NAME),
        ProgramKind::Kernel => Some(KERNEL_LAYOUT_NAME),
        ProgramKind::Caller => Some(CALLER_LAYOUT_NAME),
        ProgramKind::FlashCaller => {
            profile.flash_application.as_ref().map(|_| FLASH_CALLER_LAYOUT_NAME)
        }
        ProgramKind::HostedCaller => Some(HOSTED_CALLER_LAYOUT_NAME),
    };
    let name = name.ok_or_else(|| BuildError::NoFlash(profile.name.clone()))?;
    let text = sources::layout(name).ok_or_else(|| BuildError::UnknownLayout(name.to_owned()))?;
    Layout::parse(text).map_err(|error| BuildError::Layout(name.to_owned(), error))
}

/// Writes length and build id into the image; `None` if it has no bytes there.
fn embed_build_id(mut program: Program, at: u16, fill: u8) -> Option<BuiltImage> {
    let (address, last) = program.image.bounds()?;
    if let Some(at) = program.symbol(LENGTH_SYMBOL) {
        for (place, byte) in (at..).zip((last - address + 1).to_le_bytes()) {
            program.image.set_byte(place, byte).then_some(())?;
        }
    }
    let build = build_id(&program.image.flat(fill), usize::from(at.checked_sub(address)?));
    for (place, byte) in (at..).zip(build.to_le_bytes()) {
        program.image.set_byte(place, byte).then_some(())?;
    }
    let bytes = program.image.flat(fill);
    Some(BuiltImage { bytes, address, build, program, overridden: Vec::new() })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};
    use proptest::test_runner::{RngSeed, TestRunner};

    use super::*;
    use crate::profile::BUILT_IN;

    const VALUES: &[&str] = &[
        "0",
        "-1",
        "0xFFFF",
        "65536",
        "4294967296",
        "99999999999999999999",
        "\"acia\"",
        "\"",
        "{}",
        "[[",
        "1.5",
        "\u{e9}",
    ];

    /// A built-in profile with some lines replaced, or their values: by those of this list or of a
    /// line in another profile.
    fn corrupted_profile() -> impl Strategy<Value = String> {
        let texts = || select(BUILT_IN).prop_map(|(_, text)| text);
        let other_line = (texts(), any::<Index>()).prop_map(|(text, at)| {
            let lines: Vec<_> = text.lines().collect();
            *at.get(&lines)
        });
        let replacement = prop_oneof![1 => select(VALUES), 3 => other_line];
        let edits = vec((any::<Index>(), replacement, any::<bool>()), 1..3);
        (texts(), edits).prop_map(|(text, edits)| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            for (at, replacement, keeps_key) in edits {
                let line = at.get_mut(&mut lines);
                let value = replacement.split_once('=').map_or(replacement, |(_, value)| value);
                *line = match line.split_once('=').filter(|_| keeps_key) {
                    Some((key, _)) => format!("{key}={value}"),
                    None => replacement.to_owned(),
                };
            }
            lines.join("\n")
        })
    }

    #[test]
    fn a_corrupted_profile_parses_or_has_an_error_with_a_line() {
        let config = ProptestConfig {
            rng_seed: RngSeed::Fixed(1978),
            failure_persistence: None,
            ..ProptestConfig::with_cases(1000)
        };
        let parsed = Cell::new(0);
        let tested = TestRunner::new(config).run(&corrupted_profile(), |text| {
            match BoardProfile::parse("corrupted", &text) {
                Ok(profile) => {
                    let _ = build(&profile, ProgramKind::Monitor); // it may not fit anywhere
                    parsed.set(parsed.get() + 1);
                }
                Err(error) => prop_assert!(error.to_string().contains("line "), "{error}"),
            }
            Ok(())
        });
        tested.unwrap_or_else(|failure| panic!("{failure}"));
        assert!(parsed.get() > 30, "{parsed:?}");
    }
}
