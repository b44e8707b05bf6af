//! The linker: places the sections of modules in memory and resolves relocations.
//!
//! [`Layout`] defines where sections go. [`link`] reads as the list of its steps: place the
//! sections, resolve the symbols, patch the relocated fields, compute the checksums. Before
//! linking, [`pull`](crate::archive::pull) selects modules from libraries.

mod checksum;
mod error;
mod layout;
mod lines;
mod patch;
mod placement;
mod program;
mod symbols;

pub use checksum::WrittenChecksum;
pub use error::{LinkError, LinkErrors};
pub use layout::{Checksum, ChecksumKind, Layout, LayoutError, Region, Rule};
pub use lines::{LineTable, LinkedLine};
pub use placement::PlacedSection;
pub use program::Program;
pub use symbols::{LinkedSymbol, SymbolTable};

use crate::image::Image;
use crate::module::Module;

use error::Errors;
use patch::PlacedRun;
use placement::Placement;

/// Links modules in the order given.
///
/// # Errors
///
/// Returns all errors at once, up to a hundred: undefined and multiply defined symbols, sections
/// that no rule places or that do not fit their region, overlapping sections, values that do not
/// fit their field, checksums at addresses that the program uses.
pub fn link(modules: &[Module], layout: &Layout) -> Result<Program, LinkErrors> {
    let mut errors = Errors::default();
    for problem in modules.iter().filter_map(|module| module.check_areas().err()) {
        errors.push("L008", || problem.to_string());
    }
    let placement = Placement::new(modules, layout, &mut errors);
    let symbols = SymbolTable::new(modules, layout, &placement, &mut errors);
    let runs = patch::patched_runs(modules, &placement, &symbols, &mut errors);
    let mut image = gather(runs, &symbols, &mut errors);
    let checksums = checksum::write(&mut image, layout, &symbols, &mut errors);
    errors.into_result()?;
    let entry = modules
        .iter()
        .enumerate()
        .find_map(|(index, module)| symbols.value_of(module.start?, (index, module), &placement));
    let sections = placement.sections(modules);
    let lines = LineTable::new(modules, &placement);
    Ok(Program { image, symbols, sections, lines, checksums, entry })
}

fn gather(mut runs: Vec<PlacedRun>, symbols: &SymbolTable, errors: &mut Errors) -> Image {
    runs.retain(|placed| !placed.run.bytes.is_empty());
    runs.sort_by_key(|placed| placed.run.address);
    for pair in runs.windows(2) {
        let address = pair[1].run.address;
        let end = pair[0].run.end().min(pair[1].run.end());
        if end > u32::from(address) {
            errors.push("L005", || {
                let [first, second] = [0, 1].map(|at| symbols.site(pair[at].module, address));
                format!("{first} and {second} both fill {} bytes", end - u32::from(address))
            });
        }
    }
    Image::new(runs.into_iter().map(|placed| placed.run))
}
