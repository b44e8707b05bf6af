//! Classes of opcodes for stepping, profiling and checks.

/// Returns `true` for CALL, conditional CALL and RST.
pub fn is_call(opcode: u8) -> bool {
    opcode == 0xCD || matches!(opcode & 0xC7, 0xC4 | 0xC7)
}

/// Returns `true` for RET, conditional RET, and the prefix of RETI and RETN.
#[must_use]
pub fn is_return(opcode: u8) -> bool {
    opcode == 0xC9 || opcode & 0xC7 == 0xC0 || opcode == 0xED
}

/// Returns `false` for bytes that begin no instruction: EDh before an opcode that does nothing, and
/// DDh or FDh before one that uses neither HL nor a half of it, so that the prefix has no effect
/// (The Undocumented Z80 Documented, Sean Young, 2005, 3.3 and 3.4).
///
/// ```
/// assert!(z80_core::is_instruction([0xED, 0xB0]) && z80_core::is_instruction([0xDD, 0x7C]));
/// assert!(!z80_core::is_instruction([0xED, 0x00]) && !z80_core::is_instruction([0xDD, 0x00]));
/// ```
pub fn is_instruction([opcode, next]: [u8; 2]) -> bool {
    match opcode {
        0xED => matches!(next, 0x40..=0x76 | 0x78..=0x7E) || next & 0xE4 == 0xA0,
        0xDD | 0xFD => uses_hl(next),
        _ => true,
    }
}

/// Returns `true` for LDI, LDD, LDIR and LDDR.
pub fn is_block_move([opcode, next]: [u8; 2]) -> bool {
    opcode == 0xED && next & 0xE7 == 0xA0
}

/// Returns `true` if DDh or FDh before this opcode replaces HL, a half of it, or (HL).
fn uses_hl(opcode: u8) -> bool {
    let is_of_hl = |register: u8| matches!(register, 4..=6);
    match opcode {
        0x21..=0x26 | 0x29..=0x2E | 0x34..=0x36 | 0xCB => true,
        0x09 | 0x19 | 0x39 | 0xE1 | 0xE3 | 0xE5 | 0xE9 | 0xF9 => true,
        0x76 => false,
        0x40..=0x7F => is_of_hl(opcode >> 3 & 7) || is_of_hl(opcode & 7),
        0x80..=0xBF => is_of_hl(opcode & 7),
        _ => false,
    }
}
