//! The directives and their spellings.

use crate::listing::{ListingDirective, Macros};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    FirstPass,
    SecondPass,
    Defined,
    NotDefined,
    Blank,
    NotBlank,
    Identical,
    Different,
}

/// The terminator of a text, by the form of `.ASCII`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextTerminator {
    /// `.ASCII`: nothing.
    Plain,
    /// `.ASCIZ`: a zero byte follows.
    Zero,
    /// `.ASCIS`: the last byte has its top bit set.
    Marked,
}

/// The kind of name that a synonym directive copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Synonym {
    Any,
    Operator,
    Symbol,
    Macro,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectFormOption {
    /// `.PABS` or `.PREL`: code as Intel HEX or with its relocations.
    Hex(bool),
    /// `.PBIN` or `.PHEX`.
    Binary(bool),
    /// `.LINK` or `.XLINK`.
    Linkage(bool),
    /// `.PSYM` or `.XPSYM`.
    Symbols(bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directive {
    If(Condition),
    Define,
    Exit,
    Error,
    Remark,
    Print,
    Byte,
    Word,
    Text(TextTerminator),
    Rad40,
    Reserve(u8),
    Date,
    Time,
    Location,
    Relocate,
    Radix,
    Z80,
    I8080,
    End,
    ProgramEnd,
    Insert,
    Ident,
    External,
    Internal,
    Entry,
    Synonym(Synonym),
    Title,
    Subtitle,
    Listing(ListingDirective),
    Format(ObjectFormOption),
}

impl Directive {
    /// The spellings of the directives, of which six characters are significant.
    pub(crate) const NAMES: &[(&str, Directive)] = &[
        (".LOC", Self::Location),
        (".RELOC", Self::Relocate),
        (".PABS", Self::Format(ObjectFormOption::Hex(true))),
        (".PREL", Self::Format(ObjectFormOption::Hex(false))),
        (".PHEX", Self::Format(ObjectFormOption::Binary(false))),
        (".PBIN", Self::Format(ObjectFormOption::Binary(true))),
        (".LINK", Self::Format(ObjectFormOption::Linkage(true))),
        (".XLINK", Self::Format(ObjectFormOption::Linkage(false))),
        (".PSYM", Self::Format(ObjectFormOption::Symbols(true))),
        (".XPSYM", Self::Format(ObjectFormOption::Symbols(false))),
        (".Z80", Self::Z80),
        (".I8080", Self::I8080),
        (".END", Self::End),
        (".PRGEND", Self::ProgramEnd),
        (".IDENT", Self::Ident),
        (".INSERT", Self::Insert),
        (".BYTE", Self::Byte),
        (".WORD", Self::Word),
        (".ASCII", Self::Text(TextTerminator::Plain)),
        (".ASCIZ", Self::Text(TextTerminator::Zero)),
        (".ASCIS", Self::Text(TextTerminator::Marked)),
        (".RAD40", Self::Rad40),
        (".BLKB", Self::Reserve(1)),
        (".BLKW", Self::Reserve(2)),
        (".RADIX", Self::Radix),
        (".DATE", Self::Date),
        (".TIME", Self::Time),
        (".EXTERN", Self::External),
        (".INTERN", Self::Internal),
        (".ENTRY", Self::Entry),
        (".OPSYN", Self::Synonym(Synonym::Operator)),
        (".SYSYN", Self::Synonym(Synonym::Symbol)),
        (".MASYN", Self::Synonym(Synonym::Macro)),
        (".SYN", Self::Synonym(Synonym::Any)),
        (".DEFINE", Self::Define),
        (".EXIT", Self::Exit),
        (".ERROR", Self::Error),
        (".REMARK", Self::Remark),
        (".PRNTX", Self::Print),
        (".IFE", Self::If(Condition::Equal)),
        (".IFN", Self::If(Condition::NotEqual)),
        (".IFG", Self::If(Condition::Greater)),
        (".IFGE", Self::If(Condition::GreaterEqual)),
        (".IFL", Self::If(Condition::Less)),
        (".IFLE", Self::If(Condition::LessEqual)),
        (".IF1", Self::If(Condition::FirstPass)),
        (".IF2", Self::If(Condition::SecondPass)),
        (".IFDEF", Self::If(Condition::Defined)),
        (".IFNDEF", Self::If(Condition::NotDefined)),
        (".IFB", Self::If(Condition::Blank)),
        (".IFNB", Self::If(Condition::NotBlank)),
        (".IFIDN", Self::If(Condition::Identical)),
        (".IFDIF", Self::If(Condition::Different)),
        (".TITLE", Self::Title),
        (".SBTTL", Self::Subtitle),
        (".PAGE", Self::Listing(ListingDirective::Page)),
        (".LIST", Self::Listing(ListingDirective::List(true))),
        (".XLIST", Self::Listing(ListingDirective::List(false))),
        (".LALL", Self::Listing(ListingDirective::Macros(Macros::All))),
        (".XALL", Self::Listing(ListingDirective::Macros(Macros::Code))),
        (".SALL", Self::Listing(ListingDirective::Macros(Macros::None))),
        (".LSYM", Self::Listing(ListingDirective::Symbols(true))),
        (".XSYM", Self::Listing(ListingDirective::Symbols(false))),
        (".LADDR", Self::Listing(ListingDirective::LowFirst(true))),
        (".XADDR", Self::Listing(ListingDirective::LowFirst(false))),
        (".LIMAGE", Self::Listing(ListingDirective::Image(true))),
        (".XIMAGE", Self::Listing(ListingDirective::Image(false))),
        (".LCTL", Self::Listing(ListingDirective::Controls(true))),
        (".XCTL", Self::Listing(ListingDirective::Controls(false))),
        (".SLIST", Self::Listing(ListingDirective::Save)),
        (".RLIST", Self::Listing(ListingDirective::Restore)),
    ];
}
