//! Jobs that run in time slices.

use crate::error::PageError;
use crate::message::Post;
use serde_json::Value;

pub(crate) enum Slice {
    /// There is more to do.
    More,
    Done(Result<Value, PageError>),
}

/// A job that continues between messages.
pub(crate) trait Job {
    /// Works for about as many milliseconds as a slice has, and posts events.
    fn advance(&mut self, post: &mut Post<'_>) -> Slice;

    /// Stops the job; its result comes with the next slice.
    fn stop(&mut self);
}
