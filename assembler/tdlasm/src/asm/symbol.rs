//! The states of a symbol, and what a definition makes of it.
//!
//! The language manual has the effects in a table, which a test compares with the messages.

use super::pass::Pass;
use super::value::Value;

/// A symbol. Its first definition decides what it is; only a variable can be assigned again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Symbol {
    #[default]
    Undefined,
    Variable(Value),
    Constant(Value),
    Label(Value),
    /// Declared by `.EXTERN` or `NAME#`: the start of its area.
    External(Value),
}

/// How a statement defines a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SymbolKind {
    /// `NAME = value`.
    Variable,
    /// `NAME == value`.
    Constant,
    /// `NAME:`.
    Label,
}

/// The passes that have defined a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum DefinedIn {
    #[default]
    NoPass,
    FirstPass,
    BothPasses,
    SecondPassOnly,
}

/// The effect of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Definition {
    /// The symbol becomes what the statement defines.
    Assigned,
    /// The symbol stays what it is, without a message.
    Unchanged,
    /// A second definition with another value, or of a name that cannot be defined.
    Conflict,
    /// A label or constant has another value than in the first pass.
    Moved,
}

impl Symbol {
    pub(crate) fn new(kind: SymbolKind, value: Value) -> Self {
        match kind {
            SymbolKind::Variable => Self::Variable(value),
            SymbolKind::Constant => Self::Constant(value),
            SymbolKind::Label => Self::Label(value),
        }
    }

    /// Returns the value; for an external, the start of its area.
    pub(crate) fn value(self) -> Option<Value> {
        match self {
            Self::Undefined => None,
            Self::Variable(value)
            | Self::Constant(value)
            | Self::Label(value)
            | Self::External(value) => Some(value),
        }
    }

    /// Returns what defined the symbol in this module.
    pub(crate) fn kind(self) -> Option<SymbolKind> {
        match self {
            Self::Undefined | Self::External(_) => None,
            Self::Variable(_) => Some(SymbolKind::Variable),
            Self::Constant(_) => Some(SymbolKind::Constant),
            Self::Label(_) => Some(SymbolKind::Label),
        }
    }

    pub(crate) fn is_defined(self) -> bool {
        self != Self::Undefined
    }

    pub(crate) fn is_external(self) -> bool {
        matches!(self, Self::External(_))
    }

    pub(crate) fn is_label(self) -> bool {
        matches!(self, Self::Label(_))
    }

    /// Returns `true` if `=` or `==` can assign to the symbol at all.
    pub(crate) fn is_assignable(self, kind: SymbolKind) -> bool {
        match (self, kind) {
            (Self::Undefined | Self::Variable(_), _) => true,
            (Self::Constant(_), SymbolKind::Constant) => true,
            (Self::Constant(_) | Self::Label(_) | Self::External(_), _) => false,
        }
    }

    /// Returns the effect of a definition on the symbol, which is multiply defined or not.
    pub(crate) fn definition(
        self,
        kind: SymbolKind,
        value: Value,
        is_multiply_defined: bool,
        defined_in: DefinedIn,
        pass: Pass,
    ) -> Definition {
        use SymbolKind::{Constant, Label, Variable};
        match (self, kind) {
            (Self::Undefined, _) => Definition::Assigned,
            (Self::Variable(_), Variable | Constant) => Definition::Assigned,
            (Self::External(_), _) => Definition::Conflict,
            (Self::Variable(_), Label) => Definition::Conflict,
            (Self::Constant(known), Variable | Constant) | (Self::Label(known), _)
                if known == value =>
            {
                Definition::Unchanged
            }
            _ if is_multiply_defined => Definition::Conflict,
            _ if defined_in == DefinedIn::SecondPassOnly => Definition::Unchanged,
            (_, Constant | Label) if pass == Pass::Second => Definition::Moved,
            _ => Definition::Conflict,
        }
    }
}
