//! Definitions and uses of names, for editors, recorded while reading, in macro texts too.

use smol_str::SmolStr;

use crate::listing::RelocValue;
use crate::source::{Origin, SourceMap, Span};

/// All names of a program, and all references to them.
#[derive(Debug, Clone, Default)]
pub struct References {
    /// The names.
    pub names: Vec<Name>,
    /// The references, in no particular order. One in a macro body occurs once for each call.
    pub entries: Vec<Reference>,
    /// The texts of macro calls, by ascending offset.
    pub(crate) expansions: Vec<Expansion>,
}

/// A name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The significant part of the name, in capitals.
    pub spelling: SmolStr,
    /// The kind of name.
    pub kind: NameKind,
    /// The final value, if it is a symbol defined here.
    pub value: Option<RelocValue>,
    /// Whether it is exported.
    pub exported: bool,
    /// Whether it is a `..local`, visible only up to the next global symbol.
    pub local: bool,
    /// The index of its module.
    pub module: u32,
}

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// An address.
    Label,
    /// A number that can be reassigned.
    Variable,
    /// A number.
    Constant,
    /// A symbol of another module.
    External,
    /// A macro.
    Macro,
    /// A parameter of a macro.
    Parameter,
    /// An instruction, directive, register or section.
    Language,
    /// An undefined name.
    Undefined,
}

/// How a name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceRole {
    /// A definition.
    Definition,
    /// A declaration as external.
    Declaration,
    /// A use of its value or text.
    Use,
}

/// A reference to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The index of the name.
    pub name: u32,
    /// The position, which can be in macro text.
    pub span: Span,
    /// Definition, declaration or use.
    pub role: ReferenceRole,
}

/// The text of a macro call.
#[derive(Debug, Clone)]
pub(crate) struct Expansion {
    /// The offset of the text in the source map.
    pub(crate) base: u32,
    /// Where its parts were written, in order.
    pub(crate) origins: Vec<TextOrigin>,
}

/// Where a part of the text of a macro call was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextOrigin {
    /// The offset in the text at which the part begins.
    pub(crate) at: u32,
    /// Where it was written; `None` if the assembler generated it.
    pub(crate) origin: Option<Span>,
}

/// Where a reference was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourceOrigin {
    /// The position, which is in a file.
    pub span: Span,
    /// Whether the whole name was written there, not joined from a macro's text and arguments.
    pub whole: bool,
}

/// The maximum number of macro texts that are searched for a span of a file.
const MAX_READINGS: usize = 64;

impl References {
    /// Returns where a span, perhaps of macro text, was written; `None` if it was generated.
    pub fn written(&self, sources: &SourceMap, span: Span) -> Option<SourceOrigin> {
        let mut found = SourceOrigin { span, whole: true };
        while let Origin::Macro(_) = sources.source_at(found.span.start).origin {
            let base = sources.source_at(found.span.start).base;
            let at = self.expansions.binary_search_by_key(&base, |one| one.base).ok()?;
            let (span, whole) = origin(&self.expansions[at], found.span)?;
            found = SourceOrigin { span, whole: whole && found.whole };
        }
        Some(found)
    }

    /// Returns all offsets at which the bytes written at `offsets` were read: the offsets
    /// themselves, and those in macro texts.
    pub fn expanded_offsets(&self, offsets: Vec<u32>) -> Vec<u32> {
        let mut found = offsets;
        for expansion in &self.expansions {
            for TextOrigin { at, origin } in &expansion.origins {
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

/// Returns where the start of a span of a macro text was written, and whether all of it was written
/// there.
fn origin(expansion: &Expansion, span: Span) -> Option<(Span, bool)> {
    let Expansion { base, origins } = expansion;
    let start = span.start - base;
    let end = span.end - base;
    let index = origins.partition_point(|one| one.at <= start).checked_sub(1)?;
    let TextOrigin { at, origin } = origins[index];
    let origin = origin?;
    let first = origin.start + (start - at);
    let last = first + (end - start);
    Some((Span::new(first, last.min(origin.end)), last <= origin.end))
}
