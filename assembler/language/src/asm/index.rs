//! The index of names: from the code of a name to its number.

use super::names::NameId;

/// The slots of one line of the processor's cache.
const LINE: u32 = 8;
/// A slot without a name. It is not 0: fresh memory of zeros is shared until it is written to, and
/// a slot that is looked at before that would cost two page faults.
const VACANT: u64 = u64::MAX;

/// A hash table of names with open addressing.
///
/// Most names of a large program are numbered (`L0041`, `L0042`), and come one after the other. The
/// codes of such neighbours differ by little, and stand in one line of the cache here, where a hash
/// of the whole code would have each new name wait for memory.
pub(super) struct Index {
    /// The number of a name, above its code; a power of two of them.
    slots: Vec<u64>,
    used: usize,
}

impl Index {
    pub(super) fn with_capacity(names: usize) -> Self {
        Self { slots: vec![VACANT; slots_for(names)], used: 0 }
    }

    /// Makes room for more names.
    pub(super) fn reserve(&mut self, names: usize) {
        let slots = slots_for(self.used + names);
        if slots > self.slots.len() {
            self.resize(slots);
        }
    }

    /// Returns the number of the name with this code, which becomes `next` if the name is new.
    #[inline]
    pub(super) fn number(&mut self, code: u32, next: NameId) -> NameId {
        let slot = self.slot(code);
        if self.slots[slot] != VACANT {
            return (self.slots[slot] >> 32) as NameId;
        }
        self.slots[slot] = u64::from(next) << 32 | u64::from(code);
        self.used += 1;
        if slots_for(self.used) > self.slots.len() {
            self.resize(2 * self.slots.len());
        }
        next
    }

    /// The slot that has the code, or the vacant one where it belongs.
    #[inline]
    fn slot(&self, code: u32) -> usize {
        let mask = self.slots.len() - 1;
        // The upper half of the product depends on all bits of the code's.
        let line = u64::from(code / LINE).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let mut slot = (line as usize * LINE as usize + (code % LINE) as usize) & mask;
        while self.slots[slot] != VACANT && self.slots[slot] as u32 != code {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn resize(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.slots, vec![VACANT; slots]);
        for taken in old.into_iter().filter(|slot| *slot != VACANT) {
            let slot = self.slot(taken as u32);
            self.slots[slot] = taken;
        }
    }
}

/// The slots that so many names need: half of them at least are vacant, so that searches are short.
fn slots_for(names: usize) -> usize {
    (2 * names.max(LINE as usize)).next_power_of_two()
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
        let mut index = Index::with_capacity(0);
        for _ in 0..2 {
            for (next, code) in (0..).zip(&codes) {
                assert_eq!(index.number(*code, next), next);
            }
            index.reserve(10_000);
        }
        assert!(index.slots.len() >= 2 * 16_000 && index.used == codes.len());
    }
}
