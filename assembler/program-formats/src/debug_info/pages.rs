//! Pages of memory that share addresses.

use std::collections::{BTreeMap, BTreeSet};

use super::{DebugInfo, SymbolKind};

/// The pages of a program. A Z80 sees one page at an address; which one is not known here, so of pages
/// that share addresses the one with the lowest number is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages {
    all: BTreeSet<u32>,
    hidden: BTreeSet<u32>,
}

impl Pages {
    /// Returns `true` unless another page is shown at the addresses of this one.
    pub fn shows(&self, page: Option<u32>) -> bool {
        page.is_none_or(|page| !self.hidden.contains(&page))
    }

    /// Returns `true` if the program has more than one page.
    pub fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    /// Returns what a user should know if pages share addresses.
    pub(crate) fn note(&self) -> Option<String> {
        let list = |pages: &mut dyn Iterator<Item = &u32>| {
            pages.map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let hidden = list(&mut self.hidden.iter());
        let shown = list(&mut self.all.difference(&self.hidden));
        (!hidden.is_empty()).then(|| {
            format!(
                "pages share addresses: labels and lines of pages {shown} are shown, not those of {hidden}"
            )
        })
    }
}

impl DebugInfo {
    /// Returns the pages of labels and lines.
    pub fn pages(&self) -> Pages {
        let labels = self.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Address);
        let labels = labels.filter_map(|one| Some((one.page?, u16::try_from(one.value).ok()?)));
        let lines = self.lines.iter().filter_map(|line| Some((line.page?, line.address)));
        let mut bounds: BTreeMap<u32, (u16, u16)> = BTreeMap::new();
        for (page, address) in labels.chain(lines) {
            let (first, last) = bounds.entry(page).or_insert((address, address));
            (*first, *last) = (address.min(*first), address.max(*last));
        }
        let mut pages = Pages::default();
        let mut shown: Vec<(u16, u16)> = Vec::new();
        for (page, (first, last)) in bounds {
            pages.all.insert(page);
            if shown.iter().any(|other| first <= other.1 && other.0 <= last) {
                pages.hidden.insert(page);
            } else {
                shown.push((first, last));
            }
        }
        pages
    }
}
