//! Linking for the commands: layouts, and errors said to people.

use std::path::Path;

use tdlasm::link::{Layout, Program, Region, Rule, link};
use tdlasm::module::{Module, SectionKind};

use super::Failed;

/// Reads and checks a layout file.
pub(crate) fn read_layout(path: &Path) -> Result<Layout, Failed> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        eprintln!("error: cannot read {}: {error}", path.display());
        Failed::File
    })?;
    Layout::parse(&text).map_err(|error| {
        eprintln!("error: {}: {error}", path.display());
        Failed::Usage
    })
}

/// A layout that puts everything at 0, one section after the other.
pub(crate) fn whole_memory() -> Layout {
    let region = Region { name: "memory".into(), start: 0, size: 0x10000, fill: 0 };
    let rule = |section| Rule { section, module: None, region: "memory".into(), align: 1 };
    let rules = [SectionKind::Prog, SectionKind::Data, SectionKind::Blank].map(rule);
    Layout { regions: vec![region], rules: rules.into(), ..Layout::default() }
}

/// Links; says what is wrong if that fails.
pub(crate) fn link_or_say(modules: &[Module], layout: &Layout) -> Result<Program, Failed> {
    link(modules, layout).map_err(|errors| {
        for error in &errors.0 {
            eprintln!("error[{}]: {error}", error.code());
        }
        Failed::Source
    })
}
