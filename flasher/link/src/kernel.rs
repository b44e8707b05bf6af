//! A conversation with the debug kernel, which holds a program on a board, beside what the program
//! itself says over the same line.

mod split;

use firmware_wire::{CALL, ErrorCode, HeldState, MAX_BLOCK, Reply, Request};
use rcflash_transport::time::{Duration, Instant};

use crate::loader::{self, LoadError};
use crate::narrow::narrow;
use crate::{Closed, Link, LinkError};
use rcflash_transport::Transport;
use split::Splitter;

/// The time that the kernel may take for an answer, besides the line's.
const AT_ONCE: Duration = Duration::from_secs(1);
/// The time within which a program must be held after it was called.
const CALLED: Duration = Duration::from_millis(250);
/// The time until the kernel says that it has begun.
const START: Duration = Duration::from_secs(1);
/// A line on which nothing came for this long carries no half of a frame.
const SETTLED: Duration = Duration::from_millis(500);
/// Time after a reply to GO until the program runs, and more: 3000 T-states at the least clock.
const PAUSE: Duration = Duration::from_millis(5);
/// Attempts at a request.
const ATTEMPTS: u32 = 4;
/// The most characters of a request and its reply.
const EXCHANGE: u32 = 500;
/// Most bytes of the program's that nobody fetches.
const SAID: usize = 1 << 20;

/// The debug kernel at the other end of a line.
pub struct Kernel {
    line: Box<dyn Transport + Send>,
    baud: u32,
    slowness: u32,
    seq: u8,
    splitter: Splitter,
    replies: Vec<(u8, Reply)>,
    held: Option<HeldState>,
    /// When the last byte came.
    heard: Instant,
}

/// Error returned if the program can't go on as it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum GoError {
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A place does not keep RST 6.
    #[error("{0:04X}h keeps no RST: it is ROM, or nothing is there")]
    NoRam(u16),
}

impl Kernel {
    /// Puts the kernel on a board, through the monitor, and returns it with the state that it
    /// starts in. `image` is taken by the monitor at `loaded`.
    ///
    /// # Errors
    /// The monitor does not answer or take it, or the kernel does not begin.
    pub fn start(
        link: &mut Link,
        loaded: u16,
        image: &[u8],
    ) -> Result<(Self, HeldState), LoadError> {
        loader::reach_monitor(link)?;
        // One request after the other: so a replay needs no clock as fine as that of the record.
        for (block, bytes) in (0u16..).zip(image.chunks(MAX_BLOCK)) {
            let address = loaded.wrapping_add(block * narrow::<_, u16>(MAX_BLOCK));
            let request = Request::Write { address, data: bytes.to_vec() };
            link.ask("uploading the debug kernel", &request, AT_ONCE)?;
        }
        loader::verify(link, loaded, image)?;
        loader::jump(link, loaded)?;
        let mut kernel = Self::over(link);
        let state = match kernel.wait(START * kernel.slowness)? {
            Some(state) => state,
            None => kernel.state()?,
        };
        Ok((kernel, state))
    }

    /// Takes the line of a link on which the kernel holds a program.
    #[must_use]
    pub fn over(link: &mut Link) -> Self {
        let (baud, slowness) = (link.baud(), link.slowness);
        let line = link.take_line();
        Self {
            heard: line.now(),
            line,
            baud,
            slowness,
            seq: 0,
            splitter: Splitter::default(),
            replies: Vec::new(),
            held: None,
        }
    }

    /// Has the monitor take the kernel's place, after [`Self::reset`]: `work` is done over a link,
    /// and returns the kernel that begins then, with its state.
    ///
    /// # Errors
    /// What `work` met.
    pub fn start_again<E>(
        &mut self,
        work: impl FnOnce(&mut Link) -> Result<(Self, HeldState), E>,
    ) -> Result<HeldState, E> {
        let closed = Box::new(Closed(self.line.name().to_owned()));
        let line = std::mem::replace(&mut self.line, closed);
        let mut link = Link::new(line, self.baud);
        link.set_slowness(self.slowness);
        match work(&mut link) {
            Ok((kernel, held)) => {
                *self = kernel;
                Ok(held)
            }
            Err(error) => {
                self.line = link.take_line();
                Err(error)
            }
        }
    }

    /// The line's clock.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.line.now()
    }

    /// The bytes that the program has said since this was last asked.
    #[must_use]
    pub fn take_said(&mut self) -> Vec<u8> {
        self.splitter.take_said()
    }

    /// The state of the program that is held.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn state(&mut self) -> Result<HeldState, LinkError> {
        match self.ask("asking for the registers", &Request::State)? {
            Reply::State(state) => Ok(state),
            other => Err(unexpected("asking for the registers", &other)),
        }
    }

    /// Changes its registers.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn set(&mut self, state: &HeldState) -> Result<(), LinkError> {
        match self.ask("setting registers", &Request::Set(*state))? {
            Reply::Set => Ok(()),
            other => Err(unexpected("setting registers", &other)),
        }
    }

    /// Bytes of memory, wrapping at FFFFh.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn read(&mut self, address: u16, count: usize) -> Result<Vec<u8>, LinkError> {
        let mut bytes = Vec::with_capacity(count);
        while bytes.len() < count {
            let at = address.wrapping_add(narrow(bytes.len()));
            let block = MAX_BLOCK.min(count - bytes.len());
            let request = Request::Read { address: at, count: narrow(block) };
            match self.ask("reading memory", &request)? {
                Reply::Memory { address, data } if address == at && data.len() == block => {
                    bytes.extend(data);
                }
                other => return Err(unexpected("reading memory", &other)),
            }
        }
        Ok(bytes)
    }

    /// Stores bytes.
    ///
    /// # Errors
    /// [`LinkError::Refused`] where one is not kept, or the kernel does not answer.
    pub fn write(&mut self, address: u16, bytes: &[u8]) -> Result<(), LinkError> {
        let mut at = address;
        for block in bytes.chunks(MAX_BLOCK) {
            self.ask("writing memory", &Request::Write { address: at, data: block.to_vec() })?;
            at = at.wrapping_add(narrow(block.len()));
        }
        Ok(())
    }

    /// Lets the program go on until it comes to one of these places.
    ///
    /// # Errors
    /// A place is not in RAM, or the kernel does not answer; the program is still held then.
    pub fn go(&mut self, number: u8, places: &[u16]) -> Result<(), GoError> {
        const WHAT: &str = "letting the program go on";
        let request = Request::Go { number, places: places.to_vec() };
        self.held = None;
        match self.ask(WHAT, &request) {
            Ok(Reply::Going) => Ok(()),
            Ok(other) => Err(unexpected(WHAT, &other).into()),
            Err(LinkError::Refused { error, .. }) if error.code == ErrorCode::ReadBack => {
                Err(GoError::NoRam(error.detail))
            }
            // The reply was lost, and the program is held again already.
            Err(LinkError::Refused { error, .. }) if error.code == ErrorCode::BadArgument => {
                self.held = Some(self.state()?);
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until a program is held; `None` if none is by then.
    ///
    /// # Errors
    /// The line failed.
    pub fn wait(&mut self, timeout: Duration) -> Result<Option<HeldState>, LinkError> {
        let end = self.now() + timeout;
        while self.held.is_none() {
            let left = end.saturating_duration_since(self.now());
            if left.is_zero() {
                return Ok(None);
            }
            self.listen("waiting for the program", left)?;
            // Adapters hand over what they have in pieces, with pauses within a frame.
            if self.now().saturating_duration_since(self.heard) >= SETTLED * self.slowness {
                self.splitter.settle();
            }
        }
        Ok(self.held.take())
    }

    /// Calls the service of interrupts, that it lets the program return to where it is held. `None`
    /// if the program does not take interrupts.
    ///
    /// # Errors
    /// The line failed.
    pub fn call(&mut self) -> Result<Option<HeldState>, LinkError> {
        const WHAT: &str = "stopping the program";
        let failed = |kernel: &Self, source| kernel.failed(WHAT, source);
        // A board whose ring is full holds the host off.
        let obeyed = self.line.obey_rts(false).map_err(|error| failed(self, error))?;
        let called = self.send(&CALL).and_then(|()| self.wait(CALLED * self.slowness));
        self.line.obey_rts(obeyed).map_err(|error| failed(self, error))?;
        match called? {
            Some(held) => Ok(Some(held)),
            // A program that is held already may have been reported while the line was disturbed.
            None => match self.ask_times(WHAT, &Request::State, 1) {
                Ok(Reply::State(held)) => Ok(Some(held)),
                Ok(other) => Err(unexpected(WHAT, &other)),
                Err(LinkError::Timeout { .. } | LinkError::Refused { .. }) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }

    /// Lets the kernel's last reply leave, and the program come back to its own: what is sent
    /// meanwhile would be lost.
    ///
    /// # Errors
    /// The line failed.
    pub fn pause(&mut self) -> Result<(), LinkError> {
        let end = self.now() + PAUSE * self.slowness;
        while self.held.is_none() && self.now() < end {
            let left = end.saturating_duration_since(self.now());
            self.listen("letting the program go on", left)?;
        }
        Ok(())
    }

    /// Sends bytes to the program.
    ///
    /// # Errors
    /// The line failed.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        let deadline = self.now() + self.patience();
        let sent = self.line.write(bytes, deadline);
        sent.map_err(|source| self.failed("sending to the program", source))
    }

    /// Asks the kernel to start the monitor.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn reset(&mut self) -> Result<(), LinkError> {
        self.ask("going back to the monitor", &Request::Reset).map(drop)
    }

    fn ask(&mut self, what: &'static str, request: &Request) -> Result<Reply, LinkError> {
        self.ask_times(what, request, ATTEMPTS)
    }

    fn ask_times(
        &mut self,
        what: &'static str,
        request: &Request,
        attempts: u32,
    ) -> Result<Reply, LinkError> {
        self.seq = self.seq.wrapping_add(1).max(1);
        let seq = self.seq;
        let frame = request.frame(seq).map_err(|error| LinkError::nonsense(what, error))?;
        let began = self.now();
        for _ in 0..attempts {
            self.splitter.expect(seq);
            let deadline = self.now() + self.patience();
            let sent = self.line.write(&frame.encode(), deadline);
            sent.map_err(|source| self.failed(what, source))?;
            // An answer that has begun is waited for, but not for ever: a program may say more.
            let grace = AT_ONCE * self.slowness;
            while self.now() < deadline.max(self.heard + grace).min(deadline + grace) {
                let left = deadline.saturating_duration_since(self.now()).max(AT_ONCE);
                self.listen(what, left)?;
                if let Some(reply) = self.reply(seq) {
                    return match reply {
                        Reply::Error(error) => Err(LinkError::Refused { what, error }),
                        reply => Ok(reply),
                    };
                }
            }
        }
        let waited = self.now().saturating_duration_since(began);
        let port = self.line.name().to_owned();
        Err(LinkError::Timeout { port, what, waited, overheard: Box::default() })
    }

    fn reply(&mut self, seq: u8) -> Option<Reply> {
        let at = self.replies.iter().position(|(of, _)| *of == seq);
        let reply = at.map(|at| self.replies.swap_remove(at).1);
        if reply.is_some() {
            self.replies.clear();
            self.splitter.expect(0);
        }
        reply
    }

    /// Takes in what comes; returns how many bytes that were.
    fn listen(&mut self, what: &'static str, timeout: Duration) -> Result<usize, LinkError> {
        let mut buffer = [0; 512];
        let read = self.line.read(&mut buffer, timeout);
        let count = read.map_err(|source| self.failed(what, source))?;
        if count > 0 {
            self.heard = self.now();
        }
        for byte in &buffer[..count] {
            match self.splitter.push(*byte) {
                Some((_, Reply::Held(state))) => self.held = Some(state),
                Some(reply) => self.replies.push(reply),
                None => {}
            }
        }
        Ok(count)
    }

    fn failed(&self, what: &'static str, source: std::io::Error) -> LinkError {
        if source.kind() == std::io::ErrorKind::Interrupted {
            return LinkError::Interrupted { what };
        }
        LinkError::Line { port: self.line.name().to_owned(), what, source }
    }

    /// The time for a request and its reply.
    fn patience(&self) -> Duration {
        let line = Duration::from_secs(10) * EXCHANGE / self.baud.max(1);
        (line + AT_ONCE) * self.slowness
    }
}

fn unexpected(what: &'static str, reply: &Reply) -> LinkError {
    LinkError::Nonsense { what, why: format!("{reply:?}") }
}
