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

use crate::{Debugger, ExecCommand, HaltReason, ShouldStop};
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
    let mut adapter = Adapter {
        client: Output::new(RequestReader::new(input), output),
        launch,
        launched: Value::Null,
        session: None,
        exception: None,
        breakpoints: ClientBreakpoints::default(),
        has_stopped_before: false,
    };
    while let Some(request) = adapter.client.request_reader.next()? {
        let goes_on = adapter.serve(&request);
        adapter.client.error.take().map_or(Ok(()), Err)?;
        if !goes_on {
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

/// What follows the response to a request.
enum Next {
    Nothing,
    /// The session ends.
    End,
    Event(&'static str, Value),
    /// The client may set breakpoints, after these warnings.
    Initialized(Vec<String>),
    /// The client has set its breakpoints.
    FirstStop,
    Run(ExecCommand),
    Stopped(HaltReason),
    /// The client has set PC.
    PcSet,
}

impl Adapter<'_> {
    /// Handles a request; returns `false` if the session ends.
    fn serve(&mut self, request: &Request) -> bool {
        let (answer, next) = match self.handle(request) {
            Ok((body, next)) => (Ok(body), next),
            Err(message) => (Err(message), Next::Nothing),
        };
        self.client.respond(request, answer);
        match next {
            Next::Nothing => {}
            Next::End => return false,
            Next::Event(event, body) => self.client.event(event, body),
            Next::Initialized(warnings) => {
                warnings.iter().for_each(|warning| self.client.show("important", warning));
                self.client.event("initialized", Value::Null);
            }
            Next::FirstStop => self.first_stop(),
            Next::Run(command) => self.run(command),
            Next::Stopped(halt) => self.stopped(halt),
            Next::PcSet => self.stopped_with("goto", "", &[]),
        }
        true
    }

    fn handle(&mut self, request: &Request) -> Result<(Value, Next), String> {
        let body = match request.command.as_str() {
            "initialize" => initialize(&request.arguments()?)?,
            "launch" | "attach" => return self.launch(request.arguments.clone()),
            "restart" => return self.restart(&request.arguments),
            "exceptionInfo" => self.exception_info()?,
            "configurationDone" => {
                self.session.as_ref().ok_or_else(not_launched)?;
                return Ok((Value::Null, Next::FirstStop));
            }
            "disconnect" => return Ok((Value::Null, Next::End)),
            // A client may answer the event with the same request.
            "terminate" if self.session.take().is_some() => {
                return Ok((Value::Null, Next::Event("terminated", Value::Null)));
            }
            "terminate" => Value::Null,
            "evaluate" => return self.evaluate(request),
            "goto" => return self.go_to(request),
            command => {
                let session = self.session.as_mut().ok_or_else(not_launched)?;
                if let Some(command) = exec_command(command, request) {
                    return Ok((running::continued(command), Next::Run(command)));
                }
                queries::handle(&mut session.debugger, &mut self.breakpoints, request)?
            }
        };
        Ok((body, Next::Nothing))
    }
}

/// Checks that the client counts from 1 and uses paths, and returns the capabilities.
fn initialize(arguments: &Arguments) -> ResponseBody {
    let Arguments { lines_start_at1, columns_start_at1, path_format, .. } = arguments;
    let counts = [("linesStartAt1", lines_start_at1), ("columnsStartAt1", columns_start_at1)];
    if let Some((name, _)) = counts.into_iter().find(|(_, given)| **given == Some(false)) {
        return Err(format!("{name} is false, but this adapter counts from 1"));
    }
    if path_format.as_ref().is_some_and(|format| format != "path") {
        return Err("pathFormat must be \"path\"".to_owned());
    }
    let supported = |feature| (format!("supports{feature}"), true);
    Ok(CAPABILITIES.split_whitespace().map(supported).collect())
}

fn not_launched() -> String {
    "no program is launched yet".to_owned()
}
