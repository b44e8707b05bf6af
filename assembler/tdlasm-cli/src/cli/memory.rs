//! The allocator's habits.

use std::hint::black_box;

/// Has freed memory used again. The allocator of glibc hands large blocks back to the system as
/// soon as they are free, until a block has shown it that blocks of that size come and go; 32 MB
/// are the most that it learns from. To get pages from the system again takes longer than to fill
/// them. The block itself is never touched.
pub(super) fn keep_freed() {
    const MOST: usize = 32 << 20;
    const OVERHEAD: usize = 64 << 10;
    drop(black_box(Vec::<u8>::with_capacity(MOST - OVERHEAD)));
}
