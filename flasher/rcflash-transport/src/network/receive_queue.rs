//! The bytes that a thread has received from a peer and that were not read yet.
//!
//! The thread receives far ahead of the reader. A peer's end follows its last byte, so a peer that
//! is gone is known only when all that it sent was received, which a serial line may take minutes
//! for.

use std::collections::VecDeque;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::time::{Duration, Instant};

/// The maximum number of bytes in the queue: a flash chip of 1 MiB as Intel HEX, which a line of
/// 115,200 baud takes 6 minutes for. Further bytes stay with the sender.
const MAX_BYTES: usize = 4 << 20;
/// The maximum number of bytes that are taken at a time.
const MAX_TAKEN_BYTES: usize = 4096;

#[derive(Default)]
struct State {
    bytes: VecDeque<u8>,
    end: Option<End>,
    /// Whether the reader is gone.
    is_closed: bool,
}

struct End {
    at: Instant,
    /// The error of the connection, if the peer did not close it. It is returned once.
    error: Option<io::Error>,
}

/// What a reader gets.
pub(super) enum Received {
    Bytes(Vec<u8>),
    /// Nothing within the time.
    Nothing,
    /// All bytes were taken, and the peer has closed the connection.
    Closed,
}

/// What is known of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    Connected,
    /// As many bytes of it wait as the queue holds.
    FarAhead,
    /// Its connection has ended, so long ago.
    Gone(Duration),
}

#[derive(Default)]
pub(super) struct ReceiveQueue {
    state: Mutex<State>,
    changed: Condvar,
}

impl ReceiveQueue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds received bytes, and waits until the queue has room for more. Returns `false` if the
    /// reader is gone.
    pub(super) fn add(&self, bytes: &[u8]) -> bool {
        let mut state = self.state();
        state.bytes.extend(bytes);
        self.changed.notify_all();
        while state.bytes.len() >= MAX_BYTES && !state.is_closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.is_closed
    }

    /// Marks the end of the connection: an error, or `None` if the peer closed it.
    pub(super) fn end(&self, error: Option<io::Error>) {
        self.state().end = Some(End { at: Instant::now(), error });
        self.changed.notify_all();
    }

    /// Takes received bytes, and waits up to `timeout` for the first.
    pub(super) fn take(&self, timeout: Duration) -> io::Result<Received> {
        let is_empty = |state: &mut State| state.bytes.is_empty() && state.end.is_none();
        let waited = self.changed.wait_timeout_while(self.state(), timeout, is_empty);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !state.bytes.is_empty() {
            let count = state.bytes.len().min(MAX_TAKEN_BYTES);
            let taken = state.bytes.drain(..count).collect();
            self.changed.notify_all();
            return Ok(Received::Bytes(taken));
        }
        match &mut state.end {
            None => Ok(Received::Nothing),
            Some(end) => end.error.take().map_or(Ok(Received::Closed), Err),
        }
    }

    /// Returns the number of bytes that wait.
    pub(super) fn len(&self) -> usize {
        self.state().bytes.len()
    }

    pub(super) fn peer(&self) -> Peer {
        let state = self.state();
        match &state.end {
            Some(end) => Peer::Gone(Instant::now().saturating_duration_since(end.at)),
            None if state.bytes.len() >= MAX_BYTES => Peer::FarAhead,
            None => Peer::Connected,
        }
    }

    /// Drops what waits, and makes the receiving thread end.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.bytes = VecDeque::new();
        self.changed.notify_all();
    }
}
