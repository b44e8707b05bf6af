//! The directives that control the listing.

pub(crate) use crate::syntax::directive::{ListedMacros, ListingDirective};

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
