//! The state of a program that the debug kernel has stopped.

/// Most breakpoints in one GO.
pub const MAX_BREAKPOINTS: usize = 64;
/// Bytes of the state.
const STATE: usize = 29;
/// Bytes of it that SET changes, the last ones.
const SETTABLE: usize = 27;

/// The reason of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The kernel has just started; no program has run.
    Started,
    /// RST 6: a breakpoint of GO, or an instruction of the program.
    Restart,
    /// A reason without a definition here.
    Unknown(u8),
}

/// The registers of a stopped program, and the reason of the stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoppedState {
    /// Number of this stop, modulo 256; GO must repeat it, so that a retried GO resumes once.
    pub stop_number: u8,
    /// The reason of this stop.
    pub reason: StopReason,
    /// SP, PC, AF, BC, DE, HL, IX, IY, then AF', BC', DE', HL'.
    pub registers: [u16; 12],
    /// Register I.
    pub i: u8,
    /// Register R before the instruction at PC.
    pub r: u8,
    /// Whether interrupts are enabled.
    pub interrupts_enabled: bool,
}

impl StoppedState {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let payload: &[u8; STATE] = payload.try_into().ok()?;
        let [number, cause, rest @ ..] = payload;
        let (words, &[i, r, interrupts]) = rest.split_at(SETTABLE - 3) else { return None };
        let mut state = Self {
            stop_number: *number,
            reason: match cause {
                0 => StopReason::Started,
                1 => StopReason::Restart,
                other => StopReason::Unknown(*other),
            },
            registers: [0; 12],
            i,
            r,
            interrupts_enabled: interrupts != 0,
        };
        for (word, bytes) in state.registers.iter_mut().zip(words.as_chunks::<2>().0) {
            *word = u16::from_le_bytes(*bytes);
        }
        Some(state)
    }

    /// The payload of SET.
    pub(super) fn settable(&self) -> Vec<u8> {
        let words = self.registers.iter().flat_map(|word| word.to_le_bytes());
        words.chain([self.i, self.r, u8::from(self.interrupts_enabled)]).collect()
    }
}
