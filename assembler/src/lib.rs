//! Assembler, linker and disassembler for Z80 source in the TDL dialect.
//! What an assembly produces is in [`module`].

pub mod image;
pub mod link;
pub mod module;
