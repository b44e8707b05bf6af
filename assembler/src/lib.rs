//! Assembler, linker and disassembler for Z80 source in the TDL dialect.
