//! Cases by a digest of their names, so that an index of a million cases takes 17 MB.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A digest of a case's name. With 96 bits, two names of a run do not share one in practice: the
/// probability is 6.3e-18 for a million names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CaseKey([u32; 3]);

impl CaseKey {
    /// Returns the key of a name. It is valid in this process only.
    #[must_use]
    pub(crate) fn of(id: &str) -> Self {
        Self([0_u8, 1, 2].map(|part| {
            let mut hasher = DefaultHasher::new();
            (part, id).hash(&mut hasher);
            hasher.finish() as u32
        }))
    }
}

/// A count of cases that shows, without a list, whether two sequences have the same cases, each as
/// often: the sums of the keys are equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CaseTally {
    /// The number of cases.
    pub(crate) count: usize,
    sum: u128,
}

impl CaseTally {
    /// Counts a case.
    pub(crate) fn add(&mut self, id: &str) {
        let CaseKey(parts) = CaseKey::of(id);
        self.count += 1;
        let key = parts.iter().fold(0, |key, part| key << 32 | u128::from(*part));
        self.sum = self.sum.wrapping_add(key);
    }
}

/// A set of cases, numbered in the order in which they were inserted.
#[derive(Debug, Clone, Default)]
pub(crate) struct CaseIndex {
    keys: Vec<CaseKey>,
    /// A hash table with open addressing: 0 if a slot is free, or else 1 + the number of the case.
    /// At most 4/5 of it is used. A `HashMap` would store the keys again.
    slots: Vec<u32>,
}

impl CaseIndex {
    /// Creates an index that takes `count` cases without growing.
    #[must_use]
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self { keys: Vec::with_capacity(count), slots: vec![0; table_length(count + 1)] }
    }

    /// Returns the number of cases.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns `true` if there are no cases.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the number of a case; `None` if it was not inserted.
    #[must_use]
    pub(crate) fn get(&self, id: &str) -> Option<usize> {
        let key = CaseKey::of(id);
        self.slots.get(self.slot(key)).and_then(|slot| (*slot as usize).checked_sub(1))
    }

    /// Inserts a case. Returns its number, and whether it is new.
    pub(crate) fn insert(&mut self, id: &str) -> (usize, bool) {
        if self.slots.len() < table_length(self.keys.len() + 1) {
            self.grow();
        }
        let key = CaseKey::of(id);
        let slot = self.slot(key);
        match self.slots[slot] {
            0 => {
                self.keys.push(key);
                // A run of 2^32 cases would need 48 GB for the keys alone.
                self.slots[slot] = self.keys.len() as u32;
                (self.keys.len() - 1, true)
            }
            number => (number as usize - 1, false),
        }
    }

    fn grow(&mut self) {
        self.slots = vec![0; table_length(2 * self.keys.len() + 8)];
        for index in 0..self.keys.len() {
            let slot = self.slot(self.keys[index]);
            self.slots[slot] = index as u32 + 1;
        }
    }

    /// Returns the slot that has this key, or the free one for it.
    fn slot(&self, key: CaseKey) -> usize {
        let length = self.slots.len();
        let mut slot = ((u64::from(key.0[0]) * length as u64) >> 32) as usize;
        while slot < length
            && self.slots[slot] != 0
            && self.keys[self.slots[slot] as usize - 1] != key
        {
            slot = (slot + 1) % length;
        }
        slot
    }
}

/// Returns the length of the table for `count` cases.
fn table_length(count: usize) -> usize {
    count + count / 4 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_are_equal_if_each_case_was_counted_as_often() {
        let tally = |ids: &[&str]| {
            let mut tally = CaseTally::default();
            ids.iter().for_each(|id| tally.add(id));
            tally
        };
        assert_eq!(tally(&["a", "b", "c"]), tally(&["c", "a", "b"]));
        for other in [&["a", "b", "b"], &["a", "a", "c"], &["a", "b", "d"]] {
            assert_ne!(tally(&["a", "b", "c"]), tally(other));
        }
        assert_ne!(tally(&["a", "b"]), tally(&["a", "b", "b", "b"]));
        assert_eq!(tally(&["a", "b"]).count, 2);
    }

    #[test]
    fn every_case_is_found_by_its_number_and_no_other() {
        for capacity in [0, 1, 5000] {
            let mut index = CaseIndex::with_capacity(capacity);
            assert!(index.is_empty() && index.get("case 0").is_none());
            for number in 0..5000 {
                assert_eq!(index.insert(&format!("case {number}")), (number, true));
            }
            for number in 0..5000 {
                assert_eq!(index.insert(&format!("case {number}")), (number, false));
                assert_eq!(index.get(&format!("case {number}")), Some(number));
            }
            assert_eq!((index.len(), index.get("case 5000"), index.get("")), (5000, None, None));
        }
    }

    #[test]
    fn an_index_of_known_size_takes_17_bytes_a_case() {
        let mut index = CaseIndex::with_capacity(1000);
        for _ in 0..2 {
            for number in 0..1000 {
                index.insert(&format!("case {number}"));
            }
        }
        let bytes = 12 * index.keys.capacity() + 4 * index.slots.capacity();
        assert!(size_of::<CaseKey>() == 12 && bytes < 17_020, "{bytes}");
    }
}
