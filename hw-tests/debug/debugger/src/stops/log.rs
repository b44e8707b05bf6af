//! The messages that breakpoints have logged.

use std::collections::VecDeque;

/// Maximum number of messages kept for a front end that does not take them while the board runs.
const MAX_MESSAGES: usize = 10_000;

/// Messages for the user, the latest of which are kept.
#[derive(Debug, Default)]
pub(super) struct Log {
    messages: VecDeque<String>,
    dropped: u64,
}

impl Log {
    pub(super) fn push(&mut self, message: String) {
        if self.messages.len() == MAX_MESSAGES {
            self.messages.pop_front();
            self.dropped += 1;
        }
        self.messages.push_back(message);
    }

    /// Takes all messages, after one that counts those dropped.
    pub(super) fn take(&mut self) -> Vec<String> {
        let dropped = std::mem::take(&mut self.dropped);
        let notice = (dropped > 0).then(|| format!("({dropped} earlier messages dropped)"));
        notice.into_iter().chain(std::mem::take(&mut self.messages)).collect()
    }
}
