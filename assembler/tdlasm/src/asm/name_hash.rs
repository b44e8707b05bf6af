//! A hash table from name codes to name ids.

/// The index of a name in the name table.
pub(crate) type NameId = u32;

/// The slots in one cache line of the processor.
const SLOTS_PER_CACHE_LINE: u32 = 8;
/// An empty slot. Not 0, since zeroed memory is mapped on first write: reading a slot before
/// writing it would cost two page faults.
const VACANT_SLOT: u64 = u64::MAX;

/// A hash table with open addressing.
///
/// Most names of a large program are numbered (`L0041`, `L0042`) and occur in sequence. The codes
/// of such neighbours differ by little, and share a cache line here, where a hash of the whole code
/// would cost a cache miss for each new name.
pub(super) struct NameHash {
    /// The id of a name in the upper half, its code in the lower; the length is a power of two.
    slots: Vec<u64>,
    used: usize,
}

impl NameHash {
    pub(super) fn with_capacity(names: usize) -> Self {
        Self { slots: vec![VACANT_SLOT; slots_for(names)], used: 0 }
    }

    pub(super) fn reserve(&mut self, names: usize) {
        let slots = slots_for(self.used + names);
        if slots > self.slots.len() {
            self.resize(slots);
        }
    }

    /// Returns the id of the name with this code, or inserts it with the id `next`.
    #[inline]
    pub(super) fn number(&mut self, code: u32, next: NameId) -> NameId {
        let slot = self.slot(code);
        if self.slots[slot] != VACANT_SLOT {
            return (self.slots[slot] >> 32) as NameId;
        }
        self.slots[slot] = u64::from(next) << 32 | u64::from(code);
        self.used += 1;
        if slots_for(self.used) > self.slots.len() {
            self.resize(2 * self.slots.len());
        }
        next
    }

    /// Returns the slot that contains the code, or the empty slot for it.
    #[inline]
    fn slot(&self, code: u32) -> usize {
        let mask = self.slots.len() - 1;
        // The upper half of the product depends on all bits of the code.
        let line = u64::from(code / SLOTS_PER_CACHE_LINE).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let mut slot = (line as usize * SLOTS_PER_CACHE_LINE as usize
            + (code % SLOTS_PER_CACHE_LINE) as usize)
            & mask;
        while self.slots[slot] != VACANT_SLOT && self.slots[slot] as u32 != code {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn resize(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.slots, vec![VACANT_SLOT; slots]);
        for taken in old.into_iter().filter(|slot| *slot != VACANT_SLOT) {
            let slot = self.slot(taken as u32);
            self.slots[slot] = taken;
        }
    }
}

/// Returns the number of slots for this number of names; half are empty, to keep searches short.
fn slots_for(names: usize) -> usize {
    (2 * names.max(SLOTS_PER_CACHE_LINE as usize)).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_keeps_its_number_as_the_table_grows() {
        // Neighbours, codes that are equal in their last bits, and the extremes.
        let codes = (0..3000).chain((0..3000).map(|at| at << 20 | 5)).chain([u32::MAX]);
        let mut codes: Vec<u32> = codes.collect();
        codes.sort_unstable();
        codes.dedup();
        let mut index = NameHash::with_capacity(0);
        for _ in 0..2 {
            for (next, code) in (0..).zip(&codes) {
                assert_eq!(index.number(*code, next), next);
            }
            index.reserve(10_000);
        }
        assert!(index.slots.len() >= 2 * 16_000 && index.used == codes.len());
    }
}
