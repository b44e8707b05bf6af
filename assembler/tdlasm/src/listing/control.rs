//! The directives that control the listing.

/// A listing directive with its operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListingControl {
    /// A directive without operand.
    Directive(ListingDirective),
    /// `.TITLE`.
    Title(String),
    /// `.SBTTL`.
    Subtitle(String),
    /// `.IDENT`.
    Ident(String),
    /// `.LINK`, `.XLINK`: whether the object contains names.
    Linkage(bool),
}

/// A listing directive without operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListingDirective {
    /// `.LIST`, `.XLIST`: whether lines are listed.
    List(bool),
    /// `.LALL`, `.XALL`, `.SALL`: how much of macro texts is listed.
    Macros(Macros),
    /// `.LSYM`, `.XSYM`: whether the symbol table is listed.
    Symbols(bool),
    /// `.LADDR`, `.XADDR`: whether words are shown low byte first.
    LowFirst(bool),
    /// `.LIMAGE`, `.XIMAGE`: whether all bytes are shown, or the first line of them.
    Image(bool),
    /// `.LCTL`, `.XCTL`: whether listing directives are listed.
    Controls(bool),
    /// `.SLIST`: save the listing options.
    Save,
    /// `.RLIST`: restore the listing options.
    Restore,
    /// `.PAGE`: a new page.
    Page,
}

/// How much of macro texts is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Macros {
    /// Every line.
    All,
    /// The lines that produce code.
    #[default]
    Code,
    /// Nothing.
    None,
}
