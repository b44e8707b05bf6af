//! Measures chosen routines in T-states, and records registers at chosen addresses.

use super::guard::Guard;
use super::violation::Violation;
use z80_core::Registers;

/// The number of unread records, and of unread hits, above which the oldest may be discarded.
const MAX_RECORDS: usize = 1 << 16;

/// A completed call of a measured routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRecord {
    /// The routine's address.
    pub routine: u16,
    /// T-states from its first instruction to its return, without interrupt handling.
    pub t_states: u64,
    /// The byte at the probe's tag address when the routine was entered.
    pub tag: u8,
    /// The byte at the address given to [`Probe::with_request_tag`] at that time, or 0.
    pub request_tag: u8,
}

/// Measurements from inside a simulated board.
pub trait Instrumentation {
    /// Returns the last known program counter.
    fn program_counter(&self) -> u16;

    /// Returns the T-states since power-on, without those in which the board waited for the host.
    /// When the host has received a character, all T-states before it was sent are counted.
    fn clock(&self) -> u64;

    /// Takes the calls that the probe has measured. When the host has received a character, all
    /// calls that ended before it was sent are included.
    fn take_records(&self) -> Vec<CallRecord>;

    /// Takes the registers at the addresses that the probe watches, once
    /// [`Self::take_records`] has returned its records.
    fn take_hits(&self) -> Vec<Registers>;

    /// Takes what the guard has recorded, with the same guarantee as [`Self::take_records`].
    fn take_violations(&self) -> Vec<Violation>;
}

/// What is recorded at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watch {
    /// The durations of calls.
    Routine,
    /// The registers before the instruction.
    Hit,
    /// The registers at entry and return.
    Call,
    /// The durations of calls, and the registers at entry and return.
    MeasuredCall,
}

impl Watch {
    fn measures(self) -> bool {
        matches!(self, Self::Routine | Self::MeasuredCall)
    }

    fn records_call_hits(self) -> bool {
        matches!(self, Self::Call | Self::MeasuredCall)
    }
}

/// Records calls of routines, which must not be recursive, and registers at addresses.
#[derive(Debug, Clone, Default)]
pub struct Probe {
    /// Indexed by address.
    watched: Vec<Option<Watch>>,
    tag_address: u16,
    request_tag_address: Option<u16>,
    /// The start of the last observed instruction, in T-states.
    last_began: Option<u64>,
    open_calls: Vec<OpenCall>,
    records: Vec<CallRecord>,
    hits: Vec<Registers>,
    guard: Option<Guard>,
}

#[derive(Debug, Clone, Copy)]
struct OpenCall {
    routine: u16,
    watch: Watch,
    sp: u16,
    entered: u64,
    tag: u8,
    request_tag: u8,
}

impl Probe {
    /// Creates a probe that measures the routines at these addresses. Each record also contains the
    /// byte at `tag_address` on entry.
    pub fn new(routines: impl IntoIterator<Item = u16>, tag_address: u16) -> Self {
        let mut watched = vec![None; 0x1_0000];
        for routine in routines {
            watched[usize::from(routine)] = Some(Watch::Routine);
        }
        Self { watched, tag_address, ..Self::default() }
    }

    /// Adds the byte at this address to each record: a number by which a record is assigned to the
    /// request that caused the call.
    #[must_use]
    pub fn with_request_tag(mut self, address: u16) -> Self {
        self.request_tag_address = Some(address);
        self
    }

    /// Also records the registers before the instruction at each of these addresses.
    #[must_use]
    pub fn with_hits_at(mut self, addresses: impl IntoIterator<Item = u16>) -> Self {
        self.watched.resize(0x1_0000, None);
        for address in addresses {
            self.watched[usize::from(address)] = Some(Watch::Hit);
        }
        self
    }

    /// Also records the registers before each of these routines, and after their return.
    #[must_use]
    pub fn with_call_hits(mut self, routines: impl IntoIterator<Item = u16>) -> Self {
        self.watched.resize(0x1_0000, None);
        for routine in routines {
            let watch = &mut self.watched[usize::from(routine)];
            let is_measured = watch.is_some_and(Watch::measures);
            *watch = Some(if is_measured { Watch::MeasuredCall } else { Watch::Call });
        }
        self
    }

    /// Attaches a guard to the same board.
    #[must_use]
    pub fn with_guard(mut self, guard: Guard) -> Self {
        self.guard = Some(guard);
        self
    }

    pub(super) fn take_guard(&mut self) -> Option<Guard> {
        self.guard.take()
    }

    /// Takes the records of the calls completed so far.
    pub fn take(&mut self) -> Vec<CallRecord> {
        std::mem::take(&mut self.records)
    }

    /// Takes the recorded registers, in order; `pc` is the address at which they were recorded.
    pub fn take_hits(&mut self) -> Vec<Registers> {
        std::mem::take(&mut self.hits)
    }

    /// Returns what is recorded at each address; nothing at addresses beyond the slice.
    pub(super) fn watched(&self) -> &[Option<Watch>] {
        &self.watched
    }

    /// Returns the stack pointer at which the innermost open call returns.
    pub(super) fn ends_call(&self) -> Option<u16> {
        self.open_calls.last().map(|call| call.sp.wrapping_add(2))
    }

    /// Observes the processor before an instruction. Need not be called where nothing is recorded
    /// and no call returns.
    ///
    /// `clock` does not include interrupt handling. So an instruction before which an interrupt was
    /// accepted is observed twice with the same `clock`, and the second observation is ignored.
    #[inline]
    pub(super) fn observe(
        &mut self,
        pc: u16,
        sp: u16,
        clock: u64,
        registers: impl Fn() -> Registers,
        read: impl Fn(u16) -> u8,
    ) {
        if self.last_began.replace(clock) == Some(clock) {
            return;
        }
        // A routine that ends in a jump to another returns together with it.
        while let Some(call) = self.open_calls.pop_if(|call| sp == call.sp.wrapping_add(2)) {
            let OpenCall { routine, watch, entered, tag, request_tag, .. } = call;
            if watch.measures() {
                let record = CallRecord { routine, t_states: clock - entered, tag, request_tag };
                push_bounded(&mut self.records, record);
            }
            if watch.records_call_hits() {
                push_bounded(&mut self.hits, registers());
            }
        }
        let Some(&Some(watch)) = self.watched.get(usize::from(pc)) else { return };
        if watch != Watch::Routine {
            push_bounded(&mut self.hits, registers());
        }
        if watch != Watch::Hit {
            let tag = read(self.tag_address);
            let request_tag = self.request_tag_address.map_or(0, read);
            self.open_calls.push(OpenCall {
                routine: pc,
                watch,
                sp,
                entered: clock,
                tag,
                request_tag,
            });
        }
    }
}

/// Appends an item; discards unread old ones in bulk, since others must be moved.
fn push_bounded<T>(list: &mut Vec<T>, item: T) {
    if list.len() >= 2 * MAX_RECORDS {
        list.drain(..MAX_RECORDS);
    }
    list.push(item);
}
