//! A real board at a port of the page's: who is there, write, verify, corpus. The line is waited
//! for in the worker, so that the link and the loaders are those of `rcflash`.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use firmware::ProgramKind;
use firmware::build::BuiltImage;
use firmware::profile::Profile;
use hil_harness::board::{Board, BoardError};
use hil_harness::live::{Plan, top};
use rcflash_link::Link;
use rcflash_link::loader::{self, LoadError};
use rcflash_monitors::{Found, Guest, Host, Note, Peer, Stage, Talk, Watch, Who};
use rcflash_transport::Transport;
use rcflash_transport::port::OpenError;
use rcflash_transport::time::{Duration, Instant};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::board::{Edition, SourceFile, plan, profile, start};
use crate::corpus::{Choice, CorpusRun};
use crate::fault::Fault;
use crate::message::{Message, Post};

/// The time that a program which was just started may take until it answers.
const START: Duration = Duration::from_millis(500);

/// Opens the page's port at a speed.
pub type Open = dyn Fn(u32) -> io::Result<Box<dyn Transport + Send>> + Send + Sync;

thread_local! {
    /// Notes of a run that is set up, which takes a function without a state to tell them to.
    static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn keep_note(text: &str) {
    NOTES.with_borrow_mut(|notes| notes.push(text.to_owned()));
}

/// The parameters of every method.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Wishes {
    board: Option<String>,
    behaviour: Option<String>,
    files: Option<Vec<SourceFile>>,
    via: Option<String>,
    #[serde(flatten)]
    choice: Choice,
}

/// The page's port.
#[derive(Clone)]
pub struct Port {
    name: String,
    open: Arc<Open>,
    /// Ends every wait when set.
    stop: Arc<AtomicBool>,
}

impl Port {
    /// A port by the page's name for it.
    #[must_use]
    pub fn new(name: String, open: Arc<Open>, stop: Arc<AtomicBool>) -> Self {
        Self { name, open, stop }
    }
}

/// A board at the port.
struct AtPort {
    port: Port,
    baud: u32,
}

impl Board for AtPort {
    fn name(&self) -> &str {
        &self.port.name
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let failed = |error| OpenError::Other(self.port.name.clone(), error);
        Ok((self.port.open)(self.baud).map_err(failed)?)
    }
}

/// One request about a board.
pub(crate) struct Work<'a> {
    port: Port,
    profile: Profile,
    wishes: Wishes,
    request: u64,
    post: &'a mut Post<'a>,
}

impl<'a> Work<'a> {
    /// Takes up a request.
    pub(crate) fn new(
        port: &Port,
        wishes: Wishes,
        request: u64,
        post: &'a mut Post<'a>,
    ) -> Result<Self, Fault> {
        port.stop.store(false, Ordering::Relaxed);
        let profile = profile(wishes.board.as_deref())?;
        Ok(Self { port: port.clone(), profile, wishes, request, post })
    }

    /// Carries a method out.
    pub(crate) fn run(mut self, method: &str) -> Result<Value, Fault> {
        match method {
            "serial.probe" => self.probe(),
            "serial.write" => self.write(),
            "serial.verify" => self.verify(),
            "serial.corpus" => self.corpus(),
            _ => Err(Fault::new(format!("there is no method {method}"))),
        }
    }

    fn note(&mut self, message: &str) {
        let event = json!({ "event": "serial", "request": self.request, "message": message });
        (self.post)(Message { json: event.to_string(), bytes: Vec::new() });
    }

    fn baud(&self) -> u32 {
        self.profile.uart.baud
    }

    fn open(&self) -> Result<Box<dyn Transport + Send>, Fault> {
        let name = &self.port.name;
        (self.port.open)(self.baud())
            .map_err(|error| Fault::new(OpenError::Other(name.clone(), error)))
    }

    fn link(&self) -> Result<Link, Fault> {
        let mut link = Link::new(self.open()?, self.baud());
        link.set_stop(Arc::clone(&self.port.stop));
        Ok(link)
    }

    fn talk(&self) -> Result<Talk, Fault> {
        Ok(Talk::new(self.open()?, self.baud(), Arc::clone(&self.port.stop)))
    }

    fn edition(&self) -> Result<Edition, Fault> {
        let behaviour = self.wishes.behaviour.as_deref().unwrap_or("mended");
        Edition::new(behaviour, self.wishes.files.clone())
    }

    fn built(&self, kind: ProgramKind) -> Result<BuiltImage, Fault> {
        Ok(self.edition()?.build(&self.profile, kind)?)
    }

    /// Finds out who answers.
    fn probe(&mut self) -> Result<Value, Fault> {
        let (found, text, build) = self.who()?;
        let kind = match &found.who {
            Who::Known(Peer::Ours, _) => "monitor".to_owned(),
            Who::Known(peer, _) => Host::of(*peer).map_or("", Host::name).to_owned(),
            _ => "unknown".to_owned(),
        };
        Ok(json!({ "kind": kind, "text": text, "build": build }))
    }

    /// Asks who is there: what was found, a sentence about it, and the build id of a program of
    /// ours.
    fn who(&mut self) -> Result<(Found, String, Option<String>), Fault> {
        let uart = &self.profile.uart;
        let others = [&[uart.baud], &uart.other_bauds[..]].concat();
        let mut talk = self.talk()?;
        let found = rcflash_monitors::probe(&mut talk, &others).map_err(Fault::new)?;
        let baud = found.baud;
        let name = &self.port.name;
        let (who, build) = match &found.who {
            Who::Known(Peer::Ours, _) => {
                let identity = loader::identify(&mut Link::new(talk.into_line(), baud));
                let identity = identity.map_err(Fault::new)?;
                (identity.to_string(), Some(format!("{:08X}", identity.build)))
            }
            Who::Known(_, version) => (version.clone(), None),
            Who::Noise => {
                return Err(Fault::new(format!(
                    "{name}: only noise; does the board run at another speed? is ground connected?"
                )));
            }
            Who::Stranger(text) => {
                return Err(Fault::new(format!("{name}: somebody unknown says: {text}")));
            }
            Who::Silence => {
                return Err(Fault::new(format!(
                    "{name}: silence; is the board's power on, do its TX and the adapter's RX \
                     meet, does a program run that does not listen? press reset, and try again"
                )));
            }
        };
        Ok((found, format!("{who} at {baud} baud"), build))
    }

    /// The stock monitor that is to take a program; `None` for this project's.
    fn host(&mut self) -> Result<Option<Host>, Fault> {
        match self.wishes.via.clone().as_deref() {
            Some("monitor") => Ok(None),
            None | Some("auto") => {
                let (found, text, _) = self.who()?;
                self.note(&text);
                Ok(match found.who {
                    Who::Known(peer, _) => Host::of(peer),
                    _ => None,
                })
            }
            Some(name) => match Host::named(name) {
                Some(host) => Ok(Some(host)),
                None => Err(Fault::new(format!("there is no loader {name}"))),
            },
        }
    }

    /// Writes the application, has it proved there, and starts it.
    fn write(&mut self) -> Result<Value, Fault> {
        let begun = Instant::now();
        let host = self.host()?;
        let (built, text) = match host {
            None => self.write_to_ours()?,
            Some(host) => self.write_to(host)?,
        };
        Ok(json!({
            "address": built.address,
            "size": built.bytes.len(),
            "build": format!("{:08X}", built.build),
            "seconds": begun.elapsed().as_secs_f64(),
            "text": text,
        }))
    }

    fn write_to_ours(&mut self) -> Result<(BuiltImage, String), Fault> {
        let built = self.built(ProgramKind::Application)?;
        let mut link = self.link()?;
        let monitor = loader::enter_monitor(&mut link).map_err(Fault::new)?;
        link.set_window(monitor.window);
        self.note(&monitor.to_string());
        let total = built.bytes.len();
        let (request, post) = (self.request, &mut self.post);
        let updated = loader::upload_missing(&mut link, &monitor, built.address, &built.bytes, |done| {
            post_progress(post, request, "sending", done, total);
        });
        let sent = updated.map_err(Fault::new)?.sent;
        let running = loader::run(&mut link, built.address).map_err(Fault::new)?;
        let first = built.address;
        let text = format!(
            "{total} bytes at {first:04X}h, verified on the board, {sent} sent; running: {running}"
        );
        Ok((built, text))
    }

    fn write_to(&mut self, host: Host) -> Result<(BuiltImage, String), Fault> {
        let built = self.built(ProgramKind::HostedApplication)?;
        let mut talk = self.talk()?;
        let image = &built.program.image;
        let guest = Guest { image, entry: built.address, top: top(&built.program) };
        let mut progress = Progress { request: self.request, post: &mut *self.post };
        host.start(&mut talk, guest, &mut progress).map_err(Fault::new)?;
        let mut link = Link::new(talk.into_line(), self.profile.uart.baud);
        link.drain_banner("starting the program", START).map_err(Fault::new)?;
        let running = loader::identify(&mut link).map_err(Fault::new)?;
        let total = built.bytes.len();
        let text = format!(
            "{total} bytes through {}, verified by reading all of it back; running: {running}",
            host.name()
        );
        Ok((built, text))
    }

    /// Compares the board's memory with the application.
    fn verify(&mut self) -> Result<Value, Fault> {
        let built = self.built(ProgramKind::Application)?;
        let mut link = self.link()?;
        let monitor = loader::enter_monitor(&mut link).map_err(Fault::new)?;
        link.set_window(monitor.window);
        let total = built.bytes.len();
        let first = built.address;
        match loader::verify(&mut link, built.address, &built.bytes) {
            Ok(()) => {
                let text = format!("{total} bytes at {first:04X}h are those of the program");
                Ok(json!({ "same": true, "text": text }))
            }
            Err(error @ LoadError::Verify { .. }) => {
                Ok(json!({ "same": false, "text": error.to_string() }))
            }
            Err(error) => Err(Fault::new(error)),
        }
    }

    /// Runs the corpus.
    fn corpus(mut self) -> Result<Value, Fault> {
        let cases = self.wishes.choice.cases()?;
        let host = self.host()?;
        let edition = self.edition()?;
        let kind = match host {
            Some(_) => ProgramKind::HostedApplication,
            None => ProgramKind::Application,
        };
        let programs = edition.programs(&self.profile, kind)?;
        let stop = Arc::clone(&self.port.stop);
        let simulated = plan(self.profile.clone(), &edition);
        let plan = Plan { host, stop: Some(Arc::clone(&stop)), note: keep_note, ..simulated };
        let board = AtPort { port: self.port.clone(), baud: self.baud() };
        // The plan's own board is a simulated one, which is powered up and left at once.
        let live = start(&plan, programs, |_| Box::new(board));
        for note in NOTES.take() {
            self.note(&note);
        }
        Ok(CorpusRun::new(self.request, live?, cases, stop).run(self.post))
    }
}

/// Shows the progress of a loader.
struct Progress<'a, 'p> {
    request: u64,
    post: &'a mut Post<'p>,
}

impl Watch for Progress<'_, '_> {
    fn progress(&mut self, stage: Stage, done: usize, of: usize) {
        let what = match stage {
            Stage::Sending => "sending",
            Stage::ReadingBack => "reading back",
        };
        post_progress(self.post, self.request, what, done, of);
    }

    fn note(&mut self, note: Note) {
        let text = note.to_string();
        let event = json!({ "event": "serial", "request": self.request, "message": text });
        (self.post)(Message { json: event.to_string(), bytes: Vec::new() });
    }
}

fn post_progress(post: &mut Post<'_>, request: u64, what: &str, done: usize, total: usize) {
    let event = json!({
        "event": "serial", "request": request, "message": what, "done": done, "total": total,
    });
    post(Message { json: event.to_string(), bytes: Vec::new() });
}
