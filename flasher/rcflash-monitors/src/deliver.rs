//! Delivers an image to a monitor that takes Intel HEX: measures the line with a burst, sends
//! pieces, reads all back and sends again what differs.

use std::collections::BTreeSet;

use tdlasm::image::Image;

use super::dump::{self, Memory, ROW};
use super::error::{LoaderError, Result};
use super::knock;
use super::pace::Pace;
use super::records::{FRAME, Record, part, records};
use super::talk::Talk;
use super::{HexMonitor, Loaded, Note, Order, Stage, Stock, Watch};

/// Lines of the burst that measures the line: 16 bytes each, the image's own first ones.
const BURST: usize = 16;
/// Lines sent between two reports of the monitor.
const PIECE: usize = 64;
/// Bytes read back at once.
const BITE: u16 = 0x400;
/// Most repetitions of a piece at the slowest pace, and of the lines that differ.
const ROUNDS: usize = 3;

/// The outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivered {
    /// Bytes that are on the board.
    pub bytes: usize,
    /// Whether all of them were read back.
    pub verified: bool,
    /// The pace at which the last of them went.
    pub pace: Pace,
}

/// Brings an image to a board with a stock monitor, and starts it if asked to.
///
/// # Errors
/// What kept it from being there, or the user: then the board is left at its prompt if that can be.
pub fn deliver(
    stock: Stock,
    talk: &mut Talk,
    order: &Order,
    watch: &mut dyn Watch,
) -> Result<Delivered> {
    stock.check(order.image)?;
    let mut monitor = stock.monitor();
    match steps(monitor.as_mut(), talk, order, watch) {
        Err(LoaderError::Interrupted { what, .. }) => {
            talk.close();
            Err(LoaderError::Interrupted { what, state: monitor.abandon(talk) })
        }
        Err(error) if error.is_mismatch() || matches!(error, LoaderError::Damaged { .. }) => {
            // That is what the user has to know; a monitor that then fails too adds nothing to it.
            let _ = monitor.leave(talk);
            Err(error)
        }
        other => other,
    }
}

fn steps(
    monitor: &mut dyn HexMonitor,
    talk: &mut Talk,
    order: &Order,
    watch: &mut dyn Watch,
) -> Result<Delivered> {
    let who = knock::by_flow(talk, watch, order.flow, |talk, watch| monitor.reach(talk, watch))?;
    watch.note(Note::Found(who));
    monitor.prepare(talk, order.image, watch)?;
    let total = size(order.image);
    let pace = match order.pace {
        Some(pace) => pace,
        None => monitor.first_pace(talk, watch)?,
    };
    talk.type_at(pace);
    let mut delivery = Delivery { monitor, talk, watch, image: order.image, total, done: 0, pace };
    if order.pace.is_none() {
        delivery.measure()?;
    }
    delivery.send_rest()?;
    if order.verify {
        delivery.verify()?;
    }
    let pace = delivery.pace;
    match order.entry {
        Some(entry) => monitor.start(talk, entry)?,
        None => monitor.leave(talk)?,
    }
    Ok(Delivered { bytes: total, verified: order.verify, pace })
}

/// A delivery on its way.
struct Delivery<'a> {
    monitor: &'a mut dyn HexMonitor,
    talk: &'a mut Talk,
    watch: &'a mut dyn Watch,
    image: &'a Image,
    total: usize,
    done: usize,
    pace: Pace,
}

impl Delivery<'_> {
    /// Sends the first lines as a burst and reads them back, more slowly until nothing is lost.
    fn measure(&mut self) -> Result<()> {
        let burst = lines_of(self.image, 0, BURST);
        let mut before = None;
        loop {
            let lines = records(&burst, self.pace.record);
            let loaded = self.monitor.load(self.talk, &lines, self.pace, &mut |_| {})?;
            let wrong = dump::differences(&burst, &self.read(&burst, false)?);
            if loaded == Loaded::Clean && wrong.is_empty() {
                let characters = lines.iter().map(|line| 2 * line.data.len() + FRAME + 1).sum();
                self.watch.note(Note::Bears { characters, pace: self.pace });
                self.done = size(&burst);
                return Ok(());
            }
            if loaded == Loaded::Clean && before.as_ref() == Some(&wrong) {
                return Err(self.differs(&wrong));
            }
            self.slow_down(&burst, &loaded, Some(&wrong))?;
            before = (loaded == Loaded::Clean).then_some(wrong);
        }
    }

    /// Sends what the burst did not carry.
    fn send_rest(&mut self) -> Result<()> {
        let burst = if self.done > 0 { BURST } else { 0 };
        let mut from = burst;
        loop {
            let piece = lines_of(self.image, from, PIECE);
            if piece.bounds().is_none() {
                return Ok(());
            }
            self.send(&piece)?;
            from += PIECE;
        }
    }

    /// Sends a piece until the monitor says that it arrived well, each time more slowly.
    fn send(&mut self, piece: &Image) -> Result<()> {
        let mut tries = 0;
        loop {
            let start = self.done;
            let total = self.total;
            let done = &mut self.done;
            let watch = &mut *self.watch;
            let mut sent = |bytes: usize| {
                *done = (*done + bytes).min(total);
                watch.progress(Stage::Sending, *done, total);
            };
            let lines = records(piece, self.pace.record);
            let loaded = self.monitor.load(self.talk, &lines, self.pace, &mut sent)?;
            if loaded == Loaded::Clean {
                return Ok(());
            }
            self.done = start;
            if self.pace.slower().is_some() || tries + 1 == ROUNDS {
                self.slow_down(piece, &loaded, None)?;
            }
            tries += 1;
        }
    }

    /// Goes to the next slower pace and says why; an error when there is none.
    fn slow_down(
        &mut self,
        piece: &Image,
        loaded: &Loaded,
        wrong: Option<&[(u16, Option<u8>)]>,
    ) -> Result<()> {
        let Some(next) = self.pace.slower() else {
            return Err(self.gives_up(piece, loaded, wrong));
        };
        let report = match loaded {
            Loaded::Clean => format!("{} noticed nothing", self.monitor.name()),
            Loaded::Failed(report) => report.clone(),
        };
        let wrong = wrong.map(<[_]>::len);
        let of = size(piece);
        let pace = self.pace;
        self.watch.note(Note::Lost { wrong, of, report, pace, next });
        self.pace = next;
        self.talk.type_at(next);
        Ok(())
    }

    /// The error when a piece does not arrive at the slowest pace.
    fn gives_up(
        &mut self,
        piece: &Image,
        loaded: &Loaded,
        wrong: Option<&[(u16, Option<u8>)]>,
    ) -> LoaderError {
        let wrong = match wrong {
            Some(wrong) => wrong.to_vec(),
            None => match self.read(piece, false) {
                Ok(memory) => dump::differences(piece, &memory),
                Err(error) => return error,
            },
        };
        let Loaded::Failed(report) = loaded else {
            return self.differs(&wrong);
        };
        let first = wrong.first().map(|(at, _)| *at).or(piece.bounds().map(|(first, _)| first));
        let (line, text) = self.line_at(first.unwrap_or_default());
        let who = self.monitor.name();
        let pace = self.pace.to_string();
        let report = report.clone();
        LoaderError::Damaged { who, line, text, pace, report }
    }

    /// Reads everything back, and sends again what differs until nothing does.
    fn verify(&mut self) -> Result<()> {
        let mut before = None;
        for round in 0..=ROUNDS {
            let wrong = dump::differences(self.image, &self.read(self.image, true)?);
            if wrong.is_empty() {
                return Ok(());
            }
            if round == ROUNDS || before.as_ref() == Some(&wrong) {
                return Err(self.differs(&wrong));
            }
            self.pace = self.pace.slower().unwrap_or(self.pace);
            self.mend(&wrong)?;
            before = Some(wrong);
        }
        Ok(())
    }

    /// Sends the lines again in which bytes differ.
    fn mend(&mut self, wrong: &[(u16, Option<u8>)]) -> Result<()> {
        let rows: BTreeSet<u16> = wrong.iter().map(|(at, _)| at & !(ROW as u16 - 1)).collect();
        self.watch.note(Note::Mending { lines: rows.len(), pace: self.pace });
        let image = part(self.image, |at| rows.contains(&(at & !(ROW as u16 - 1))));
        let mut from = 0;
        loop {
            let piece = lines_of(&image, from, PIECE);
            if piece.bounds().is_none() {
                return Ok(());
            }
            self.send(&piece)?;
            from += PIECE;
        }
    }

    /// Reads the memory behind an image, whole rows.
    fn read(&mut self, image: &Image, shown: bool) -> Result<Memory> {
        let mut memory = Memory::new();
        let total = size(image);
        let mut done = 0;
        for run in image.runs() {
            let last = run.address + (run.bytes.len() - 1) as u16;
            for bite in (run.address & !0xF..=last).step_by(BITE.into()) {
                let end = bite.saturating_add(BITE - 1).min(last | 0xF);
                memory.extend(self.monitor.read(self.talk, bite, end)?);
                done = (done + usize::from(BITE)).min(total);
                if shown {
                    self.watch.progress(Stage::ReadingBack, done, total);
                }
            }
        }
        Ok(memory)
    }

    /// The error for bytes that are not there.
    fn differs(&self, wrong: &[(u16, Option<u8>)]) -> LoaderError {
        let (address, there) = wrong.first().copied().unwrap_or_default();
        let whole = wrong.len() > 1 && wrong.iter().all(|(_, other)| *other == there);
        let hint = if whole || wrong.len() == self.total {
            "the memory there keeps nothing: is there RAM, or is it a ROM or write-protected?"
        } else {
            "sent again, it was the same: that memory is faulty, write-protected, or in use by \
             the monitor"
        };
        LoaderError::Verify {
            wrong: wrong.len(),
            of: self.total,
            address,
            line: self.line_at(address).0,
            sent: self.image.byte(address).unwrap_or_default(),
            there: there.unwrap_or_default(),
            hint,
        }
    }

    /// Number and text of the line that holds an address.
    fn line_at(&self, address: u16) -> (usize, String) {
        let holds =
            |line: &Record| usize::from(address.wrapping_sub(line.address)) < line.data.len();
        let lines = records(self.image, Pace::FULL.record);
        lines.into_iter().find(holds).map_or((0, String::new()), |line| (line.number, line.text()))
    }
}

/// Some of an image's lines of 16 bytes, as an image.
fn lines_of(image: &Image, from: usize, count: usize) -> Image {
    let lines = records(image, Pace::FULL.record).into_iter().skip(from).take(count);
    Image::new(lines.map(|line| tdlasm::image::Run { address: line.address, bytes: line.data }))
}

/// Returns the number of bytes of an image.
fn size(image: &Image) -> usize {
    image.runs().iter().map(|run| run.bytes.len()).sum()
}
