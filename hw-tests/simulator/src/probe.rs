//! Exact times of chosen routines, and the registers at chosen places, while the board runs.

use z80_core::Registers;

/// Records and passages kept at least for somebody who does not fetch them.
const LIMIT: usize = 1 << 16;

/// One call of a watched routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRecord {
    /// The routine's address.
    pub routine: u16,
    /// T-states from its first instruction to its return, without interrupt service.
    pub t_states: u64,
    /// The byte at the probe's tag address when the routine was entered.
    pub tag: u8,
    /// The byte at the address that tells whose work it is, if there is one.
    pub owner: u8,
}

/// The access to an address that is watched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watch {
    /// Calls are measured.
    Routine,
    /// Registers are kept.
    Place,
    /// Registers are kept at entry and return.
    Call,
    /// Calls are measured, and registers kept at entry and return.
    MeasuredCall,
}

impl Watch {
    fn measures(self) -> bool {
        matches!(self, Self::Routine | Self::MeasuredCall)
    }

    fn keeps_calls(self) -> bool {
        matches!(self, Self::Call | Self::MeasuredCall)
    }
}

/// Watches calls of some routines and passages of some places. A routine may not be watched while
/// it is entered again from within.
#[derive(Debug, Clone, Default)]
pub struct Probe {
    /// For each address, what is watched there.
    watched: Vec<Option<Watch>>,
    tag_address: u16,
    owner_address: Option<u16>,
    /// When the last instruction looked at began.
    began: Option<u64>,
    open: Vec<Open>,
    records: Vec<CallRecord>,
    passages: Vec<Registers>,
}

/// A call that has not returned.
#[derive(Debug, Clone, Copy)]
struct Open {
    routine: u16,
    watch: Watch,
    sp: u16,
    entered: u64,
    tag: u8,
    owner: u8,
}

impl Probe {
    /// Watches routines by their addresses; each record also tells the byte at `tag_address`.
    #[must_use]
    pub fn new(routines: impl IntoIterator<Item = u16>, tag_address: u16) -> Self {
        let mut watched = vec![None; 0x1_0000];
        for routine in routines {
            watched[usize::from(routine)] = Some(Watch::Routine);
        }
        Self { watched, tag_address, ..Self::default() }
    }

    /// Each record also tells the byte at this address, which says whose work it is.
    #[must_use]
    pub fn with_owner(mut self, address: u16) -> Self {
        self.owner_address = Some(address);
        self
    }

    /// Also keeps the registers as they are before the instruction at each of these addresses.
    #[must_use]
    pub fn with_places(mut self, places: impl IntoIterator<Item = u16>) -> Self {
        self.watched.resize(0x1_0000, None);
        for place in places {
            self.watched[usize::from(place)] = Some(Watch::Place);
        }
        self
    }

    /// Also keeps the registers before the first instruction of each of these routines, and after
    /// their return.
    #[must_use]
    pub fn with_calls(mut self, routines: impl IntoIterator<Item = u16>) -> Self {
        self.watched.resize(0x1_0000, None);
        for routine in routines {
            let watch = &mut self.watched[usize::from(routine)];
            let is_measured = watch.is_some_and(Watch::measures);
            *watch = Some(if is_measured { Watch::MeasuredCall } else { Watch::Call });
        }
        self
    }

    /// Takes the records so far.
    pub fn take(&mut self) -> Vec<CallRecord> {
        std::mem::take(&mut self.records)
    }

    /// Takes the registers at the places passed so far, in their order; `pc` tells the place.
    pub fn take_passages(&mut self) -> Vec<Registers> {
        std::mem::take(&mut self.passages)
    }

    /// The watch at each address; nothing at those beyond the slice.
    pub(super) fn watched(&self) -> &[Option<Watch>] {
        &self.watched
    }

    /// The stack pointer at which the innermost call that is watched has returned.
    pub(super) fn ends_call(&self) -> Option<u16> {
        self.open.last().map(|open| open.sp.wrapping_add(2))
    }

    /// Looks at the processor before an instruction; it may be left out where nothing is watched
    /// and no call ends. `clock` runs without interrupt service, so
    /// that an instruction before which an interrupt was accepted begins a second time when it has
    /// been served, and counts once.
    #[inline]
    pub(super) fn observe(
        &mut self,
        pc: u16,
        sp: u16,
        clock: u64,
        registers: impl Fn() -> Registers,
        read: impl Fn(u16) -> u8,
    ) {
        if self.began.replace(clock) == Some(clock) {
            return;
        }
        // A routine that ends in a jump to another returns together with it.
        while let Some(open) = self.open.pop_if(|open| sp == open.sp.wrapping_add(2)) {
            let Open { routine, watch, entered, tag, owner, .. } = open;
            if watch.measures() {
                let record = CallRecord { routine, t_states: clock - entered, tag, owner };
                keep(&mut self.records, record);
            }
            if watch.keeps_calls() {
                keep(&mut self.passages, registers());
            }
        }
        let Some(&Some(watch)) = self.watched.get(usize::from(pc)) else { return };
        if watch != Watch::Routine {
            keep(&mut self.passages, registers());
        }
        if watch != Watch::Place {
            let tag = read(self.tag_address);
            let owner = self.owner_address.map_or(0, read);
            self.open.push(Open { routine: pc, watch, sp, entered: clock, tag, owner });
        }
    }
}

/// Appends, and forgets the oldest of what nobody fetches: many at once, since those that stay must
/// move.
fn keep<T>(list: &mut Vec<T>, one: T) {
    if list.len() >= 2 * LIMIT {
        list.drain(..LIMIT);
    }
    list.push(one);
}
