//! Sorts the code of a section by address.

use super::{Reloc, SectionRun};

/// The number of addresses of a Z80.
const ADDRESSES: usize = 0x1_0000;
/// The owner of a byte that no code covers.
const NONE: u32 = 0;

/// The bytes of a section up to the last one, written in the order in which they were assembled.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    bytes: Vec<u8>,
    /// The number of the code that wrote each byte, from 1.
    owners: Vec<u32>,
    count: u32,
    /// Whether any byte was overwritten.
    pub(crate) is_overwritten: bool,
}

impl Overlay {
    /// Writes code over that before, and returns its number, from 1. It continues at 0 after FFFFH,
    /// perhaps more than once.
    pub(crate) fn write(&mut self, offset: u16, code: &[u8]) -> u32 {
        self.count += 1;
        let first = usize::from(offset);
        let (before, after) = code.split_at(code.len().min(ADDRESSES - first));
        let wrapped = after.chunks(ADDRESSES).map(|code| (0, code));
        for (start, code) in std::iter::once((first, before)).chain(wrapped) {
            let range = start..start + code.len();
            if self.owners.len() < range.end {
                self.owners.resize(range.end, NONE);
                self.bytes.resize(range.end, 0);
            }
            let owners = &mut self.owners[range.clone()];
            self.is_overwritten |= owners.iter().any(|owner| *owner != NONE);
            owners.fill(self.count);
            self.bytes[range].copy_from_slice(code);
        }
        self.count
    }

    /// Returns the bytes that remain, and of the relocations, each with the number of its code,
    /// those of which all bytes remain.
    pub(crate) fn finish(
        self,
        relocs: impl IntoIterator<Item = (u32, Reloc)>,
    ) -> (Vec<SectionRun>, Vec<Reloc>) {
        let mut runs = Vec::new();
        let mut start = 0;
        for owners in self.owners.chunk_by(|a, b| (*a == NONE) == (*b == NONE)) {
            let end = start + owners.len();
            if owners[0] != NONE {
                let bytes = self.bytes[start..end].to_vec();
                runs.push(SectionRun { offset: start as u16, bytes });
            }
            start = end;
        }
        let remains = |(owner, reloc): &(u32, Reloc)| {
            let first = usize::from(reloc.offset);
            let field = self.owners.get(first..first + reloc.kind.size());
            field.is_some_and(|field| field.iter().all(|one| one == owner))
        };
        let remaining = relocs.into_iter().filter(remains);
        let mut relocs: Vec<Reloc> = remaining.map(|(_, reloc)| reloc).collect();
        relocs.sort_by_key(|reloc| reloc.offset);
        (runs, relocs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::{Base, RelocKind, Target};

    fn word(offset: u16) -> Reloc {
        let target = Target { base: Base::Absolute, addend: 0 };
        Reloc { offset, kind: RelocKind::Word, target }
    }

    #[test]
    fn later_code_replaces_bytes_and_relocations() {
        let mut overlay = Overlay::default();
        let first = overlay.write(0x10, &[1, 2, 3, 4]);
        assert!(!overlay.is_overwritten);
        overlay.write(0x13, &[5, 6]);
        assert!(overlay.is_overwritten);
        let (runs, relocs) = overlay.finish([(first, word(0x10)), (first, word(0x12))]);
        assert_eq!(runs, [SectionRun { offset: 0x10, bytes: vec![1, 2, 3, 5, 6] }]);
        assert_eq!(relocs, [word(0x10)]);
    }

    #[test]
    fn code_continues_at_0_after_ffffh_and_gaps_remain() {
        let mut overlay = Overlay::default();
        overlay.write(0xFFFE, &[1, 2, 3]);
        let (runs, _) = overlay.finish([]);
        let first = SectionRun { offset: 0, bytes: vec![3] };
        assert_eq!(runs, [first, SectionRun { offset: 0xFFFE, bytes: vec![1, 2] }]);
    }
}
