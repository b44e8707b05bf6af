//! Requests as they come: a thread of its own reads them, so that the board can run until there is
//! one.

use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, sync_channel};

use super::message;
use super::types::Request;

/// Most requests that are read before the first of them is answered, and most of those that are
/// kept while the board runs.
const AHEAD: usize = 16;
const MOST_WAITING: usize = 256;

/// The requests that the client has sent and nobody has answered.
pub(super) struct Inbox {
    requests: Receiver<io::Result<Option<Request>>>,
    waiting: VecDeque<io::Result<Option<Request>>>,
}

impl Inbox {
    /// Reads a stream to its end or to what is no message.
    pub(super) fn of(mut input: impl BufRead + Send + 'static) -> Self {
        let (send, requests) = sync_channel(AHEAD);
        std::thread::spawn(move || {
            loop {
                let request = message::read(&mut input);
                let more = matches!(request, Ok(Some(_)));
                if send.send(request).is_err() || !more {
                    break;
                }
            }
        });
        Self { requests, waiting: VecDeque::new() }
    }

    /// Whether the client wants a launch that still runs to stop: it asks to, it has gone, or it
    /// sends without end.
    pub(super) fn wants_stop(&mut self) -> bool {
        let room = MOST_WAITING.saturating_sub(self.waiting.len());
        self.waiting.extend(self.requests.try_iter().take(room));
        let is_full = self.waiting.len() >= MOST_WAITING;
        is_full
            || self.waiting.iter().any(|request| match request {
                Ok(Some(request)) => {
                    ["disconnect", "terminate", "pause", "cancel"].contains(&&*request.command)
                }
                Ok(None) | Err(_) => true,
            })
    }

    /// Waits for the next request; `None` at the end of the stream.
    pub(super) fn next(&mut self) -> io::Result<Option<Request>> {
        // After the end nothing is sent any more, and that is another end.
        self.waiting.pop_front().or_else(|| self.requests.recv().ok()).unwrap_or(Ok(None))
    }

    /// The next request that has come, if there is one; does not wait.
    pub(super) fn take(&mut self) -> Option<io::Result<Option<Request>>> {
        self.waiting.pop_front().or_else(|| self.requests.try_recv().ok())
    }

    /// Puts a request back to the front.
    pub(super) fn put_back(&mut self, request: io::Result<Option<Request>>) {
        self.waiting.push_front(request);
    }
}
