//! The type whose methods execute the directives.

use super::super::assembler::Assembler;

/// Reads the operands of directives and executes them.
pub(crate) struct DirectiveReader<'s, 'a> {
    pub(crate) asm: &'s mut Assembler<'a>,
}
