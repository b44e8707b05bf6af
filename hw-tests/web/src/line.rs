//! The page's serial port: rings in memory that the page shares (`docs/try/serial.js` is the other
//! side). The worker waits there by `Atomics.wait`, the page's own thread pumps the port.

use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use js_sys::{Atomics, Int32Array, SharedArrayBuffer, Uint8Array};
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{Capabilities, ControlLine, Passed, Transport};

/// Words of the shared memory, as `serial.js` names them.
mod word {
    pub(super) const HEARD_PUT: u32 = 0;
    pub(super) const HEARD_TAKEN: u32 = 1;
    pub(super) const SENT_PUT: u32 = 2;
    pub(super) const SENT_TAKEN: u32 = 3;
    pub(super) const STATE: u32 = 4;
    pub(super) const ASKED: u32 = 5;
    pub(super) const WHAT: u32 = 6;
    pub(super) const VALUE: u32 = 7;
    pub(super) const ANSWERED: u32 = 8;
    pub(super) const FAILED: u32 = 9;
    pub(super) const STOP: u32 = 10;
    pub(super) const BELL_WORKER: u32 = 11;
    pub(super) const BELL_PAGE: u32 = 12;
    pub(super) const TEXT_LENGTH: u32 = 13;
}

/// Requests to the page.
#[derive(Clone, Copy)]
enum Wish {
    Open = 1,
    Dtr = 2,
    Rts = 3,
    Break = 4,
    Flow = 5,
    Baud = 6,
    Discard = 7,
}

const TEXT: u32 = 64;
const TEXT_SIZE: u32 = 512;
const HEARD: u32 = 1024;
const HEARD_SIZE: u32 = 0x1_0000;
const SENT: u32 = HEARD + HEARD_SIZE;
const SENT_SIZE: u32 = 0x1000;
/// The state of a port that has gone.
const GONE: i32 = 2;
/// The longest wait between two looks whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(100);
/// The time that the page has for what it is asked to do.
const PATIENCE: Duration = Duration::from_secs(5);

/// The shared memory.
struct Shared {
    words: Int32Array,
    bytes: Uint8Array,
    stop: Arc<AtomicBool>,
}

thread_local! {
    static SHARED: RefCell<Option<Shared>> = const { RefCell::new(None) };
}

/// Takes the memory that the page shares; `stop` is set when the user wants to stop.
pub(crate) fn attach(memory: &SharedArrayBuffer, stop: Arc<AtomicBool>) {
    let shared = Shared { words: Int32Array::new(memory), bytes: Uint8Array::new(memory), stop };
    SHARED.set(Some(shared));
}

fn with<T>(act: impl FnOnce(&Shared) -> io::Result<T>) -> io::Result<T> {
    SHARED.with_borrow(|shared| match shared {
        Some(shared) => act(shared),
        None => Err(io::Error::new(ErrorKind::NotConnected, "no port was chosen")),
    })
}

impl Shared {
    fn get(&self, word: u32) -> i32 {
        Atomics::load(&self.words, word).unwrap_or(0)
    }

    fn set(&self, word: u32, value: i32) {
        let _ = Atomics::store(&self.words, word, value);
    }

    /// Tells the page that there is something to do.
    fn ring(&self) {
        let _ = Atomics::add(&self.words, word::BELL_PAGE, 1);
        let _ = Atomics::notify(&self.words, word::BELL_PAGE);
    }

    /// Waits until the page has rung since `heard`, or for a time.
    fn wait(&self, heard: i32, time: Duration) {
        let time = time.min(LOOK).as_secs_f64() * 1000.0;
        let _ = Atomics::wait_with_timeout(&self.words, word::BELL_WORKER, heard, time);
        if self.get(word::STOP) != 0 {
            self.set(word::STOP, 0);
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// The page's words about what failed.
    fn problem(&self) -> io::Error {
        let length = self.get(word::TEXT_LENGTH).clamp(0, TEXT_SIZE as i32) as u32;
        let text = self.bytes.slice(TEXT, TEXT + length).to_vec();
        io::Error::new(ErrorKind::NotConnected, String::from_utf8_lossy(&text).into_owned())
    }

    fn check(&self) -> io::Result<()> {
        if self.get(word::STATE) == GONE { Err(self.problem()) } else { Ok(()) }
    }

    /// Has the page do something with the port.
    fn ask(&self, wish: Wish, value: u32) -> io::Result<()> {
        let number = self.get(word::ASKED).wrapping_add(1);
        self.set(word::WHAT, wish as i32);
        self.set(word::VALUE, value.cast_signed());
        self.set(word::ASKED, number);
        self.ring();
        let end = Instant::now() + PATIENCE;
        loop {
            let bell = self.get(word::BELL_WORKER);
            if self.get(word::ANSWERED) == number {
                return if self.get(word::FAILED) == 0 { Ok(()) } else { Err(self.problem()) };
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::new(ErrorKind::TimedOut, "the page does not answer"));
            }
            self.wait(bell, left);
        }
    }

    fn take(&self, buffer: &mut [u8]) -> usize {
        let taken = self.get(word::HEARD_TAKEN);
        let there = self.get(word::HEARD_PUT).wrapping_sub(taken).max(0) as usize;
        let count = there.min(buffer.len());
        for (offset, place) in buffer[..count].iter_mut().enumerate() {
            let at = taken.wrapping_add(offset as i32).cast_unsigned() % HEARD_SIZE;
            *place = self.bytes.get_index(HEARD + at);
        }
        if count > 0 {
            self.set(word::HEARD_TAKEN, taken.wrapping_add(count as i32));
            self.ring();
        }
        count
    }

    fn put(&self, bytes: &[u8]) -> usize {
        let put = self.get(word::SENT_PUT);
        let waiting = put.wrapping_sub(self.get(word::SENT_TAKEN)).max(0) as u32;
        let count = bytes.len().min(SENT_SIZE.saturating_sub(waiting) as usize);
        for (offset, byte) in bytes[..count].iter().enumerate() {
            let at = put.wrapping_add(offset as i32).cast_unsigned() % SENT_SIZE;
            self.bytes.set_index(SENT + at, *byte);
        }
        if count > 0 {
            self.set(word::SENT_PUT, put.wrapping_add(count as i32));
            self.ring();
        }
        count
    }
}

/// The page's port as a line.
pub(crate) struct PageLine {
    name: String,
    passed: Passed,
    obeys: bool,
}

/// Opens the page's port.
pub(crate) fn open(name: &str, baud: u32) -> io::Result<Box<dyn Transport + Send>> {
    with(|shared| shared.ask(Wish::Open, baud))?;
    Ok(Box::new(PageLine { name: name.to_owned(), passed: Passed::default(), obeys: true }))
}

impl Transport for PageLine {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { flow_control: true, control_lines: true }
    }

    fn passed(&self) -> Option<Passed> {
        Some(self.passed)
    }

    fn set_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        let wish = match line {
            ControlLine::Dtr => Wish::Dtr,
            ControlLine::Rts => Wish::Rts,
            ControlLine::Break => Wish::Break,
        };
        with(|shared| shared.ask(wish, on.into()))
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let end = Instant::now() + timeout;
        let count = with(|shared| {
            loop {
                let bell = shared.get(word::BELL_WORKER);
                let count = shared.take(buffer);
                if count > 0 {
                    return Ok(count);
                }
                shared.check()?;
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Ok(0);
                }
                shared.wait(bell, left);
                if shared.stop.load(Ordering::Relaxed) {
                    return Ok(0);
                }
            }
        })?;
        self.passed.heard += count as u64;
        Ok(count)
    }

    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = with(|shared| {
                shared.check()?;
                let bell = shared.get(word::BELL_WORKER);
                let count = shared.put(bytes);
                if count == 0 {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(ErrorKind::TimedOut.into());
                    }
                    shared.wait(bell, left);
                }
                Ok(count)
            })?;
            self.passed.sent += count as u64;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    fn obey_rts(&mut self, obey: bool) -> io::Result<bool> {
        if obey != self.obeys {
            with(|shared| shared.ask(Wish::Flow, obey.into()))?;
        }
        Ok(std::mem::replace(&mut self.obeys, obey))
    }

    fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        with(|shared| shared.ask(Wish::Baud, baud))
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        with(|shared| {
            shared.set(word::SENT_TAKEN, shared.get(word::SENT_PUT));
            shared.ask(Wish::Discard, 0)
        })
    }
}
