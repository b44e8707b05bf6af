//! The two passes, and where the second differs from the first.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Pass {
    /// Gives symbols their values, and collects macros.
    #[default]
    First,
    /// Writes code and reports errors.
    Second,
}

/// The position of a statement: its offset in its file, and the location counter before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StatementPos {
    offset: u32,
    counter: u16,
}

/// Finds the first statement at which the second pass differs from the first.
#[derive(Debug, Default)]
pub(crate) struct PassComparison {
    first: Vec<StatementPos>,
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
        self.first.push(StatementPos { offset, counter });
    }

    /// Compares a statement of the second pass, at offset `place` of the source map, with the first
    /// pass.
    pub(crate) fn compare(&mut self, offset: u32, counter: u16, place: u32) {
        if self.diverged_at.is_some() {
            return;
        }
        if self.first.get(self.compared) != Some(&StatementPos { offset, counter }) {
            self.diverged_at = self.previous;
        }
        self.compared += 1;
        self.previous = Some(place);
    }
}
