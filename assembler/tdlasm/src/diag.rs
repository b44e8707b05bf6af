//! Diagnostics of the assembler, as data. [`render`] formats them.

pub mod codes;
mod levels;
pub mod render;

pub use codes::{DiagnosticCode, Severity};

pub use levels::{LevelError, LintLevels};

use smol_str::SmolStr;

use crate::source::Span;

/// A secondary position of a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// How the position is related to the diagnostic.
    pub text: String,
}

/// A text edit that applies a suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The text to replace.
    pub span: Span,
    /// The replacement.
    pub text: String,
}

/// A diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of diagnostic.
    pub code: DiagnosticCode,
    /// Error or warning.
    pub severity: Severity,
    /// The message: one sentence without a full stop.
    pub message: String,
    /// The symbol or macro that it is about: the significant part of the name, in capitals.
    pub symbol: Option<SmolStr>,
    /// The position.
    pub span: Span,
    /// Secondary positions, such as an earlier definition.
    pub labels: Vec<Label>,
    /// A suggestion.
    pub help: Option<String>,
    /// The suggestion as a text edit.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// Creates a diagnostic with the default severity of its code.
    pub fn new(code: DiagnosticCode, span: Span, message: impl Into<String>) -> Self {
        let severity = code.severity();
        Self {
            code,
            severity,
            message: message.into(),
            symbol: None,
            span,
            labels: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Adds a secondary position.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a suggestion.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds a text edit that applies the suggestion.
    #[must_use]
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix { span, text: text.into() });
        self
    }

    /// Returns `true` if no output is written because of this diagnostic.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
