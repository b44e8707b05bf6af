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
mod foresight;
mod frames;
mod given;
mod hover;
mod links;
mod navigate;
mod outgoing;
mod pieces;
mod projects;
mod protocol;
mod rename;
mod requests;
mod session;
mod symbols;
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

use lsp_server::{Message, Notification};
use lsp_types::notification::{Notification as _, ShowMessage};
use lsp_types::{MessageType, ShowMessageParams};
use thiserror::Error;

use tdlasm::asm::Options;

use frames::{Frame, Frames};
use outgoing::Outgoing;
pub use protocol::Protocol;

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
    let mut server = Server { protocol: Protocol::new(options), output };
    loop {
        let message = match messages.try_recv() {
            // Only when the editor waits is it worth telling what is wrong with the text.
            Err(TryRecvError::Empty) => {
                server.tell()?;
                messages.recv().ok()
            }
            received => received.ok(),
        };
        let Some(frame) = message else { return Ok(server.protocol.end()) };
        match frame.map_err(Error::Input)? {
            Frame::Message(message) => {
                if server.take(message)? {
                    return Ok(server.protocol.end());
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

struct Server<'o> {
    protocol: Protocol,
    output: &'o mut dyn Write,
}

impl Server<'_> {
    fn send(&mut self, message: &Outgoing) -> Result<(), Error> {
        message.write(self.output).map_err(Error::Output)
    }

    /// Shows that a message was too long. It has no number by which it could be answered.
    fn refuse(&mut self, length: u64) -> Result<(), Error> {
        let message = format!(
            "tdlasm passed over a message of {length} bytes: the longest that it takes has 64 MiB"
        );
        let parameters = ShowMessageParams { typ: MessageType::ERROR, message };
        let notice = Notification::new(ShowMessage::METHOD.into(), parameters);
        self.send(&Message::Notification(notice).into())
    }

    /// Takes a message; true if it is the last.
    fn take(&mut self, message: Message) -> Result<bool, Error> {
        let is_last = matches!(&message, Message::Notification(notice) if notice.method == "exit");
        match self.protocol.answer(message) {
            Some(answer) => self.send(&answer).map(|()| is_last),
            None => Ok(is_last),
        }
    }

    /// Tells what is wrong with the sources, if that may have changed.
    fn tell(&mut self) -> Result<(), Error> {
        for message in self.protocol.due() {
            self.send(&Message::Notification(message).into())?;
        }
        Ok(())
    }
}
