//! Definitions of macros.

use std::sync::Arc;

use crate::source::Span;

#[derive(Debug, Clone, Copy)]
pub(super) enum Piece {
    /// A range of the source map.
    Text(Span),
    Argument(usize),
}

#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: Vec<u8>,
    pub(super) place: Span,
    pub(super) default: Vec<u8>,
    /// Whether a missing argument is replaced by a new local symbol (`%` before the name).
    pub(super) created: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Macro {
    pub(super) name: Arc<str>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) pieces: Vec<Piece>,
    pub(super) place: Span,
}
