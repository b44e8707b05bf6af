//! Registers of a routine that the caller calls: which, and their values.

/// Register pairs of the Z80, in the order of the wire.
pub const REGISTER_PAIRS: usize = 10;

/// A register pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegisterPair {
    /// A, and the flags as the low byte.
    Af,
    /// BC.
    Bc,
    /// DE.
    De,
    /// HL.
    Hl,
    /// IX.
    Ix,
    /// IY.
    Iy,
    /// AF of the alternate set.
    AfAlt,
    /// BC of the alternate set.
    BcAlt,
    /// DE of the alternate set.
    DeAlt,
    /// HL of the alternate set.
    HlAlt,
}

impl RegisterPair {
    /// All pairs, in the order of the wire.
    pub const ALL: [Self; REGISTER_PAIRS] = [
        Self::Af,
        Self::Bc,
        Self::De,
        Self::Hl,
        Self::Ix,
        Self::Iy,
        Self::AfAlt,
        Self::BcAlt,
        Self::DeAlt,
        Self::HlAlt,
    ];

    fn bit(self) -> u16 {
        1 << (self as u16)
    }

    /// Returns the number of the pair's low byte, as COUNT numbers bytes of registers; the high
    /// byte's is one more.
    #[must_use]
    pub fn low_byte(self) -> u8 {
        2 * (self as u8)
    }
}

/// A set of register pairs.
///
/// # Examples
/// ```
/// use firmware_wire::{RegisterPair, RegisterSet};
///
/// let set = RegisterSet::from([RegisterPair::Af, RegisterPair::Hl]);
/// assert!(set.contains(RegisterPair::Hl) && !set.contains(RegisterPair::Bc));
/// assert_eq!(RegisterSet::ALL.iter().count(), 10);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RegisterSet(u16);

impl RegisterSet {
    /// All pairs.
    pub const ALL: Self = Self((1 << REGISTER_PAIRS) - 1);

    /// Returns `true` if the pair is in the set.
    #[must_use]
    pub fn contains(self, pair: RegisterPair) -> bool {
        self.0 & pair.bit() != 0
    }

    /// Returns the pairs, in the order of the wire.
    pub fn iter(self) -> impl Iterator<Item = RegisterPair> {
        RegisterPair::ALL.into_iter().filter(move |pair| self.contains(*pair))
    }

    pub(super) fn mask(self) -> u16 {
        self.0
    }
}

impl<const N: usize> From<[RegisterPair; N]> for RegisterSet {
    fn from(pairs: [RegisterPair; N]) -> Self {
        pairs.into_iter().collect()
    }
}

impl FromIterator<RegisterPair> for RegisterSet {
    fn from_iter<I: IntoIterator<Item = RegisterPair>>(pairs: I) -> Self {
        Self(pairs.into_iter().fold(0, |mask, pair| mask | pair.bit()))
    }
}

/// Values of some register pairs.
///
/// # Examples
/// ```
/// use firmware_wire::{RegisterPair, RegisterValues};
///
/// let values = RegisterValues::default().with(RegisterPair::De, 0x1234);
/// assert_eq!(values.get(RegisterPair::De), Some(0x1234));
/// assert_eq!(values.get(RegisterPair::Hl), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RegisterValues([Option<u16>; REGISTER_PAIRS]);

impl RegisterValues {
    /// Returns these values with that of a pair.
    #[must_use]
    pub fn with(mut self, pair: RegisterPair, value: u16) -> Self {
        self.set(pair, value);
        self
    }

    /// Sets the value of a pair.
    pub fn set(&mut self, pair: RegisterPair, value: u16) {
        self.0[pair as usize] = Some(value);
    }

    /// Returns the value of a pair, if it has one.
    pub fn get(&self, pair: RegisterPair) -> Option<u16> {
        self.0[pair as usize]
    }

    /// Returns the pairs that have a value.
    pub fn pairs(&self) -> RegisterSet {
        RegisterPair::ALL.into_iter().filter(|pair| self.get(*pair).is_some()).collect()
    }

    /// Returns the values on the wire, without their mask.
    pub(super) fn bytes(&self) -> impl Iterator<Item = u8> {
        self.0.iter().flatten().flat_map(|value| value.to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_bytes_are_numbered_as_the_protocol_lists_them() {
        // F 0, A 1, C 2, B 3 and so on.
        let numbers: Vec<_> = RegisterPair::ALL.iter().map(|pair| pair.low_byte()).collect();
        assert_eq!(numbers, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    }

    #[test]
    fn a_set_has_each_pair_once_and_nothing_else() {
        assert_eq!(RegisterSet::from(RegisterPair::ALL), RegisterSet::ALL);
        let twice = RegisterSet::from([RegisterPair::De, RegisterPair::De]);
        assert!(twice.contains(RegisterPair::De));
    }
}
