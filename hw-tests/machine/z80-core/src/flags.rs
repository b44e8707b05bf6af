//! The flags in F, and what can be looked up of them.

/// Carry.
pub(crate) const C: u8 = 0x01;
/// The last operation was a subtraction.
pub(crate) const N: u8 = 0x02;
/// Parity, overflow, or a count that is not at its end.
pub(crate) const PV: u8 = 0x04;
/// Undocumented: mostly bit 3 of the result.
pub(crate) const X: u8 = 0x08;
/// Carry from bit 3.
pub(crate) const H: u8 = 0x10;
/// Undocumented: mostly bit 5 of the result.
pub(crate) const Y: u8 = 0x20;
/// Zero.
pub(crate) const Z: u8 = 0x40;
/// Sign.
pub(crate) const S: u8 = 0x80;
/// Both that are undocumented.
pub(crate) const YX: u8 = Y | X;

/// S, Z, Y and X of each result.
pub(crate) static SZ: [u8; 256] = table(false);
/// S, Z, Y and X of each result, and whether its parity is even.
pub(crate) static SZP: [u8; 256] = table(true);

const fn table(with_parity: bool) -> [u8; 256] {
    let mut flags = [0; 256];
    let mut result = 0;
    while result < 256 {
        let value = result as u8;
        flags[result] = value & (S | YX);
        if value == 0 {
            flags[result] |= Z;
        }
        if with_parity && value.count_ones().is_multiple_of(2) {
            flags[result] |= PV;
        }
        result += 1;
    }
    flags
}

/// S, Z, Y and X of a result.
#[inline(always)]
pub(crate) fn sz(result: u8) -> u8 {
    SZ[usize::from(result)]
}

/// S, Z, Y, X and parity of a result.
#[inline(always)]
pub(crate) fn szp(result: u8) -> u8 {
    SZP[usize::from(result)]
}

/// Returns a flag if a condition is true, otherwise 0.
#[inline(always)]
pub(crate) fn when(condition: bool, flag: u8) -> u8 {
    if condition { flag } else { 0 }
}
