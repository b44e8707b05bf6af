//! The directives: their names, and the operands that each takes.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::lex::packed;

/// A directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directive {
    /// `.IFE` and the other conditionals, and the result for which their text is assembled.
    If(Test, bool),
    /// `.DEFINE`.
    Define,
    /// `.EXIT`.
    Exit,
    /// PASM's `.GOTO`.
    Goto,
    /// PASM's `.PROGID`.
    ProgramId,
    /// PASM's `.TEMPS`.
    Temporaries,
    /// `.CREF`, `.LIF`, `.XIF` of PASM 2.00, which change its listings only.
    Ignored,
    /// `.LIBREF` of PASM 2.00, whose effect no known source describes.
    Undescribed,
    /// `.ERROR`.
    Error,
    /// `.REMARK`.
    Remark,
    /// `.PRNTX`.
    Print,
    /// `.BYTE`.
    Byte,
    /// `.WORD`.
    Word,
    /// `.ASCII`, `.ASCIZ`, `.ASCIS`.
    Text(TextTerminator),
    /// `.RAD40`.
    Rad40,
    /// `.BLKB`, `.BLKW`: the bytes of a unit.
    Reserve(u8),
    /// `.DATE`.
    Date,
    /// `.TIME`.
    Time,
    /// `.LOC`.
    Location,
    /// `.RELOC`.
    Relocate,
    /// `.RADIX`.
    Radix,
    /// `.Z80`.
    Z80,
    /// `.I8080`.
    I8080,
    /// `.ZOP`, `.XZOP`: whether instructions have Zilog's mnemonics.
    ZilogMnemonics(bool),
    /// `.EPOP`, `.XEPOP`: whether the directives of M80 are read, too.
    ZilogDirectives(bool),
    /// `.END`.
    End,
    /// `.PRGEND`.
    ProgramEnd,
    /// `.INSERT`.
    Insert,
    /// `.IDENT`.
    Ident,
    /// `.EXTERN`.
    External,
    /// `.INTERN`.
    Internal,
    /// `.ENTRY`.
    Entry,
    /// `.SYN`, `.OPSYN`, `.SYSYN`, `.MASYN`.
    Synonym(Synonym),
    /// `.TITLE`.
    Title,
    /// `.SBTTL`.
    Subtitle,
    /// `.LIST` and the other directives without operand that control the listing.
    Listing(ListingDirective),
    /// `.PABS` and the other directives that select the form of the object.
    Format(ObjectFormOption),
}

/// The operands of a directive, as far as they determine where its statement ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandKind {
    /// Expressions, symbols, or nothing.
    Expressions,
    /// A delimited text.
    Text,
    /// Delimited texts, and bytes in brackets between them.
    Texts,
    /// The name of a file: the rest of the line.
    File,
    /// The name, parameters and text of a macro.
    Macro,
    /// An expression or symbol, and conditional text after a comma.
    Condition,
    /// This number of delimited texts, and conditional text after a comma.
    TextCondition(usize),
}

/// What a conditional tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the tests")]
pub enum Test {
    Zero,
    Positive,
    Negative,
    FirstPass,
    Defined,
    Blank,
    Identical,
}

/// The terminator of a text, by the form of `.ASCII`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextTerminator {
    /// `.ASCII`: nothing.
    Plain,
    /// `.ASCIZ`: a zero byte follows.
    Zero,
    /// `.ASCIS`: the last byte has its top bit set.
    Marked,
}

/// The kind of name that a synonym directive copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synonym {
    /// `.SYN`: whatever the name is.
    Any,
    /// `.OPSYN`: an instruction or directive.
    Operator,
    /// `.SYSYN`: a symbol.
    Symbol,
    /// `.MASYN`: a macro.
    Macro,
}

/// An option of the object file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectFormOption {
    /// `.PABS` or `.PREL`: code as Intel HEX or with its relocations.
    Hex(bool),
    /// `.PBIN` or `.PHEX`.
    Binary(bool),
    /// `.LINK` or `.XLINK`.
    Linkage(bool),
    /// `.PSYM` or `.XPSYM`.
    Symbols(bool),
}

/// A directive without operand that controls the listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListingDirective {
    /// `.LIST`, `.XLIST`: whether lines are listed.
    List(bool),
    /// `.LALL`, `.XALL`, `.SALL`: how much of macro texts is listed.
    Macros(ListedMacros),
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
pub enum ListedMacros {
    /// Every line.
    All,
    /// The lines that produce code.
    #[default]
    Code,
    /// No line.
    None,
}

static BY_NAME: LazyLock<FxHashMap<u32, Directive>> = LazyLock::new(|| {
    let by_name = |(name, directive): &(&str, Directive)| (packed(name.as_bytes()), *directive);
    Directive::NAMES.iter().chain(Directive::OF_PASM).map(by_name).collect()
});

use ListingDirective::{Controls, Image, List, LowFirst, Macros, Page, Restore, Save, Symbols};
use ObjectFormOption::{Binary, Hex, Linkage};

impl Directive {
    /// Returns the directive of a word, in any case; `None` if neither ZASM nor PASM has one of this
    /// name.
    pub fn from_word(word: &[u8]) -> Option<Self> {
        word.starts_with(b".").then(|| BY_NAME.get(&packed(word)).copied())?
    }

    /// Returns the kind of operands that the directive takes.
    pub fn operands(self) -> OperandKind {
        match self {
            Self::Text(_) => OperandKind::Texts,
            Self::Title | Self::Subtitle | Self::Remark | Self::Print | Self::Error => {
                OperandKind::Text
            }
            Self::Insert => OperandKind::File,
            Self::Define => OperandKind::Macro,
            Self::If(Test::Blank, _) => OperandKind::TextCondition(1),
            Self::If(Test::Identical, _) => OperandKind::TextCondition(2),
            Self::If(..) => OperandKind::Condition,
            Self::Exit
            | Self::Goto
            | Self::ProgramId
            | Self::Temporaries
            | Self::Ignored
            | Self::Undescribed
            | Self::Byte
            | Self::Word
            | Self::Rad40
            | Self::Reserve(_)
            | Self::Date
            | Self::Time
            | Self::Location
            | Self::Relocate
            | Self::Radix
            | Self::Z80
            | Self::I8080
            | Self::ZilogMnemonics(_)
            | Self::ZilogDirectives(_)
            | Self::End
            | Self::ProgramEnd
            | Self::Ident
            | Self::External
            | Self::Internal
            | Self::Entry
            | Self::Synonym(_)
            | Self::Listing(_)
            | Self::Format(_) => OperandKind::Expressions,
        }
    }

    /// The directives that only PASM has; those from `.COMMENT` on are PASM 2.00's, by the
    /// documentation of a peer, which has `.LIBREF` in two spellings.
    #[rustfmt::skip]
    pub const OF_PASM: &[(&str, Directive)] = &[
        (".GOTO", Self::Goto), (".PROGID", Self::ProgramId), (".TEMPS", Self::Temporaries),
        (".COMMENT", Self::Remark),
        (".CREF", Self::Ignored), (".LIF", Self::Ignored), (".XIF", Self::Ignored),
        (".LIBREF", Self::Undescribed), (".LIBREL", Self::Undescribed),
    ];

    /// The directives by their names, of which six characters are significant.
    #[rustfmt::skip]
    pub const NAMES: &[(&str, Directive)] = &[
        (".LOC", Self::Location), (".RELOC", Self::Relocate),
        (".PABS", Self::Format(Hex(true))), (".PREL", Self::Format(Hex(false))),
        (".PHEX", Self::Format(Binary(false))), (".PBIN", Self::Format(Binary(true))),
        (".LINK", Self::Format(Linkage(true))), (".XLINK", Self::Format(Linkage(false))),
        (".PSYM", Self::Format(ObjectFormOption::Symbols(true))),
        (".XPSYM", Self::Format(ObjectFormOption::Symbols(false))),
        (".Z80", Self::Z80), (".I8080", Self::I8080),
        (".ZOP", Self::ZilogMnemonics(true)), (".XZOP", Self::ZilogMnemonics(false)),
        (".IOP", Self::ZilogMnemonics(false)),
        (".EPOP", Self::ZilogDirectives(true)), (".XEPOP", Self::ZilogDirectives(false)),
        (".END", Self::End), (".PRGEND", Self::ProgramEnd),
        (".IDENT", Self::Ident), (".INSERT", Self::Insert),
        (".BYTE", Self::Byte), (".WORD", Self::Word),
        (".ASCII", Self::Text(TextTerminator::Plain)), (".ASCIZ", Self::Text(TextTerminator::Zero)),
        (".ASCIS", Self::Text(TextTerminator::Marked)), (".RAD40", Self::Rad40),
        (".BLKB", Self::Reserve(1)), (".BLKW", Self::Reserve(2)),
        (".RADIX", Self::Radix), (".DATE", Self::Date), (".TIME", Self::Time),
        (".EXTERN", Self::External), (".INTERN", Self::Internal), (".ENTRY", Self::Entry),
        (".OPSYN", Self::Synonym(Synonym::Operator)), (".SYSYN", Self::Synonym(Synonym::Symbol)),
        (".MASYN", Self::Synonym(Synonym::Macro)), (".SYN", Self::Synonym(Synonym::Any)),
        (".DEFINE", Self::Define), (".EXIT", Self::Exit),
        (".ERROR", Self::Error), (".REMARK", Self::Remark), (".PRNTX", Self::Print),
        (".IFE", Self::If(Test::Zero, true)), (".IFN", Self::If(Test::Zero, false)),
        (".IFG", Self::If(Test::Positive, true)), (".IFGE", Self::If(Test::Negative, false)),
        (".IFL", Self::If(Test::Negative, true)), (".IFLE", Self::If(Test::Positive, false)),
        (".IF1", Self::If(Test::FirstPass, true)), (".IF2", Self::If(Test::FirstPass, false)),
        (".IFDEF", Self::If(Test::Defined, true)), (".IFNDEF", Self::If(Test::Defined, false)),
        (".IFB", Self::If(Test::Blank, true)), (".IFNB", Self::If(Test::Blank, false)),
        (".IFIDN", Self::If(Test::Identical, true)), (".IFDIF", Self::If(Test::Identical, false)),
        (".TITLE", Self::Title), (".SBTTL", Self::Subtitle), (".PAGE", Self::Listing(Page)),
        (".LIST", Self::Listing(List(true))), (".XLIST", Self::Listing(List(false))),
        (".LALL", Self::Listing(Macros(ListedMacros::All))),
        (".XALL", Self::Listing(Macros(ListedMacros::Code))),
        (".SALL", Self::Listing(Macros(ListedMacros::None))),
        (".LSYM", Self::Listing(Symbols(true))), (".XSYM", Self::Listing(Symbols(false))),
        (".LADDR", Self::Listing(LowFirst(true))), (".XADDR", Self::Listing(LowFirst(false))),
        (".LIMAGE", Self::Listing(Image(true))), (".XIMAGE", Self::Listing(Image(false))),
        (".LCTL", Self::Listing(Controls(true))), (".XCTL", Self::Listing(Controls(false))),
        (".SLIST", Self::Listing(Save)), (".RLIST", Self::Listing(Restore)),
    ];
}
