//! The state of a program that the debug kernel holds.

/// Most places at which GO lets a program be held.
pub const MAX_HELD: usize = 64;
/// Bytes of the state.
const STATE: usize = 29;
/// Bytes of it that SET changes, the last ones.
const SETTABLE: usize = 27;

/// Reason for which a program is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The kernel has just started; no program has run.
    Started,
    /// RST 6: a place of GO, or one of the program's own.
    Restart,
    /// A cause that this program does not know.
    Unknown(u8),
}

/// The registers of a program that is held, and how it came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldState {
    /// Counts the programs held, modulo 256; GO must name it.
    pub number: u8,
    /// Reason for the last hold.
    pub cause: Cause,
    /// SP, PC, AF, BC, DE, HL, IX, IY, then AF', BC', DE', HL'.
    pub words: [u16; 12],
    /// Register I.
    pub i: u8,
    /// Register R, as it was before the instruction at PC.
    pub r: u8,
    /// Whether interrupts are on.
    pub interrupts: bool,
}

impl HeldState {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let payload: &[u8; STATE] = payload.try_into().ok()?;
        let [number, cause, rest @ ..] = payload;
        let (words, &[i, r, interrupts]) = rest.split_at(SETTABLE - 3) else { return None };
        let mut state = Self {
            number: *number,
            cause: match cause {
                0 => Cause::Started,
                1 => Cause::Restart,
                other => Cause::Unknown(*other),
            },
            words: [0; 12],
            i,
            r,
            interrupts: interrupts != 0,
        };
        for (word, bytes) in state.words.iter_mut().zip(words.as_chunks::<2>().0) {
            *word = u16::from_le_bytes(*bytes);
        }
        Some(state)
    }

    /// The payload of SET.
    pub(super) fn settable(&self) -> Vec<u8> {
        let words = self.words.iter().flat_map(|word| word.to_le_bytes());
        words.chain([self.i, self.r, u8::from(self.interrupts)]).collect()
    }
}
