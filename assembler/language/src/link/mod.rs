//! The linker: places the sections of assembled modules in memory and fills in what depended on it.
//!
//! [`Layout`] says where sections go, `place` puts them there, `symbols` finds what each name
//! stands for, `patch` writes the relocated fields, `checksum` what is computed over the whole, and
//! [`link`] reads as the list of these steps. Before it, [`pull`](crate::archive::pull) chooses
//! what is needed of libraries.

mod checksum;
mod error;
mod layout;
mod lines;
mod map;
mod patch;
mod place;
mod symbols;

pub use checksum::{Checksum, ChecksumKind, WrittenChecksum};
pub use error::{LinkError, LinkErrors, Site};
pub use layout::{Layout, LayoutError, Region, Rule};
pub use lines::{LineTable, LinkedLine};
pub use symbols::{LinkedSymbol, SymbolTable};

use crate::image::{Image, Run};
use crate::module::{Base, Module, SectionKind, Target};

use error::Errors;
use place::Placement;

/// A linked program: bytes at addresses and the names of those addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The bytes that the program consists of; reserved space holds none.
    pub image: Image,
    /// Every symbol of every module, with its final value.
    pub symbols: SymbolTable,
    /// The places of the sections, in ascending order of addresses.
    pub sections: Vec<PlacedSection>,
    /// Which line made which byte, as far as the modules tell.
    pub lines: LineTable,
    /// The checksums in the image.
    pub checksums: Vec<WrittenChecksum>,
    /// The start address, if a module's `.END` says so; the first one that does counts.
    pub entry: Option<u16>,
}

impl Program {
    /// The value of a symbol: the exported one of that name or else the first local one.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<u16> {
        self.symbols.value(name)
    }
}

/// A section of a module and the addresses that it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedSection {
    /// The module's name.
    pub module: String,
    /// Which of its sections.
    pub kind: SectionKind,
    /// First address.
    pub address: u16,
    /// Bytes from the first to the last, reserved ones included.
    pub size: u32,
}

/// Links modules in the order given.
///
/// # Errors
/// All that is wrong at once, up to a hundred errors: undefined and doubly defined symbols,
/// sections that no rule places or that do not fit their region, bytes that two sections claim,
/// values that do not fit their field, checksums without room.
pub fn link(modules: &[Module], layout: &Layout) -> Result<Program, LinkErrors> {
    let mut errors = Errors::default();
    for problem in modules.iter().filter_map(|module| module.check_areas().err()) {
        errors.push(|| LinkError::Area(problem));
    }
    let placement = Placement::new(modules, layout, &mut errors);
    let symbols = SymbolTable::new(modules, layout, &placement, &mut errors);
    let runs = patch::patched_runs(modules, &placement, &symbols, &mut errors);
    let mut image = gather(runs, &symbols, &mut errors);
    let checksums = checksum::write(&mut image, layout, &symbols, &mut errors);
    errors.into_result()?;
    let entry = modules.iter().enumerate().find_map(|(index, module)| {
        module.start.and_then(|start| value_of(index, start, &placement, &symbols))
    });
    let sections = placement.sections(modules);
    let lines = LineTable::new(modules, &placement);
    Ok(Program { image, symbols, sections, lines, checksums, entry })
}

/// The final value of a target of a module; `None` when its symbol is defined nowhere.
fn value_of(
    module: usize,
    target: Target,
    placement: &Placement,
    symbols: &SymbolTable,
) -> Option<u16> {
    let base = match target.base {
        Base::Absolute => 0,
        Base::Section(kind) => placement.address(module, kind)?,
        Base::Symbol(index) => symbols.resolve(module, index)?,
    };
    Some(base.wrapping_add(target.addend as u16))
}

/// A run of bytes at its final address, and whose it is.
struct OwnedRun {
    module: usize,
    address: u16,
    bytes: Vec<u8>,
}

fn gather(mut runs: Vec<OwnedRun>, symbols: &SymbolTable, errors: &mut Errors) -> Image {
    runs.retain(|run| !run.bytes.is_empty());
    runs.sort_by_key(|run| run.address);
    for pair in runs.windows(2) {
        let address = pair[1].address;
        let end = pair[0].end().min(pair[1].end());
        if end > u32::from(address) {
            errors.push(|| LinkError::Overlap {
                bytes: end - u32::from(address),
                first: symbols.site(pair[0].module, address),
                second: symbols.site(pair[1].module, address),
            });
        }
    }
    Image::new(runs.into_iter().map(|run| Run { address: run.address, bytes: run.bytes }))
}

impl OwnedRun {
    /// Just past the last address.
    fn end(&self) -> u32 {
        u32::from(self.address) + self.bytes.len() as u32
    }
}
