//! The loaders on a line within the test: flow control that is not wired, and their events while
//! they work.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use monitor_standins::{Cpm, MonitorModel, Romwbw, Scm};
use rcflash_monitors::{
    CpmName, FileTransfer, FlowControlMode, LoadEvent, LoadObserver, LoadRequest, LoadStage,
    LoaderError, MonitorSession, Pace, StockMonitor, load_hex, transfer_file,
};
use rcflash_transport::{Capabilities, Transport};
use tdlasm::image::{Image, ImageRun};

/// A line to a monitor, on which nothing goes out as long as CTS is obeyed.
struct UnwiredLine {
    peer: Box<dyn MonitorModel>,
    to_host: Vec<u8>,
    obeyed: bool,
    began: Instant,
    /// The virtual time, which passes only while the host waits.
    now: Instant,
    /// The time for which nothing was sent.
    quiet: Duration,
    /// Whether what can't go out is kept for a while, as drivers do, instead of refused at once.
    keeps: bool,
}

impl Transport for UnwiredLine {
    fn name(&self) -> &str {
        "unwired"
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { flow_control: true, ..Capabilities::default() }
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        if self.to_host.is_empty() {
            self.now += timeout;
            self.quiet += timeout;
            self.peer.set_time(self.now - self.began);
            self.peer.idle(self.quiet, &mut self.to_host);
        }
        let count = self.to_host.len().min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(self.to_host.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        self.quiet = Duration::ZERO;
        match (self.obeyed, self.keeps) {
            (true, true) => {}
            (true, false) => return Err(io::ErrorKind::TimedOut.into()),
            (false, _) => bytes.iter().for_each(|byte| self.peer.receive(*byte, &mut self.to_host)),
        }
        Ok(())
    }

    fn set_flow_control(&mut self, obey: bool) -> io::Result<bool> {
        Ok(std::mem::replace(&mut self.obeyed, obey))
    }
}

/// An observer that records all events.
#[derive(Default)]
struct RecordingObserver(Vec<LoadEvent>, Vec<(LoadStage, usize, usize)>);

impl RecordingObserver {
    /// Returns `true` if the progress of both stages never decreases and ends at `end`.
    fn completed_to(&self, end: usize) -> bool {
        [LoadStage::Sending, LoadStage::ReadingBack].into_iter().all(|stage| {
            let steps = self.1.iter().filter(|step| step.0 == stage);
            let done: Vec<usize> =
                steps.map(|(_, done, of)| *done * usize::from(*of == end)).collect();
            done.is_sorted() && done.last() == Some(&end)
        })
    }
}

impl LoadObserver for RecordingObserver {
    fn on_progress(&mut self, stage: LoadStage, done: usize, of: usize) {
        self.1.push((stage, done, of));
    }

    fn on_event(&mut self, note: LoadEvent) {
        self.0.push(note);
    }
}

fn talk(peer: Box<dyn MonitorModel>, keeps: bool) -> MonitorSession {
    let (now, quiet) = (Instant::now(), Duration::ZERO);
    let (began, to_host) = (now, Vec::new());
    let line = UnwiredLine { peer, to_host, obeyed: false, began, now, quiet, keeps };
    MonitorSession::new(Box::new(line), 115_200, Arc::new(AtomicBool::new(false)))
}

/// Loads a few bytes into the Small Computer Monitor.
fn load(flow: FlowControlMode, keeps: bool) -> (Result<(), LoaderError>, Vec<LoadEvent>) {
    let image = Image::new([ImageRun { address: 0x8000, bytes: vec![1, 2, 3] }]);
    let order = LoadRequest {
        image: &image,
        entry: None,
        verify: true,
        pace: None,
        flow_control: flow,
        uses_scratch: false,
    };
    let mut notes = RecordingObserver::default();
    let mut talk = talk(Box::<Scm>::default(), keeps);
    let outcome = load_hex(&StockMonitor::Scm, &mut talk, &order, &mut notes);
    (outcome.map(drop), notes.0)
}

#[test]
fn a_blocked_host_continues_without_flow_control_and_reports_it() {
    for keeps in [true, false] {
        let (outcome, notes) = load(FlowControlMode::Auto, keeps);
        assert!(outcome.is_ok(), "{outcome:?}");
        assert!(notes.contains(&LoadEvent::FlowControlOff));
    }
    let (outcome, notes) = load(FlowControlMode::None, true);
    assert!(outcome.is_ok() && !notes.contains(&LoadEvent::FlowControlOff));
}

#[test]
fn requested_flow_control_is_kept_and_the_error_has_advice() {
    for keeps in [true, false] {
        let (outcome, _) = load(FlowControlMode::RtsCts, keeps);
        let message = outcome.expect_err("nothing goes out").to_string();
        assert!(message.contains("--flow none"), "{message}");
    }
}

#[test]
fn a_file_goes_to_cpm_without_flow_control_too() {
    let order = FileTransfer {
        bytes: b"hello",
        name: CpmName::new("X.TXT").expect("a good name"),
        xmodem_program: Some("XM"),
        run: false,
        verify: true,
        replace: false,
        pace: Pace::FULL,
        flow_control: FlowControlMode::Auto,
        reply_timeout: Duration::from_secs(1),
    };
    let mut notes = RecordingObserver::default();
    let sent = transfer_file(&mut talk(Box::new(Cpm::quick()), true), &order, &mut notes);
    assert_eq!(sent.map(|sent| sent.blocks).ok(), Some(1));
    assert!(notes.0.contains(&LoadEvent::FlowControlOff));
}

#[test]
fn progress_is_reported_to_the_end() {
    let bytes: Vec<u8> = (0..3000_u32).map(|at| (at * 7 + at / 256) as u8).collect();
    let image = Image::new([ImageRun { address: 0x9000, bytes }]);
    let order = LoadRequest {
        image: &image,
        entry: None,
        verify: true,
        pace: None,
        flow_control: FlowControlMode::None,
        uses_scratch: false,
    };
    for (stock, peer) in [
        (StockMonitor::Scm, Box::<Scm>::default() as Box<dyn MonitorModel>),
        (StockMonitor::Romwbw, Box::new(Romwbw::in_monitor())),
    ] {
        let mut notes = RecordingObserver::default();
        let outcome = load_hex(&stock, &mut talk(peer, true), &order, &mut notes);
        assert!(outcome.is_ok(), "{stock:?}: {outcome:?}");
        assert!(notes.completed_to(3000), "{stock:?}: {:?}", notes.1);
    }
}
