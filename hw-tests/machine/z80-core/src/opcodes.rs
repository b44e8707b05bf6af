//! Classes of opcodes for stepping and profiling.

/// Returns `true` for CALL, conditional CALL and RST.
pub fn is_call(opcode: u8) -> bool {
    opcode == 0xCD || matches!(opcode & 0xC7, 0xC4 | 0xC7)
}

/// Returns `true` for RET, conditional RET, and the prefix of RETI and RETN.
#[must_use]
pub fn is_return(opcode: u8) -> bool {
    opcode == 0xC9 || opcode & 0xC7 == 0xC0 || opcode == 0xED
}
