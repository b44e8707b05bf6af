//! The page's serial port: rings in memory that the page shares (`docs/try/serial.js` is the other
//! side). The worker waits there by `Atomics.wait`, the page's own thread pumps the port.

use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use js_sys::{Atomics, Int32Array, SharedArrayBuffer, Uint8Array};
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{ByteCounts, Capabilities, ControlLine, Transport};

/// Words of the shared memory, as `serial.js` names them.
mod word {
    pub(super) const RX_HEAD: u32 = 0;
    pub(super) const RX_TAIL: u32 = 1;
    pub(super) const TX_HEAD: u32 = 2;
    pub(super) const TX_TAIL: u32 = 3;
    pub(super) const STATE: u32 = 4;
    pub(super) const COMMAND_NUMBER: u32 = 5;
    pub(super) const COMMAND: u32 = 6;
    pub(super) const VALUE: u32 = 7;
    pub(super) const REPLY_NUMBER: u32 = 8;
    pub(super) const FAILED: u32 = 9;
    pub(super) const STOP: u32 = 10;
    pub(super) const NOTIFY_WORKER: u32 = 11;
    pub(super) const NOTIFY_PAGE: u32 = 12;
    pub(super) const TEXT_LENGTH: u32 = 13;
}

#[derive(Clone, Copy)]
enum PortCommand {
    Open = 1,
    Dtr = 2,
    Rts = 3,
    Break = 4,
    Flow = 5,
    Baud = 6,
    Discard = 7,
}

const TEXT_OFFSET: u32 = 64;
const TEXT_SIZE: u32 = 512;
const RX_OFFSET: u32 = 1024;
const RX_SIZE: u32 = 0x1_0000;
const TX_OFFSET: u32 = RX_OFFSET + RX_SIZE;
const TX_SIZE: u32 = 0x1000;
/// The state of a disconnected port.
const DISCONNECTED: i32 = 2;
/// How often a wait checks whether the user has stopped it.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum time for a command by the page.
const PAGE_TIMEOUT: Duration = Duration::from_secs(5);

struct SharedMemory {
    words: Int32Array,
    bytes: Uint8Array,
    stop: Arc<AtomicBool>,
}

thread_local! {
    static SHARED: RefCell<Option<SharedMemory>> = const { RefCell::new(None) };
}

/// Attaches the memory that the page shares; `stop` is set if the user stops the job.
pub(crate) fn attach(memory: &SharedArrayBuffer, stop: Arc<AtomicBool>) {
    let shared =
        SharedMemory { words: Int32Array::new(memory), bytes: Uint8Array::new(memory), stop };
    SHARED.set(Some(shared));
}

fn with<T>(act: impl FnOnce(&SharedMemory) -> io::Result<T>) -> io::Result<T> {
    SHARED.with_borrow(|shared| match shared {
        Some(shared) => act(shared),
        None => Err(io::Error::new(ErrorKind::NotConnected, "no port was chosen")),
    })
}

impl SharedMemory {
    fn get(&self, word: u32) -> i32 {
        Atomics::load(&self.words, word).unwrap_or(0)
    }

    fn set(&self, word: u32, value: i32) {
        let _ = Atomics::store(&self.words, word, value);
    }

    fn notify_page(&self) {
        let _ = Atomics::add(&self.words, word::NOTIFY_PAGE, 1);
        let _ = Atomics::notify(&self.words, word::NOTIFY_PAGE);
    }

    /// Waits until the page has notified since `heard`, or for a time.
    fn wait(&self, heard: i32, time: Duration) {
        let time = time.min(CANCEL_POLL_INTERVAL).as_secs_f64() * 1000.0;
        let _ = Atomics::wait_with_timeout(&self.words, word::NOTIFY_WORKER, heard, time);
        if self.get(word::STOP) != 0 {
            self.set(word::STOP, 0);
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// The page's words about what failed.
    fn problem(&self) -> io::Error {
        let length = self.get(word::TEXT_LENGTH).clamp(0, TEXT_SIZE as i32) as u32;
        let text = self.bytes.slice(TEXT_OFFSET, TEXT_OFFSET + length).to_vec();
        io::Error::new(ErrorKind::NotConnected, String::from_utf8_lossy(&text).into_owned())
    }

    fn check(&self) -> io::Result<()> {
        if self.get(word::STATE) == DISCONNECTED { Err(self.problem()) } else { Ok(()) }
    }

    /// Has the page do something with the port.
    fn send_command(&self, command: PortCommand, value: u32) -> io::Result<()> {
        let number = self.get(word::COMMAND_NUMBER).wrapping_add(1);
        self.set(word::COMMAND, command as i32);
        self.set(word::VALUE, value.cast_signed());
        self.set(word::COMMAND_NUMBER, number);
        self.notify_page();
        let end = Instant::now() + PAGE_TIMEOUT;
        loop {
            let bell = self.get(word::NOTIFY_WORKER);
            if self.get(word::REPLY_NUMBER) == number {
                return if self.get(word::FAILED) == 0 { Ok(()) } else { Err(self.problem()) };
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::new(ErrorKind::TimedOut, "the page does not answer"));
            }
            self.wait(bell, left);
        }
    }

    fn receive(&self, buffer: &mut [u8]) -> usize {
        let taken = self.get(word::RX_TAIL);
        let there = self.get(word::RX_HEAD).wrapping_sub(taken).max(0) as usize;
        let count = there.min(buffer.len());
        for (offset, place) in buffer[..count].iter_mut().enumerate() {
            let at = taken.wrapping_add(offset as i32).cast_unsigned() % RX_SIZE;
            *place = self.bytes.get_index(RX_OFFSET + at);
        }
        if count > 0 {
            self.set(word::RX_TAIL, taken.wrapping_add(count as i32));
            self.notify_page();
        }
        count
    }

    fn queue_tx(&self, bytes: &[u8]) -> usize {
        let put = self.get(word::TX_HEAD);
        let waiting = put.wrapping_sub(self.get(word::TX_TAIL)).max(0) as u32;
        let count = bytes.len().min(TX_SIZE.saturating_sub(waiting) as usize);
        for (offset, byte) in bytes[..count].iter().enumerate() {
            let at = put.wrapping_add(offset as i32).cast_unsigned() % TX_SIZE;
            self.bytes.set_index(TX_OFFSET + at, *byte);
        }
        if count > 0 {
            self.set(word::TX_HEAD, put.wrapping_add(count as i32));
            self.notify_page();
        }
        count
    }
}

/// The page's port as a line.
pub(crate) struct PageLine {
    name: String,
    byte_counts: ByteCounts,
    obeys: bool,
}

pub(crate) fn open(name: &str, baud: u32) -> io::Result<Box<dyn Transport + Send>> {
    with(|shared| shared.send_command(PortCommand::Open, baud))?;
    Ok(Box::new(PageLine {
        name: name.to_owned(),
        byte_counts: ByteCounts::default(),
        obeys: true,
    }))
}

impl Transport for PageLine {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { flow_control: true, control_lines: true }
    }

    fn byte_counts(&self) -> Option<ByteCounts> {
        Some(self.byte_counts)
    }

    fn set_control_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        let command = match line {
            ControlLine::Dtr => PortCommand::Dtr,
            ControlLine::Rts => PortCommand::Rts,
            ControlLine::Break => PortCommand::Break,
        };
        with(|shared| shared.send_command(command, on.into()))
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let end = Instant::now() + timeout;
        let count = with(|shared| {
            loop {
                let bell = shared.get(word::NOTIFY_WORKER);
                let count = shared.receive(buffer);
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
        self.byte_counts.received += count as u64;
        Ok(count)
    }

    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = with(|shared| {
                shared.check()?;
                let bell = shared.get(word::NOTIFY_WORKER);
                let count = shared.queue_tx(bytes);
                if count == 0 {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(ErrorKind::TimedOut.into());
                    }
                    shared.wait(bell, left);
                }
                Ok(count)
            })?;
            self.byte_counts.sent += count as u64;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    fn set_flow_control(&mut self, obey: bool) -> io::Result<bool> {
        if obey != self.obeys {
            with(|shared| shared.send_command(PortCommand::Flow, obey.into()))?;
        }
        Ok(std::mem::replace(&mut self.obeys, obey))
    }

    fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        with(|shared| shared.send_command(PortCommand::Baud, baud))
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        with(|shared| {
            shared.set(word::TX_TAIL, shared.get(word::TX_HEAD));
            shared.send_command(PortCommand::Discard, 0)
        })
    }
}
