//! Configures the allocator.

use std::hint::black_box;

/// Makes the allocator reuse freed memory instead of returning it to the system.
///
/// glibc allocates large blocks with `mmap` and unmaps them when they are freed. Freeing such a
/// block raises its threshold for `mmap` to the size of the block, up to 32 MB; later blocks below
/// the threshold are reused. Mapping pages again takes longer than filling them. The block
/// allocated here is never written.
pub(super) fn reuse_freed_memory() {
    const MAX_MMAP_THRESHOLD: usize = 32 << 20;
    const OVERHEAD: usize = 64 << 10;
    drop(black_box(Vec::<u8>::with_capacity(MAX_MMAP_THRESHOLD - OVERHEAD)));
}
