//! A language server (LSP) for TDL source: diagnostics, navigation, completion, renaming and more.
//! Sources are reassembled on every edit, which takes milliseconds.
//!
//! [`serve`] runs the server on two streams; [`LanguageServer`] handles single messages, for an
//! editor in the same process.
//!
//! ```
//! use serde_json::json;
//! use tdlasm_tools::server::LanguageServer;
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
mod hover;
mod navigate;
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

use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{Exit, Initialized, Notification as _};
use serde_json::Value;
use tdlasm::asm::Options;
use thiserror::Error;

use session::Session;

/// Messages that the reading thread may queue before it waits.
const MAX_QUEUED_MESSAGES: usize = 16;

/// Error returned by [`serve`].
#[derive(Debug, Error)]
pub enum Error {
    /// The input is not a message of the protocol.
    #[error("invalid message from the editor: {0}")]
    Input(io::Error),
    /// The output cannot be written.
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
/// `options` apply to all sources.
///
/// # Errors
/// Returns an error if the input is not of the protocol, or the output cannot be written.
pub fn serve(
    input: impl BufRead + Send + 'static,
    mut output: &mut dyn Write,
    options: Options,
) -> Result<ServerEnd, Error> {
    let messages = spawn_reader(input);
    let mut server = LanguageServer::new(options);
    let mut send = |message: Message| message.write(&mut output).map_err(Error::Output);
    loop {
        let received = match messages.try_recv() {
            // Diagnostics are published only when no message is queued: while the user types, they
            // would be outdated at once.
            Err(TryRecvError::Empty) => {
                for notification in server.pending_notifications() {
                    send(notification.into())?;
                }
                messages.recv().ok()
            }
            received => received.ok(),
        };
        let Some(message) = received else { return Ok(server.end()) };
        let message = message.map_err(Error::Input)?;
        let is_exit = matches!(&message, Message::Notification(one) if one.method == Exit::METHOD);
        if let Some(answer) = server.handle(message) {
            send(answer)?;
        }
        if is_exit {
            return Ok(server.end());
        }
    }
}

/// Reads messages on a thread, so that the server can check for queued messages without waiting.
fn spawn_reader(mut input: impl BufRead + Send + 'static) -> Receiver<io::Result<Message>> {
    let (sender, receiver) = sync_channel(MAX_QUEUED_MESSAGES);
    thread::spawn(move || {
        while let Some(read) = Message::read(&mut input).transpose() {
            let is_last = read.is_err();
            if sender.send(read).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Uninitialized,
    Running,
    ShutDown,
}

/// A language server without threads and streams, for an editor in the same process.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use tdlasm_tools::server::LanguageServer;
///
/// let mut server = LanguageServer::new(tdlasm::Options::default());
/// let begin = json!({ "id": 1, "method": "initialize", "params": { "capabilities": {} } });
/// assert!(server.handle_message(begin)?.is_some());
/// let text = "\tMVI Q,1\n";
/// let document = json!({ "uri": "a.asm", "languageId": "tdl", "version": 1, "text": text });
/// let open = json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } });
/// assert!(server.handle_message(open)?.is_none());
/// assert_eq!(server.take_notifications()[0]["params"]["uri"], "a.asm");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct LanguageServer {
    session: Session,
    phase: Phase,
}

impl LanguageServer {
    /// Creates a server whose `options` apply to all sources.
    pub fn new(options: Options) -> Self {
        Self { session: Session::new(options), phase: Phase::Uninitialized }
    }

    /// Handles a message and returns the reply, if there is one.
    ///
    /// # Errors
    /// Returns an error if the value is not a message of the protocol.
    pub fn handle_message(&mut self, message: Value) -> Result<Option<Value>, serde_json::Error> {
        let message = serde_json::from_value(message)?;
        self.handle(message).map(serde_json::to_value).transpose()
    }

    /// Returns the pending notifications: diagnostics that have changed.
    pub fn take_notifications(&mut self) -> Vec<Value> {
        self.pending_notifications()
            .into_iter()
            .filter_map(|one| serde_json::to_value(one).ok())
            .collect()
    }

    fn pending_notifications(&mut self) -> Vec<Notification> {
        self.session.pending_notifications()
    }

    /// Returns how the session has ended, if it ends now.
    fn end(&self) -> ServerEnd {
        if self.phase == Phase::ShutDown {
            ServerEnd::AfterShutdown
        } else {
            ServerEnd::WithoutShutdown
        }
    }

    fn handle(&mut self, message: Message) -> Option<Message> {
        match message {
            Message::Request(request) => Some(self.handle_request(request).into()),
            Message::Notification(notification) if self.phase == Phase::Running => {
                let begins = notification.method == Initialized::METHOD;
                self.session.handle_notification(notification);
                let registration = self.session.file_watch_registration().filter(|_| begins);
                registration.map(Message::Request)
            }
            Message::Notification(_) | Message::Response(_) => None,
        }
    }

    fn handle_request(&mut self, request: Request) -> Response {
        let refuse = |code: ErrorCode, message: &str| {
            Response::new_err(request.id.clone(), code as i32, message.into())
        };
        match (self.phase, &*request.method) {
            (Phase::Uninitialized, "initialize") => {
                self.phase = Phase::Running;
                self.session.initialize(request)
            }
            (Phase::Uninitialized, _) => {
                refuse(ErrorCode::ServerNotInitialized, "the first request must be initialize")
            }
            (Phase::ShutDown, _) => refuse(ErrorCode::InvalidRequest, "the session has ended"),
            (Phase::Running, "initialize") => {
                refuse(ErrorCode::InvalidRequest, "the session is already initialized")
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                Response::new_ok(request.id, ())
            }
            (Phase::Running, _) => self.session.handle_request(request),
        }
    }
}
