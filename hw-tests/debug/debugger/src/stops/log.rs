//! The messages that breakpoints have logged.

use std::collections::VecDeque;

/// Maximum number of messages kept for a front end that does not take them while the board runs.
const MAX_MESSAGES: usize = 10_000;

/// Messages for the user, the latest of which are kept.
#[derive(Debug, Default)]
pub(crate) struct Log {
    messages: VecDeque<String>,
    dropped: u64,
}

impl Log {
    pub(crate) fn push(&mut self, message: impl Into<String>) {
        if self.messages.len() == MAX_MESSAGES {
            self.messages.pop_front();
            self.dropped += 1;
        }
        self.messages.push_back(message.into());
    }

    /// Takes all messages, after one that counts those dropped.
    pub(crate) fn take(&mut self) -> Vec<String> {
        let dropped = std::mem::take(&mut self.dropped);
        let notice = (dropped > 0).then(|| format!("({dropped} earlier messages dropped)"));
        notice.into_iter().chain(std::mem::take(&mut self.messages)).collect()
    }
}
