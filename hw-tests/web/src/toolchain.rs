//! Requests and their answers.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::board::{Boards, Edition, SourceFile};
use crate::examine::{Question, examine};
use crate::fault::Fault;
use crate::figures::Figures;
use crate::jobs::{Job, Slice};
use crate::placement::Placement;

/// A message to the page: JSON, and the bytes that its fields `bytes` refer to by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// The message.
    pub json: String,
    /// Contents of files, or output of a board.
    pub bytes: Vec<Vec<u8>>,
}

/// Sends messages to the page at once.
pub type Post<'a> = dyn FnMut(Message) + 'a;

/// An answer to a request.
pub(crate) enum Answer {
    /// The result, and the bytes that it refers to.
    Now(Value, Vec<Vec<u8>>),
    /// A run that goes on; its result comes later.
    Later(Box<dyn Job>),
}

/// The state between requests.
#[derive(Default)]
pub struct Toolchain {
    boards: Boards,
    jobs: Vec<(u64, Box<dyn Job>)>,
}

/// A request as the page sends it.
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
struct StopParams {
    request: u64,
}

impl Toolchain {
    /// Posts the first event: that requests are taken.
    pub fn start(serial: bool, post: &mut Post<'_>) {
        let event = match Figures::find() {
            Ok(figures) => json!({ "event": "ready", "figures": figures, "serial": serial }),
            Err(fault) => json!({ "event": "broken", "message": fault.message }),
        };
        post(Message { json: event.to_string(), bytes: Vec::new() });
    }

    /// Takes a request and posts its answer, unless that comes from a run.
    pub fn take(&mut self, request: &str, post: &mut Post<'_>) {
        let Request { id, method, params } = match serde_json::from_str(request) {
            Ok(request) => request,
            Err(error) => {
                let fault = Fault::new(format!("the page sent what is no request: {error}"));
                return post(reply(0, Err(fault), Vec::new()));
            }
        };
        match self.answer(id, &method, params, post) {
            Ok(Answer::Now(result, bytes)) => post(reply(id, Ok(result), bytes)),
            Ok(Answer::Later(job)) => self.jobs.push((id, job)),
            Err(fault) => post(reply(id, Err(fault), Vec::new())),
        }
    }

    /// Lets each run go on for a slice; whether any has more to do.
    pub fn advance(&mut self, post: &mut Post<'_>) -> bool {
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
        _id: u64,
        method: &str,
        params: Value,
        _post: &mut Post<'_>,
    ) -> Result<Answer, Fault> {
        match method {
            "figures" => now(&Figures::find()?),
            "normalise" => now(&Placement::of(&read::<FenParams>(params)?.fen)?),
            "place" => {
                let PlaceParams { fen, square, piece } = read(params)?;
                now(&Placement::with(&fen, &square, piece)?)
            }
            "examine" => {
                let ExamineParams { fen, behaviour, square, files } = read(params)?;
                let edition = Edition::new(&behaviour, files)?;
                let question = Question { fen: &fen, edition: &edition, square: square.as_deref() };
                now(&examine(&mut self.boards, &question)?)
            }
            "stop" => {
                let StopParams { request } = read(params)?;
                let job = self.jobs.iter_mut().find(|(id, _)| *id == request);
                let found = job.map(|(_, job)| job.stop()).is_some();
                now(&found)
            }
            _ => Err(Fault::new(format!("there is no method {method}"))),
        }
    }
}

/// Reads the parameters of a request.
fn read<T: DeserializeOwned>(params: Value) -> Result<T, Fault> {
    serde_json::from_value(params).map_err(|error| Fault::new(format!("parameters: {error}")))
}

/// An answer without bytes.
fn now(result: &impl serde::Serialize) -> Result<Answer, Fault> {
    let value = serde_json::to_value(result).map_err(Fault::new)?;
    Ok(Answer::Now(value, Vec::new()))
}

fn reply(id: u64, result: Result<Value, Fault>, bytes: Vec<Vec<u8>>) -> Message {
    let json = match result {
        Ok(result) => json!({ "id": id, "result": result }),
        Err(fault) => json!({ "id": id, "error": fault }),
    };
    Message { json: json.to_string(), bytes }
}
