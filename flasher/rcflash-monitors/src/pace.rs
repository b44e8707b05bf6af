//! The speed at which lines are sent to a monitor that may not keep up.

use std::fmt;
use std::time::Duration;

/// A way of sending lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The name on the command line.
    pub name: &'static str,
    /// Data bytes in a line of Intel HEX.
    pub record: usize,
    /// Rest after a line.
    pub line: Duration,
    /// Rest after a character.
    pub character: Duration,
}

impl Pace {
    /// As fast as the line carries.
    pub const FULL: Self = Self::new("full", 16, 0, 0);

    /// From the fastest to the slowest. Lines of 8 bytes have 28 characters and fit the smallest
    /// receive buffer that interrupts fill (32, RomWBW); 2 ms between characters was seen to work
    /// there without flow control.
    pub const LADDER: [Self; 4] = [
        Self::FULL,
        Self::new("short-lines", 8, 12, 0),
        Self::new("slow", 16, 0, 2),
        Self::new("slowest", 16, 20, 10),
    ];

    const fn new(name: &'static str, record: usize, line: u64, character: u64) -> Self {
        let line = Duration::from_millis(line);
        let character = Duration::from_millis(character);
        Self { name, record, line, character }
    }

    /// The pace of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::LADDER.into_iter().find(|pace| pace.name == name)
    }

    /// The next slower one.
    #[must_use]
    pub fn slower(self) -> Option<Self> {
        let at = Self::LADDER.iter().position(|pace| *pace == self)?;
        Self::LADDER.get(at + 1).copied()
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: Duration| time.as_millis();
        match (self.line.is_zero(), self.character.is_zero()) {
            (true, true) => f.write_str("at full speed"),
            (_, true) => {
                write!(f, "in lines of {} bytes with {} ms after each", self.record, ms(self.line))
            }
            (_, false) => write!(f, "with {} ms after each character", ms(self.character)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_leads_from_full_speed_to_its_end() {
        let mut pace = Pace::FULL;
        let mut steps = 0;
        while let Some(slower) = pace.slower() {
            assert_eq!(Pace::named(slower.name), Some(slower));
            (pace, steps) = (slower, steps + 1);
        }
        assert_eq!(steps, Pace::LADDER.len() - 1);
        assert_eq!(Pace::FULL.to_string(), "at full speed");
        assert_eq!(pace.to_string(), "with 10 ms after each character");
    }
}
