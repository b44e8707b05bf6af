//! The language server without I/O: messages in, messages out.

use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{Initialized, Notification as _};
use serde_json::Value;
use tdlasm::asm::Options;

use super::ServerEnd;
use super::session::Session;

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
    /// Creates a server; the editor can extend `options` by `initializationOptions`.
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

    pub(crate) fn pending_notifications(&mut self) -> Vec<Notification> {
        self.session.pending_notifications()
    }

    /// Returns how the session has ended, if it ends now.
    pub(crate) fn end(&self) -> ServerEnd {
        if self.phase == Phase::ShutDown {
            ServerEnd::AfterShutdown
        } else {
            ServerEnd::WithoutShutdown
        }
    }

    pub(crate) fn handle(&mut self, message: Message) -> Option<Message> {
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
