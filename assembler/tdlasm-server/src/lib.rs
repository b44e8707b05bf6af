//! A language server (LSP) for TDL source: diagnostics, navigation, completion, renaming and more.
//! Sources are reassembled on every edit, which takes milliseconds.
//!
//! [`serve`] runs the server on two streams; [`LanguageServer`] handles single messages, for an
//! editor in the same process.
//!
//! ```
//! use serde_json::json;
//! use tdlasm_server::LanguageServer;
//!
//! let mut server = LanguageServer::new(tdlasm::Options::default());
//! let request = json!({ "id": 1, "method": "initialize", "params": { "capabilities": {} } });
//! let reply = server.handle_message(request)?.unwrap();
//! assert_eq!(reply["result"]["capabilities"]["hoverProvider"], true);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod analysis;
mod annotations;
mod code_actions;
mod completion;
mod diagnostics;
mod documents;
mod framing;
mod hover;
mod language_server;
mod navigate;
mod outgoing;
mod outline;
mod positions;
mod rename;
mod requests;
mod session;
mod signatures;
mod symbol_identity;
mod tokens;
mod words;
mod workspace;

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use lsp_server::{Message, Notification};
use lsp_types::notification::{Notification as _, ShowMessage};
use lsp_types::{MessageType, ShowMessageParams};
use tdlasm::asm::Options;
use thiserror::Error;

use framing::{Frame, FrameReader};
pub use language_server::LanguageServer;
use outgoing::Outgoing;

/// Messages that the reading thread may queue before it waits.
const MAX_QUEUED_MESSAGES: usize = 16;

/// Error returned by [`serve`].
#[derive(Debug, Error)]
pub enum Error {
    /// The input is not a message of the protocol.
    #[error("invalid message from the editor: {0}")]
    Input(io::Error),
    /// The output can't be written.
    #[error("cannot send a message to the editor: {0}")]
    Output(io::Error),
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEnd {
    /// By `shutdown` and `exit`, as the protocol requires.
    AfterShutdown,
    /// By `exit` or the end of the input, without `shutdown`.
    WithoutShutdown,
}

/// Serves an editor until it sends `exit` or closes the input.
///
/// `options` apply to all sources; the editor can extend them by `initializationOptions`.
///
/// # Errors
/// Returns an error if the input is not of the protocol, or the output can't be written.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: &mut dyn Write,
    options: Options,
) -> Result<ServerEnd, Error> {
    let messages = spawn_reader(input);
    let mut server = Server { protocol: LanguageServer::new(options), output };
    loop {
        let message = match messages.try_recv() {
            // Diagnostics are published only when no message is queued: while the user types, they
            // would be outdated at once.
            Err(TryRecvError::Empty) => {
                server.publish_diagnostics()?;
                messages.recv().ok()
            }
            received => received.ok(),
        };
        let Some(frame) = message else { return Ok(server.protocol.end()) };
        match frame.map_err(Error::Input)? {
            Frame::Message(message) => {
                if server.handle(message)? {
                    return Ok(server.protocol.end());
                }
            }
            Frame::TooLong(length) => server.report_too_long(length)?,
        }
    }
}

/// Reads messages on a thread, so that the server can check for queued messages without waiting.
fn spawn_reader(input: impl BufRead + Send + 'static) -> Receiver<io::Result<Frame>> {
    let (sender, receiver) = sync_channel(MAX_QUEUED_MESSAGES);
    thread::spawn(move || {
        let mut frames = FrameReader::new(input);
        loop {
            let read = frames.next().transpose();
            let is_last = !matches!(read, Some(Ok(_)));
            if read.is_none_or(|message| sender.send(message).is_err()) || is_last {
                return;
            }
        }
    });
    receiver
}

struct Server<'o> {
    protocol: LanguageServer,
    output: &'o mut dyn Write,
}

impl Server<'_> {
    fn send(&mut self, message: &Outgoing) -> Result<(), Error> {
        message.write(self.output).map_err(Error::Output)
    }

    /// Reports a message that was too long. Its id was not read, so there is no reply.
    fn report_too_long(&mut self, length: u64) -> Result<(), Error> {
        let message = format!("tdlasm skipped a message of {length} bytes; the limit is 64 MiB");
        let parameters = ShowMessageParams { typ: MessageType::ERROR, message };
        let notice = Notification::new(ShowMessage::METHOD.into(), parameters);
        self.send(&Message::Notification(notice).into())
    }

    /// Handles a message; returns `true` if it is `exit`.
    fn handle(&mut self, message: Message) -> Result<bool, Error> {
        let is_last = matches!(&message, Message::Notification(notice) if notice.method == "exit");
        match self.protocol.handle(message) {
            Some(answer) => self.send(&answer).map(|()| is_last),
            None => Ok(is_last),
        }
    }

    fn publish_diagnostics(&mut self) -> Result<(), Error> {
        for message in self.protocol.pending_notifications() {
            self.send(&Message::Notification(message).into())?;
        }
        Ok(())
    }
}
