//! Messages to the page.

/// A message to the page: JSON, and the bytes that its fields `bytes` refer to by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// The message.
    pub json: String,
    /// Contents of files, or output of a board.
    pub bytes: Vec<Vec<u8>>,
}

/// Sends messages to the page at once.
pub type Post<'a> = dyn FnMut(Message) + 'a;
