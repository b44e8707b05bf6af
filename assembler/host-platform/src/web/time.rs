//! The clock by which waits are measured, and rests.

pub use std::time::Duration;
pub use web_time::Instant;

use js_sys::{Atomics, Int32Array, SharedArrayBuffer};

/// Rests for a time. Only a worker may, of a page that is isolated from others, so that it has
/// shared memory; elsewhere the time is not waited for.
pub fn sleep(time: Duration) {
    let is_isolated = js_sys::Reflect::has(&js_sys::global(), &"SharedArrayBuffer".into());
    if is_isolated.unwrap_or(false) {
        let word = Int32Array::new(&SharedArrayBuffer::new(4));
        // Nobody knows the word, so that the wait ends by its time.
        let _ = Atomics::wait_with_timeout(&word, 0, 0, time.as_secs_f64() * 1000.0);
    }
}
