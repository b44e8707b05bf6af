//! The type whose methods execute the directives.

use super::super::assembler::Assembler;

pub(crate) struct DirectiveReader<'s, 'a> {
    pub(crate) asm: &'s mut Assembler<'a>,
}
