//! Messages to the editor. Long results are text as soon as they are found, since a tree of values
//! of them would take longer than the search.

use std::io::{self, Write};

use lsp_server::{Message, RequestId, Response};
use serde::Serialize;
use serde_json::{Value, json};

/// A message to the editor.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Message(Message),
    /// The answer to a request.
    Answer(Answer),
}

/// The answer to a request, which was understood.
#[derive(Debug)]
pub(crate) struct Answer {
    id: RequestId,
    /// The result as JSON.
    result: String,
}

impl Answer {
    /// Answers with a result.
    ///
    /// # Errors
    /// The result is nothing that JSON can say.
    pub(crate) fn new(id: RequestId, result: &impl Serialize) -> Result<Self, serde_json::Error> {
        Ok(Self { id, result: serde_json::to_string(result)? })
    }
}

impl From<Message> for Outgoing {
    fn from(message: Message) -> Self {
        Self::Message(message)
    }
}

impl From<Response> for Outgoing {
    fn from(response: Response) -> Self {
        Self::Message(response.into())
    }
}

impl Outgoing {
    /// The message as a tree of values.
    pub(crate) fn into_value(self) -> Result<Value, serde_json::Error> {
        match self {
            Self::Message(message) => serde_json::to_value(message),
            Self::Answer(Answer { id, result }) => {
                let result: Value = serde_json::from_str(&result)?;
                Ok(json!({ "id": id, "result": result }))
            }
        }
    }

    /// Writes the message, its header and body at once.
    pub(crate) fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let Answer { id, result } = match self {
            Self::Message(message) => return message.write(&mut &mut *output),
            Self::Answer(answer) => answer,
        };
        let id = serde_json::to_string(id)?;
        let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
        let length = start.len() + result.len() + 1;
        let framed = format!("Content-Length: {length}\r\n\r\n{start}{result}}}");
        output.write_all(framed.as_bytes())?;
        output.flush()
    }
}
