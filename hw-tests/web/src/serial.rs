//! A board at a serial port of the page: identify, write, verify, corpus. The line is waited
//! for in the worker, so that the link and the loaders are those of `rcflash`.

use std::cell::RefCell;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use firmware::ProgramKind;
use firmware::build::BuiltImage;
use firmware::profile::BoardProfile;
use firmware_wire::{Reply, Request, Role};
use hil_harness::board::{Board, BoardError};
use hil_harness::live::end_address;
use rcflash_link::Link;
use rcflash_link::loader::{self, LoadError};
use rcflash_monitors::{
    HostedProgram, LoadEvent, LoadObserver, LoadStage, MonitorSession, Peer, ProbeResult,
    ProbedPeer, ResidentMonitor,
};
use rcflash_transport::Transport;
use rcflash_transport::port::OpenError;
use rcflash_transport::time::{Duration, Instant};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::assemble::AssembleRequest;
use crate::board::{EvaluatorSources, SourceFile, plan, profile, start};
use crate::corpus::{CaseSelection, CorpusRun};
use crate::error::PageError;
use crate::message::{Message, Post};
use crate::program::{LinkedProgram, linked};

/// The time that a program which was just started may take until it answers.
const BOARD_START_TIME: Duration = Duration::from_millis(500);

/// Processing time of STATUS per byte of the program, rounded up.
const STATUS_T_STATES_PER_BYTE: u64 = 80;

/// Opens the page's port at a speed.
pub type Open = dyn Fn(u32) -> io::Result<Box<dyn Transport + Send>> + Send + Sync;

thread_local! {
    /// Notes of a run's setup, whose callback is a plain function without state.
    static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn record_note(text: &str) {
    NOTES.with_borrow_mut(|notes| notes.push(text.to_owned()));
}

/// The parameters of every method.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SerialParams {
    board: Option<String>,
    behaviour: Option<String>,
    files: Option<Vec<SourceFile>>,
    /// A program of the user's own instead of the evaluator, its main file first.
    program: Option<Vec<SourceFile>>,
    via: Option<String>,
    #[serde(flatten)]
    choice: CaseSelection,
}

/// The page's port.
#[derive(Clone)]
pub struct Port {
    name: String,
    open: Arc<Open>,
    /// Ends every wait when set.
    stop: Arc<AtomicBool>,
    /// The build id of the program that a stock monitor started, and its checksum then.
    started: Arc<Mutex<Option<(u32, u16)>>>,
}

impl Port {
    /// A port by the page's name for it.
    pub fn new(name: String, open: Arc<Open>, stop: Arc<AtomicBool>) -> Self {
        Self { name, open, stop, started: Arc::default() }
    }
    fn started(&self) -> std::sync::MutexGuard<'_, Option<(u32, u16)>> {
        self.started.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

struct PagePortBoard {
    port: Port,
    baud: u32,
}

impl Board for PagePortBoard {
    fn name(&self) -> &str {
        &self.port.name
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let failed = |error| OpenError::Other(self.port.name.clone(), error);
        Ok((self.port.open)(self.baud).map_err(failed)?)
    }
}

/// One request about a board.
pub(crate) struct SerialTask<'a> {
    port: Port,
    profile: BoardProfile,
    parameters: SerialParams,
    request: u64,
    post: &'a mut Post<'a>,
}

impl<'a> SerialTask<'a> {
    pub(crate) fn new(
        port: &Port,
        parameters: SerialParams,
        request: u64,
        post: &'a mut Post<'a>,
    ) -> Result<Self, PageError> {
        port.stop.store(false, Ordering::Relaxed);
        let profile = profile(parameters.board.as_deref())?;
        Ok(Self { port: port.clone(), profile, parameters, request, post })
    }

    pub(crate) fn run(mut self, method: &str) -> Result<Value, PageError> {
        match method {
            "serial.probe" => self.probe(),
            "serial.write" => self.write(),
            "serial.verify" => self.verify(),
            "serial.corpus" => self.corpus(),
            _ => Err(PageError::new(format!("unknown method '{method}'"))),
        }
    }

    fn note(&mut self, message: &str) {
        let event = json!({ "event": "serial", "request": self.request, "message": message });
        (self.post)(Message { json: event.to_string(), bytes: Vec::new() });
    }

    fn baud(&self) -> u32 {
        self.profile.uart.baud
    }

    fn open(&self) -> Result<Box<dyn Transport + Send>, PageError> {
        let name = &self.port.name;
        (self.port.open)(self.baud())
            .map_err(|error| PageError::new(OpenError::Other(name.clone(), error)))
    }

    fn link(&self) -> Result<Link, PageError> {
        let mut link = Link::new(self.open()?, self.baud());
        link.set_stop(Arc::clone(&self.port.stop));
        Ok(link)
    }

    fn open_session(&self) -> Result<MonitorSession, PageError> {
        Ok(MonitorSession::new(self.open()?, self.baud(), Arc::clone(&self.port.stop)))
    }

    fn evaluator(&self) -> Result<EvaluatorSources, PageError> {
        let behaviour = self.parameters.behaviour.as_deref().unwrap_or("corrected");
        EvaluatorSources::new(behaviour, self.parameters.files.clone())
    }

    fn built(&self, kind: ProgramKind) -> Result<BuiltImage, PageError> {
        Ok(self.evaluator()?.build(&self.profile, kind)?)
    }

    fn probe(&mut self) -> Result<Value, PageError> {
        let (found, text, build) = self.identify()?;
        let kind = match &found.peer {
            ProbedPeer::Known(Peer::OwnFirmware, _) => "monitor".to_owned(),
            ProbedPeer::Known(peer, _) => {
                ResidentMonitor::for_peer(*peer).map_or("", |host| host.name()).to_owned()
            }
            _ => "unknown".to_owned(),
        };
        Ok(json!({ "kind": kind, "text": text, "build": build }))
    }

    /// Identifies the program: what was found, a sentence, and our firmware's build id.
    fn identify(&mut self) -> Result<(ProbeResult, String, Option<String>), PageError> {
        let uart = &self.profile.uart;
        let others = [&[uart.baud], &uart.other_bauds[..]].concat();
        let mut talk = self.open_session()?;
        let found = rcflash_monitors::probe(&mut talk, &others).map_err(PageError::new)?;
        let baud = found.baud;
        let name = &self.port.name;
        let (who, build) = match &found.peer {
            ProbedPeer::Known(Peer::OwnFirmware, _) => {
                let identity = loader::identify(&mut Link::new(talk.into_transport(), baud));
                let identity = identity.map_err(PageError::new)?;
                (identity.to_string(), Some(format!("{:08X}", identity.build_id)))
            }
            ProbedPeer::Known(_, version) => (version.clone(), None),
            ProbedPeer::Printing(text) => {
                return Err(PageError::new(format!(
                    "{name}: a program prints text at {baud} baud: {text}; press reset, and try \
                     again"
                )));
            }
            ProbedPeer::Loop => {
                return Err(PageError::new(format!(
                    "{name}: your own bytes came back: are TX and RX connected with each other?"
                )));
            }
            ProbedPeer::Noise => {
                return Err(PageError::new(format!(
                    "{name}: only noise; does the board run at another speed? is ground connected?"
                )));
            }
            ProbedPeer::Unknown(text) => {
                return Err(PageError::new(format!("{name}: unknown peer: {text}")));
            }
            ProbedPeer::NoReply => {
                return Err(PageError::new(format!(
                    "{name}: silence; is the board's power on, do its TX and the adapter's RX \
                     meet, does a program run that does not listen? press reset, and try again"
                )));
            }
        };
        Ok((found, format!("{who} at {baud} baud"), build))
    }

    /// The stock monitor that is to take a program; `None` for this project's.
    fn host(&mut self) -> Result<Option<ResidentMonitor>, PageError> {
        match self.parameters.via.clone().as_deref() {
            Some("monitor") => Ok(None),
            None | Some("auto") => {
                let (found, text, _) = self.identify()?;
                self.note(&text);
                Ok(match found.peer {
                    ProbedPeer::Known(peer, _) => ResidentMonitor::for_peer(peer),
                    _ => None,
                })
            }
            Some(name) => match ResidentMonitor::from_name(name) {
                Some(host) => Ok(Some(host)),
                None => Err(PageError::new(format!("unknown loader '{name}'"))),
            },
        }
    }

    /// Writes the application, has it proved there, and starts it.
    fn write(&mut self) -> Result<Value, PageError> {
        let begun = Instant::now();
        let host = self.host()?;
        if let Some(files) = self.parameters.program.take() {
            return self.write_program(files, host);
        }
        let (built, text) = match host {
            None => self.write_to_own_firmware()?,
            Some(host) => self.write_to_stock_monitor(host)?,
        };
        Ok(json!({
            "address": built.address,
            "size": built.bytes.len(),
            "build": format!("{:08X}", built.build),
            "seconds": begun.elapsed().as_secs_f64(),
            "text": text,
        }))
    }

    fn write_to_own_firmware(&mut self) -> Result<(BuiltImage, String), PageError> {
        let built = self.built(ProgramKind::Application)?;
        let mut link = self.link()?;
        let monitor = loader::enter_monitor(&mut link).map_err(PageError::new)?;
        link.set_window(monitor.window);
        self.note(&monitor.to_string());
        let total = built.bytes.len();
        let (request, post) = (self.request, &mut self.post);
        let updated =
            loader::upload_missing(&mut link, &monitor, built.address, &built.bytes, |done| {
                post_progress(post, request, "sending", done, total);
            });
        let sent = updated.map_err(PageError::new)?.sent;
        let running = loader::run(&mut link, built.address).map_err(PageError::new)?;
        let first = built.address;
        let text = format!(
            "{total} bytes at {first:04X}h, verified on the board, {sent} sent; running: {running}"
        );
        Ok((built, text))
    }

    fn write_to_stock_monitor(
        &mut self,
        host: ResidentMonitor,
    ) -> Result<(BuiltImage, String), PageError> {
        let built = self.built(ProgramKind::HostedApplication)?;
        let mut talk = self.open_session()?;
        let image = &built.program.image;
        let guest = HostedProgram { image, entry: built.address, top: end_address(&built.program) };
        let mut progress = Progress { request: self.request, post: &mut *self.post };
        host.start(&mut talk, guest, &mut progress).map_err(PageError::new)?;
        let mut link = Link::new(talk.into_transport(), self.profile.uart.baud);
        link.drain_banner("starting the program", BOARD_START_TIME).map_err(PageError::new)?;
        let running = loader::identify(&mut link).map_err(PageError::new)?;
        let crc = self.checksum(&mut link, &built)?;
        *self.port.started() = Some((built.build, crc));
        let total = built.bytes.len();
        let text = format!(
            "{total} bytes through {}, verified by reading all of it back; running: {running}",
            host.name()
        );
        Ok((built, text))
    }

    /// Writes a program of the user's own, and starts it.
    fn write_program(
        &mut self,
        files: Vec<SourceFile>,
        host: Option<ResidentMonitor>,
    ) -> Result<Value, PageError> {
        let sources = AssembleRequest { files, ..AssembleRequest::default() };
        let LinkedProgram { known, entry, notice } = linked(&sources, &self.profile, None)?;
        if !notice.is_empty() {
            return Err(PageError::new(format!("not written: the program {notice}")));
        }
        let bytes = known.image.flat(0xFF);
        let (first, last) = known.image.bounds().unwrap_or_default();
        let (request, total) = (self.request, bytes.len());
        let mut received = Vec::new();
        let verified = match host {
            None => {
                let mut link = self.link()?;
                let monitor = loader::enter_monitor(&mut link).map_err(PageError::new)?;
                link.set_window(monitor.window);
                self.note(&monitor.to_string());
                let post = &mut self.post;
                loader::upload_missing(&mut link, &monitor, first, &bytes, |done| {
                    post_progress(post, request, "sending", done, total);
                })
                .map_err(PageError::new)?;
                loader::jump(&mut link, entry).map_err(PageError::new)?;
                received = link.take_unframed();
                "verified on the board".to_owned()
            }
            Some(host) => {
                let mut talk = self.open_session()?;
                let image = &known.image;
                let guest = HostedProgram { image, entry, top: last.wrapping_add(1) };
                let mut progress = Progress { request, post: &mut *self.post };
                host.start(&mut talk, guest, &mut progress).map_err(PageError::new)?;
                format!("through {}, verified by reading all of it back", host.name())
            }
        };
        Ok(json!({
            "address": first,
            "size": total,
            "received": received,
            "text": format!("{total} bytes at {first:04X}h, {verified}; started at {entry:04X}h"),
        }))
    }

    fn verify(&mut self) -> Result<Value, PageError> {
        let mut link = self.link()?;
        let running = loader::identify(&mut link).map_err(PageError::new)?;
        let hosted = self.built(ProgramKind::HostedApplication)?;
        if running.role == Role::Application && running.build_id == hosted.build {
            return self.verify_running(&mut link, &hosted);
        }
        let built = self.built(ProgramKind::Application)?;
        // A program that a stock monitor started returns to that, which does not answer.
        let monitor = loader::enter_monitor(&mut link).map_err(|error| {
            PageError::new(format!("{running} ran on the board; write the evaluator: {error}"))
        })?;
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
            Err(error) => Err(PageError::new(error)),
        }
    }

    /// The checksum that a running program computes of its own bytes, with the tables that it has
    /// filled at its start.
    fn checksum(&self, link: &mut Link, built: &BuiltImage) -> Result<u16, PageError> {
        let t_states = built.bytes.len() as u64 * STATUS_T_STATES_PER_BYTE;
        let time = Duration::from_secs_f64(t_states as f64 / self.profile.clock_hz as f64);
        match link.request("verifying", &Request::Status, time).map_err(PageError::new)? {
            Reply::Status(status) => Ok(status.crc),
            _ => Err(PageError::new("the program does not answer STATUS")),
        }
    }

    /// Compares a program that a stock monitor started with what it was then.
    fn verify_running(&self, link: &mut Link, built: &BuiltImage) -> Result<Value, PageError> {
        let crc = self.checksum(link, built)?;
        let started = *self.port.started();
        let Some((_, then)) = started.filter(|(build, _)| *build == built.build) else {
            return Err(PageError::new(
                "the evaluator runs, and its bytes can be compared only on the connection on which \
                 they were written: write it again",
            ));
        };
        let text = if crc == then {
            "the program's bytes are those that were read back when it was written"
        } else {
            "the program has changed in memory since it was written: write it again"
        };
        Ok(json!({ "same": crc == then, "text": text }))
    }

    fn corpus(mut self) -> Result<Value, PageError> {
        let cases = self.parameters.choice.cases()?;
        let host = self.host()?;
        let evaluator = self.evaluator()?;
        let kind = match host {
            Some(_) => ProgramKind::HostedApplication,
            None => ProgramKind::Application,
        };
        let programs = evaluator.programs(&self.profile, kind)?;
        let stop = Arc::clone(&self.port.stop);
        let mut plan = plan(self.profile.clone(), &evaluator);
        plan.board.stock_monitor = host;
        plan.board.cancel = Some(Arc::clone(&stop));
        plan.board.on_notice = record_note;
        let board = PagePortBoard { port: self.port.clone(), baud: self.baud() };
        // The plan's own board is a simulated one, which is powered up and left at once.
        let live = start(&plan, programs, |_| Box::new(board));
        for note in NOTES.take() {
            self.note(&note);
        }
        Ok(CorpusRun::new(self.request, live?, cases, stop).run(self.post))
    }
}

struct Progress<'a, 'p> {
    request: u64,
    post: &'a mut Post<'p>,
}

impl LoadObserver for Progress<'_, '_> {
    fn on_progress(&mut self, stage: LoadStage, done: usize, of: usize) {
        let what = match stage {
            LoadStage::Sending => "sending",
            LoadStage::ReadingBack => "reading back",
        };
        post_progress(self.post, self.request, what, done, of);
    }

    fn on_event(&mut self, note: LoadEvent) {
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
