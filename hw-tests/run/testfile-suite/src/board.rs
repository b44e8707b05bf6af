//! A board that makes calls through the caller, a small program beside the program under test.

mod c_call;
mod loaded;
mod mocks;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use board_simulator::routines::{Call, CallEnd, Entry, Outcome};
use board_simulator::{Probe, ViolationKind};
use cli_support::exit::CommandError;
use cli_support::text::Escape;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::{CallRefusal, ErrorCode};
use hil_harness::board::Board;
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::{BoardConfig, LiveBoard, Programs, Recovery, SetupError};
use rcflash_link::LinkError;
use rcflash_link::caller::{CallTimes, CallWatchdog, Caller, CallerError};
use rcflash_link::inspect::{self, AddressSpace};
use tdlasm::image::ImageRun;

use crate::machine::{ArgumentSweep, Machine, MachineError};
use crate::program::Program;
use loaded::LoadedProgram;

/// The caller in RAM, in flash, and beside a stock monitor.
const CALLER_KINDS: [ProgramKind; 3] =
    [ProgramKind::Caller, ProgramKind::FlashCaller, ProgramKind::HostedCaller];
/// The longest time that calls of a frame may take together. If one of them does not return, the
/// board is waited for that long.
const MAX_FRAME_TIME: Duration = Duration::from_secs(2);
/// Calls are sent in larger batches while a batch takes less than this, so that those of a frame
/// take a fraction of [`MAX_FRAME_TIME`].
const BATCH_TIME: Duration = Duration::from_millis(500);
/// How often calls are made again because the line has failed.
const MAX_DISCONNECTS: u32 = 3;
/// Most calls of a batch, after which code is compared.
const MAX_BATCH: usize = 64;

impl From<SetupError> for MachineError {
    fn from(error: SetupError) -> Self {
        Self::Failed(error.to_string().escaped())
    }
}

impl From<CallerError> for MachineError {
    fn from(error: CallerError) -> Self {
        Self::Failed(error.to_string().escaped())
    }
}

/// A board that makes calls through the caller.
///
/// T-states, writes and ports are not observed, so that what a test expects of them is not checked.
/// Memory outside of the program keeps what earlier calls left there, except what tests wrote.
pub struct BoardMachine {
    /// The connection to the board.
    pub live: LiveBoard,
    /// How often the board was restarted since the start.
    pub restarts: u64,
    caller: Caller,
    loaded: LoadedProgram,
    /// Whether the board must be recovered before it is used.
    is_lost: bool,
    /// How often the line has failed since the last calls that were made.
    disconnects: u32,
    /// How many calls are sent together.
    batch: usize,
}

impl BoardMachine {
    /// Connects to a board, and loads and starts the caller on it. [`Self::load`] must follow.
    ///
    /// # Errors
    /// Returns the error of the step that failed.
    pub fn prepare(config: &BoardConfig) -> Result<Self, SetupError> {
        config.with_either_chip(|config| Self::prepare_with(config, |board| board))
    }

    /// Like [`Self::prepare`]. `wrap` may replace the board, for example by a test double around
    /// it.
    ///
    /// # Errors
    /// Returns the error of the step that failed.
    pub fn prepare_with(
        config: &BoardConfig,
        wrap: impl FnOnce(Box<dyn Board>) -> Box<dyn Board>,
    ) -> Result<Self, SetupError> {
        let programs = Programs::build(config, CALLER_KINDS, build)?;
        let board = wrap(config.power_up(&programs.monitor.bytes, Probe::default())?);
        let mut live = LiveBoard::start(config, board, Arc::new(programs), &OsFileSystem)?;
        let caller = attach(&mut live)?;
        let (loaded, is_lost) = (LoadedProgram::default(), false);
        Ok(Self { live, caller, loaded, is_lost, restarts: 0, disconnects: 0, batch: 1 })
    }

    /// Returns the first and the last address of the memory that the caller leaves to programs.
    /// `choose` chooses the caller in RAM, in flash, or beside a stock monitor.
    ///
    /// # Errors
    /// Returns an error if the caller can't be built.
    pub fn free_memory(
        choose: impl FnOnce([ProgramKind; 3]) -> ProgramKind,
    ) -> Result<(u16, u16), CommandError> {
        // It is the same on all boards, and this one has memory for each kind.
        let caller = build(&BoardProfile::named("rc2014-zed")?, choose(CALLER_KINDS))?;
        let symbol = |name| caller.program.symbol(name).unwrap_or_default();
        Ok((symbol("LOADLO"), symbol("LOADHI")))
    }

    /// Stores blocks in memory; after an error the board must be restarted.
    fn upload(&mut self, blocks: &[ImageRun]) -> Result<(), CallerError> {
        for ImageRun { address, bytes } in blocks {
            let uploaded = self.caller.upload(&mut self.live.link, *address, bytes);
            self.is_lost |= uploaded.is_err();
            uploaded?;
        }
        Ok(())
    }

    /// Recovers the board if it was lost, and removes mocks.
    fn ensure_running(&mut self) -> Result<(), MachineError> {
        if self.is_lost { self.recover(None) } else { Ok(self.remove_mocks()?) }
    }

    fn remove_mocks(&mut self) -> Result<(), CallerError> {
        self.upload(&self.loaded.mocks())?;
        self.loaded.forget_mocks();
        Ok(())
    }

    /// Restarts the caller, unless it still replies or does not after `error`, and loads the
    /// program again.
    fn recover(&mut self, error: Option<&CallerError>) -> Result<(), MachineError> {
        self.is_lost = true;
        let is_hang = matches!(error, Some(CallerError::NoReply { .. }));
        let recovery = self.live.recover(is_hang.then(|| "a routine did not return".to_owned()))?;
        self.caller = attach(&mut self.live)?;
        self.reload()?;
        self.is_lost = false;
        self.restarts += u64::from(recovery != Recovery::Unchanged);
        Ok(())
    }

    /// Loads the program again.
    fn reload(&mut self) -> Result<(), CallerError> {
        self.remove_mocks()?;
        self.upload(&self.loaded.content())?;
        self.loaded.written.clear();
        Ok(())
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
    fn run_batch(&mut self, calls: &[Call]) -> Result<Vec<Outcome>, MachineError> {
        self.ensure_running()?;
        let written = self.loaded.written.clone();
        let requests = calls.iter().map(|call| self.loaded.request(call));
        let requests = requests.collect::<Result<Vec<_>, _>>().map_err(MachineError::Failed)?;
        let (end, recovered) = match self.make(calls, &requests, written) {
            Ok(outcomes) => return self.check_code(calls, outcomes),
            // The caller has ended it; what it has damaged is loaded again.
            Err(CallerError::Refused {
                refusal: CallRefusal { code: ErrorCode::Timeout, detail },
                ..
            }) => (CallEnd::TimedOut(Some(detail)), self.reload().map_err(Into::into)),
            Err(CallerError::Link(LinkError::Io { .. })) if self.disconnects < MAX_DISCONNECTS => {
                self.is_lost = true;
                self.disconnects += 1;
                return self.run_batch(calls);
            }
            Err(
                error @ (CallerError::Refused { .. }
                | CallerError::Link(LinkError::Io { .. } | LinkError::Interrupted { .. })),
            ) => {
                self.is_lost = true;
                return Err(error.into());
            }
            Err(error) => {
                let end = match error {
                    CallerError::NoReply { program_counter, .. } => {
                        CallEnd::TimedOut(program_counter)
                    }
                    _ => CallEnd::Lost,
                };
                (end, self.recover(Some(&error)))
            }
        };
        match calls {
            // It is judged even if the board can't be recovered; then the next one fails.
            [call] => Ok(vec![Outcome::unfinished(call, end)]),
            _ => recovered.and_then(|()| self.run_each(calls)),
        }
    }

    /// Adds what calls did to code. If it is not known which of several did it, they are made
    /// again, one by one.
    fn check_code(
        &mut self,
        calls: &[Call],
        mut outcomes: Vec<Outcome>,
    ) -> Result<Vec<Outcome>, MachineError> {
        self.disconnects = 0;
        let Some(changed) = self.changed_code()? else { return Ok(outcomes) };
        let code = self.loaded.code.clone();
        self.upload(code.runs())?;
        match &mut outcomes[..] {
            [outcome] => {
                outcome.violations.push((changed, None));
                Ok(outcomes)
            }
            _ => self.run_each(calls),
        }
    }

    fn run_each(&mut self, calls: &[Call]) -> Result<Vec<Outcome>, MachineError> {
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
        let profile = &self.live.config.profile;
        let is_watched = profile.is_z180();
        let watchdog = is_watched.then(|| CallWatchdog::new(longest, profile.clock_hz));
        let call = self.live.time_of(longest);
        let times = CallTimes { call, frame: MAX_FRAME_TIME, watchdog };
        let made = self.caller.call_batch(&mut self.live.link, requests, times);
        if made.is_err() {
            // Perhaps it was not restored.
            self.loaded.add_writes(written);
        }
        let results = made?;
        // Only the mocks of the last call remain.
        self.loaded.replaced.clear();
        Ok(calls.iter().zip(results).map(|(call, result)| wire::outcome(call, &result)).collect())
    }

    /// Compares code on the board with the program's.
    fn changed_code(&mut self) -> Result<Option<ViolationKind>, CallerError> {
        for ImageRun { address, bytes } in self.loaded.code_with_mocks().runs() {
            let (space, address) = (AddressSpace::Memory, u32::from(*address));
            let found = inspect::compare(&mut self.live.link, space, address, bytes, |_| {})?;
            if let Some(first) = found.first() {
                let (from, to) = (first.expected, first.actual);
                let address = first.address as u16;
                return Ok(Some(ViolationKind::CodeChanged { address, from, to }));
            }
        }
        Ok(None)
    }
}

/// Attaches to the caller that runs on a board.
fn attach(live: &mut LiveBoard) -> Result<Caller, SetupError> {
    Caller::attach(&mut live.link).map_err(|error| match error {
        CallerError::Link(error) => error.into(),
        CallerError::NotCaller(found) => SetupError::WrongApplication(found),
        other => SetupError::UntestedApplication(other.to_string()),
    })
}

impl Machine for BoardMachine {
    fn load(&mut self, program: &Program) -> Result<(), MachineError> {
        if let Some(why) = program.simulated_only {
            return Err(MachineError::Unloadable(why.to_owned()));
        }
        let free = self.caller.identity().load_range;
        program.check_room(free).map_err(MachineError::Unloadable)?;
        self.ensure_running()?;
        let mut loaded = LoadedProgram::new(program, free, self.loaded.written.clone());
        self.upload(&loaded.content())?;
        loaded.written.clear();
        self.loaded = loaded;
        self.batch = 1;
        Ok(())
    }

    fn run(&mut self, calls: &[Call]) -> Result<Vec<Outcome>, MachineError> {
        let placed = calls.iter().map(|call| self.loaded.place_arguments(call));
        let placed = placed.collect::<Result<Vec<_>, _>>().map_err(MachineError::Failed)?;
        let with_code = placed.iter().zip(calls).map(|(placed, call)| match placed {
            Some((placed, _)) => placed.clone(),
            None => call.clone(),
        });
        let calls: Vec<_> = with_code.collect();
        let mut outcomes = Vec::with_capacity(calls.len());
        while outcomes.len() < calls.len() {
            let rest = &calls[outcomes.len()..];
            let batch = &rest[..self.batch_size(rest)];
            let began = self.live.link.now();
            outcomes.extend(self.run_batch(batch)?);
            let time = self.live.link.now().saturating_duration_since(began);
            self.batch = if time < BATCH_TIME { 2 * self.batch } else { self.batch / 2 };
            self.batch = self.batch.clamp(1, MAX_BATCH);
        }
        for (outcome, placed) in outcomes.iter_mut().zip(&placed) {
            if let (Some((_, sp)), CallEnd::Returned) = (placed, outcome.end) {
                c_call::check_sp(outcome, *sp);
            }
        }
        Ok(outcomes)
    }

    fn count(&mut self, first: &Call, count: &ArgumentSweep) -> Result<Option<u16>, MachineError> {
        self.ensure_running()?;
        let time = self.live.time_of(first.timeout + 2 * count.t_states) / count.calls.max(1);
        let request = wire::count_request(first, count);
        match self.caller.count(&mut self.live.link, &request, time) {
            // What may have damaged the program is followed by a reload.
            Ok(reply) if self.changed_code()?.is_none() => {
                let is_expected = reply.crc == count.crc && reply.status.faults() == 0;
                let used = wire::stack_used(reply.status, reply.stack_used);
                Ok((is_expected && used <= count.stack).then_some(used))
            }
            Ok(_) => Ok(self.reload().map(|()| None)?),
            Err(error @ CallerError::Link(LinkError::Interrupted { .. })) => {
                self.is_lost = true;
                Err(error.into())
            }
            Err(error) => self.recover(Some(&error)).map(|()| None),
        }
    }

    fn read(&mut self, address: u16, length: usize) -> Result<Vec<u8>, MachineError> {
        self.ensure_running()?;
        let space = AddressSpace::Memory;
        let bytes = inspect::read(&mut self.live.link, space, address.into(), length, |_| {});
        self.is_lost = bytes.is_err();
        Ok(bytes.map_err(CallerError::from)?)
    }

    fn free_memory(&self) -> Option<(u16, u16)> {
        Some(self.caller.identity().load_range)
    }

    fn leave(&mut self) -> Result<(), MachineError> {
        Ok(self.live.return_to_monitor()?)
    }

    fn name(&self) -> &str {
        self.live.name()
    }

    fn profile(&self) -> Option<&str> {
        Some(&self.live.config.profile.name)
    }

    fn refusal(&self, call: &Call) -> Option<String> {
        let free = self.caller.identity().load_range;
        let is_outside =
            |block: &&ImageRun| block.address < free.0 || block.end() > u32::from(free.1) + 1;
        match call.memory.iter().chain(call.mock_memory()).find(is_outside) {
            _ if call.entry != Entry::Call || !call.interrupts.is_empty() => {
                Some("not on a board: interrupts and 'until' are simulated only".into())
            }
            _ if call.feeds_ports() => {
                Some("not on a board: values of ports are simulated only".into())
            }
            _ if !call.mapped.is_empty() => {
                Some("not on a board: values of 'reads' are simulated only".into())
            }
            _ if call.i.or(call.r).is_some() => {
                Some("not on a board: registers I and R are simulated only".into())
            }
            Some(block) => Some(format!(
                "not on this board: it writes memory at {:04X}H, and the caller leaves {:04X}H to \
                 {:04X}H to programs",
                block.address, free.0, free.1
            )),
            None => {
                let placed = self.loaded.place_arguments(call).and_then(|placed| {
                    let call = placed.as_ref().map_or(call, |(placed, _)| placed);
                    self.loaded.place_mocks(call, std::iter::empty())
                });
                placed.err().map(|why| format!("not on this board: {why}"))
            }
        }
    }
}
