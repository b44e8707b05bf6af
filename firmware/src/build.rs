//! The image builder: assembles and links a board's programs and gives each its build id.

use crc::{CRC_32_ISO_HDLC, Crc};
use tdlasm::image::Image;
use tdlasm::link::{Layout, LayoutError, LinkErrors, Program, link};
use tdlasm::{Failure, Options, assemble};

use crate::profile::{Profile, UartKind};
use crate::sources::{self, ProgramKind};

/// The check that is a program's build id: zlib's CRC-32.
const BUILD_CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
/// The symbol under which a program keeps its build id, 4 bytes.
const BUILD_SYMBOL: &str = "BUILD";

/// A program ready for a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltImage {
    /// All bytes from the first to the last address, gaps filled.
    pub bytes: Vec<u8>,
    /// The address of the first byte, which is also where the program is entered.
    pub address: u16,
    /// The build id that the program tells in its identity.
    pub build: u32,
    /// The linked program, for its symbols.
    pub program: Program,
}

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The assembler found errors; the text shows them all.
    #[error("the program does not assemble:\n{0}")]
    Assembly(#[from] Box<Failure>),
    /// The linker did.
    #[error("the program does not link:\n{0}")]
    Link(#[from] LinkErrors),
    /// The layout is wrong.
    #[error("layout '{0}': {1}")]
    Layout(String, LayoutError),
    /// The profile names a layout that does not ship.
    #[error("there is no layout '{0}'")]
    UnknownLayout(String),
    /// The program has no place for its build id.
    #[error("the program defines no symbol BUILD with 4 bytes for its build id")]
    NoBuildId,
}

/// Builds a program for a board.
///
/// # Errors
/// What keeps it from being built.
pub fn build(profile: &Profile, kind: ProgramKind) -> Result<BuiltImage, BuildError> {
    let program = link_program(profile, kind)?;
    let at = program.symbol(BUILD_SYMBOL).ok_or(BuildError::NoBuildId)?;
    let fill = layout(profile, kind)?.fill();
    seal(program, at, fill).ok_or(BuildError::NoBuildId)
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

fn link_program(profile: &Profile, kind: ProgramKind) -> Result<Program, BuildError> {
    let loader = sources::loader();
    let options = Options { defines: defines(profile), ..Options::default() };
    let driver = match profile.uart.kind {
        UartKind::Acia => sources::ACIA.0,
    };
    let mut modules = Vec::new();
    for file in kind.files().chain([driver]) {
        modules.extend(assemble(&loader, &[file.into()], &options)?.modules);
    }
    Ok(link(&modules, &layout(profile, kind)?)?)
}

/// What the sources want to know about the board.
fn defines(profile: &Profile) -> Vec<(String, u16)> {
    let uart = &profile.uart;
    let ports = [("UARTC", uart.control_port), ("UARTD", uart.data_port)];
    ports.map(|(name, port)| (name.to_owned(), u16::from(port))).into()
}

fn layout(profile: &Profile, kind: ProgramKind) -> Result<Layout, BuildError> {
    let name = match kind {
        ProgramKind::Monitor => &profile.monitor.layout,
        ProgramKind::Application => &profile.application.layout,
    };
    let text = sources::layout(name).ok_or_else(|| BuildError::UnknownLayout(name.clone()))?;
    Layout::parse(text).map_err(|error| BuildError::Layout(name.clone(), error))
}

/// Writes the build id into the image; `None` when it has no bytes there.
fn seal(mut program: Program, at: u16, fill: u8) -> Option<BuiltImage> {
    let (address, _) = program.image.bounds()?;
    let build = build_id(&program.image.flat(fill), usize::from(at.checked_sub(address)?));
    for (place, byte) in (at..).zip(build.to_le_bytes()) {
        program.image.set_byte(place, byte).then_some(())?;
    }
    let bytes = program.image.flat(fill);
    Some(BuiltImage { bytes, address, build, program })
}

/// Repeats an image over a whole chip, so that every page that a jumper may choose holds it; `None` when
/// the page does not hold the image or the chip no whole pages.
#[must_use]
pub fn fill_chip(image: &Image, page: usize, chip: usize) -> Option<Vec<u8>> {
    let (first, last) = image.bounds()?;
    if page == 0 || !chip.is_multiple_of(page) || usize::from(last) >= page {
        return None;
    }
    let mut one = vec![0xFF; page];
    let bytes = image.flat(0xFF);
    one[usize::from(first)..usize::from(first) + bytes.len()].copy_from_slice(&bytes);
    Some(one.repeat(chip / page))
}
