//! The two passes, and where the second differs from the first.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Pass {
    /// Gives symbols their values, and collects macros.
    #[default]
    First,
    /// Writes code and reports errors.
    Second,
}

/// Returns a statement's position: the low half of its offset in its file, which is enough to tell
/// it from the next ones, and the location counter before it.
fn position(offset: u32, counter: u16) -> u32 {
    offset << 16 | u32::from(counter)
}

/// Finds the first statement at which the second pass differs from the first.
#[derive(Debug, Default)]
pub(crate) struct PassComparison {
    first: Vec<u32>,
    /// The number of statements compared so far.
    compared: usize,
    /// The previous statement of the second pass, as an offset in the source map.
    previous: Option<u32>,
    pub(crate) diverged_at: Option<u32>,
}

impl PassComparison {
    pub(crate) fn restart(&mut self) {
        *self = Self { first: std::mem::take(&mut self.first), ..Self::default() };
    }

    pub(crate) fn note(&mut self, offset: u32, counter: u16) {
        self.first.push(position(offset, counter));
    }

    /// Compares a statement of the second pass, at offset `place` of the source map, with the first
    /// pass.
    pub(crate) fn compare(&mut self, offset: u32, counter: u16, place: u32) {
        if self.diverged_at.is_some() {
            return;
        }
        if self.first.get(self.compared) != Some(&position(offset, counter)) {
            self.diverged_at = self.previous;
        }
        self.compared += 1;
        self.previous = Some(place);
    }
}
