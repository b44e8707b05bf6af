//! The messages of the assembler about a source, as data. [`render`] turns them into text.

pub mod codes;
mod levels;
pub mod render;

pub use codes::{Code, Severity};

pub use levels::{LevelError, Levels};

use crate::source::Span;

/// A further place that belongs to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The connection with the message.
    pub text: String,
}

/// A change of the text that does what a message suggests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The text to replace.
    pub span: Span,
    /// The text that takes its place.
    pub text: String,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of the message.
    pub code: Code,
    /// Whether it keeps the output from being written.
    pub severity: Severity,
    /// The event, in one sentence without a full stop.
    pub message: String,
    /// The place.
    pub span: Span,
    /// Other places, such as an earlier definition.
    pub labels: Vec<Label>,
    /// A suggestion.
    pub help: Option<String>,
    /// The suggestion as a change of the text.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A message with the severity that its code has by default.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        let severity = code.severity();
        let message = message.into();
        Self { code, severity, message, span, labels: Vec::new(), help: None, fix: None }
    }

    /// Points to another place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Says what to try.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Says what to try, as a change of the text too.
    #[must_use]
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix { span, text: text.into() });
        self
    }

    /// Whether this message keeps the output from being written.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
