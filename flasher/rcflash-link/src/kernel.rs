//! Client of the debug kernel, which stops a program on the board. The program's own output shares
//! the line and is separated from the kernel's frames.

mod demux;

use firmware_wire::{ErrorCode, LOCATE_SEQUENCE, MAX_BLOCK, Reply, Request, StoppedState};
use rcflash_transport::time::{Duration, Instant};

use crate::link::ClosedTransport;
use crate::loader::{self, LoadError};
use crate::narrow::narrow;
use crate::{Link, LinkError};
use demux::FrameDemux;
use rcflash_transport::Transport;

/// The time within which the kernel replies, and a program stops after it was interrupted.
const REPLY_TIMEOUT: Duration = Duration::from_secs(1);
/// The time until the kernel reports its start.
const START_TIMEOUT: Duration = Duration::from_secs(1);
/// After a pause of this length, an incomplete frame is program output.
const FRAME_GAP: Duration = Duration::from_millis(500);
/// The time from the reply to GO until the program runs: 3000 T-states at the lowest clock.
const RESUME_DELAY: Duration = Duration::from_millis(5);
const MAX_ATTEMPTS: u32 = 4;
/// The maximum number of characters of a request and its reply.
const MAX_EXCHANGE_CHARS: u32 = 500;
/// The maximum number of bytes of program output that are buffered.
const MAX_PROGRAM_OUTPUT: usize = 1 << 20;

/// The debug kernel at the other end of a line. Methods return [`LinkError`] if the port fails, the
/// kernel does not reply, or the stop flag is set.
pub struct Kernel {
    transport: Box<dyn Transport + Send>,
    baud: u32,
    timeout_scale: u32,
    seq: u8,
    demux: FrameDemux,
    replies: Vec<(u8, Reply)>,
    stopped: Option<StoppedState>,
    /// When the last byte was received.
    last_received: Instant,
}

/// Error returned if the program can't be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// RST 6 can't be written at a breakpoint.
    #[error("can't set a breakpoint at {0:04X}h: the address is in ROM or has no memory")]
    NoRam(u16),
}

impl Kernel {
    /// Uploads the kernel through the monitor and starts it. `loaded` is the address of `image`.
    /// Returns the kernel and its initial state.
    ///
    /// # Errors
    /// Returns [`LoadError`] if the monitor does not reply or does not accept the image, or the
    /// kernel does not start.
    pub fn start(
        link: &mut Link,
        loaded: u16,
        image: &[u8],
    ) -> Result<(Self, StoppedState), LoadError> {
        loader::enter_monitor(link)?;
        // One request at a time, so that a replay does not depend on the recording's timing.
        for (block, bytes) in (0u16..).zip(image.chunks(MAX_BLOCK)) {
            let address = loaded.wrapping_add(block * narrow::<_, u16>(MAX_BLOCK));
            let request = Request::Write { address, data: bytes.to_vec() };
            link.request("uploading the debug kernel", &request, REPLY_TIMEOUT)?;
        }
        loader::verify(link, loaded, image)?;
        loader::jump(link, loaded)?;
        let mut kernel = Self::attach(link);
        let state = match kernel.wait(START_TIMEOUT * kernel.timeout_scale)? {
            Some(state) => state,
            None => kernel.state()?,
        };
        Ok((kernel, state))
    }

    /// Attaches to a kernel that is running already, and takes the transport of `link`.
    pub fn attach(link: &mut Link) -> Self {
        let (baud, timeout_scale) = (link.baud(), link.timeout_scale);
        let transport = link.take_transport();
        Self {
            last_received: transport.now(),
            transport,
            baud,
            timeout_scale,
            seq: 0,
            demux: FrameDemux::default(),
            replies: Vec::new(),
            stopped: None,
        }
    }

    /// Restarts the kernel. `start` gets a link to the kernel or the monitor, and returns the new
    /// kernel and its state.
    pub fn restart<E>(
        &mut self,
        start: impl FnOnce(&mut Link) -> Result<(Self, StoppedState), E>,
    ) -> Result<StoppedState, E> {
        let closed = Box::new(ClosedTransport(self.transport.name().to_owned()));
        let transport = std::mem::replace(&mut self.transport, closed);
        let mut link = Link::new(transport, self.baud);
        link.set_timeout_scale(self.timeout_scale);
        match start(&mut link) {
            Ok((kernel, held)) => {
                *self = kernel;
                Ok(held)
            }
            Err(error) => {
                self.transport = link.take_transport();
                Err(error)
            }
        }
    }

    /// Returns the current time of the transport's clock.
    pub fn now(&self) -> Instant {
        self.transport.now()
    }

    /// Takes the program's output received since the last call.
    pub fn take_program_output(&mut self) -> Vec<u8> {
        self.demux.take_program_output()
    }

    /// Returns the registers of the stopped program.
    pub fn state(&mut self) -> Result<StoppedState, LinkError> {
        match self.request("reading registers", &Request::State)? {
            Reply::State(state) => Ok(state),
            other => Err(unexpected("reading registers", &other)),
        }
    }

    /// Sets the registers of the stopped program.
    pub fn set_state(&mut self, state: &StoppedState) -> Result<(), LinkError> {
        match self.request("setting registers", &Request::SetRegisters(*state))? {
            Reply::RegistersSet => Ok(()),
            other => Err(unexpected("setting registers", &other)),
        }
    }

    /// Reads memory; addresses wrap at FFFFh.
    pub fn read(&mut self, address: u16, count: usize) -> Result<Vec<u8>, LinkError> {
        let mut bytes = Vec::with_capacity(count);
        while bytes.len() < count {
            let at = address.wrapping_add(narrow(bytes.len()));
            let block = MAX_BLOCK.min(count - bytes.len());
            let request = Request::Read { address: at, count: narrow(block) };
            match self.request("reading memory", &request)? {
                Reply::Memory { address, data } if address == at && data.len() == block => {
                    bytes.extend(data);
                }
                other => return Err(unexpected("reading memory", &other)),
            }
        }
        Ok(bytes)
    }

    /// Writes memory.
    ///
    /// # Errors
    /// Returns [`LinkError::Refused`] if a byte does not read back, or another [`LinkError`] if the
    /// kernel does not reply.
    pub fn write(&mut self, address: u16, bytes: &[u8]) -> Result<(), LinkError> {
        let mut at = address;
        for block in bytes.chunks(MAX_BLOCK) {
            self.request("writing memory", &Request::Write { address: at, data: block.to_vec() })?;
            at = at.wrapping_add(narrow(block.len()));
        }
        Ok(())
    }

    /// Resumes the program until it reaches a breakpoint. `number` is that of the last stop.
    ///
    /// # Errors
    /// Returns [`ResumeError`] if a breakpoint is not in RAM or the kernel does not reply. The
    /// program is still stopped then.
    pub fn resume(&mut self, number: u8, breakpoints: &[u16]) -> Result<(), ResumeError> {
        const OPERATION: &str = "resuming the program";
        let request = Request::Go { number, places: breakpoints.to_vec() };
        self.stopped = None;
        match self.request(OPERATION, &request) {
            Ok(Reply::Resumed) => Ok(()),
            Ok(other) => Err(unexpected(OPERATION, &other).into()),
            Err(LinkError::Refused { error, .. }) if error.code == ErrorCode::ReadBack => {
                Err(ResumeError::NoRam(error.detail))
            }
            // The reply was lost, and the program has stopped again already.
            Err(LinkError::Refused { error, .. }) if error.code == ErrorCode::BadArgument => {
                self.stopped = Some(self.state()?);
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the program stops. Returns `None` after `timeout`.
    pub fn wait(&mut self, timeout: Duration) -> Result<Option<StoppedState>, LinkError> {
        let end = self.now() + timeout;
        while self.stopped.is_none() {
            let left = end.saturating_duration_since(self.now());
            if left.is_zero() {
                return Ok(None);
            }
            self.receive("waiting for the program", left)?;
            // Adapters deliver bytes in bursts, with pauses within a frame.
            if self.now().saturating_duration_since(self.last_received)
                >= FRAME_GAP * self.timeout_scale
            {
                self.demux.flush_partial();
            }
        }
        Ok(self.stopped.take())
    }

    /// Interrupts the program by the locate sequence; `None` if its interrupts are disabled.
    pub fn interrupt(&mut self) -> Result<Option<StoppedState>, LinkError> {
        const OPERATION: &str = "stopping the program";
        let failed = |kernel: &Self, source| kernel.io_error(OPERATION, source);
        // A board whose receive buffer is full keeps its RTS inactive.
        let flow_control =
            self.transport.set_flow_control(false).map_err(|error| failed(self, error))?;
        let report = self
            .send(&LOCATE_SEQUENCE)
            .and_then(|()| self.wait(REPLY_TIMEOUT * self.timeout_scale));
        self.transport.set_flow_control(flow_control).map_err(|error| failed(self, error))?;
        match report? {
            Some(held) => Ok(Some(held)),
            // The report of a program that has stopped already may have been lost.
            None => match self.request_with_attempts(OPERATION, &Request::State, 1) {
                Ok(Reply::State(held)) => Ok(Some(held)),
                Ok(other) => Err(unexpected(OPERATION, &other)),
                Err(LinkError::Timeout { .. } | LinkError::Refused { .. }) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }

    /// Waits until the program runs after [`Self::resume`]. Bytes sent to it earlier would be lost.
    pub fn wait_until_running(&mut self) -> Result<(), LinkError> {
        let end = self.now() + RESUME_DELAY * self.timeout_scale;
        while self.stopped.is_none() && self.now() < end {
            let left = end.saturating_duration_since(self.now());
            self.receive("resuming the program", left)?;
        }
        Ok(())
    }

    /// Sends bytes to the program.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        let deadline = self.now() + self.request_timeout();
        let sent = self.transport.write(bytes, deadline);
        sent.map_err(|source| self.io_error("sending to the program", source))
    }

    fn request(&mut self, operation: &'static str, request: &Request) -> Result<Reply, LinkError> {
        self.request_with_attempts(operation, request, MAX_ATTEMPTS)
    }

    fn request_with_attempts(
        &mut self,
        operation: &'static str,
        request: &Request,
        attempts: u32,
    ) -> Result<Reply, LinkError> {
        self.seq = self.seq.wrapping_add(1).max(1);
        let seq = self.seq;
        let frame =
            request.frame(seq).map_err(|error| LinkError::unexpected_reply(operation, error))?;
        let began = self.now();
        for _ in 0..attempts {
            self.demux.expect(seq);
            let deadline = self.now() + self.request_timeout();
            let sent = self.transport.write(&frame.encode(), deadline);
            sent.map_err(|source| self.io_error(operation, source))?;
            // A reply that has begun extends the deadline, but only once: the bytes may be program
            // output, which has no end.
            let grace = REPLY_TIMEOUT * self.timeout_scale;
            while self.now() < deadline.max(self.last_received + grace).min(deadline + grace) {
                let left = deadline.saturating_duration_since(self.now()).max(REPLY_TIMEOUT);
                self.receive(operation, left)?;
                if let Some(reply) = self.reply(seq) {
                    return match reply {
                        Reply::Error(error) => Err(LinkError::Refused { operation, error }),
                        reply => Ok(reply),
                    };
                }
            }
        }
        let waited = self.now().saturating_duration_since(began);
        let port = self.transport.name().to_owned();
        let recent_traffic = Box::default();
        Err(LinkError::Timeout { port, operation, attempts, waited, recent_traffic })
    }

    fn reply(&mut self, seq: u8) -> Option<Reply> {
        let at = self.replies.iter().position(|(of, _)| *of == seq);
        let reply = at.map(|at| self.replies.swap_remove(at).1);
        if reply.is_some() {
            self.replies.clear();
            self.demux.expect(0);
        }
        reply
    }

    /// Reads from the transport and dispatches frames. Returns the number of bytes.
    fn receive(&mut self, operation: &'static str, timeout: Duration) -> Result<usize, LinkError> {
        let mut buffer = [0; 512];
        let read = self.transport.read(&mut buffer, timeout);
        let count = read.map_err(|source| self.io_error(operation, source))?;
        if count > 0 {
            self.last_received = self.now();
        }
        for byte in &buffer[..count] {
            match self.demux.push(*byte) {
                Some((_, Reply::Stopped(state))) => self.stopped = Some(state),
                Some(reply) => self.replies.push(reply),
                None => {}
            }
        }
        Ok(count)
    }

    fn io_error(&self, operation: &'static str, source: std::io::Error) -> LinkError {
        if source.kind() == std::io::ErrorKind::Interrupted {
            return LinkError::Interrupted { operation, hint: String::new() };
        }
        LinkError::Io { port: self.transport.name().to_owned(), operation, source }
    }

    fn request_timeout(&self) -> Duration {
        let line = Duration::from_secs(10) * MAX_EXCHANGE_CHARS / self.baud.max(1);
        (line + REPLY_TIMEOUT) * self.timeout_scale
    }
}

fn unexpected(operation: &'static str, reply: &Reply) -> LinkError {
    LinkError::UnexpectedReply { operation, cause: format!("{reply:?}") }
}
