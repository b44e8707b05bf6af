//! The clock for timeouts, and sleep.

pub use std::time::Duration;
pub use web_time::{Instant, SystemTime, UNIX_EPOCH};

use js_sys::{Atomics, Int32Array, SharedArrayBuffer};

/// Sleeps for a duration. Only a worker of a cross-origin isolated page has shared memory to wait
/// on; elsewhere this returns at once.
pub fn sleep(time: Duration) {
    let is_isolated = js_sys::Reflect::has(&js_sys::global(), &"SharedArrayBuffer".into());
    if is_isolated.unwrap_or(false) {
        let word = Int32Array::new(&SharedArrayBuffer::new(4));
        // Nothing else can notify on this private memory, so the wait ends by its timeout.
        let _ = Atomics::wait_with_timeout(&word, 0, 0, time.as_secs_f64() * 1000.0);
    }
}
