//! Loads a program through the board's stock monitor, and returns to that monitor at the end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use firmware_wire::{Identity, Request, Role};
use rcflash_link::loader;
use rcflash_link::{Link, LinkError};
use rcflash_monitors::{
    HostedProgram, LoadEvent, LoadObserver, LoadStage, LoaderError, MonitorSession, Peer,
    ProbedPeer, Processor, ResidentMonitor, StockMonitor, probe_quick,
};
use tdlasm::image::{Image, ImageRun};
use tdlasm::link::Program;

use super::BoardSuite;
use super::programs::{Programs, START_TIMEOUT};
use super::{BoardConfig, LiveBoard, SetupError};
use crate::board::BoardKind;

/// Reports the stages and events of a load to the user.
struct LoaderProgress {
    on_notice: fn(&str),
    stage: Option<LoadStage>,
}

impl LoadObserver for LoaderProgress {
    fn on_progress(&mut self, stage: LoadStage, _done: usize, of: usize) {
        if self.stage.replace(stage) != Some(stage) {
            let action = match stage {
                LoadStage::Sending => "sending",
                LoadStage::ReadingBack => "reading back",
            };
            (self.on_notice)(&format!("{action} {of} bytes"));
        }
    }

    fn on_event(&mut self, note: LoadEvent) {
        (self.on_notice)(&note.to_string());
    }
}

/// The outcome of loading through the stock monitor.
enum StartOutcome {
    /// The monitor has started the program.
    Started,
    /// A program of this project replied instead of the monitor.
    AlreadyOurs,
}

/// Returns an error unless a program is the one that was loaded.
type CheckIdentity<'c> = &'c dyn Fn(&Identity) -> Result<(), SetupError>;

/// The stock monitor of a board, which loads a program and gets the board back at the end.
#[derive(Debug, Clone)]
pub struct StockLoader {
    monitor: ResidentMonitor,
    board: BoardKind,
    processor: Processor,
    on_notice: fn(&str),
    cancel: Option<Arc<AtomicBool>>,
}

impl StockLoader {
    /// Loads and starts a program, unless it is running already.
    ///
    /// # Errors
    /// Returns the error of the step that failed, or that of `check`.
    pub fn load_and_start(
        &self,
        link: &mut Link,
        program: HostedProgram<'_>,
        check: CheckIdentity<'_>,
    ) -> Result<Identity, SetupError> {
        let identity = match self.start(link, program)? {
            StartOutcome::Started => await_identity(link)?,
            StartOutcome::AlreadyOurs => match self.reuse_running(link, check)? {
                Some(identity) => identity,
                None => match self.start(link, program)? {
                    StartOutcome::Started => await_identity(link)?,
                    StartOutcome::AlreadyOurs => identify_harmlessly(link)?,
                },
            },
        };
        check(&identity)?;
        Ok(identity)
    }

    fn start(
        &self,
        link: &mut Link,
        program: HostedProgram<'_>,
    ) -> Result<StartOutcome, SetupError> {
        let mut progress = LoaderProgress { on_notice: self.on_notice, stage: None };
        let outcome = with_monitor_session(self.cancel.as_ref(), link, |session| {
            session.require_processor(self.processor);
            self.monitor.start(session, program, &mut progress)
        });
        match outcome {
            Ok(()) => Ok(StartOutcome::Started),
            Err(LoaderError::WrongPeer { actual: Peer::OwnFirmware, .. }) => {
                Ok(StartOutcome::AlreadyOurs)
            }
            // At a described monitor nothing is identified before the load.
            Err(LoaderError::NoReply { .. } | LoaderError::UnknownPeer { .. })
                if matches!(self.monitor, ResidentMonitor::Memory(StockMonitor::Described(_)))
                    && identify_harmlessly(link).is_ok() =>
            {
                Ok(StartOutcome::AlreadyOurs)
            }
            Err(error) => Err(self.wrong_monitor_error(error)),
        }
    }

    /// Returns the running program if it is the expected one. Leaves another one for the stock
    /// monitor, and returns `None`.
    fn reuse_running(
        &self,
        link: &mut Link,
        check: CheckIdentity<'_>,
    ) -> Result<Option<Identity>, SetupError> {
        let found = identify_harmlessly(link)?;
        if found.role == Role::Monitor {
            return Err(SetupError::OwnMonitor(Box::new(found)));
        }
        if check(&found).is_ok() {
            return Ok(Some(found));
        }
        link.request("returning to the monitor", &Request::Reset, START_TIMEOUT)?;
        link.drain_banner("returning to the monitor", START_TIMEOUT)?;
        Ok(None)
    }

    /// Returns the error for another monitor than the configured one, with the option for that
    /// one.
    fn wrong_monitor_error(&self, error: LoaderError) -> SetupError {
        let (LoaderError::WrongPeer { port, actual: found, .. }, BoardKind::Serial(rig)) =
            (&error, &self.board)
        else {
            return error.into();
        };
        let Some(monitor) = ResidentMonitor::for_peer(*found) else { return error.into() };
        let port = rig.name.as_ref().unwrap_or(port).clone();
        let first_step = first_step(*found);
        SetupError::StockMonitor {
            port,
            monitor: found.to_string(),
            via: monitor.name(),
            first_step,
        }
    }

    /// Reports a message to the user.
    pub fn notify(&self, message: &str) {
        (self.on_notice)(message);
    }

    /// Leaves the program for the stock monitor. The board, which messages name, accepts no
    /// requests after that.
    ///
    /// # Errors
    /// Returns an error if the monitor does not reappear.
    pub fn leave(&self, link: &mut Link, board: &str) -> Result<(), SetupError> {
        // Also after Ctrl-C the user expects the monitor to be back.
        link.set_stop(Arc::default());
        link.cancel_all();
        link.request("returning to the board's monitor", &Request::Reset, START_TIMEOUT)?;
        let peer =
            with_monitor_session(None, link, |session| self.monitor.wait_for_return(session));
        match peer {
            Ok(peer) => {
                self.notify(&format!("{board}: back in {peer}"));
                Ok(())
            }
            Err(LoaderError::NoReply { .. }) => {
                Err(SetupError::MonitorNotBack(self.monitor.name()))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl<S> BoardConfig<S> {
    /// Returns the stock monitor through which programs are loaded, if the board has one.
    #[must_use]
    pub fn stock_loader(&self) -> Option<StockLoader> {
        let (board, cancel) = (self.board.clone(), self.cancel.clone());
        let is_z180 = self.profile.is_z180();
        let processor = if is_z180 { Processor::Z180 } else { Processor::Z80 };
        let on_notice = self.on_notice;
        let loader = |monitor| StockLoader { monitor, board, processor, on_notice, cancel };
        self.stock_monitor.clone().map(loader)
    }

    /// Probes what answers in place of this project's monitor, and returns an error with the
    /// option for it; returns `error` if the peer is unknown.
    pub(super) fn unknown_peer_error(&self, link: &mut Link, error: LinkError) -> SetupError {
        let BoardKind::Serial(rig) = &self.board else { return error.into() };
        let found = with_monitor_session(self.cancel.as_ref(), link, probe_quick);
        let Ok(ProbedPeer::Known(peer, name)) = found else { return error.into() };
        let Some(monitor) = ResidentMonitor::for_peer(peer) else { return error.into() };
        let port = rig.name.as_deref().unwrap_or(&rig.port).to_owned();
        SetupError::StockMonitor {
            port,
            monitor: name,
            via: monitor.name(),
            first_step: first_step(peer),
        }
    }
}

impl Programs {
    /// Returns the application's image, its entry, and the first address after it.
    pub(super) fn hosted_program<S: BoardSuite>(
        &self,
        config: &BoardConfig<S>,
    ) -> (Image, u16, u16) {
        match &config.application {
            Some((address, bytes)) => {
                let image = Image::new([ImageRun { address: *address, bytes: bytes.clone() }]);
                let last = image.bounds().map_or(*address, |(_, last)| last);
                (image, *address, last.saturating_add(1))
            }
            None => {
                let built = &self.application;
                (built.program.image.clone(), built.address, end_address(&built.program))
            }
        }
    }
}

/// Waits for the started program's IDENT reply.
fn await_identity(link: &mut Link) -> Result<Identity, SetupError> {
    link.drain_banner("starting the program", START_TIMEOUT)?;
    match identify_harmlessly(link) {
        Err(LinkError::Timeout { .. }) => Err(SetupError::NoReply),
        other => Ok(other?),
    }
}

/// Identifies the program by the IDENT frame with sequence number 1, which is harmless to every stock
/// monitor.
pub(super) fn identify_harmlessly(link: &mut Link) -> Result<Identity, LinkError> {
    link.set_seq(0);
    loader::identify(link)
}

/// Returns what the user has to do on the board first; empty if nothing.
fn first_step(peer: Peer) -> &'static str {
    match peer {
        Peer::XmodemReceiver => "end the transfer there (Ctrl-X), then ",
        Peer::CpmMonitor => "boot CP/M there (X, then Y), then ",
        _ => "",
    }
}

/// Calls `dialogue` in a session with the stock monitor, on the line of the link.
fn with_monitor_session<T>(
    cancel: Option<&Arc<AtomicBool>>,
    link: &mut Link,
    dialogue: impl FnOnce(&mut MonitorSession) -> Result<T, LoaderError>,
) -> Result<T, LoaderError> {
    let unread = link.take_unframed();
    let stop = cancel.map_or_else(Arc::default, Arc::clone);
    let mut session =
        MonitorSession::new(link.take_transport(), link.baud(), stop).with_received(&unread);
    let outcome = dialogue(&mut session);
    link.set_transport(session.into_transport());
    outcome
}

/// Returns the first address after all sections of a program; at most FFFFh.
#[must_use]
pub fn end_address(program: &Program) -> u16 {
    let end = |section: &tdlasm::link::PlacedSection| u32::from(section.address) + section.size;
    let last = program.sections.iter().map(end).max().unwrap_or(0);
    u16::try_from(last).unwrap_or(u16::MAX)
}

impl<S: BoardSuite> LiveBoard<S> {
    /// Leaves the application for the stock monitor, if the board has one. The board accepts no
    /// requests after that.
    ///
    /// # Errors
    /// Returns an error if the monitor does not reappear.
    pub fn return_to_monitor(&mut self) -> Result<(), SetupError> {
        let Some(loader) = self.config.stock_loader() else { return Ok(()) };
        self.config.stock_monitor = None;
        loader.leave(&mut self.link, self.board.name())
    }
}

impl<S: BoardSuite> Drop for LiveBoard<S> {
    fn drop(&mut self) {
        if let Err(error) = self.return_to_monitor() {
            (self.config.on_notice)(&error.to_string());
        }
    }
}
