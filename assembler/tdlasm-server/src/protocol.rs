//! The protocol without a line: messages in, messages out, nothing read and nothing waited for.

use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{Initialized, Notification as _};
use serde_json::Value;

use tdlasm::asm::Options;

use crate::ServerEnd;
use crate::outgoing::Outgoing;
use crate::session::Session;

/// The phase of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before `initialize`.
    Silent,
    Running,
    /// Behind `shutdown`.
    Shut,
}

/// A language server in this program, without a thread: for an editor that runs beside it.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use tdlasm_server::Protocol;
///
/// let mut server = Protocol::new(tdlasm::Options::default());
/// let begin = json!({ "id": 1, "method": "initialize", "params": { "capabilities": {} } });
/// assert!(server.take(begin)?.is_some());
/// let text = "\tMVI Q,1\n";
/// let document = json!({ "uri": "a.asm", "languageId": "tdl", "version": 1, "text": text });
/// let open = json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } });
/// assert!(server.take(open)?.is_none());
/// assert_eq!(server.news()[0]["params"]["uri"], "a.asm");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct Protocol {
    session: Session,
    phase: Phase,
}

impl Protocol {
    /// A server that assembles sources by these options; the editor can add to them when it begins
    /// the session.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { session: Session::new(options), phase: Phase::Silent }
    }

    /// Takes a message of the protocol; returns the one that answers it, if one does.
    ///
    /// # Errors
    /// It is no message of the protocol.
    pub fn take(&mut self, message: Value) -> Result<Option<Value>, serde_json::Error> {
        let message = serde_json::from_value(message)?;
        self.answer(message).map(Outgoing::into_value).transpose()
    }

    /// Returns the messages that are due without a question: what is wrong with the sources, if
    /// that may have changed.
    pub fn news(&mut self) -> Vec<Value> {
        self.due().into_iter().filter_map(|one| serde_json::to_value(one).ok()).collect()
    }

    pub(crate) fn due(&mut self) -> Vec<Notification> {
        self.session.news()
    }

    /// The end of the session, if it ends now.
    pub(crate) fn end(&self) -> ServerEnd {
        if self.phase == Phase::Shut { ServerEnd::Orderly } else { ServerEnd::Abrupt }
    }

    pub(crate) fn answer(&mut self, message: Message) -> Option<Outgoing> {
        match message {
            Message::Notification(notification) => {
                if self.phase != Phase::Running {
                    return None;
                }
                let begins = notification.method == Initialized::METHOD;
                self.session.notice(notification);
                let registration = self.session.registration().filter(|_| begins);
                registration.map(|request| Message::Request(request).into())
            }
            Message::Request(request) => Some(self.respond(request)),
            Message::Response(_) => None,
        }
    }

    fn respond(&mut self, request: Request) -> Outgoing {
        let refuse = |code: ErrorCode, message: &str| {
            Response::new_err(request.id.clone(), code as i32, message.into()).into()
        };
        match (self.phase, &*request.method) {
            (Phase::Silent, "initialize") => {
                self.phase = Phase::Running;
                self.session.initialize(request).into()
            }
            (Phase::Silent, _) => {
                refuse(ErrorCode::ServerNotInitialized, "the session begins with initialize")
            }
            (Phase::Shut, _) => refuse(ErrorCode::InvalidRequest, "the session has ended"),
            (Phase::Running, "initialize") => {
                refuse(ErrorCode::InvalidRequest, "the session has begun already")
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::Shut;
                Response::new_ok(request.id, ()).into()
            }
            (Phase::Running, _) => self.session.answer(request),
        }
    }
}
