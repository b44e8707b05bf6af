//! A monitor emulator and a loader on a line in virtual time: no test waits, and none depends on
//! how busy the computer is.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cli_support::exit::CommandError;
use monitor_standins::{MonitorLine, MonitorModel, MonitorOptions};
use rcflash_monitors::{
    CpmName, FileTransfer, FlowControlMode, LoadEvent, LoadObserver, LoadRequest, LoadStage,
    LoaderError, MonitorSession, Pace, StockMonitor, load_hex, transfer_file,
};
use tdlasm::image::{Image, ImageRun};

pub(crate) const BAUD: u32 = 115_200;
/// The address of the program.
const ADDRESS: u16 = 0x9000;
/// The program writes [`MARKER`] here when it runs: behind its 700 bytes.
const MARKER_ADDRESS: u16 = 0x9800;
const MARKER: u8 = 0x5A;
/// LD A,5Ah; LD (9800h),A; RET
const PROGRAM: [u8; 6] = [0x3E, MARKER, 0x32, 0x00, 0x98, 0xC9];
/// How late the host reads: eleven characters at a time.
const READ_DELAY: Duration = Duration::from_millis(1);
/// Longer than a program needs to start and to return.
const RUN_TIME: Duration = Duration::from_millis(500);

/// A monitor on a virtual line, and a program for it.
pub(crate) struct VirtualBench {
    pub(crate) line: MonitorLine,
    pub(crate) image: Image,
}

/// The result of a load: the exit code that `rcflash` has for it, the events, and the error.
pub(crate) struct LoadOutcome {
    pub(crate) code: u8,
    pub(crate) text: String,
    pub(crate) verified: bool,
}

/// An observer that records the events as lines.
#[derive(Default)]
pub(crate) struct EventLines(pub(crate) String);

impl LoadObserver for EventLines {
    fn on_progress(&mut self, _stage: LoadStage, _done: usize, _of: usize) {}

    fn on_event(&mut self, event: LoadEvent) {
        self.0 += &format!("{event}\n");
    }
}

impl VirtualBench {
    /// A program of 700 bytes at 9000h that sets a marker and returns.
    pub(crate) fn new(peer: Box<dyn MonitorModel>, options: MonitorOptions) -> Self {
        let mut bytes: Vec<u8> = (0..700u32).map(|i| (i * 7 + i / 256) as u8).collect();
        bytes[..PROGRAM.len()].copy_from_slice(&PROGRAM);
        Self::with(peer, options, Image::new([ImageRun { address: ADDRESS, bytes }]))
    }

    pub(crate) fn with(peer: Box<dyn MonitorModel>, options: MonitorOptions, image: Image) -> Self {
        Self { line: MonitorLine::new(peer, options).with_read_delay(READ_DELAY), image }
    }

    /// Returns a session with the monitor.
    pub(crate) fn session(&self) -> MonitorSession {
        let line = Box::new(self.line.clone());
        MonitorSession::new(line, BAUD, Arc::new(AtomicBool::new(false)))
    }

    /// Returns a request to load, verify and start the program, as `rcflash write --via` has it.
    pub(crate) fn request(&self) -> LoadRequest<'_> {
        LoadRequest {
            image: &self.image,
            entry: Some(ADDRESS),
            verify: true,
            pace: None,
            flow_control: FlowControlMode::Auto,
            uses_scratch: false,
        }
    }

    /// Loads and starts the program by a loader of `rcflash write --via`.
    pub(crate) fn write(&self, via: &str) -> LoadOutcome {
        self.load(via, &self.request())
    }

    pub(crate) fn load(&self, via: &str, request: &LoadRequest) -> LoadOutcome {
        let stock = match via {
            "scm" => StockMonitor::Scm,
            "romwbw" => StockMonitor::Romwbw,
            "basic" => StockMonitor::Basic,
            _ => return self.send(&file_transfer(&self.image.runs()[0].bytes)),
        };
        self.load_by(&stock, request)
    }

    pub(crate) fn load_by(&self, stock: &StockMonitor, request: &LoadRequest) -> LoadOutcome {
        let mut events = EventLines::default();
        let outcome = load_hex(stock, &mut self.session(), request, &mut events);
        LoadOutcome::new(outcome.map(|summary| summary.verified), events.0)
    }

    /// Sends a file to CP/M.
    pub(crate) fn send(&self, file: &FileTransfer) -> LoadOutcome {
        let mut events = EventLines::default();
        let outcome = transfer_file(&mut self.session(), file, &mut events);
        LoadOutcome::new(outcome.map(|_| file.verify), events.0)
    }

    /// Returns `true` if the whole program is in the monitor's memory, or a file on its disk.
    pub(crate) fn has_loaded(&self) -> bool {
        let there =
            |run: &ImageRun| self.line.memory(run.address, run.bytes.len() as u16) == run.bytes;
        self.image.runs().iter().all(there) || self.has_file("PROG.COM")
    }

    /// Returns `true` if CP/M has the program as a file, padded with 1Ah to whole blocks.
    pub(crate) fn has_file(&self, name: &str) -> bool {
        let mut expected = self.image.runs()[0].bytes.clone();
        expected.resize(expected.len().next_multiple_of(128), 0x1A);
        self.line.with_monitor(|peer| peer.file(name) == Some(expected.as_slice()))
    }

    /// Returns `true` if the program has run since it was loaded.
    pub(crate) fn has_run(&self) -> bool {
        self.line.sleep(RUN_TIME);
        self.line.memory(MARKER_ADDRESS, 1) == [MARKER]
    }
}

/// A program that leaves for the monitor at once: JP 0000h.
pub(crate) fn returning_program() -> Image {
    Image::new([ImageRun { address: 0x9000, bytes: vec![0xC3, 0x00, 0x00] }])
}

/// Returns a file for CP/M to send, read back and start.
pub(crate) fn file_transfer(bytes: &[u8]) -> FileTransfer<'_> {
    FileTransfer {
        bytes,
        name: CpmName::new("PROG.COM").expect("a name"),
        xmodem_program: Some("XM"),
        run: true,
        verify: true,
        replace: false,
        pace: Pace::FULL,
        flow_control: FlowControlMode::Auto,
        reply_timeout: Duration::from_secs(10),
    }
}

impl LoadOutcome {
    pub(crate) fn new(outcome: Result<bool, LoaderError>, events: String) -> Self {
        match outcome {
            Ok(verified) => Self { code: 0, text: events, verified },
            Err(error) => {
                let text = format!("{events}{error}");
                Self { code: CommandError::from(error).code, text, verified: false }
            }
        }
    }

    #[track_caller]
    pub(crate) fn assert_ends(&self, code: u8, words: &[&str]) {
        assert_eq!(self.code, code, "{}", self.text);
        for word in words {
            assert!(self.text.contains(word), "no '{word}' in: {}", self.text);
        }
    }

    /// Asserts that the program was loaded and read back.
    #[track_caller]
    pub(crate) fn assert_verified(&self, words: &[&str]) {
        self.assert_ends(0, words);
        assert!(self.verified, "{}", self.text);
    }
}
