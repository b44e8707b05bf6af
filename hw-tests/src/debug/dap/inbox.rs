//! Requests as they come: a thread of its own reads them, so that the board can run until there is one.

use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use super::message;

/// What the client has sent and nobody has answered.
pub(super) struct Inbox {
    requests: Receiver<io::Result<Option<Value>>>,
    /// What was looked at and not taken.
    first: Option<io::Result<Option<Value>>>,
}

impl Inbox {
    /// Reads a stream to its end or to what is no message.
    pub(super) fn of(mut input: impl BufRead + Send + 'static) -> Self {
        let (send, requests) = channel();
        std::thread::spawn(move || {
            loop {
                let request = message::read(&mut input);
                let more = matches!(request, Ok(Some(_)));
                if send.send(request).is_err() || !more {
                    break;
                }
            }
        });
        Self { requests, first: None }
    }

    /// Whether there is a request, or will never be another.
    pub(super) fn has_some(&mut self) -> bool {
        if self.first.is_none() {
            self.first = self.requests.try_recv().ok();
        }
        self.first.is_some()
    }

    /// Waits for the next request; `None` at the end of the stream.
    pub(super) fn next(&mut self) -> io::Result<Option<Value>> {
        // Behind the end nothing is sent any more, and that is another end.
        self.first.take().or_else(|| self.requests.recv().ok()).unwrap_or(Ok(None))
    }

    /// The next request if it is not of a kind, which stays.
    pub(super) fn next_unless(&mut self, stays: fn(&Value) -> bool) -> io::Result<Option<Value>> {
        match self.next()? {
            Some(request) if stays(&request) => {
                self.first = Some(Ok(Some(request)));
                Ok(None)
            }
            other => Ok(other),
        }
    }
}
