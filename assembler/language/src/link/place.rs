//! Puts sections at addresses, by the rules of the layout.

use std::collections::BTreeMap;

use crate::module::{Module, SectionKind, SymbolValue};

use super::PlacedSection;
use super::error::{Errors, LinkError};
use super::layout::{Layout, Region, Rule};

/// The address of every section that holds something.
pub(super) struct Placement {
    /// By module, then by [`index`] of the section.
    addresses: Vec<[Option<u16>; 3]>,
    commons: BTreeMap<String, u16>,
}

impl Placement {
    pub(super) fn new(modules: &[Module], layout: &Layout, errors: &mut Errors) -> Self {
        let mut placement =
            Self { addresses: vec![[None; 3]; modules.len()], commons: BTreeMap::new() };
        let mut next: Vec<u32> =
            layout.regions.iter().map(|region| u32::from(region.start)).collect();
        // Rules in their order, modules in theirs, and a section goes by the first rule that names
        // it: a rule for one module stands before that for all. Each region fills from its start
        // and is never gone back in, so that the order in the file is that of the addresses.
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

    /// The address of a section; an absolute one is at 0, since its runs carry their addresses.
    pub(super) fn address(&self, module: usize, kind: SectionKind) -> Option<u16> {
        index(kind).map_or(Some(0), |slot| self.addresses[module][slot])
    }

    /// The areas that modules share under a name (`.LOC NAME` of an external), by name.
    pub(super) fn commons(&self) -> &BTreeMap<String, u16> {
        &self.commons
    }

    pub(super) fn sections(&self, modules: &[Module]) -> Vec<PlacedSection> {
        let mut placed: Vec<_> = (modules.iter().enumerate())
            .flat_map(|(number, module)| {
                module.sections.iter().filter(|section| section.size > 0).filter_map(
                    move |section| {
                        let base = self.address(number, section.kind)?;
                        let first = match section.kind {
                            SectionKind::Absolute => {
                                section.runs.first().map_or(0, |run| run.offset)
                            }
                            _ => base,
                        };
                        let size = section.size - u32::from(first - base);
                        Some(PlacedSection {
                            module: module.name.clone(),
                            kind: section.kind,
                            address: first,
                            size,
                        })
                    },
                )
            })
            .collect();
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
        let Some(slot) = index(rule.section) else { return };
        for (number, module) in modules.iter().enumerate() {
            let wanted = rule.module.as_ref().is_none_or(|name| *name == module.name);
            let size = module.section(rule.section).map_or(0, |section| section.size);
            if !wanted || self.addresses[number][slot].is_some() {
                continue;
            }
            // A section of no bytes may still carry labels; nothing is left free for it.
            let align = if size == 0 { 1 } else { u32::from(rule.align) };
            let address = next.next_multiple_of(align);
            if address + size > region.end() {
                errors.push(|| overflow(module, rule.section, region, address, size));
            }
            // Also after an overflow: the sections behind it are placed as if it fitted, so that
            // each message names what its own section lacks. The address is cut, but nothing is
            // written after an error.
            self.addresses[number][slot] = Some(address as u16);
            *next = address + size;
        }
    }

    /// Gives each shared area the largest size that a module asks for, after the sections of
    /// `.BLNK.`'s region.
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
            let section = "the shared area";
            let Some(at) = region else {
                errors.push(|| LinkError::Unplaced { module, section });
                continue;
            };
            let excess = (next[at] + size).saturating_sub(layout.regions[at].end());
            if excess > 0 {
                let region = layout.regions[at].name.clone();
                let near = Some(name);
                errors.push(|| LinkError::Overflow { module, section, region, excess, near });
                continue;
            }
            self.commons.insert(name, next[at] as u16);
            next[at] += size;
        }
    }

    fn report_unplaced(&mut self, modules: &[Module], errors: &mut Errors) {
        for (module, addresses) in modules.iter().zip(&mut self.addresses) {
            for section in &module.sections {
                let Some(slot) = index(section.kind) else { continue };
                if addresses[slot].is_none() && section.size > 0 {
                    let module = module.name.clone();
                    let section = section.kind.tdl_name();
                    errors.push(|| LinkError::Unplaced { module, section });
                }
            }
            // Only what has been reported, or has no bytes, is still without an address. With 0 for
            // it the rest of the link goes on, and finds further errors.
            addresses.iter_mut().for_each(|address| *address = address.or(Some(0)));
        }
    }
}

/// The largest size asked for under each shared name, and a module that asks for it.
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

fn overflow(
    module: &Module,
    kind: SectionKind,
    region: &Region,
    address: u32,
    size: u32,
) -> LinkError {
    let room = region.end().saturating_sub(address);
    let edge = module.symbols.iter().filter_map(|symbol| match symbol.value {
        SymbolValue::InSection(of, at) if of == kind && u32::from(at) <= room => Some((at, symbol)),
        _ => None,
    });
    LinkError::Overflow {
        module: module.name.clone(),
        section: kind.tdl_name(),
        region: region.name.clone(),
        excess: size - room.min(size),
        near: edge.max_by_key(|(at, _)| *at).map(|(_, symbol)| symbol.name.to_string()),
    }
}

fn index(kind: SectionKind) -> Option<usize> {
    match kind {
        SectionKind::Absolute => None,
        SectionKind::Prog => Some(0),
        SectionKind::Data => Some(1),
        SectionKind::Blank => Some(2),
    }
}
