//! The listing options, and the directives that set them.

pub(crate) use crate::syntax::directive::{ListedMacros, ListingDirective};

/// The depth to which `.SLIST` can be nested: TDL manual 2.2, "Listing control".
const MAX_SAVED: usize = 4;

/// A directive that controls the listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListingControl {
    /// A directive without operand.
    Directive(ListingDirective),
    Title(String),
    Subtitle(String),
    Ident(String),
    /// `.LINK`, `.XLINK`: whether the object contains names.
    Linkage(bool),
}

/// The listing options, by default those that ZASM starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListingOptions {
    pub(super) list: bool,
    pub(super) macros: ListedMacros,
    pub(super) symbols: bool,
    pub(super) low_first: bool,
    pub(super) image: bool,
    pub(super) controls: bool,
}

impl Default for ListingOptions {
    fn default() -> Self {
        Self {
            list: true,
            macros: ListedMacros::Code,
            symbols: true,
            low_first: false,
            image: false,
            controls: false,
        }
    }
}

impl ListingOptions {
    /// Applies a directive. `saved` are the options that `.SLIST` saved; new pages are left to the
    /// caller.
    pub(super) fn apply(&mut self, directive: ListingDirective, saved: &mut Vec<Self>) {
        match directive {
            ListingDirective::List(on) => self.list = on,
            ListingDirective::Macros(macros) => self.macros = macros,
            ListingDirective::Symbols(on) => self.symbols = on,
            ListingDirective::LowFirst(on) => self.low_first = on,
            ListingDirective::Image(on) => self.image = on,
            ListingDirective::Controls(on) => self.controls = on,
            ListingDirective::Save if saved.len() < MAX_SAVED => saved.push(*self),
            ListingDirective::Restore => *self = saved.pop().unwrap_or_default(),
            ListingDirective::Save | ListingDirective::Page => {}
        }
    }
}
