//! Exact times of chosen routines while the board runs.

/// One call of a watched routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRecord {
    /// The routine's address.
    pub routine: u16,
    /// T-states from its first instruction to its return, without interrupt service.
    pub t_states: u64,
    /// The byte at the probe's tag address when the routine was entered.
    pub tag: u8,
    /// The low byte of DE at the return.
    pub e: u8,
}

/// Watches calls of some routines. A routine may not be watched while it is entered again from within.
#[derive(Debug, Clone, Default)]
pub struct Probe {
    /// For each address, whether a watched routine starts there.
    watched: Vec<bool>,
    tag_address: u16,
    open: Vec<Open>,
    records: Vec<CallRecord>,
}

/// A call that has not returned.
#[derive(Debug, Clone, Copy)]
struct Open {
    routine: u16,
    sp: u16,
    entered: u64,
    tag: u8,
}

impl Probe {
    /// Watches routines by their addresses; each record also tells the byte at `tag_address`.
    #[must_use]
    pub fn new(routines: impl IntoIterator<Item = u16>, tag_address: u16) -> Self {
        let mut watched = vec![false; 0x1_0000];
        for routine in routines {
            watched[usize::from(routine)] = true;
        }
        Self { watched, tag_address, ..Self::default() }
    }

    /// Takes the records so far.
    pub fn take(&mut self) -> Vec<CallRecord> {
        std::mem::take(&mut self.records)
    }

    /// Looks at the processor before an instruction. `clock` runs without interrupt service.
    #[inline]
    pub(super) fn observe(
        &mut self,
        pc: u16,
        sp: u16,
        clock: u64,
        e: impl Fn() -> u8,
        read: impl Fn(u16) -> u8,
    ) {
        // A routine that ends in a jump to another returns together with it.
        while let Some(open) = self.open.pop_if(|open| sp == open.sp.wrapping_add(2)) {
            let t_states = clock - open.entered;
            self.records.push(CallRecord {
                routine: open.routine,
                t_states,
                tag: open.tag,
                e: e(),
            });
        }
        if self.watched.get(usize::from(pc)) == Some(&true) {
            let tag = read(self.tag_address);
            self.open.push(Open { routine: pc, sp, entered: clock, tag });
        }
    }
}
