//! Writes final values into relocated fields.

#![deny(clippy::cast_possible_truncation)]

use std::collections::BTreeMap;

use super::error::Errors;
use super::placement::Placement;
use super::symbols::SymbolTable;
use crate::image::ImageRun;
use crate::module::{Base, Module, Reloc, RelocKind, Section};

/// The number of uses shown for an undefined symbol.
const USES_SHOWN: usize = 3;

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
    // Module and address of the uses of each undefined symbol.
    let mut undefined: BTreeMap<String, Vec<(usize, u16)>> = BTreeMap::new();
    for (number, module) in modules.iter().enumerate() {
        for section in &module.sections {
            let base = placement.address(number, section.kind).unwrap_or(0);
            let mut bytes: Vec<Vec<u8>> = section.runs.iter().map(|r| r.bytes.clone()).collect();
            for reloc in &section.relocs {
                let address = base.wrapping_add(reloc.offset);
                let Some(value) = symbols.value_of(reloc.target, (number, module), placement)
                else {
                    let uses = undefined.entry(name_of(module, reloc)).or_default();
                    uses.push((number, address));
                    continue;
                };
                match encoded(reloc.kind, value, address.wrapping_add(1)) {
                    Ok(field) => store(section, &mut bytes, reloc.offset, &field),
                    Err((value, field)) => errors.push("L006", || {
                        format!("{value} does not fit {field} in {}", symbols.site(number, address))
                    }),
                }
            }
            runs.extend(section.runs.iter().zip(bytes).map(|(run, bytes)| PlacedRun {
                module: number,
                run: ImageRun { address: base.wrapping_add(run.offset), bytes },
            }));
        }
    }
    for (name, uses) in undefined {
        errors.push("L001", || {
            let uses = uses.iter().take(USES_SHOWN);
            let uses: Vec<String> = uses.map(|(module, at)| symbols.site(*module, *at)).collect();
            format!("no module defines {name}; it is used in {}", uses.join("; "))
        });
    }
    runs
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
