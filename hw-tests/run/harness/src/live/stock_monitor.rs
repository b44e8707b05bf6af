//! Loads a program through the board's stock monitor, and returns to that monitor at the end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use firmware_wire::{Identity, Request, Role};
use rcflash_link::loader;
use rcflash_link::{Link, LinkError};
use rcflash_monitors::{
    HostedProgram, LoadEvent, LoadObserver, LoadStage, LoaderError, MonitorSession, Peer,
    ProbedPeer, Processor, ResidentMonitor, StockMonitor, probe_quick,
};
use tdlasm::image::{Image, ImageRun};
use tdlasm::link::Program;

use super::programs::{Programs, START_TIMEOUT};
use super::{BoardConfig, SetupError};
use crate::board::BoardKind;

const LEAVING: &str = "returning to the board's monitor";
/// How late the program's reply may be; the request is repeated after that, perhaps at the prompt of
/// the monitor.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(3);

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

impl Programs {
    /// Loads and starts the application by a stock monitor, unless it is running already.
    pub(super) fn load_through(
        &self,
        monitor: &ResidentMonitor,
        config: &BoardConfig,
        link: &mut Link,
    ) -> Result<Identity, SetupError> {
        let (image, entry, top) = self.hosted_program(config);
        let program = HostedProgram { image: &image, entry, top };
        if !config.start_by(monitor, link, program)? {
            let found = identify_harmlessly(link)?;
            if found.role == Role::Monitor {
                return Err(SetupError::OwnMonitor(Box::new(found)));
            }
            // A file may have any build id, so that it is always loaded.
            if config.application.is_none() && found.build_id == self.application.build {
                return Ok(found);
            }
            leave(link)?;
            link.drain_banner(LEAVING, START_TIMEOUT)?;
            if !config.start_by(monitor, link, program)? {
                return self.verify_identity(config, identify_harmlessly(link)?);
            }
        }
        match identify_harmlessly(link) {
            Err(LinkError::Timeout { .. }) => Err(SetupError::NoReply(config.profile.uart.kind)),
            identity => self.verify_identity(config, identity?),
        }
    }

    /// Returns the application's image, its entry, and the first address after it.
    fn hosted_program(&self, config: &BoardConfig) -> (Image, u16, u16) {
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

impl BoardConfig {
    /// Returns `false` if a program of this project replied instead of the monitor.
    fn start_by(
        &self,
        monitor: &ResidentMonitor,
        link: &mut Link,
        program: HostedProgram<'_>,
    ) -> Result<bool, SetupError> {
        let mut progress = LoaderProgress { on_notice: self.on_notice, stage: None };
        let is_z180 = self.profile.is_z180();
        let processor = if is_z180 { Processor::Z180 } else { Processor::Z80 };
        let outcome = with_monitor_session(self.cancel.as_ref(), link, &[], |session| {
            session.require_processor(processor);
            monitor.start(session, program, &mut progress)?;
            monitor.wait_for_announcement(session)
        });
        match outcome {
            Ok(_) => Ok(true),
            Err(LoaderError::WrongPeer { actual: Peer::OwnFirmware, .. }) => Ok(false),
            // At a described monitor nothing is identified before the load.
            Err(LoaderError::NoReply { .. } | LoaderError::UnknownPeer { .. })
                if matches!(monitor, ResidentMonitor::Memory(StockMonitor::Described(_)))
                    && identify_harmlessly(link).is_ok() =>
            {
                Ok(false)
            }
            Err(error) => {
                let LoaderError::WrongPeer { port, actual, .. } = &error else {
                    return Err(error.into());
                };
                let found = self.other_monitor_error(port, *actual, actual.to_string());
                Err(found.unwrap_or_else(|| error.into()))
            }
        }
    }

    /// Probes what answers in place of this project's monitor, and returns an error with the
    /// option for it; returns `error` if the peer is unknown.
    pub(super) fn unknown_peer_error(&self, link: &mut Link, error: LinkError) -> SetupError {
        let BoardKind::Serial(rig) = &self.board else { return error.into() };
        match with_monitor_session(self.cancel.as_ref(), link, &[], probe_quick) {
            Ok((ProbedPeer::Known(peer, name), _)) => {
                self.other_monitor_error(&rig.port, peer, name).unwrap_or_else(|| error.into())
            }
            _ => error.into(),
        }
    }

    /// Returns the error for another monitor than the configured one, with the option for that
    /// one; `None` if there is none, or the board is not at a serial device.
    fn other_monitor_error(&self, port: &str, found: Peer, name: String) -> Option<SetupError> {
        let BoardKind::Serial(rig) = &self.board else { return None };
        Some(SetupError::StockMonitor {
            port: rig.name.as_deref().unwrap_or(port).to_owned(),
            monitor: name,
            via: ResidentMonitor::for_peer(found)?.name(),
            first_step: match found {
                Peer::XmodemReceiver => "end the transfer there (Ctrl-X), then ",
                Peer::CpmMonitor => "boot CP/M there (X, then Y), then ",
                _ => "",
            },
        })
    }

    /// Leaves the program for the stock monitor. The board, which messages name, accepts no
    /// requests after that.
    pub(super) fn return_to(
        &self,
        monitor: &ResidentMonitor,
        link: &mut Link,
        board: &str,
    ) -> Result<(), SetupError> {
        // Also after Ctrl-C the user expects the monitor to be back.
        link.set_stop(Arc::default());
        link.cancel_all();
        let not_back = || SetupError::MonitorNotBack(monitor.name());
        match leave(link) {
            Err(LinkError::Timeout { .. }) => return Err(not_back()),
            left => left?,
        }
        match with_monitor_session(None, link, &[], |session| monitor.wait_for_return(session)) {
            Ok((peer, _)) => {
                (self.on_notice)(&format!("{board}: back in {peer}"));
                Ok(())
            }
            Err(LoaderError::NoReply { .. }) => Err(not_back()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Has the running program return to the monitor.
pub(super) fn leave(link: &mut Link) -> Result<(), LinkError> {
    link.request(LEAVING, &Request::Reset, LEAVE_TIMEOUT).map(drop)
}

/// Identifies the program by the IDENT frame with sequence number 1, which is harmless to every stock
/// monitor.
pub(super) fn identify_harmlessly(link: &mut Link) -> Result<Identity, LinkError> {
    link.set_seq(0);
    loader::identify(link)
}

/// Calls `dialogue` in a session with the stock monitor, on the line of the link. The monitor has
/// sent `received` before. Returns the bytes that `dialogue` has not read, too.
pub(super) fn with_monitor_session<T>(
    cancel: Option<&Arc<AtomicBool>>,
    link: &mut Link,
    received: &[u8],
    dialogue: impl FnOnce(&mut MonitorSession) -> Result<T, LoaderError>,
) -> Result<(T, Vec<u8>), LoaderError> {
    let received = [received, &link.take_unframed()].concat();
    let stop = cancel.cloned().unwrap_or_default();
    let mut session =
        MonitorSession::new(link.take_transport(), link.baud(), stop).with_received(&received);
    let outcome = dialogue(&mut session);
    let (line, unread) = session.into_parts();
    link.set_transport(line);
    Ok((outcome?, unread))
}

/// Returns the first address after all sections of a program; at most FFFFh.
pub fn end_address(program: &Program) -> u16 {
    let last = program.sections.iter().map(|section| section.addresses().end).max().unwrap_or(0);
    u16::try_from(last).unwrap_or(u16::MAX)
}
