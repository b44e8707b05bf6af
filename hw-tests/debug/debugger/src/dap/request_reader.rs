//! Reads requests on a thread, so that the board can run until one arrives.

use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, sync_channel};

use super::message;
use super::types::Request;

/// Bounds of the channel from the reader thread, and of the queue while the board runs.
const MAX_REQUESTS_READ_AHEAD: usize = 16;
const MAX_PENDING_REQUESTS: usize = 256;

/// The requests received and not yet handled.
pub(super) struct RequestReader {
    requests: Receiver<io::Result<Option<Request>>>,
    pending: VecDeque<io::Result<Option<Request>>>,
}

impl RequestReader {
    /// Reads a stream to its end, or to the first invalid message.
    pub(super) fn new(mut input: impl BufRead + Send + 'static) -> Self {
        let (send, requests) = sync_channel(MAX_REQUESTS_READ_AHEAD);
        std::thread::spawn(move || {
            loop {
                let request = message::read(&mut input);
                let more = matches!(request, Ok(Some(_)));
                if send.send(request).is_err() || !more {
                    break;
                }
            }
        });
        Self { requests, pending: VecDeque::new() }
    }

    /// Returns `true` if a launch in progress is to be cancelled: on request, at the end of the
    /// stream, or if the queue is full.
    pub(super) fn wants_stop(&mut self) -> bool {
        let room = MAX_PENDING_REQUESTS.saturating_sub(self.pending.len());
        self.pending.extend(self.requests.try_iter().take(room));
        self.pending.len() >= MAX_PENDING_REQUESTS
            || self.pending.iter().any(|request| match request {
                Ok(Some(request)) => {
                    ["disconnect", "terminate", "pause", "cancel"].contains(&&*request.command)
                }
                Ok(None) | Err(_) => true,
            })
    }

    /// Waits for the next request; `None` at the end of the stream.
    pub(super) fn next(&mut self) -> io::Result<Option<Request>> {
        // The channel closes after the end of the stream: report the end again.
        self.pending.pop_front().or_else(|| self.requests.recv().ok()).unwrap_or(Ok(None))
    }

    /// Returns the next request that has arrived, without waiting.
    pub(super) fn try_next(&mut self) -> Option<io::Result<Option<Request>>> {
        self.pending.pop_front().or_else(|| self.requests.try_recv().ok())
    }

    pub(super) fn put_back(&mut self, request: io::Result<Option<Request>>) {
        self.pending.push_front(request);
    }
}
