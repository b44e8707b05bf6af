//! Counts the bytes that parsers read, for tests, with the feature `count-work`.

#[cfg(feature = "count-work")]
mod counted {
    use std::cell::Cell;

    thread_local! {
        static PASSED: Cell<u64> = const { Cell::new(0) };
    }

    pub(crate) fn count(bytes: usize) {
        PASSED.with(|passed| passed.set(passed.get() + bytes as u64));
    }

    /// The number of bytes that this thread's parsers have read, counting each time a byte is read.
    pub fn passed() -> u64 {
        PASSED.with(Cell::get)
    }
}

#[cfg(feature = "count-work")]
pub(crate) use counted::count;
#[cfg(feature = "count-work")]
pub use counted::passed;

#[cfg(not(feature = "count-work"))]
#[inline]
pub(crate) fn count(_bytes: usize) {}
