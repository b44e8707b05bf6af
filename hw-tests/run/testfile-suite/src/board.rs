//! A board that makes calls through the caller, a small program beside the program under test.

mod loaded;
mod mocks;
mod start;
mod wire;

use std::collections::BTreeMap;
use std::time::Duration;

use cli_support::text::Escape;
use firmware::build::BuiltImage;
use firmware::profile::BoardProfile;
use firmware_wire::{CallRefusal, ErrorCode};
use hil_harness::board::{Board, BoardError};
use hil_harness::live::SetupError;
use rcflash_link::caller::{CallTimes, CallWatchdog, Caller, CallerError};
use rcflash_link::inspect::{self, AddressSpace};
use rcflash_link::loader::LoadError;
use rcflash_link::{Link, LinkError, LinkStats};

use crate::block::Block;
use crate::machine::{
    ArgumentSweep, Call, CallEnd, Entry, Machine, MachineError, Outcome, Violation,
};
use crate::program::Program;
use loaded::LoadedProgram;
use start::CallerLoader;

/// The longest time that calls of a frame may take together. If one of them does not return, the
/// board is waited for that long, three times.
const MAX_FRAME_TIME: Duration = Duration::from_secs(2);
/// Calls are sent in larger batches while a batch takes less than this, so that those of a frame
/// take a fraction of [`MAX_FRAME_TIME`].
const BATCH_TIME: Duration = Duration::from_millis(500);
/// Most calls of a batch, after which code is compared.
const MAX_BATCH: usize = 64;
/// Time until a board sends its banner after a reset.
const BOOT_TIMEOUT: Duration = Duration::from_secs(1);

/// Error returned if a board can't be used for test files.
#[derive(Debug, thiserror::Error)]
pub enum BoardMachineError {
    /// The caller could not be built, or not be loaded through a stock monitor.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The caller could not be loaded, or the program under test.
    #[error(transparent)]
    Caller(#[from] CallerError),
    /// The port can't be opened again.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The program lies where the caller or no RAM is.
    #[error(
        "the program occupies {:04X}H to {:04X}H, but the caller on the board leaves {:04X}H to \
         {:04X}H to programs: change 'origin' or 'layout'",
        program.0, program.1, free.0, free.1
    )]
    Overlap {
        /// First and last address of the program.
        program: (u16, u16),
        /// First and last address that the caller leaves to programs.
        free: (u16, u16),
    },
    /// The mocks of a call have no room.
    #[error("{0}")]
    Mocks(String),
}

impl From<BoardMachineError> for MachineError {
    fn from(error: BoardMachineError) -> Self {
        let advice = match &error {
            BoardMachineError::Caller(
                CallerError::Load(LoadError::Link(LinkError::Timeout { .. }))
                | CallerError::Link(LinkError::Timeout { .. }),
            )
            | BoardMachineError::Link(LinkError::Timeout { .. }) => {
                "; press the board's reset button and try again"
            }
            _ => "",
        };
        Self(format!("{}{advice}", error.to_string().escaped()))
    }
}

/// A board that makes calls through the caller.
///
/// T-states, writes and ports are not observed, so that what a test expects of them is not checked.
/// Memory outside of the program keeps what earlier calls left there, except what tests wrote.
pub struct BoardMachine {
    name: String,
    profile: BoardProfile,
    loader: CallerLoader,
    image: BuiltImage,
    caller: Caller,
    // The link is dropped before its board.
    link: Link,
    board: Box<dyn Board>,
    loaded: LoadedProgram,
    /// Whether the board must be restarted before it is used.
    is_lost: bool,
    restarts: u64,
    /// How many calls are sent together.
    batch: usize,
}

impl BoardMachine {
    /// Loads a program under test instead of the one before.
    ///
    /// # Errors
    /// Returns [`BoardMachineError::Overlap`] if it lies elsewhere than programs may, or the error
    /// of the link. The program before stays loaded then.
    pub fn load(&mut self, program: &Program) -> Result<(), BoardMachineError> {
        let free = self.caller.identity().load_range;
        if let Some(bounds) = program.image.bounds()
            && (bounds.0 < free.0 || bounds.1 > free.1)
        {
            return Err(BoardMachineError::Overlap { program: bounds, free });
        }
        self.ensure_running()?;
        let loaded = LoadedProgram::new(program, free).after(&self.loaded);
        self.upload(&loaded.content())?;
        self.loaded = loaded;
        self.loaded.forget_writes();
        self.batch = 1;
        Ok(())
    }

    /// Verifies that the caller still runs.
    ///
    /// # Errors
    /// Returns [`BoardMachineError`] if another program replies, or none.
    pub fn verify(&mut self) -> Result<(), BoardMachineError> {
        let caller = Caller::attach(&mut self.link)?;
        if caller.identity() != self.caller.identity() {
            return Err(CallerError::NotCaller(Box::new(caller.identity().clone())).into());
        }
        self.caller = caller;
        Ok(())
    }

    /// Returns the caller, with its build.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns the board's profile.
    #[must_use]
    pub fn profile(&self) -> &BoardProfile {
        &self.profile
    }

    /// Returns the traffic counters of the line.
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        self.link.stats()
    }

    /// Returns how often the board was restarted since the start.
    #[must_use]
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Stores blocks in memory; after an error the board must be restarted.
    fn upload(&mut self, blocks: &[Block]) -> Result<(), BoardMachineError> {
        for Block { address, bytes } in blocks {
            let uploaded = self.caller.upload(&mut self.link, *address, bytes);
            self.is_lost |= uploaded.is_err();
            uploaded?;
        }
        Ok(())
    }

    /// Restarts the board if it was lost, and removes mocks.
    fn ensure_running(&mut self) -> Result<(), BoardMachineError> {
        if self.is_lost {
            return self.restart();
        }
        self.upload(&self.loaded.mocks())?;
        self.loaded.forget_mocks();
        Ok(())
    }

    /// Resets the board, and loads the caller and the program again.
    fn restart(&mut self) -> Result<(), BoardMachineError> {
        self.is_lost = true;
        match self.board.reset_fn() {
            Some(press) => press(),
            None => self.link.reconnect(|| self.board.open())?,
        }
        match self.link.drain_banner("resetting the board", BOOT_TIMEOUT) {
            Err(LinkError::Io { .. }) => self.link.reconnect(|| self.board.open())?,
            other => other?,
        }
        self.caller = self.loader.load(&mut self.link, &self.image)?;
        self.reload()?;
        self.is_lost = false;
        self.restarts += 1;
        Ok(())
    }

    /// Loads the program again.
    fn reload(&mut self) -> Result<(), BoardMachineError> {
        self.upload(&self.loaded.mocks())?;
        self.loaded.forget_mocks();
        self.loaded.forget_writes();
        self.upload(&self.loaded.content())
    }

    fn time(&self, t_states: u64) -> Duration {
        Duration::from_secs_f64(t_states as f64 / self.profile.clock_hz.max(1) as f64)
    }

    /// Returns how many of the first calls are sent together. Calls without a reload are not
    /// separated from the one before.
    fn batch_size(&self, calls: &[Call]) -> usize {
        let mut size = 0;
        for group in calls.chunk_by(|_, next| !next.reload) {
            if size > 0 && size + group.len() > self.batch {
                break;
            }
            size += group.len();
        }
        size
    }

    /// Makes calls. If one of several goes wrong they are made again, one by one.
    fn run_batch(&mut self, calls: &[Call]) -> Result<Vec<Outcome>, BoardMachineError> {
        self.ensure_running()?;
        let written = self.loaded.writes();
        let requests = calls.iter().map(|call| self.loaded.request(call));
        let requests = requests.collect::<Result<Vec<_>, _>>().map_err(BoardMachineError::Mocks)?;
        let mut outcomes = match self.make(calls, &requests, written) {
            Ok(outcomes) => outcomes,
            Err(CallerError::Refused {
                refusal: CallRefusal { code: ErrorCode::Timeout, detail },
                ..
            }) => {
                // The caller has ended it; what it has damaged is loaded again.
                self.reload()?;
                return match calls {
                    [call] => Ok(vec![wire::unfinished(call, CallEnd::TimedOut(Some(detail)))]),
                    _ => self.run_each(calls),
                };
            }
            Err(error @ CallerError::Refused { .. }) => return Err(error.into()),
            Err(
                error @ CallerError::Link(LinkError::Io { .. } | LinkError::Interrupted { .. }),
            ) => {
                self.is_lost = true;
                return Err(error.into());
            }
            Err(error) => {
                let restarted = self.restart();
                return match calls {
                    // It is judged even if the board can't be restarted; then the next one fails.
                    [call] => Ok(vec![wire::unfinished(call, end(&error))]),
                    _ => restarted.and_then(|()| self.run_each(calls)),
                };
            }
        };
        let Some(changed) = self.changed_code()? else { return Ok(outcomes) };
        self.upload(&self.loaded.code.clone())?;
        match &mut outcomes[..] {
            [outcome] => {
                outcome.violations.push(changed);
                Ok(outcomes)
            }
            _ => self.run_each(calls),
        }
    }

    fn run_each(&mut self, calls: &[Call]) -> Result<Vec<Outcome>, BoardMachineError> {
        let mut outcomes = Vec::with_capacity(calls.len());
        for call in calls {
            outcomes.extend(self.run_batch(std::slice::from_ref(call))?);
        }
        Ok(outcomes)
    }

    fn make(
        &mut self,
        calls: &[Call],
        requests: &[firmware_wire::Call],
        written: BTreeMap<u16, usize>,
    ) -> Result<Vec<Outcome>, CallerError> {
        let longest = calls.iter().map(|call| call.timeout).max().unwrap_or_default();
        let is_watched = self.profile.is_z180();
        let watchdog = is_watched.then(|| CallWatchdog::new(longest, self.profile.clock_hz));
        let times = CallTimes { call: self.time(longest), frame: MAX_FRAME_TIME, watchdog };
        let made = self.caller.call_batch(&mut self.link, requests, times);
        if made.is_err() {
            // Perhaps it was not restored.
            self.loaded.add_writes(written);
        }
        let results = made?;
        self.loaded.confirm_calls();
        Ok(calls.iter().zip(results).map(|(call, result)| wire::outcome(call, &result)).collect())
    }

    /// Has the caller count through arguments. After what may have damaged the program, it is
    /// loaded again.
    fn count_calls(
        &mut self,
        first: &Call,
        count: &ArgumentSweep,
    ) -> Result<Option<u16>, BoardMachineError> {
        self.ensure_running()?;
        let time = self.time(first.timeout + 2 * count.t_states) / count.calls.max(1);
        let request = wire::count_request(first, count);
        match self.caller.count(&mut self.link, &request, time) {
            Ok(reply) if self.changed_code()?.is_none() => {
                let is_expected = reply.crc == count.crc && reply.status.faults() == 0;
                Ok(is_expected.then(|| wire::stack_used(reply.status, reply.stack_used)))
            }
            Ok(_) => self.upload(&self.loaded.content()).map(|()| None),
            Err(
                error @ CallerError::Link(LinkError::Io { .. } | LinkError::Interrupted { .. }),
            ) => {
                self.is_lost = true;
                Err(error.into())
            }
            Err(_) => self.restart().map(|()| None),
        }
    }

    /// Compares code on the board with the program's.
    fn changed_code(&mut self) -> Result<Option<Violation>, LinkError> {
        for Block { address, bytes } in &self.loaded.code_with_mocks() {
            let (space, address) = (AddressSpace::Memory, u32::from(*address));
            let found = inspect::compare(&mut self.link, space, address, bytes, |_| {})?;
            if let Some(first) = found.first() {
                let (from, to) = (first.expected, first.actual);
                let address = first.address as u16;
                return Ok(Some(Violation::CodeChanged { address, from, to }));
            }
        }
        Ok(None)
    }
}

/// Returns how a call ended after which the caller did not return its results.
fn end(error: &CallerError) -> CallEnd {
    match error {
        CallerError::NoReply { program_counter, .. } => CallEnd::TimedOut(*program_counter),
        _ => CallEnd::Lost,
    }
}

impl Machine for BoardMachine {
    fn load(&mut self, program: &Program) -> Result<(), MachineError> {
        Ok(Self::load(self, program)?)
    }

    fn run(&mut self, calls: &[Call]) -> Result<Vec<Outcome>, MachineError> {
        let mut outcomes = Vec::with_capacity(calls.len());
        while outcomes.len() < calls.len() {
            let rest = &calls[outcomes.len()..];
            let batch = &rest[..self.batch_size(rest)];
            let began = self.link.now();
            outcomes.extend(self.run_batch(batch)?);
            let time = self.link.now().saturating_duration_since(began);
            self.batch = if time < BATCH_TIME { 2 * self.batch } else { self.batch / 2 };
            self.batch = self.batch.clamp(1, MAX_BATCH);
        }
        Ok(outcomes)
    }

    fn counts(&self) -> bool {
        true
    }

    fn count(&mut self, first: &Call, count: &ArgumentSweep) -> Result<Option<u16>, MachineError> {
        Ok(self.count_calls(first, count)?)
    }

    fn read(&mut self, address: u16, length: usize) -> Result<Vec<u8>, MachineError> {
        self.ensure_running()?;
        let space = AddressSpace::Memory;
        let bytes = inspect::read(&mut self.link, space, address.into(), length, |_| {});
        self.is_lost = bytes.is_err();
        Ok(bytes.map_err(BoardMachineError::from)?)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> Option<&str> {
        Some(&self.profile.name)
    }

    fn observes_accesses(&self) -> bool {
        false
    }

    fn refusal(&self, call: &Call) -> Option<String> {
        let free = self.caller.identity().load_range;
        let is_outside = |block: &&Block| {
            let end = u32::from(block.address) + block.bytes.len() as u32;
            block.address < free.0 || end > u32::from(free.1) + 1
        };
        match call.memory.iter().chain(call.mock_memory()).find(is_outside) {
            _ if call.entry != Entry::Call || !call.interrupts.is_empty() => {
                Some("not on a board: interrupts and 'until' are simulated only".into())
            }
            _ if call.feeds_ports() => {
                Some("not on a board: values of ports are simulated only".into())
            }
            Some(block) => Some(format!(
                "not on this board: it writes memory at {:04X}H, and the caller leaves {:04X}H to \
                 {:04X}H to programs",
                block.address, free.0, free.1
            )),
            None => self.loaded.refusal(call).map(|why| format!("not on this board: {why}")),
        }
    }
}
