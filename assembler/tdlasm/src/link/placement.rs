//! Places sections at addresses by the rules of the layout.

use std::collections::BTreeMap;
use std::ops::Range;

use super::error::Errors;
use super::layout::{Layout, Region, Rule};
use crate::module::{Module, SectionKind, SymbolValue};

/// The addresses of a section of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedSection {
    /// The module's name.
    pub module: String,
    /// The kind of section.
    pub kind: SectionKind,
    /// The first address.
    pub address: u16,
    /// The size in bytes, including reserved space.
    pub size: u32,
}

impl PlacedSection {
    /// Returns its addresses; the end is at most 10000H.
    pub fn addresses(&self) -> Range<u32> {
        u32::from(self.address)..u32::from(self.address) + self.size
    }
}

/// The addresses of all sections that are not empty.
pub(super) struct Placement {
    /// By module, then by section. The offsets of absolute code are addresses.
    addresses: Vec<[Option<u16>; SectionKind::ALL.len()]>,
    commons: BTreeMap<String, u16>,
}

impl Placement {
    pub(super) fn new(modules: &[Module], layout: &Layout, errors: &mut Errors) -> Self {
        let unplaced = [Some(0), None, None, None];
        let mut placement =
            Self { addresses: vec![unplaced; modules.len()], commons: BTreeMap::new() };
        let mut next: Vec<u32> =
            layout.regions.iter().map(|region| u32::from(region.start)).collect();
        // A section is placed by the first rule that matches it, so a rule for one module precedes
        // the rule for all. Each region is filled from its start, so the order of the rules is that
        // of the addresses.
        for rule in &layout.rules {
            let Some(at) = layout.regions.iter().position(|region| region.name == rule.region)
            else {
                continue; // Layout::parse refuses it
            };
            placement.apply(modules, rule, &layout.regions[at], &mut next[at], errors);
        }
        placement.place_commons(modules, layout, &mut next, errors);
        placement.report_unplaced(modules, errors);
        placement
    }

    /// Returns the address of a section. For an absolute section it is 0, since the offsets of its
    /// runs are addresses.
    pub(super) fn address(&self, module: usize, kind: SectionKind) -> Option<u16> {
        self.addresses[module][kind as usize]
    }

    /// Returns the final value of a symbol that the module defines.
    pub(super) fn value(&self, module: usize, value: SymbolValue) -> Option<u16> {
        match value {
            SymbolValue::Absolute(value) => Some(value),
            SymbolValue::InSection(kind, offset) => {
                Some(self.address(module, kind).unwrap_or(0).wrapping_add(offset))
            }
            SymbolValue::Undefined | SymbolValue::Common { .. } => None,
        }
    }

    /// Returns the addresses of the areas that modules share (`.LOC NAME` of an external), by name.
    pub(super) fn commons(&self) -> &BTreeMap<String, u16> {
        &self.commons
    }

    pub(super) fn sections(&self, modules: &[Module]) -> Vec<PlacedSection> {
        let mut placed = Vec::new();
        for (number, module) in modules.iter().enumerate() {
            for section in module.sections.iter().filter(|section| section.size > 0) {
                let Some(base) = self.address(number, section.kind) else { continue };
                let first = match section.kind {
                    SectionKind::Absolute => section.runs.first().map_or(0, |run| run.offset),
                    _ => base,
                };
                placed.push(PlacedSection {
                    module: module.name.clone(),
                    kind: section.kind,
                    address: first,
                    size: section.size - u32::from(first - base),
                });
            }
        }
        placed.sort_by_key(|section| section.address);
        placed
    }

    fn apply(
        &mut self,
        modules: &[Module],
        rule: &Rule,
        region: &Region,
        next: &mut u32,
        errors: &mut Errors,
    ) {
        for (number, module) in modules.iter().enumerate() {
            let wanted = rule.module.as_ref().is_none_or(|name| *name == module.name);
            let size = module.section(rule.section).map_or(0, |section| section.size);
            if !wanted || self.address(number, rule.section).is_some() {
                continue;
            }
            // An empty section may still have labels, but is not aligned.
            let align = if size == 0 { 1 } else { u32::from(rule.align) };
            let address = next.next_multiple_of(align);
            if address + size > region.end() {
                errors.push("L004", || overflow(module, rule.section, region, address, size));
            }
            // After an overflow the following sections are placed as if it had fitted, so that each
            // message is about its own section. The truncated address is never used, since nothing
            // is written after an error.
            self.addresses[number][rule.section as usize] = Some(address as u16);
            *next = address + size;
        }
    }

    /// Gives each shared area the largest size that a module needs, after the sections in the
    /// region of `.BLNK.`.
    fn place_commons(
        &mut self,
        modules: &[Module],
        layout: &Layout,
        next: &mut [u32],
        errors: &mut Errors,
    ) {
        let sizes = common_sizes(modules);
        let rule = layout.rules.iter().find(|rule| rule.section == SectionKind::Blank);
        let region = rule
            .and_then(|rule| layout.regions.iter().position(|region| region.name == rule.region));
        for (name, (module, size)) in sizes {
            let area = format!("the shared area of module {module}");
            let Some(at) = region else {
                errors.push("L003", || unplaced(&area));
                continue;
            };
            let excess = (next[at] + size).saturating_sub(layout.regions[at].end());
            if excess > 0 {
                let region = &layout.regions[at];
                errors.push("L004", || too_long(&area, excess, region, Some(&name)));
                continue;
            }
            self.commons.insert(name, next[at] as u16);
            next[at] += size;
        }
    }

    fn report_unplaced(&mut self, modules: &[Module], errors: &mut Errors) {
        for (module, addresses) in modules.iter().zip(&mut self.addresses) {
            for section in &module.sections {
                if addresses[section.kind as usize].is_none() && section.size > 0 {
                    errors.push("L003", || unplaced(&section_of(module, section.kind)));
                }
            }
            // Sections that are still without an address are empty or have been reported. With
            // address 0 linking can continue and find further errors.
            addresses.iter_mut().for_each(|address| *address = address.or(Some(0)));
        }
    }
}

/// Returns the largest size of each shared area, and a module that needs it.
fn common_sizes(modules: &[Module]) -> BTreeMap<String, (String, u32)> {
    let mut sizes: BTreeMap<String, (String, u32)> = BTreeMap::new();
    for module in modules {
        for symbol in module.symbols.iter() {
            if let SymbolValue::Common { size } = symbol.value {
                let entry = sizes.entry(symbol.name.to_string()).or_default();
                if u32::from(size) >= entry.1 {
                    *entry = (module.name.clone(), u32::from(size));
                }
            }
        }
    }
    sizes
}

fn section_of(module: &Module, kind: SectionKind) -> String {
    format!("{} of module {}", kind.tdl_name(), module.name)
}

fn unplaced(section: &str) -> String {
    format!("no rule of the layout places {section}; add a [[place]] for it")
}

/// Returns the error about a section that passes the end of its region, with the last label that
/// still fits.
fn overflow(
    module: &Module,
    kind: SectionKind,
    region: &Region,
    address: u32,
    size: u32,
) -> String {
    let room = region.end().saturating_sub(address);
    let edge = module.symbols.iter().filter_map(|symbol| match symbol.value {
        SymbolValue::InSection(of, at) if of == kind && u32::from(at) <= room => Some((at, symbol)),
        _ => None,
    });
    let near = edge.max_by_key(|(at, _)| *at).map(|(_, symbol)| symbol.name.as_str());
    too_long(&section_of(module, kind), size - room.min(size), region, near)
}

fn too_long(section: &str, excess: u32, region: &Region, near: Option<&str>) -> String {
    let near = near.map_or(String::new(), |near| format!("; the region ends after {near}"));
    format!("{section} is {excess} bytes too long for region '{}'{near}", region.name)
}
