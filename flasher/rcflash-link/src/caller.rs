//! Calls any routine on a board through the caller, a small resident program.

mod batches;

pub use batches::{CallTimes, CallWatchdog};

use std::fmt::Debug;
use std::ops::Range;
use std::time::Duration;

use firmware_wire::{
    Call, CallRefusal, CallResult, CountReply, CountRequest, Identity, Reply, Request, Role,
};

use crate::loader::{self, LoadError, UploadSummary};
use crate::{Link, LinkError, RequestSpec};

/// The processing time of a request that calls nothing.
const REPLY_TIMEOUT: Duration = Duration::from_millis(50);
/// What the caller takes for a call in addition to the routine: 60,000 T-states at 3.6864 MHz, the
/// slowest clock of the family, which includes a CRC-32 of some hundred bytes.
const CALL_OVERHEAD: Duration = Duration::from_millis(16);
/// What a CRC-32 takes per byte: 125 T-states at that clock.
const CRC_TIME_PER_BYTE: Duration = Duration::from_micros(34);
/// What COUNT takes for a call besides the routine: 5,000 T-states at that clock.
const COUNT_OVERHEAD: Duration = Duration::from_micros(1_360);

/// How often calls are sent that are not replied to.
const MAX_TIMEOUTS: u32 = 3;

/// Error returned by the caller's client.
#[derive(Debug, thiserror::Error)]
pub enum CallerError {
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// Loading failed.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Another program than the caller replies.
    #[error("{0} replies instead of the caller; load the caller first")]
    NotCaller(Box<Identity>),
    /// The board did not reply to calls in time: one of them has not returned, most likely.
    #[error(
        "no reply to {}; {}: {source}",
        numbers(*first, *calls), located(*program_counter)
    )]
    NoReply {
        /// The first call without a result, from 0.
        first: usize,
        /// The calls of its batch; one of them was running, or their reply was lost.
        calls: usize,
        /// The program counter that the board reports; `None` with interrupts off.
        program_counter: Option<u16>,
        /// The timeout.
        source: LinkError,
    },
    /// The board refused a call.
    #[error("the board refused call {}: {refusal}", index + 1)]
    Refused {
        /// The call, from 0. Those before it were made.
        index: usize,
        /// What is wrong with it.
        refusal: CallRefusal,
    },
    /// The caller does not know the batches that were made before: the board has restarted.
    #[error("the caller has lost count of the calls: the board has restarted")]
    OutOfSequence,
}

/// Names calls by their numbers, from 1 on.
fn numbers(first: usize, calls: usize) -> String {
    match calls {
        1 => format!("call {}", first + 1),
        _ => format!("calls {} to {}", first + 1, first + calls),
    }
}

fn located(program_counter: Option<u16>) -> String {
    match program_counter {
        Some(address) => format!("the program counter was at {address:04X}h"),
        None => "the program counter is not known, interrupts are off; reset the board".to_owned(),
    }
}

/// The caller on a board, as its client sees it. The link that it uses is passed to each method, so
/// that other requests can use it, too.
///
/// # Examples
/// ```no_run
/// use std::time::Duration;
///
/// use firmware_wire::{Call, RegisterPair, RegisterSet, RegisterValues};
/// use rcflash_link::Link;
/// use rcflash_link::caller::Caller;
///
/// # fn example(mut link: Link) -> Result<(), rcflash_link::caller::CallerError> {
/// let mut caller = Caller::attach(&mut link)?;
/// let call = Call {
///     entry: 0x8000,
///     registers: RegisterValues::default().with(RegisterPair::De, 7),
///     wanted: RegisterSet::from([RegisterPair::Hl]),
///     ..Call::default()
/// };
/// let results = caller.call_batch(&mut link, &[call], Duration::from_millis(10))?;
/// println!("HL = {:04X}h", results[0].register(RegisterPair::Hl).unwrap_or_default());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Caller {
    identity: Identity,
    next_number: u8,
    /// Whether the board may expect another number, after an error.
    is_out_of_step: bool,
    watchdog: CallWatchdog,
}

impl Caller {
    /// Loads the caller through the monitor, starts it, and attaches to it.
    ///
    /// # Errors
    /// Returns [`CallerError::Load`] if the monitor does not take or start it.
    pub fn load(
        link: &mut Link,
        address: u16,
        bytes: &[u8],
        build_id: u32,
    ) -> Result<Self, CallerError> {
        let monitor = loader::enter_monitor(link)?;
        loader::upload_missing(link, &monitor, address, bytes, |_| {})?;
        loader::run_build(link, address, build_id)?;
        Self::attach(link)
    }

    /// Attaches to a caller that is running. Results of earlier batches can't be requested then.
    ///
    /// # Errors
    /// Returns [`CallerError::NotCaller`] if another program replies, or [`CallerError::Link`].
    pub fn attach(link: &mut Link) -> Result<Self, CallerError> {
        let identity = loader::identify(link)?;
        if identity.role != Role::Caller {
            return Err(CallerError::NotCaller(Box::new(identity)));
        }
        link.set_window(identity.window);
        let watchdog = CallWatchdog::default();
        let mut caller = Self { identity, next_number: 0, is_out_of_step: true, watchdog };
        caller.synchronize(link)?;
        Ok(caller)
    }

    /// Returns the caller's identity.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Sets the number of the next batch on the board, and the timer. The caller takes batches that
    /// are still on the line first.
    fn synchronize(&mut self, link: &mut Link) -> Result<(), LinkError> {
        let operation = "attaching to the caller";
        let number = self.next_number;
        let request = Request::StartCalls { number, ticks: self.watchdog.ticks };
        match link.request(operation, &request, REPLY_TIMEOUT)? {
            Reply::Called { number, .. } if number == self.next_number => {
                self.is_out_of_step = false;
                Ok(())
            }
            other => Err(unexpected(operation, &other)),
        }
    }

    /// Stores a program's bytes in the memory that the caller leaves to programs, those that are
    /// not there yet, and verifies all by a checksum.
    ///
    /// # Errors
    /// Returns [`CallerError::Load`] if they lie elsewhere, or do not arrive.
    pub fn upload(
        &self,
        link: &mut Link,
        address: u16,
        bytes: &[u8],
    ) -> Result<UploadSummary, CallerError> {
        Ok(loader::upload_missing(link, &self.identity, address, bytes, |_| {})?)
    }

    /// Makes calls, in order, and returns a result for each. `times` is what the routines may take,
    /// or a [`Duration`] for each. Several calls share a frame; memory for which it has no room is
    /// written by WRITE before the call, and read by READ after it.
    ///
    /// Each call is made exactly once, even if frames are lost.
    ///
    /// # Errors
    /// Returns [`CallerError::NoReply`] if a routine does not return in time,
    /// [`CallerError::Refused`] if the board refuses a call, or [`CallerError::Link`]. Results of
    /// earlier calls are lost then.
    pub fn call_batch(
        &mut self,
        link: &mut Link,
        calls: &[Call],
        times: impl Into<CallTimes>,
    ) -> Result<Vec<CallResult>, CallerError> {
        let times = times.into();
        let watchdog = times.watchdog.unwrap_or(self.watchdog);
        self.is_out_of_step |= watchdog != self.watchdog;
        self.watchdog = watchdog;
        if self.is_out_of_step {
            self.synchronize(link)?;
        }
        let results = batches::call_all(self, link, calls, times);
        if results.is_err() {
            link.cancel_all();
            self.is_out_of_step = true;
        }
        results
    }

    /// Has the caller count through arguments. If its reply is lost the calls are made again, so
    /// the routine may depend on nothing but its arguments. `call_time` is what each call may take.
    ///
    /// # Errors
    /// Returns [`CallerError::NoReply`] if a routine does not return in time, or
    /// [`CallerError::Link`] if the board refuses the request.
    pub fn count(
        &mut self,
        link: &mut Link,
        request: &CountRequest,
        call_time: Duration,
    ) -> Result<CountReply, CallerError> {
        let operation = "counting through arguments";
        let time = (call_time + COUNT_OVERHEAD) * request.calls + REPLY_TIMEOUT;
        let spec = RequestSpec::new(operation, Request::Count(request.clone()), time);
        let spec = RequestSpec { max_timeouts: 1, ..spec };
        let mut timeouts = 0;
        loop {
            match link.request_all(&spec).map(|mut replies| replies.pop()) {
                Ok(Some(Reply::Counted(reply))) => return Ok(reply),
                Ok(other) => return Err(unexpected(operation, &other).into()),
                Err(error) => {
                    timeouts += 1;
                    self.check_lost(link, error, timeouts, 0..request.calls as usize)?;
                }
            }
        }
    }

    /// Returns `Ok` if a request for these calls may be sent again: it or its reply was lost, as
    /// the caller replies to another. So a routine that does not return costs its time once.
    /// Cancels all requests in flight after a timeout.
    fn check_lost(
        &self,
        link: &mut Link,
        error: LinkError,
        timeouts: u32,
        calls: Range<usize>,
    ) -> Result<(), CallerError> {
        if !matches!(error, LinkError::Timeout { .. }) {
            return Err(error.into());
        }
        link.cancel_all();
        let program_counter = link.locate()?;
        let (first, last) = self.identity.load_range;
        let is_in_program = program_counter.is_some_and(|pc| (first..=last).contains(&pc));
        if !is_in_program && timeouts < MAX_TIMEOUTS && self.replies(link) {
            link.count_retry();
            return Ok(());
        }
        let (first, calls) = (calls.start, calls.len());
        Err(CallerError::NoReply { first, calls, program_counter, source: error })
    }

    /// Returns `true` if the caller replies to a single IDENT.
    fn replies(&self, link: &mut Link) -> bool {
        let spec = RequestSpec { max_timeouts: 1, ..loader::identify_request() };
        let found = link.request_all(&spec);
        found.is_ok_and(|replies| replies == [Reply::Identity(self.identity.clone())])
    }
}

fn unexpected(operation: &'static str, reply: &impl Debug) -> LinkError {
    LinkError::UnexpectedReply { operation, cause: format!("{reply:?}") }
}
