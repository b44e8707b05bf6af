//! Long runs by slices.

use crate::fault::Fault;
use crate::message::Post;
use serde_json::Value;

/// The end of a slice.
pub(crate) enum Slice {
    /// There is more to do.
    More,
    /// The run is over, with its result.
    Done(Result<Value, Fault>),
}

/// A run that goes on between messages.
pub(crate) trait Job {
    /// Works for about as many milliseconds as a slice has, and posts events.
    fn advance(&mut self, post: &mut Post<'_>) -> Slice;

    /// Ends the run; its result comes with the next slice.
    fn stop(&mut self);
}
