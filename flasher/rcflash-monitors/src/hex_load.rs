//! Loads an image through a monitor: measures the line with a burst, sends
//! chunks, reads everything back and resends what differs.

use std::collections::BTreeSet;

use tdlasm::image::Image;

use crate::dump::{self, Memory, ROW_BYTES};
use crate::error::{LoaderError, Result};
use crate::event::{LoadEvent, LoadObserver, LoadStage};
use crate::monitor::{HexMonitor, LoadReport};
use crate::pace::Pace;
use crate::processor::BoardProcessor;
use crate::reach::{self, FlowControlMode};
use crate::records::{FRAME_CHARS, HexRecord, hex_records, select_addresses};
use crate::session::{MonitorSession, Processor};
use crate::stock::StockMonitor;

/// The lines of the burst that measures the line: the image's first, 16 bytes each.
const BURST_LINES: usize = 16;
/// The number of lines per load command, each of which ends with a report.
const CHUNK_LINES: usize = 64;
/// The number of bytes read back per command.
const READ_CHUNK_BYTES: u16 = 0x400;
/// The maximum number of attempts to send a chunk at the slowest pace, and to resend mismatches.
const MAX_ROUNDS: usize = 3;

/// A program to load.
#[derive(Debug, Clone)]
pub struct LoadRequest<'a> {
    /// The program.
    pub image: &'a Image,
    /// The entry address, if the program is to be started.
    pub entry: Option<u16>,
    /// Whether all of it is read back.
    pub verify: bool,
    /// The pace of the lines; `None` measures it.
    pub pace: Option<Pace>,
    /// The flow control.
    pub flow_control: FlowControlMode,
    /// Whether memory outside of the program may be changed, so that the board checks it itself.
    pub uses_scratch: bool,
}

/// What was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadSummary {
    /// The number of bytes on the board.
    pub bytes: usize,
    /// Whether all of them were read back.
    pub verified: bool,
    /// The pace at the end.
    pub pace: Pace,
}

/// Loads an image through a stock monitor, verifies it, and starts it if requested.
///
/// # Errors
/// Returns [`LoaderError`]. After an interruption the board is left at its prompt if possible.
pub fn load_hex(
    monitor_kind: &StockMonitor,
    session: &mut MonitorSession,
    request: &LoadRequest,
    observer: &mut dyn LoadObserver,
) -> Result<LoadSummary> {
    monitor_kind.check(request.image)?;
    let mut monitor = monitor_kind.monitor();
    match run_steps(monitor.as_mut(), session, request, observer) {
        Err(LoaderError::Interrupted { operation, .. }) => {
            session.ignore_stop();
            Err(LoaderError::Interrupted { operation, state: monitor.abandon(session) })
        }
        Err(error) if error.is_mismatch() || matches!(error, LoaderError::Corrupted { .. }) => {
            // The first error is the one to report, even if the monitor then fails as well.
            let _ = monitor.leave(session);
            Err(error)
        }
        other => other,
    }
}

fn run_steps(
    monitor: &mut dyn HexMonitor,
    session: &mut MonitorSession,
    request: &LoadRequest,
    observer: &mut dyn LoadObserver,
) -> Result<LoadSummary> {
    let name =
        reach::with_flow_fallback(session, observer, request.flow_control, |session, observer| {
            monitor.reach(session, observer)
        })?;
    observer.on_event(LoadEvent::Found(name));
    check_processor(monitor, session)?;
    monitor.prepare(session, request.image, observer)?;
    let total = byte_count(request.image);
    let pace = match request.pace {
        Some(pace) => pace,
        None => monitor.first_pace(session, observer)?,
    };
    session.set_typing_pace(pace);
    let uses_scratch = request.uses_scratch;
    let mut load = HexLoad {
        uses_scratch,
        monitor,
        session,
        observer,
        image: request.image,
        total,
        done: 0,
        pace,
    };
    let can_read = load.monitor.can_read();
    if request.pace.is_none() && can_read {
        load.measure()?;
    }
    load.send_rest()?;
    let verified = request.verify && can_read;
    if verified {
        load.verify()?;
    }
    let pace = load.pace;
    match request.entry {
        Some(entry) => monitor.start(session, entry)?,
        None => monitor.leave(session)?,
    }
    Ok(LoadSummary { bytes: total, verified, pace })
}

/// Fails if the program is for another processor than the board's. A board without Z180 may also
/// have a monitor that does not show its processor, so only known ones count.
fn check_processor(monitor: &mut dyn HexMonitor, session: &mut MonitorSession) -> Result<()> {
    let Some(required) = session.required_processor() else { return Ok(()) };
    match (required, monitor.processor(session)?) {
        (Processor::Z80, BoardProcessor::Z180(profile)) => Err(LoaderError::Z180Board { profile }),
        (Processor::Z180, BoardProcessor::Z80) => Err(LoaderError::NoZ180),
        _ => Ok(()),
    }
}

struct HexLoad<'a> {
    uses_scratch: bool,
    monitor: &'a mut dyn HexMonitor,
    session: &'a mut MonitorSession,
    observer: &'a mut dyn LoadObserver,
    image: &'a Image,
    total: usize,
    done: usize,
    pace: Pace,
}

impl HexLoad<'_> {
    /// Sends the first lines as a burst and reads them back, at slower paces until nothing is lost.
    fn measure(&mut self) -> Result<()> {
        let burst = select_lines(self.image, 0, BURST_LINES);
        let mut previous = None;
        loop {
            let lines = hex_records(&burst, self.pace.record_bytes);
            let report = self.monitor.load(self.session, &lines, self.pace, &mut |_| {})?;
            let mismatches = dump::mismatches(&burst, &self.read(&burst, false)?);
            if report == LoadReport::Success && mismatches.is_empty() {
                let char_count =
                    lines.iter().map(|line| 2 * line.data.len() + FRAME_CHARS + 1).sum();
                self.observer.on_event(LoadEvent::BurstPassed { char_count, pace: self.pace });
                self.done = byte_count(&burst);
                return Ok(());
            }
            if report == LoadReport::Success && previous.as_ref() == Some(&mismatches) {
                return Err(self.verify_error(&mismatches));
            }
            self.slow_down(&burst, &report, Some(&mismatches))?;
            previous = (report == LoadReport::Success).then_some(mismatches);
        }
    }

    fn send_rest(&mut self) -> Result<()> {
        let burst = if self.done > 0 { BURST_LINES } else { 0 };
        let mut from = burst;
        loop {
            let chunk = select_lines(self.image, from, CHUNK_LINES);
            if chunk.bounds().is_none() {
                return Ok(());
            }
            self.send_chunk(&chunk)?;
            from += CHUNK_LINES;
        }
    }

    /// Sends a chunk until the monitor reports success, more slowly each time.
    fn send_chunk(&mut self, chunk: &Image) -> Result<()> {
        let mut tries_at_slowest = 0;
        loop {
            let start = self.done;
            let total = self.total;
            let done = &mut self.done;
            let observer = &mut *self.observer;
            let mut on_sent = |bytes: usize| {
                *done = (*done + bytes).min(total);
                observer.on_progress(LoadStage::Sending, *done, total);
            };
            let lines = hex_records(chunk, self.pace.record_bytes);
            let report = self.monitor.load(self.session, &lines, self.pace, &mut on_sent)?;
            if report == LoadReport::Success {
                return Ok(());
            }
            self.done = start;
            tries_at_slowest += usize::from(self.pace.slower().is_none());
            if self.pace.slower().is_some() || tries_at_slowest == MAX_ROUNDS {
                self.slow_down(chunk, &report, None)?;
            }
        }
    }

    /// Changes to the next slower pace and reports why. Returns an error if there is none.
    fn slow_down(
        &mut self,
        chunk: &Image,
        report: &LoadReport,
        mismatches: Option<&[(u16, Option<u8>)]>,
    ) -> Result<()> {
        let Some(next_pace) = self.pace.slower() else {
            return Err(self.corrupted_error(chunk, report, mismatches));
        };
        let text = match report {
            LoadReport::Success => format!("{} reported no error", self.monitor.name()),
            LoadReport::Failure(text) => text.clone(),
        };
        let mismatches = mismatches.map(<[_]>::len);
        let total = byte_count(chunk);
        let pace = self.pace;
        self.observer.on_event(LoadEvent::BytesLost {
            mismatches,
            total,
            report: text,
            pace,
            next_pace,
        });
        self.pace = next_pace;
        self.session.set_typing_pace(next_pace);
        Ok(())
    }

    /// Returns the error for a chunk that fails at the slowest pace.
    fn corrupted_error(
        &mut self,
        chunk: &Image,
        report: &LoadReport,
        mismatches: Option<&[(u16, Option<u8>)]>,
    ) -> LoaderError {
        let mismatches = match mismatches {
            Some(mismatches) => mismatches.to_vec(),
            None if !self.monitor.can_read() => Vec::new(),
            None => match self.read(chunk, false) {
                Ok(memory) => dump::mismatches(chunk, &memory),
                Err(error) => return error,
            },
        };
        let LoadReport::Failure(report) = report else {
            return self.verify_error(&mismatches);
        };
        let first =
            mismatches.first().map(|(at, _)| *at).or(chunk.bounds().map(|(first, _)| first));
        let (line, text) = self.line_at(first.unwrap_or_default());
        let peer = self.monitor.name();
        let pace = self.pace.to_string();
        let report = report.clone();
        LoaderError::Corrupted { peer, line, text, pace, report }
    }

    /// Has the board check everything if it can. Otherwise reads it back, and resends mismatches
    /// until there are none.
    fn verify(&mut self) -> Result<()> {
        if self.uses_scratch && self.monitor.confirms(self.session, self.image, self.pace)? {
            return Ok(());
        }
        let mut previous = None;
        for round in 0..=MAX_ROUNDS {
            let mismatches = dump::mismatches(self.image, &self.read(self.image, true)?);
            if mismatches.is_empty() {
                return Ok(());
            }
            if round == MAX_ROUNDS || previous.as_ref() == Some(&mismatches) {
                return Err(self.verify_error(&mismatches));
            }
            self.pace = self.pace.slower().unwrap_or(self.pace);
            self.resend_lines(&mismatches)?;
            previous = Some(mismatches);
        }
        Ok(())
    }

    fn resend_lines(&mut self, mismatches: &[(u16, Option<u8>)]) -> Result<()> {
        let rows: BTreeSet<u16> =
            mismatches.iter().map(|(at, _)| at & !(ROW_BYTES as u16 - 1)).collect();
        self.observer.on_event(LoadEvent::Resending { lines: rows.len(), pace: self.pace });
        let image =
            select_addresses(self.image, |at| rows.contains(&(at & !(ROW_BYTES as u16 - 1))));
        let mut from = 0;
        loop {
            let chunk = select_lines(&image, from, CHUNK_LINES);
            if chunk.bounds().is_none() {
                return Ok(());
            }
            self.send_chunk(&chunk)?;
            from += CHUNK_LINES;
        }
    }

    /// Reads the memory of an image, in whole rows.
    fn read(&mut self, image: &Image, report_progress: bool) -> Result<Memory> {
        let mut memory = Memory::new();
        let total = byte_count(image);
        let mut done = 0;
        for run in image.runs() {
            let last = run.address + (run.bytes.len() - 1) as u16;
            for address in (run.address & !0xF..=last).step_by(READ_CHUNK_BYTES.into()) {
                let end = address.saturating_add(READ_CHUNK_BYTES - 1).min(last | 0xF);
                memory.extend(self.monitor.read(self.session, address, end)?);
                done = (done + usize::from(READ_CHUNK_BYTES)).min(total);
                if report_progress {
                    self.observer.on_progress(LoadStage::ReadingBack, done, total);
                }
            }
        }
        Ok(memory)
    }

    fn verify_error(&self, mismatches: &[(u16, Option<u8>)]) -> LoaderError {
        let (address, actual) = mismatches.first().copied().unwrap_or_default();
        let is_uniform =
            mismatches.len() > 1 && mismatches.iter().all(|(_, other)| *other == actual);
        let hint = if is_uniform || mismatches.len() == self.total {
            "nothing was stored there: is that RAM, or ROM or write-protected memory?"
        } else {
            "the same after sending it again: that memory is faulty, write-protected, or in use by \
             the monitor"
        };
        LoaderError::Verify {
            mismatches: mismatches.len(),
            total: self.total,
            address,
            line: self.line_at(address).0,
            expected: self.image.byte(address).unwrap_or_default(),
            actual: actual.unwrap_or_default(),
            hint,
        }
    }

    /// Returns the number and the text of the line with an address.
    fn line_at(&self, address: u16) -> (usize, String) {
        let holds =
            |line: &HexRecord| usize::from(address.wrapping_sub(line.address)) < line.data.len();
        let lines = hex_records(self.image, Pace::FULL.record_bytes);
        lines.into_iter().find(holds).map_or((0, String::new()), |line| (line.number, line.text()))
    }
}

/// Returns some of an image's lines of 16 bytes as an image.
fn select_lines(image: &Image, from: usize, count: usize) -> Image {
    let lines = hex_records(image, Pace::FULL.record_bytes).into_iter().skip(from).take(count);
    Image::new(
        lines.map(|line| tdlasm::image::ImageRun { address: line.address, bytes: line.data }),
    )
}

fn byte_count(image: &Image) -> usize {
    image.runs().iter().map(|run| run.bytes.len()).sum()
}
