//! A debug adapter: serves the Debug Adapter Protocol (1.65) of editors over two streams.
//!
//! Messages are JSON after a `Content-Length` header. There is one thread, the processor, with a
//! frame for PC and for each open call. Requests are handled while the board runs, too; `pause` and
//! `disconnect` stop it.

mod breakpoints;
mod launching;
mod memory;
mod message;
mod output;
mod queries;
mod request_reader;
mod response;
mod running;
mod types;
mod variables;

use std::io::{self, BufRead, Write};

use serde_json::Value;

use super::debugger::{Debugger, ShouldStop};
use breakpoints::ClientBreakpoints;
use output::Output;
use request_reader::RequestReader;
use response::ResponseBody;
use running::exec_command;
use types::{Arguments, CAPABILITIES, Request};

/// The id of all errors; only their texts differ.
const ERROR_ID: u32 = 1;

/// A session that `launch` has started.
pub struct LaunchedSession {
    /// The debugger, halted at the entry point.
    pub debugger: Debugger,
    /// Warnings about the arguments.
    pub warnings: Vec<String>,
    /// A message if the board did not reach its entry point.
    pub message: Option<String>,
    /// Whether to continue at once instead of staying at the entry point.
    pub runs: bool,
    /// Whether to show the board's output, which is text.
    pub has_console: bool,
}

/// Starts a session from the arguments of `launch`; returns a message if that fails. The callback
/// cancels a launch that does not reach its entry point.
pub type Launch<'a> = &'a dyn Fn(Value, ShouldStop<'_>) -> Result<LaunchedSession, String>;

/// Serves a client until it disconnects.
///
/// # Errors
/// Returns an error if a stream fails or a message is invalid.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: &mut dyn Write,
    launch: Launch<'_>,
) -> io::Result<()> {
    let client = Output { request_reader: RequestReader::new(input), output, seq: 0, printed: 0 };
    let mut adapter = Adapter {
        client,
        launch,
        launched: Value::Null,
        session: None,
        exception: None,
        breakpoints: ClientBreakpoints::default(),
        has_stopped_before: false,
    };
    while let Some(request) = adapter.client.request_reader.next()? {
        if !adapter.serve(&request)? {
            break;
        }
    }
    Ok(())
}

/// The state of a session.
struct Adapter<'a> {
    client: Output<'a>,
    launch: Launch<'a>,
    /// The arguments of the last launch, for `restart`.
    launched: Value,
    session: Option<LaunchedSession>,
    /// The id and the description of the exception that stopped the board.
    exception: Option<(&'static str, String)>,
    breakpoints: ClientBreakpoints,
    has_stopped_before: bool,
}

impl Adapter<'_> {
    /// Handles a request; returns `false` if the session ends.
    fn serve(&mut self, request: &Request) -> io::Result<bool> {
        match request.command.as_str() {
            "initialize" => {
                let answer = request.arguments().and_then(|arguments| initialize(&arguments));
                self.client.respond(request, answer)?;
            }
            "launch" | "attach" => {
                let arguments = request.arguments.clone();
                self.launch(request, arguments)?;
            }
            "restart" => self.restart(request)?,
            "exceptionInfo" => {
                let answer = self.exception_info();
                self.client.respond(request, answer)?;
            }
            "configurationDone" => {
                let answer = self.session.as_ref().map(|_| Value::Null).ok_or_else(not_launched);
                let is_launched = answer.is_ok();
                self.client.respond(request, answer)?;
                if is_launched {
                    self.first_stop()?;
                }
            }
            "disconnect" => {
                self.client.respond(request, Ok(Value::Null))?;
                return Ok(false);
            }
            "terminate" => {
                let ended = self.session.take();
                self.client.respond(request, Ok(Value::Null))?;
                // A client may answer the event with the same request.
                if ended.is_some() {
                    self.client.event("terminated", Value::Null)?;
                }
            }
            "evaluate" => self.evaluate(request)?,
            "goto" => self.go_to(request)?,
            command => match exec_command(command, request) {
                Some(command) => self.resume(request, command)?,
                None => {
                    let answer = self.handle_query(request);
                    self.client.respond(request, answer)?;
                }
            },
        }
        Ok(true)
    }

    /// Handles a request that only reads or changes state.
    fn handle_query(&mut self, request: &Request) -> ResponseBody {
        let session = self.session.as_mut().ok_or_else(not_launched)?;
        queries::handle(&mut session.debugger, &mut self.breakpoints, request)
    }
}

/// Checks that the client counts from 1 and uses paths, and returns the capabilities.
fn initialize(arguments: &Arguments) -> ResponseBody {
    let Arguments { lines_start_at1, columns_start_at1, path_format, .. } = arguments;
    let counts = [("linesStartAt1", lines_start_at1), ("columnsStartAt1", columns_start_at1)];
    if let Some((name, _)) = counts.into_iter().find(|(_, given)| **given == Some(false)) {
        return Err(format!("{name} is false, but this adapter counts from 1"));
    }
    match path_format.as_deref() {
        None | Some("path") => Ok(CAPABILITIES.map(|name| (name, true)).into_iter().collect()),
        Some(_) => Err("pathFormat must be \"path\"".to_owned()),
    }
}

fn not_launched() -> String {
    "no program is launched yet".to_owned()
}
