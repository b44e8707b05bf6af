//! Boards that keep the monitor they came with: the application is loaded through it, and leaves
//! the board to it in the end.

use std::sync::Arc;

use firmware_wire::{Identity, Request, Role};
use rcflash_link::loader;
use rcflash_link::{Link, LinkError};
use rcflash_monitors::{Guest, Host, LoaderError, Note, Peer, Stage, Talk, Watch, Who, glance};
use tdlasm::image::{Image, Run};
use tdlasm::link::Program;

use super::programs::{Programs, START};
use super::{LiveBoard, Plan, SetupError};
use crate::board::{Choice, Ready};

/// Reports the actions of a loader.
struct Notes {
    note: fn(&str),
    stage: Option<Stage>,
}

impl Watch for Notes {
    fn progress(&mut self, stage: Stage, _done: usize, of: usize) {
        if self.stage.replace(stage) != Some(stage) {
            let what = match stage {
                Stage::Sending => "sending",
                Stage::ReadingBack => "reading back",
            };
            (self.note)(&format!("{what} {of} bytes"));
        }
    }

    fn note(&mut self, note: Note) {
        (self.note)(&note.to_string());
    }
}

/// The outcome of a first contact through the board's own monitor.
enum Contacted {
    /// It has started the application.
    Started,
    /// A program of this project's answers instead of it.
    Ours,
}

impl Programs {
    /// Makes sure that the application runs and answers, on a board that keeps its monitor.
    pub(super) fn bring_up_hosted(
        &self,
        plan: &Plan,
        host: Host,
        link: &mut Link,
    ) -> Result<Ready, SetupError> {
        let application = match self.contact(plan, host, link)? {
            Contacted::Started => Self::greet(link)?,
            Contacted::Ours => match self.running(plan, link)? {
                Some(application) => application,
                None => match self.contact(plan, host, link)? {
                    Contacted::Started => Self::greet(link)?,
                    Contacted::Ours => identify(link)?,
                },
            },
        };
        self.check(plan, &application)?;
        let own = self.application.own.iter().map(|&routine| routine.to_owned()).collect();
        Ok(Ready { application, own, seq: link.seq() })
    }

    /// Has the monitor load and start the application.
    fn contact(&self, plan: &Plan, host: Host, link: &mut Link) -> Result<Contacted, SetupError> {
        let (image, entry, top) = self.guest(plan);
        let guest = Guest { image: &image, entry, top };
        let mut notes = Notes { note: plan.note, stage: None };
        let outcome = talking(plan, link, |talk| host.start(talk, guest, &mut notes));
        match outcome {
            Ok(()) => Ok(Contacted::Started),
            Err(LoaderError::WrongPeer { found: Peer::Ours, .. }) => Ok(Contacted::Ours),
            Err(error) => Err(Self::refused(plan, error)),
        }
    }

    /// The application, where it is entered, and the first address that it leaves alone.
    fn guest(&self, plan: &Plan) -> (Image, u16, u16) {
        match &plan.application {
            Some((address, bytes)) => {
                let image = Image::new([Run { address: *address, bytes: bytes.clone() }]);
                let last = image.bounds().map_or(*address, |(_, last)| last);
                (image, *address, last.saturating_add(1))
            }
            None => {
                let built = &self.application;
                (built.program.image.clone(), built.address, top(&built.program))
            }
        }
    }

    /// Hears the application that was started tell who it is.
    fn greet(link: &mut Link) -> Result<Identity, SetupError> {
        link.drain_banner("starting the program", START)?;
        match identify(link) {
            Err(LinkError::Timeout { .. }) => Err(SetupError::Mute),
            other => Ok(other?),
        }
    }

    /// The application, if it is the one that is wanted and runs; another one is sent back to the
    /// board's monitor.
    fn running(&self, plan: &Plan, link: &mut Link) -> Result<Option<Identity>, SetupError> {
        let found = identify(link)?;
        if found.role == Role::Monitor {
            return Err(SetupError::OwnMonitor(Box::new(found)));
        }
        if self.check(plan, &found).is_ok() {
            return Ok(Some(found));
        }
        link.request("going back to the monitor", &Request::Reset, START)?;
        link.drain_banner("going back to the monitor", START)?;
        Ok(None)
    }

    /// The failure for a monitor that is another one than the one named: the command for this one.
    fn refused(plan: &Plan, error: LoaderError) -> SetupError {
        let (LoaderError::WrongPeer { port, found, .. }, Choice::Serial(rig)) =
            (&error, &plan.board)
        else {
            return error.into();
        };
        let Some(host) = Host::of(*found) else { return error.into() };
        let port = rig.name.as_ref().unwrap_or(port).clone();
        let first = first_step(*found);
        SetupError::StockMonitor { port, who: found.to_string(), host: host.name(), first }
    }

    /// Finds out who answers in place of this project's monitor, for the message; the error itself
    /// if that is nobody known.
    pub(super) fn stranger(plan: &Plan, link: &mut Link, error: LinkError) -> SetupError {
        let Choice::Serial(rig) = &plan.board else { return error.into() };
        let found = talking(plan, link, glance);
        let Ok(Who::Known(peer, who)) = found else { return error.into() };
        let Some(host) = Host::of(peer) else { return error.into() };
        let port = rig.name.as_deref().unwrap_or(&rig.port).to_owned();
        SetupError::StockMonitor { port, who, host: host.name(), first: first_step(peer) }
    }
}

/// Asks who is there by sequence number 1, whose frame does no harm to any monitor.
pub(super) fn identify(link: &mut Link) -> Result<Identity, LinkError> {
    link.set_seq(0);
    loader::identify(link)
}

/// The step that a person has to do there first.
fn first_step(peer: Peer) -> &'static str {
    match peer {
        Peer::XmodemReceiver => "end the transfer there (Ctrl-X), then ",
        Peer::CpmMonitor => "boot CP/M there (X, then Y), then ",
        _ => "",
    }
}

/// Talks to the board's own monitor on the link's line.
fn talking<T>(
    plan: &Plan,
    link: &mut Link,
    talk: impl FnOnce(&mut Talk) -> Result<T, LoaderError>,
) -> Result<T, LoaderError> {
    let heard = link.take_unframed();
    let stop = plan.stop.as_ref().map_or_else(Arc::default, Arc::clone);
    let mut conversation = Talk::new(link.take_transport(), link.baud(), stop).with_heard(&heard);
    let outcome = talk(&mut conversation);
    link.set_transport(conversation.into_line());
    outcome
}

/// The first address after all sections of a program.
#[must_use]
pub fn top(program: &Program) -> u16 {
    let end = |section: &tdlasm::link::PlacedSection| u32::from(section.address) + section.size;
    let last = program.sections.iter().map(end).max().unwrap_or(0);
    u16::try_from(last).unwrap_or(u16::MAX)
}

impl LiveBoard {
    /// Sends the application back to the monitor that the board keeps, if it keeps one. The board
    /// can't be asked anything after that.
    ///
    /// # Errors
    /// The monitor does not come back.
    pub fn leave(&mut self) -> Result<(), SetupError> {
        let Some(host) = self.plan.host.take() else { return Ok(()) };
        // A user who has stopped the run wants the board back, too.
        self.plan.stop = None;
        self.link.set_stop(Arc::default());
        self.link.cancel_all();
        self.link.request("going back to the board's own monitor", &Request::Reset, START)?;
        let peer = talking(&self.plan, &mut self.link, |talk| host.wait_for(talk));
        match peer {
            Ok(peer) => {
                (self.plan.note)(&format!("{}: {peer} is there again", self.board.name()));
                Ok(())
            }
            Err(LoaderError::Silence { .. }) => Err(SetupError::Gone(host.name())),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for LiveBoard {
    fn drop(&mut self) {
        if let Err(error) = self.leave() {
            (self.plan.note)(&error.to_string());
        }
    }
}
