//! Messages to the editor. Results are serialized to text at once: for long results, building a
//! tree of JSON values would take longer than computing them.

use std::io::{self, Write};

use lsp_server::{ErrorCode, Message, RequestId, Response};
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) enum Outgoing {
    Message(Message),
    Answer(Reply),
}

#[derive(Debug)]
pub(crate) struct Reply {
    id: RequestId,
    /// The result as JSON.
    result: String,
}

impl Reply {
    /// Creates a reply.
    pub(crate) fn new(id: RequestId, result: &impl Serialize) -> Result<Self, serde_json::Error> {
        Ok(Self { id, result: serde_json::to_string(result)? })
    }
}

/// Returns the error response to a request whose parameters can't be parsed.
pub(crate) fn invalid_params(id: RequestId, error: &serde_json::Error) -> Response {
    Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string())
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
    pub(crate) fn into_value(self) -> Result<Value, serde_json::Error> {
        match self {
            Self::Message(message) => serde_json::to_value(message),
            Self::Answer(Reply { id, result }) => {
                let result: Value = serde_json::from_str(&result)?;
                Ok(json!({ "id": id, "result": result }))
            }
        }
    }

    pub(crate) fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let Reply { id, result } = match self {
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
