//! The directives: their names, and which family carries each out.

mod data;
mod linkage;
mod listing;
mod location;
mod text;

use crate::diag::Code;
use crate::listing::{Macros, Wish};
use crate::source::Span;
use crate::syntax::Cursor;

use super::reader::Jump;
use super::statement::Ending;
use super::{Assembler, Step};

/// The tests of conditional assembly.
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

/// Which of the forms of `.ASCII` it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextEnd {
    /// `.ASCII`: nothing.
    Plain,
    /// `.ASCIZ`: a zero byte follows.
    Zero,
    /// `.ASCIS`: the last byte has its top bit set.
    Marked,
}

/// Things that may be given a second name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Synonym {
    /// Whatever there is.
    Any,
    Operator,
    Symbol,
    Macro,
}

/// A wish about the form of object files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormWish {
    /// `.PABS` or `.PREL`: code as Intel HEX or with its relocations.
    Hex(bool),
    /// `.PBIN` or `.PHEX`.
    Binary(bool),
    /// `.LINK` or `.XLINK`.
    Linkage(bool),
    /// `.PSYM` or `.XPSYM`.
    Symbols(bool),
}

/// The directives.
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
    Text(TextEnd),
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
    /// Says how to list.
    Listing(Wish),
    /// Asks for a form of object file.
    Format(FormWish),
}

impl Directive {
    /// The spelling of each directive; six characters count.
    pub(crate) const NAMES: &[(&str, Directive)] = &[
        (".LOC", Self::Location),
        (".RELOC", Self::Relocate),
        (".PABS", Self::Format(FormWish::Hex(true))),
        (".PREL", Self::Format(FormWish::Hex(false))),
        (".PHEX", Self::Format(FormWish::Binary(false))),
        (".PBIN", Self::Format(FormWish::Binary(true))),
        (".LINK", Self::Format(FormWish::Linkage(true))),
        (".XLINK", Self::Format(FormWish::Linkage(false))),
        (".PSYM", Self::Format(FormWish::Symbols(true))),
        (".XPSYM", Self::Format(FormWish::Symbols(false))),
        (".Z80", Self::Z80),
        (".I8080", Self::I8080),
        (".END", Self::End),
        (".PRGEND", Self::ProgramEnd),
        (".IDENT", Self::Ident),
        (".INSERT", Self::Insert),
        (".BYTE", Self::Byte),
        (".WORD", Self::Word),
        (".ASCII", Self::Text(TextEnd::Plain)),
        (".ASCIZ", Self::Text(TextEnd::Zero)),
        (".ASCIS", Self::Text(TextEnd::Marked)),
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
        (".PAGE", Self::Listing(Wish::Page)),
        (".LIST", Self::Listing(Wish::List(true))),
        (".XLIST", Self::Listing(Wish::List(false))),
        (".LALL", Self::Listing(Wish::Macros(Macros::All))),
        (".XALL", Self::Listing(Wish::Macros(Macros::Code))),
        (".SALL", Self::Listing(Wish::Macros(Macros::None))),
        (".LSYM", Self::Listing(Wish::Symbols(true))),
        (".XSYM", Self::Listing(Wish::Symbols(false))),
        (".LADDR", Self::Listing(Wish::LowFirst(true))),
        (".XADDR", Self::Listing(Wish::LowFirst(false))),
        (".LIMAGE", Self::Listing(Wish::Image(true))),
        (".XIMAGE", Self::Listing(Wish::Image(false))),
        (".LCTL", Self::Listing(Wish::Controls(true))),
        (".XCTL", Self::Listing(Wish::Controls(false))),
        (".SLIST", Self::Listing(Wish::Save)),
        (".RLIST", Self::Listing(Wish::Restore)),
    ];
}

impl Assembler<'_> {
    pub(super) fn directive(
        &mut self,
        directive: Directive,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step<Ending> {
        match directive {
            Directive::If(condition) => self.conditional(condition, cursor),
            Directive::Define => self.define_macro(span, cursor),
            Directive::Exit => self.exit_macro(span),
            Directive::Error => self.user_error(span, cursor),
            Directive::Remark => self.skip_text(cursor),
            Directive::Title | Directive::Subtitle => self.heading(directive, cursor),
            Directive::Print => self.print(cursor),
            Directive::Byte => self.values(super::output::Field::Byte, span, cursor),
            Directive::Word => self.values(super::output::Field::Word, span, cursor),
            Directive::Text(end) => self.texts(end, span, cursor),
            Directive::Rad40 => self.rad40(span, cursor),
            Directive::Reserve(unit) => self.reserve(unit, span, cursor),
            Directive::Date => self.write_date(),
            Directive::Time => self.write_time(),
            Directive::Location => self.location(span, cursor),
            Directive::Relocate => {
                self.emission.output.restore_location();
                self.record.line.value = Some(self.emission.output.here().listed());
                Ok(Ending::Open)
            }
            Directive::Radix => self.set_radix(span, cursor),
            Directive::Z80 | Directive::I8080 => {
                self.emission.intel_only = directive == Directive::I8080;
                Ok(Ending::Open)
            }
            Directive::End | Directive::ProgramEnd => self.end(directive, cursor),
            Directive::Insert => self.insert(span, cursor),
            Directive::Ident => self.ident(span, cursor),
            Directive::External | Directive::Internal | Directive::Entry => {
                self.link(directive, span, cursor)
            }
            Directive::Synonym(kind) => self.synonym(kind, span, cursor),
            Directive::Listing(wish) => self.listing_wish(wish, cursor),
            Directive::Format(wish) => {
                self.ask_form(wish);
                Ok(Ending::Open)
            }
        }
    }

    /// Of several wishes the last one counts, for the whole file.
    fn ask_form(&mut self, wish: FormWish) {
        let form = &mut self.object_form;
        match wish {
            FormWish::Hex(hex) => form.hex = hex,
            FormWish::Binary(binary) => form.binary = binary,
            FormWish::Linkage(linkage) => {
                form.linkage = linkage;
                self.linkage_control(linkage);
            }
            FormWish::Symbols(symbols) => form.symbols = symbols,
        }
    }

    fn exit_macro(&mut self, span: Span) -> Step<Ending> {
        if self.input.macro_depth() == 0 {
            self.error(Code::MacroForm, span, ".EXIT stands outside of a macro");
            return Ok(Ending::Open);
        }
        self.input.jump = Some(Jump::ExitMacro);
        Ok(Ending::Complete)
    }
}
