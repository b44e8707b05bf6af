//! The directives of M80 and pasmo, and other names that today's assemblers have for them.

use super::super::directive::Test;

/// A directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directive {
    /// `DB`: bytes and texts.
    Bytes,
    /// `DW`: words.
    Words,
    /// `DC`: texts whose last byte has its top bit set.
    MarkedText,
    /// `DS`: room, perhaps filled.
    Reserve,
    /// `ORG`: the address of what follows.
    Origin,
    /// `ALIGN`: room up to a multiple.
    Align,
    /// `END`: the end of the source.
    End,
    /// `INCLUDE`: another source.
    Include,
    /// `INCBIN`: the bytes of a file.
    IncludeBinary,
    /// `EXTRN`: symbols of other modules.
    External,
    /// `PUBLIC`: symbols for other modules.
    Global,
    /// `NAME EQU value`.
    Constant,
    /// `NAME DEFL value`, which may be assigned again.
    Variable,
    /// `DEFC NAME = value`.
    ConstantBehind,
    /// `ASEG`, `CSEG`, `DSEG`: the base of the section.
    Segment(u8),
    /// `COMMON /NAME/`: an area that modules share.
    Common,
    /// `IF` and other conditionals, and the result for which their lines are assembled.
    If(Test, bool),
    /// `ELSE`.
    Else,
    /// `ENDIF`.
    EndIf,
    /// `NAME MACRO PARAMETERS`, or `MACRO NAME,PARAMETERS`.
    Macro,
    /// `ENDM`: the end of a macro or repetition.
    EndMacro,
    /// `EXITM`: leaves a macro or repetition.
    ExitMacro,
    /// `LOCAL`: symbols that are new in each call of the macro.
    Local,
    /// `REPT`, `IRP`, `IRPC`.
    Repeat(Repetition),
    /// `ERROR`: a message.
    Error,
    /// Has an effect on listings only, or none.
    Ignored,
}

/// What a block is repeated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// `REPT`: a number of times.
    Count,
    /// `IRP`: each argument of a list.
    Arguments,
    /// `IRPC`: each character of a text.
    Characters,
}

impl Directive {
    /// The directives by their names; any may begin with a period.
    #[rustfmt::skip]
    pub const NAMES: &[(&str, Self)] = &[
        ("DB", Self::Bytes), ("DEFB", Self::Bytes), ("DEFM", Self::Bytes), ("DM", Self::Bytes),
        ("DW", Self::Words), ("DEFW", Self::Words),
        ("DC", Self::MarkedText),
        ("DS", Self::Reserve), ("DEFS", Self::Reserve),
        ("ORG", Self::Origin), ("ALIGN", Self::Align), ("END", Self::End),
        ("INCLUDE", Self::Include), ("INCBIN", Self::IncludeBinary),
        ("EXTRN", Self::External), ("EXTERN", Self::External), ("EXT", Self::External),
        ("PUBLIC", Self::Global), ("GLOBAL", Self::Global), ("GLOBL", Self::Global),
        ("ENTRY", Self::Global), ("EXPORT", Self::Global),
        ("EQU", Self::Constant), ("DEFL", Self::Variable), ("ASET", Self::Variable),
        ("DEFC", Self::ConstantBehind),
        ("ASEG", Self::Segment(0)), ("CSEG", Self::Segment(1)), ("DSEG", Self::Segment(2)),
        ("COMMON", Self::Common),
        ("IF", Self::If(Test::Zero, false)), ("IFT", Self::If(Test::Zero, false)),
        ("COND", Self::If(Test::Zero, false)),
        ("IFE", Self::If(Test::Zero, true)), ("IFF", Self::If(Test::Zero, true)),
        ("IFDEF", Self::If(Test::Defined, true)), ("IFNDEF", Self::If(Test::Defined, false)),
        ("IF1", Self::If(Test::FirstPass, true)), ("IF2", Self::If(Test::FirstPass, false)),
        ("IFB", Self::If(Test::Blank, true)), ("IFNB", Self::If(Test::Blank, false)),
        ("IFIDN", Self::If(Test::Identical, true)), ("IFDIF", Self::If(Test::Identical, false)),
        ("ELSE", Self::Else), ("ENDIF", Self::EndIf), ("ENDC", Self::EndIf),
        ("MACRO", Self::Macro), ("ENDM", Self::EndMacro), ("MEND", Self::EndMacro),
        ("EXITM", Self::ExitMacro), ("LOCAL", Self::Local),
        ("REPT", Self::Repeat(Repetition::Count)),
        ("IRP", Self::Repeat(Repetition::Arguments)),
        ("IRPC", Self::Repeat(Repetition::Characters)),
        ("ERROR", Self::Error),
        ("NAME", Self::Ignored), ("TITLE", Self::Ignored), ("SUBTTL", Self::Ignored),
        ("PAGE", Self::Ignored), ("LIST", Self::Ignored), ("XLIST", Self::Ignored),
        ("LALL", Self::Ignored), ("SALL", Self::Ignored), ("XALL", Self::Ignored),
        ("CREF", Self::Ignored), ("XCREF", Self::Ignored), ("LFCOND", Self::Ignored),
        ("SFCOND", Self::Ignored), ("Z80", Self::Ignored), ("PRINTX", Self::Ignored),
    ];

    /// Returns the directive of a word, in any case.
    pub fn from_word(word: &[u8]) -> Option<Self> {
        let word = word.strip_prefix(b".").unwrap_or(word);
        let mut names = Self::NAMES.iter();
        let known = names.find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()));
        known.map(|(_, directive)| *directive)
    }
}
