//! The numbers of relocation bases.

use crate::module::SectionKind;

/// The number of the first external; smaller numbers are sections.
pub(super) const FIRST_EXTERNAL: u8 = 4;

pub(super) fn base_of(kind: SectionKind) -> u8 {
    match kind {
        SectionKind::Absolute => 0,
        SectionKind::Prog => 1,
        SectionKind::Data => 2,
        SectionKind::Blank => 3,
    }
}

pub(super) fn section_of(base: u8) -> Option<SectionKind> {
    const KINDS: [SectionKind; FIRST_EXTERNAL as usize] =
        [SectionKind::Absolute, SectionKind::Prog, SectionKind::Data, SectionKind::Blank];
    KINDS.get(usize::from(base)).copied()
}
