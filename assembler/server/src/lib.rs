//! The language server: what editors ask about TDL source, answered by the assembler itself.
//!
//! Sources are assembled anew as they are typed, which takes milliseconds, so nothing here knows
//! the language twice.

mod actions;
mod analysis;
mod calls;
mod completion;
mod diagnostics;
mod documents;
mod edits;
mod folding;
mod frames;
mod hover;
mod links;
mod navigate;
mod pieces;
mod projects;
mod rename;
mod requests;
mod session;
mod targets;
mod text;
mod tokens;
mod unread;
mod uri;
mod words;
mod workspace;

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{Initialized, Notification as _, ShowMessage};
use lsp_types::{MessageType, ShowMessageParams};
use thiserror::Error;

use tdlasm::asm::Options;

use frames::{Frame, Frames};
use session::Session;

/// Most messages that are read before the first of them is taken.
const AHEAD: usize = 16;

/// Error returned by [`serve`].
#[derive(Debug, Error)]
pub enum Error {
    /// Bytes that are no message of the protocol.
    #[error("the editor sent what is no message of the language server protocol: {0}")]
    Input(io::Error),
    /// The editor does not listen any more.
    #[error("cannot answer the editor: {0}")]
    Output(io::Error),
}

/// The end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEnd {
    /// As the protocol has it: `shutdown`, then `exit`.
    Orderly,
    /// By `exit` or the end of the input, without `shutdown`.
    Abrupt,
}

/// Serves an editor until it says `exit` or closes the input.
///
/// `options` say how sources are assembled; the editor can add to them when it begins the session.
///
/// # Errors
/// The editor does not speak the protocol, or does not listen.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: &mut dyn Write,
    options: Options,
) -> Result<ServerEnd, Error> {
    let messages = read(input);
    let mut server = Server { session: Session::new(options), output, phase: Phase::Silent };
    loop {
        let message = match messages.try_recv() {
            // Only when the editor waits is it worth telling what is wrong with the text.
            Err(TryRecvError::Empty) => {
                server.tell()?;
                messages.recv().ok()
            }
            received => received.ok(),
        };
        let Some(frame) = message else { return Ok(server.ended()) };
        match frame.map_err(Error::Input)? {
            Frame::Message(message) => {
                if server.take(message)? {
                    return Ok(server.ended());
                }
            }
            Frame::TooLong(length) => server.refuse(length)?,
        }
    }
}

/// Reads messages on a thread of their own, so that it is known whether there are more.
fn read(input: impl BufRead + Send + 'static) -> Receiver<io::Result<Frame>> {
    let (sender, receiver) = sync_channel(AHEAD);
    thread::spawn(move || {
        let mut frames = Frames::new(input);
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

/// The phase of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before `initialize`.
    Silent,
    Running,
    /// Behind `shutdown`.
    Shut,
}

struct Server<'o> {
    session: Session,
    output: &'o mut dyn Write,
    phase: Phase,
}

impl Server<'_> {
    fn ended(&self) -> ServerEnd {
        if self.phase == Phase::Shut { ServerEnd::Orderly } else { ServerEnd::Abrupt }
    }

    fn send(&mut self, message: impl Into<Message>) -> Result<(), Error> {
        message.into().write(&mut self.output).map_err(Error::Output)
    }

    /// Shows that a message was too long. It has no number by which it could be answered.
    fn refuse(&mut self, length: u64) -> Result<(), Error> {
        let message = format!(
            "tdlasm passed over a message of {length} bytes: the longest that it takes has 64 MiB"
        );
        let parameters = ShowMessageParams { typ: MessageType::ERROR, message };
        self.send(Notification::new(ShowMessage::METHOD.into(), parameters))
    }

    /// Takes a message; true if it is the last.
    fn take(&mut self, message: Message) -> Result<bool, Error> {
        match message {
            Message::Notification(Notification { method, .. }) if method == "exit" => Ok(true),
            Message::Notification(notification) => {
                if self.phase != Phase::Running {
                    return Ok(false);
                }
                let begins = notification.method == Initialized::METHOD;
                self.session.notice(notification);
                match self.session.registration().filter(|_| begins) {
                    Some(request) => self.send(request).map(|()| false),
                    None => Ok(false),
                }
            }
            Message::Request(request) => {
                let response = self.answer(request);
                self.send(response).map(|()| false)
            }
            Message::Response(_) => Ok(false),
        }
    }

    fn answer(&mut self, request: Request) -> Response {
        let refuse = |code: ErrorCode, message: &str| {
            Response::new_err(request.id.clone(), code as i32, message.into())
        };
        match (self.phase, &*request.method) {
            (Phase::Silent, "initialize") => {
                self.phase = Phase::Running;
                self.session.initialize(request)
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
                Response::new_ok(request.id, ())
            }
            (Phase::Running, _) => self.session.answer(request),
        }
    }

    /// Tells what is wrong with the sources, if that may have changed.
    fn tell(&mut self) -> Result<(), Error> {
        for message in self.session.news() {
            self.send(message)?;
        }
        Ok(())
    }
}
