//! The directives that control the listing.

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
    All,
    /// The lines that produce code.
    #[default]
    Code,
    None,
}
