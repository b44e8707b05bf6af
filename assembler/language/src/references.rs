//! Definitions and uses of names, for editors: what the assembler notes as it reads,
//! in macro texts too.

use smol_str::SmolStr;

use crate::listing::Listed;
use crate::source::{Origin, SourceMap, Span};

/// All names that a run met, and every place where they stand.
#[derive(Debug, Clone, Default)]
pub struct References {
    /// The names.
    pub names: Vec<Name>,
    /// Their places, in no order; a place in a macro's body comes once for each call.
    pub mentions: Vec<Mention>,
    /// The macro texts, by their places in the source map.
    pub(crate) expansions: Vec<Expansion>,
    /// The stretches that they were made of.
    pub(crate) pieces: Vec<Piece>,
}

/// A name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name in capitals, as far as it counts.
    pub spelling: SmolStr,
    /// The meaning of the name.
    pub kind: Kind,
    /// Its value at the end, if it is a symbol that is defined here.
    pub value: Option<Listed>,
    /// Whether other modules can use it.
    pub exported: bool,
    /// Whether it holds from one global symbol to the next only.
    pub local: bool,
    /// The module that it belongs to.
    pub module: u32,
}

/// The meaning of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A place.
    Label,
    /// A number that may change.
    Variable,
    /// A number.
    Constant,
    /// A symbol of another module.
    External,
    /// A macro.
    Macro,
    /// An argument in the body of a macro.
    Parameter,
    /// An instruction, directive, register or section.
    Language,
    /// Nothing.
    Undefined,
}

/// The way a name is mentioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It gets its meaning here.
    Definition,
    /// It is said to be external.
    Declaration,
    /// Its value or text is used.
    Use,
}

/// A place where a name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mention {
    /// The index of the name.
    pub name: u32,
    /// Its place, perhaps in the text of a macro.
    pub span: Span,
    /// The role that it has there.
    pub role: Role,
}

/// The text of a macro call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expansion {
    /// The offset of its text in the source map.
    pub(crate) base: u32,
    /// The index of the first of its pieces; they end where those of the next text begin.
    pub(crate) first: u32,
}

/// A stretch of the text of a macro call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    /// The offset in the text at which it begins.
    pub(crate) at: u32,
    /// The place where it was written; `None` if nobody wrote it.
    pub(crate) origin: Option<Span>,
}

/// The origin of a mention in a written text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Written {
    /// The place, which is in a file.
    pub span: Span,
    /// Whether the name stands there whole, not joined of a macro's text and its arguments.
    pub whole: bool,
}

impl References {
    /// Returns where a stretch was written that may be in the text of a macro; `None` if the
    /// assembler made it up.
    pub fn written(&self, sources: &SourceMap, span: Span) -> Option<Written> {
        let mut found = Written { span, whole: true };
        while let Origin::Macro(_) = sources.source_at(found.span.start).origin {
            let base = sources.source_at(found.span.start).base;
            let at = self.expansions.binary_search_by_key(&base, |one| one.base).ok()?;
            let (span, whole) = origin(base, self.pieces(at), found.span)?;
            found = Written { span, whole: whole && found.whole };
        }
        Some(found)
    }

    /// The pieces of a macro text.
    fn pieces(&self, expansion: usize) -> &[Piece] {
        let first = |at: usize| self.expansions.get(at).map(|one| one.first as usize);
        let end = first(expansion + 1).unwrap_or(self.pieces.len());
        &self.pieces[first(expansion).unwrap_or(end)..end]
    }
}

/// A stretch of a file is looked for in so many macro texts.
const MAX_READINGS: usize = 64;

impl References {
    /// All offsets at which a byte was read that was written at one of the `offsets`: those, and in
    /// macro texts.
    pub fn readings(&self, offsets: Vec<u32>) -> Vec<u32> {
        let mut found = offsets;
        for (index, expansion) in self.expansions.iter().enumerate() {
            for Piece { at, origin } in self.pieces(index) {
                let Some(origin) = origin else { continue };
                let within = |offset: &u32| (origin.start..origin.end).contains(offset);
                if let Some(offset) = found.iter().copied().find(within) {
                    found.push(expansion.base + at + (offset - origin.start));
                }
            }
            if found.len() > MAX_READINGS {
                break;
            }
        }
        found
    }
}

/// Returns where the start of a stretch was written that is in the macro text at `base`, and
/// whether all of it was written there.
fn origin(base: u32, pieces: &[Piece], span: Span) -> Option<(Span, bool)> {
    let start = span.start - base;
    let end = span.end - base;
    let piece = pieces.partition_point(|piece| piece.at <= start).checked_sub(1)?;
    let Piece { at, origin } = pieces[piece];
    let origin = origin?;
    let first = origin.start + (start - at);
    let last = first + (end - start);
    Some((Span::new(first, last.min(origin.end)), last <= origin.end))
}
