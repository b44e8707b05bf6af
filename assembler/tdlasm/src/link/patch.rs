//! Writes final values into relocated fields.

#![deny(clippy::cast_possible_truncation)]

use std::collections::{BTreeMap, BTreeSet};

use super::error::{Errors, LinkError, Site};
use super::placement::Placement;
use super::symbols::SymbolTable;
use crate::image::ImageRun;
use crate::module::{Base, Module, Reloc, RelocKind, Section};

/// The number of uses shown for an undefined symbol, and of undefined symbols with uses shown.
const USES_SHOWN: usize = 3;
const NAMES_SHOWN: usize = 100;

/// A run of bytes at its final address, and the module that owns it.
pub(super) struct PlacedRun {
    pub(super) module: usize,
    pub(super) run: ImageRun,
}

/// Returns the bytes of all sections at their addresses, with every field patched.
pub(super) fn patched_runs(
    modules: &[Module],
    placement: &Placement,
    symbols: &SymbolTable,
    errors: &mut Errors,
) -> Vec<PlacedRun> {
    let mut runs = Vec::new();
    let mut undefined = Undefined::default();
    for (number, module) in modules.iter().enumerate() {
        for section in &module.sections {
            let base = placement.address(number, section.kind).unwrap_or(0);
            let mut bytes: Vec<Vec<u8>> = section.runs.iter().map(|r| r.bytes.clone()).collect();
            for reloc in &section.relocs {
                let site = || symbols.site(number, base.wrapping_add(reloc.offset));
                match symbols.value_of(reloc.target, (number, module), placement) {
                    Some(value) => {
                        let next = base.wrapping_add(reloc.offset).wrapping_add(1);
                        match encoded(reloc.kind, value, next) {
                            Ok(field) => store(section, &mut bytes, reloc.offset, &field),
                            Err((value, field)) => {
                                errors.push(|| LinkError::Range { value, field, site: site() });
                            }
                        }
                    }
                    None => undefined.add(name_of(module, reloc), site),
                }
            }
            runs.extend(section.runs.iter().zip(bytes).map(|(run, bytes)| PlacedRun {
                module: number,
                run: ImageRun { address: base.wrapping_add(run.offset), bytes },
            }));
        }
    }
    for (name, uses) in undefined.uses {
        errors.push(|| LinkError::Undefined { name, uses });
    }
    errors.leave_out(undefined.others.len());
    runs
}

#[derive(Default)]
struct Undefined {
    uses: BTreeMap<String, Vec<Site>>,
    /// Symbols that are only counted.
    others: BTreeSet<String>,
}

impl Undefined {
    /// The position of a use is computed only if it is shown, since finding its label searches all
    /// symbols.
    fn add(&mut self, name: String, site: impl FnOnce() -> Site) {
        if self.uses.len() >= NAMES_SHOWN && !self.uses.contains_key(&name) {
            self.others.insert(name);
            return;
        }
        let uses = self.uses.entry(name).or_default();
        if uses.len() < USES_SHOWN {
            uses.push(site());
        }
    }
}

/// Returns the bytes of a field with a value, or the value that does not fit and what fits. `next`
/// is the address after a field of one byte.
fn encoded(kind: RelocKind, value: u16, next: u16) -> Result<Vec<u8>, (i32, &'static str)> {
    let signed = i32::from(value as i16);
    let [low, high] = value.to_le_bytes();
    Ok(match kind {
        RelocKind::Word => vec![low, high],
        RelocKind::Low => vec![low],
        RelocKind::High => vec![high],
        RelocKind::Abs8 if (-256..=255).contains(&signed) => vec![low],
        RelocKind::Abs8 => return Err((signed, "8 bits (-256 to 255)")),
        RelocKind::Disp8 if (-128..=127).contains(&signed) => vec![low],
        RelocKind::Disp8 => return Err((signed, "an index displacement (-128 to 127)")),
        RelocKind::Rel8 => {
            let distance = i32::from(value.wrapping_sub(next) as i16);
            let offset = i8::try_from(distance);
            vec![offset.map_err(|_| (distance, "a relative jump (-128 to 127 from its end)"))? as u8]
        }
    })
}

/// Writes bytes at an offset of a section, whose runs have these bytes.
fn store(section: &Section, runs: &mut [Vec<u8>], offset: u16, value: &[u8]) {
    let after = section.runs.partition_point(|run| run.offset <= offset);
    let Some(index) = after.checked_sub(1) else { return };
    let within = usize::from(offset - section.runs[index].offset);
    if let Some(place) = runs[index].get_mut(within..within + value.len()) {
        place.copy_from_slice(value);
    }
}

fn name_of(module: &Module, reloc: &Reloc) -> String {
    match reloc.target.base {
        Base::Symbol(index) => module.symbols[index].name.to_string(),
        Base::Section(kind) => kind.tdl_name().to_owned(),
        Base::Absolute => String::new(),
    }
}
