//! Requests and their answers.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rcflash_transport::time::Duration;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::assemble::{AssembleRequest, assemble};
use crate::board::{self, Boards, EvaluatorSources, SourceFile};
use crate::build_info::{self, BuildInfo};
use crate::corpus::{CaseSelection, CorpusRun};
use crate::debug::{self, BreakpointRequest, ExecJob, PageDebugSession, SharedSession, Window};
use crate::editor::{Editor, TextLocation};
use crate::error::PageError;
use crate::examine::{ExamineRequest, examine};
use crate::jobs::{Job, Slice};
use crate::machine::{MachineState, RunningMachine};
use crate::message::{Message, Post};
use crate::position_view::PositionView;
use crate::program::load;
use crate::serial::{self, SerialTask};
use crate::sources;
use crate::tests::{TestRequest, TestRun};

pub(crate) enum RequestOutcome {
    /// The result, and the bytes that it refers to.
    Now(Value, Vec<Vec<u8>>),
    /// A job in progress; its result comes later.
    Later(Box<dyn Job>),
}

/// The state between requests.
#[derive(Default)]
pub struct Toolchain {
    boards: Boards,
    editor: Option<Editor>,
    debugging: Option<SharedSession>,
    running: Option<RunningMachine>,
    port: Option<serial::Port>,
    jobs: Vec<(u64, Box<dyn Job>)>,
}

#[derive(Deserialize)]
struct Request {
    id: u64,
    method: String,
    #[serde(default)]
    params: Value,
}

#[derive(Deserialize)]
struct FenParams {
    fen: String,
}

#[derive(Deserialize)]
struct PlaceParams {
    fen: String,
    square: String,
    piece: Option<char>,
}

#[derive(Deserialize)]
struct ExamineParams {
    fen: String,
    behaviour: String,
    square: Option<String>,
    files: Option<Vec<SourceFile>>,
}

#[derive(Deserialize)]
struct BehaviourParams {
    behaviour: String,
}

#[derive(Deserialize)]
struct FileParams {
    file: String,
}

#[derive(Deserialize)]
struct CorpusParams {
    behaviour: String,
    files: Option<Vec<SourceFile>>,
    #[serde(flatten)]
    choice: CaseSelection,
}

#[derive(Deserialize)]
struct ExchangeParams {
    fen: String,
    square: Option<String>,
    behaviour: String,
    files: Option<Vec<SourceFile>>,
}

#[derive(Deserialize)]
struct ProgramParams {
    #[serde(flatten)]
    sources: AssembleRequest,
    entry: Option<String>,
    speed: Option<String>,
}

#[derive(Deserialize)]
struct MoveParams {
    motion: String,
    address: Option<u16>,
    step: Option<u64>,
    seconds: Option<f64>,
}

#[derive(Deserialize)]
struct BreakpointParams {
    breakpoints: Vec<BreakpointRequest>,
}

#[derive(Deserialize)]
struct StateParams {
    memory: Option<Vec<Window>>,
}

#[derive(Deserialize)]
struct CommandParams {
    line: String,
}

/// Input as text or as bytes.
#[derive(Deserialize)]
#[serde(untagged)]
enum InputEncoding {
    Text(String),
    Bytes(Vec<u8>),
}

#[derive(Deserialize)]
struct InputParams {
    bytes: InputEncoding,
}

#[derive(Deserialize)]
struct StopParams {
    request: u64,
}

impl Toolchain {
    /// Posts the first event: that requests are taken.
    pub fn start(serial: bool, post: &mut Post<'_>) {
        let (version, commit) = build_info::version();
        let event = json!({
            "event": "ready", "version": version, "commit": commit, "serial": serial,
        });
        post(Message { json: event.to_string(), bytes: Vec::new() });
    }

    /// Takes the port that the methods of `serial` use.
    pub fn attach(&mut self, port: serial::Port) {
        self.port = Some(port);
    }

    /// Takes a request and posts its answer, unless that comes from a run.
    pub fn take(&mut self, request: &str, post: &mut Post<'_>) {
        let Request { id, method, params } = match serde_json::from_str(request) {
            Ok(request) => request,
            Err(error) => {
                let fault = PageError::new(format!("invalid request from the page: {error}"));
                return post(reply(0, Err(fault), Vec::new()));
            }
        };
        match self.answer(id, &method, params, post) {
            Ok(RequestOutcome::Now(result, bytes)) => post(reply(id, Ok(result), bytes)),
            Ok(RequestOutcome::Later(job)) => self.jobs.push((id, job)),
            Err(fault) => post(reply(id, Err(fault), Vec::new())),
        }
    }

    /// Advances each job by a slice. Returns the time until the next slice, `None` if none
    /// does before the next request.
    pub fn advance(&mut self, post: &mut Post<'_>) -> Option<Duration> {
        let runs =
            self.running.as_mut().map_or(MachineState::Waits, |running| running.advance(post));
        if self.advance_jobs(post) {
            return Some(Duration::ZERO);
        }
        match runs {
            MachineState::Now => Some(Duration::ZERO),
            MachineState::After(time) => Some(time),
            MachineState::Waits => None,
        }
    }

    /// Advances all jobs; returns `true` if one is unfinished.
    fn advance_jobs(&mut self, post: &mut Post<'_>) -> bool {
        let mut left = Vec::new();
        for (id, mut job) in std::mem::take(&mut self.jobs) {
            match job.advance(post) {
                Slice::More => left.push((id, job)),
                Slice::Done(result) => post(reply(id, result, Vec::new())),
            }
        }
        self.jobs.splice(..0, left);
        !self.jobs.is_empty()
    }

    fn answer(
        &mut self,
        id: u64,
        method: &str,
        params: Value,
        post: &mut Post<'_>,
    ) -> Result<RequestOutcome, PageError> {
        match method {
            "figures" => now(&BuildInfo::find()?),
            "normalise" => now(&PositionView::of(&read::<FenParams>(params)?.fen)?),
            "place" => {
                let PlaceParams { fen, square, piece } = read(params)?;
                now(&PositionView::with(&fen, &square, piece)?)
            }
            "examine" => {
                let ExamineParams { fen, behaviour, square, files } = read(params)?;
                let evaluator = EvaluatorSources::new(&behaviour, files)?;
                let question =
                    ExamineRequest { fen: &fen, evaluator: &evaluator, square: square.as_deref() };
                now(&examine(&mut self.boards, &question)?)
            }
            "stop" => {
                let StopParams { request } = read(params)?;
                let job = self.jobs.iter_mut().find(|(id, _)| *id == request);
                let found = job.map(|(_, job)| job.stop()).is_some();
                now(&found)
            }
            "sources" => {
                let evaluator =
                    EvaluatorSources::new(&read::<BehaviourParams>(params)?.behaviour, None)?;
                now(&json!({ "files": sources::sources(evaluator.behaviour)? }))
            }
            "check" => self.check(&read(params)?),
            "tokens" => {
                let FileParams { file } = read(params)?;
                now(&json!({ "tokens": self.editor()?.tokens(&file)? }))
            }
            "hover" => now(&self.editor()?.hover(&read::<TextLocation>(params)?)?),
            "completion" => now(&self.editor()?.completion(&read::<TextLocation>(params)?)?),
            "definition" => now(&self.editor()?.definition(&read::<TextLocation>(params)?)?),
            "assemble" => {
                let made = assemble(&read::<AssembleRequest>(params)?)?;
                Ok(RequestOutcome::Now(made.answer, made.bytes))
            }
            "test" => {
                Ok(RequestOutcome::Later(Box::new(TestRun::new(&read::<TestRequest>(params)?)?)))
            }
            "boards" => now(&json!({ "boards": board::list()? })),
            "corpus" => self.corpus(id, read(params)?),
            "play" => {
                let ExchangeParams { fen, behaviour, files, square } = read(params)?;
                let evaluator = EvaluatorSources::new(&behaviour, files)?;
                now(&debug::play(&fen, &square.unwrap_or_default(), &evaluator)?)
            }
            "tstates" => {
                let ExchangeParams { fen, behaviour, files, .. } = read(params)?;
                now(&debug::times(&fen, &EvaluatorSources::new(&behaviour, files)?)?)
            }
            // The memory itself does not go through JSON: the page has transferred it before.
            "serial.attach" => match self.port {
                Some(_) => now(&()),
                None => Err(PageError::new("the page has not shared memory for a port")),
            },
            "serial.detach" => {
                self.port = None;
                now(&())
            }
            _ if method.starts_with("serial.") => {
                let port = self.port.clone().ok_or_else(|| PageError::new("no port was chosen"))?;
                let mut forward = |message| post(message);
                now(&SerialTask::new(&port, read(params)?, id, &mut forward)?.run(method)?)
            }
            _ if method.starts_with("debug.") => self.debug(method, params),
            _ if method.starts_with("machine.") => self.machine(method, params),
            _ => Err(PageError::new(format!("unknown method '{method}'"))),
        }
    }

    fn debug(&mut self, method: &str, params: Value) -> Result<RequestOutcome, PageError> {
        if method == "debug.start" {
            // While a job of an earlier session is in progress, only the job uses that session.
            let mut session = start_debugging(params)?;
            let state = session.state();
            self.debugging = Some(Rc::new(RefCell::new(session)));
            return now(&state);
        }
        let nothing = || PageError::new("no debug session: start one at a square or a program");
        let shared = self.debugging.as_ref().ok_or_else(nothing)?;
        if method == "debug.move" {
            return move_board(shared, read(params)?);
        }
        let mut session = shared.borrow_mut();
        match method {
            "debug.breakpoints" => {
                now(&session.set_breakpoints(read::<BreakpointParams>(params)?.breakpoints))
            }
            "debug.state" => {
                if let Some(windows) = read::<StateParams>(params)?.memory {
                    session.show(windows);
                }
                now(&session.state())
            }
            "debug.command" => {
                let text = session.command(&read::<CommandParams>(params)?.line)?;
                now(&json!({ "text": text, "state": session.state() }))
            }
            "debug.text" => {
                let text = session.text(&read::<FileParams>(params)?.file);
                now(&text.map(|text| json!({ "text": text })))
            }
            _ => Err(PageError::new(format!("unknown method '{method}'"))),
        }
    }

    /// The methods of a board with a program and a terminal.
    fn machine(&mut self, method: &str, params: Value) -> Result<RequestOutcome, PageError> {
        if method == "machine.start" {
            let ProgramParams { sources, entry, speed } = read(params)?;
            let profile = board::profile(sources.board.as_deref())?;
            let loaded = load(&sources, &profile, entry.as_deref())?;
            let started = json!({
                "entry": loaded.entry, "board": profile.name, "notice": loaded.notice,
            });
            self.running = Some(RunningMachine::new(loaded, speed.as_deref() != Some("full")));
            return now(&started);
        }
        if method == "machine.stop" {
            self.running = None;
            return now(&());
        }
        let nothing = || PageError::new("no program runs on the simulated board");
        let running = self.running.as_mut().ok_or_else(nothing)?;
        match method {
            "machine.input" => match read::<InputParams>(params)?.bytes {
                InputEncoding::Text(text) => running.send(text.as_bytes()),
                InputEncoding::Bytes(bytes) => running.send(&bytes),
            },
            "machine.reset" => running.reset(),
            _ => return Err(PageError::new(format!("unknown method '{method}'"))),
        }
        now(&())
    }

    /// Takes the texts of an editor.
    fn check(&mut self, sources: &AssembleRequest) -> Result<RequestOutcome, PageError> {
        let defines = sources.defines()?;
        if !self.editor.as_ref().is_some_and(|editor| editor.has(&defines)) {
            self.editor = Some(Editor::new(defines)?);
        }
        let files = match sources.behaviour()? {
            Some(behaviour) => sources::edited(behaviour, &sources.files)?,
            None => sources.files.clone(),
        };
        now(&json!({ "messages": self.editor()?.check(&files)? }))
    }

    fn editor(&mut self) -> Result<&mut Editor, PageError> {
        self.editor.as_mut().ok_or_else(|| PageError::new("no text was checked yet"))
    }

    /// Begins a run of the corpus on a board of its own.
    fn corpus(&mut self, id: u64, params: CorpusParams) -> Result<RequestOutcome, PageError> {
        let CorpusParams { behaviour, files, choice } = params;
        let evaluator = EvaluatorSources::new(&behaviour, files)?;
        let cases = choice.cases()?;
        let stop = Arc::new(AtomicBool::new(false));
        let live = board::simulated(&evaluator, &stop)?;
        Ok(RequestOutcome::Later(Box::new(CorpusRun::new(id, live, cases, stop))))
    }
}

/// Begins a session at an exchange, if the parameters name one, or at a program.
fn start_debugging(params: Value) -> Result<PageDebugSession, PageError> {
    if params.get("fen").is_some() {
        let ExchangeParams { fen, square, behaviour, files } = read(params)?;
        let square =
            square.ok_or_else(|| PageError::new("the debugger stops at a square's exchange"))?;
        return PageDebugSession::at_exchange(
            &fen,
            &square,
            &EvaluatorSources::new(&behaviour, files)?,
        );
    }
    let ProgramParams { sources, entry, .. } = read(params)?;
    let profile = board::profile(sources.board.as_deref())?;
    Ok(PageDebugSession::at_program(load(&sources, &profile, entry.as_deref())?))
}

/// The computer's time after which a motion ends by itself, and the longest one.
const TIME_LIMIT_RANGE_SECONDS: [f64; 2] = [10.0, 3600.0];

fn move_board(session: &SharedSession, params: MoveParams) -> Result<RequestOutcome, PageError> {
    let MoveParams { motion, address, step, seconds } = params;
    if motion == "restart" {
        let mut session = session.borrow_mut();
        session.restart();
        return now(&session.state());
    }
    let motion = debug::parse_exec_command(&motion, address, step)?;
    let within = seconds
        .filter(|it| it.is_finite())
        .unwrap_or(TIME_LIMIT_RANGE_SECONDS[0])
        .clamp(0.0, TIME_LIMIT_RANGE_SECONDS[1]);
    let within = Duration::from_secs_f64(within);
    Ok(RequestOutcome::Later(Box::new(ExecJob::new(session, motion, within))))
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, PageError> {
    serde_json::from_value(params).map_err(|error| PageError::new(format!("parameters: {error}")))
}

/// An answer without bytes.
fn now(result: &impl serde::Serialize) -> Result<RequestOutcome, PageError> {
    let value = serde_json::to_value(result).map_err(PageError::new)?;
    Ok(RequestOutcome::Now(value, Vec::new()))
}

fn reply(id: u64, result: Result<Value, PageError>, bytes: Vec<Vec<u8>>) -> Message {
    let json = match result {
        Ok(result) => json!({ "id": id, "result": result }),
        Err(fault) => json!({ "id": id, "error": fault }),
    };
    Message { json: json.to_string(), bytes }
}
