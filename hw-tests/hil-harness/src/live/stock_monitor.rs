//! Loads the application through the board's stock monitor, and returns to that monitor at the end.

use std::sync::Arc;

use firmware_wire::{Identity, Request, Role};
use rcflash_link::loader;
use rcflash_link::{Link, LinkError};
use rcflash_monitors::{
    HostMonitor, HostedProgram, LoadEvent, LoadObserver, LoadStage, LoaderError, MonitorSession,
    Peer, ProbedPeer, probe_quick,
};
use tdlasm::image::{Image, Run};
use tdlasm::link::Program;

use super::BoardSuite;
use super::programs::{Programs, START_TIMEOUT};
use super::{BoardConfig, LiveBoard, SetupError};
use crate::board::{BoardKind, RunningApplication};

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
    /// The monitor has started the application.
    Started,
    /// A program of this project replied instead of the monitor.
    AlreadyOurs,
}

impl Programs {
    /// Loads and starts the application through the stock monitor, unless it is running already.
    pub(super) fn load_and_start_via_monitor<S: BoardSuite>(
        &self,
        config: &BoardConfig<S>,
        monitor: HostMonitor,
        link: &mut Link,
    ) -> Result<RunningApplication, SetupError> {
        let application = match self.start_via_monitor(config, monitor, link)? {
            StartOutcome::Started => Self::await_identity(link)?,
            StartOutcome::AlreadyOurs => match self.reuse_running(config, link)? {
                Some(application) => application,
                None => match self.start_via_monitor(config, monitor, link)? {
                    StartOutcome::Started => Self::await_identity(link)?,
                    StartOutcome::AlreadyOurs => identify(link)?,
                },
            },
        };
        self.verify_identity(config, &application)?;
        let own = self.application.own.iter().map(|&routine| routine.to_owned()).collect();
        Ok(RunningApplication { application, own, seq: link.seq() })
    }

    /// Loads and starts the application through the stock monitor.
    fn start_via_monitor<S: BoardSuite>(
        &self,
        config: &BoardConfig<S>,
        monitor: HostMonitor,
        link: &mut Link,
    ) -> Result<StartOutcome, SetupError> {
        let (image, entry, top) = self.guest(config);
        let guest = HostedProgram { image: &image, entry, top };
        let mut progress = LoaderProgress { on_notice: config.on_notice, stage: None };
        let outcome = with_monitor_session(config, link, |session| {
            monitor.start(session, guest, &mut progress)
        });
        match outcome {
            Ok(()) => Ok(StartOutcome::Started),
            Err(LoaderError::WrongPeer { actual: Peer::OwnFirmware, .. }) => {
                Ok(StartOutcome::AlreadyOurs)
            }
            Err(error) => Err(Self::wrong_monitor_error(config, error)),
        }
    }

    /// Returns the application's image, its entry, and the first address after it.
    fn guest<S: BoardSuite>(&self, config: &BoardConfig<S>) -> (Image, u16, u16) {
        match &config.application {
            Some((address, bytes)) => {
                let image = Image::new([Run { address: *address, bytes: bytes.clone() }]);
                let last = image.bounds().map_or(*address, |(_, last)| last);
                (image, *address, last.saturating_add(1))
            }
            None => {
                let built = &self.application;
                (built.program.image.clone(), built.address, end_address(&built.program))
            }
        }
    }

    /// Waits for the started application's IDENT reply.
    fn await_identity(link: &mut Link) -> Result<Identity, SetupError> {
        link.drain_banner("starting the program", START_TIMEOUT)?;
        match identify(link) {
            Err(LinkError::Timeout { .. }) => Err(SetupError::NoReply),
            other => Ok(other?),
        }
    }

    /// Returns the running application if it is the expected one. Leaves another one for the stock
    /// monitor, and returns `None`.
    fn reuse_running<S: BoardSuite>(
        &self,
        config: &BoardConfig<S>,
        link: &mut Link,
    ) -> Result<Option<Identity>, SetupError> {
        let found = identify(link)?;
        if found.role == Role::Monitor {
            return Err(SetupError::OwnMonitor(Box::new(found)));
        }
        if self.verify_identity(config, &found).is_ok() {
            return Ok(Some(found));
        }
        link.request("returning to the monitor", &Request::Reset, START_TIMEOUT)?;
        link.drain_banner("returning to the monitor", START_TIMEOUT)?;
        Ok(None)
    }

    /// Returns the error for another monitor than the configured one, with the command for that
    /// one.
    fn wrong_monitor_error<S: BoardSuite>(
        config: &BoardConfig<S>,
        error: LoaderError,
    ) -> SetupError {
        let (LoaderError::WrongPeer { port, actual: found, .. }, BoardKind::Serial(rig)) =
            (&error, &config.board)
        else {
            return error.into();
        };
        let Some(monitor) = HostMonitor::for_peer(*found) else { return error.into() };
        let port = rig.name.as_ref().unwrap_or(port).clone();
        let first_step = first_step(*found);
        SetupError::StockMonitor {
            port,
            monitor: found.to_string(),
            via: monitor.name(),
            first_step,
        }
    }

    /// Probes what answers in place of this project's monitor, and returns an error with the
    /// command for it; returns `error` if the peer is unknown.
    pub(super) fn unknown_peer_error<S: BoardSuite>(
        config: &BoardConfig<S>,
        link: &mut Link,
        error: LinkError,
    ) -> SetupError {
        let BoardKind::Serial(rig) = &config.board else { return error.into() };
        let found = with_monitor_session(config, link, probe_quick);
        let Ok(ProbedPeer::Known(peer, name)) = found else { return error.into() };
        let Some(monitor) = HostMonitor::for_peer(peer) else { return error.into() };
        let port = rig.name.as_deref().unwrap_or(&rig.port).to_owned();
        SetupError::StockMonitor {
            port,
            monitor: name,
            via: monitor.name(),
            first_step: first_step(peer),
        }
    }
}

/// Sends IDENT with sequence number 1; that frame is harmless to every stock monitor.
pub(super) fn identify(link: &mut Link) -> Result<Identity, LinkError> {
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
fn with_monitor_session<S, T>(
    config: &BoardConfig<S>,
    link: &mut Link,
    dialogue: impl FnOnce(&mut MonitorSession) -> Result<T, LoaderError>,
) -> Result<T, LoaderError> {
    let unread = link.take_unframed();
    let stop = config.cancel.as_ref().map_or_else(Arc::default, Arc::clone);
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
        let Some(monitor) = self.config.stock_monitor.take() else { return Ok(()) };
        // Also after Ctrl-C the user expects the monitor to be back.
        self.config.cancel = None;
        self.link.set_stop(Arc::default());
        self.link.cancel_all();
        self.link.request("returning to the board's monitor", &Request::Reset, START_TIMEOUT)?;
        let peer = with_monitor_session(&self.config, &mut self.link, |session| {
            monitor.wait_for_return(session)
        });
        match peer {
            Ok(peer) => {
                (self.config.on_notice)(&format!("{}: back in {peer}", self.board.name()));
                Ok(())
            }
            Err(LoaderError::NoReply { .. }) => Err(SetupError::MonitorNotBack(monitor.name())),
            Err(error) => Err(error.into()),
        }
    }
}

impl<S: BoardSuite> Drop for LiveBoard<S> {
    fn drop(&mut self) {
        if let Err(error) = self.return_to_monitor() {
            (self.config.on_notice)(&error.to_string());
        }
    }
}
