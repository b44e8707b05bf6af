//! The speed of sending to a monitor that may be slower than the line.

use std::fmt;
use std::time::Duration;

/// A pace of sending lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The name on the command line.
    pub name: &'static str,
    /// Data bytes in a line of Intel HEX.
    pub record_bytes: usize,
    /// The delay after a line.
    pub line_delay: Duration,
    /// The delay after a character.
    pub char_delay: Duration,
    /// The characters of a piece, and the delay after it; 0 sends a line as a whole.
    pub piece: (usize, Duration),
}

impl Pace {
    /// Without delays.
    pub const FULL: Self = Self::new("full", 16, 0, 0);

    /// All paces, from the fastest to the slowest. RomWBW processes 3,410 characters a second, so
    /// of a piece of 16 none is left after 4.7 ms, of which the line takes 1.4 ms. Lines of 8 bytes
    /// have 28 characters and fit into the smallest interrupt-driven receive buffer (32, RomWBW);
    /// 2 ms between characters was measured to work there without flow control.
    pub const ALL: [Self; 5] = [
        Self::FULL,
        Self { piece: (16, Duration::from_millis(4)), ..Self::new("pieces", 16, 0, 0) },
        Self::new("short-lines", 8, 12, 0),
        Self::new("slow", 16, 0, 2),
        Self::new("slowest", 16, 20, 10),
    ];

    const fn new(
        name: &'static str,
        record_bytes: usize,
        line_delay: u64,
        char_delay: u64,
    ) -> Self {
        let line_delay = Duration::from_millis(line_delay);
        let char_delay = Duration::from_millis(char_delay);
        Self { name, record_bytes, line_delay, char_delay, piece: (0, Duration::ZERO) }
    }

    /// Returns the pace of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pace| pace.name == name)
    }

    /// Returns the next slower pace.
    #[must_use]
    pub fn slower(self) -> Option<Self> {
        let at = Self::ALL.iter().position(|pace| *pace == self)?;
        Self::ALL.get(at + 1).copied()
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: Duration| time.as_millis();
        let (size, delay) = self.piece;
        match (self.line_delay.is_zero(), self.char_delay.is_zero()) {
            _ if size > 0 => {
                write!(f, "in pieces of {size} characters with {} ms after each", ms(delay))
            }
            (true, true) => f.write_str("at full speed"),
            (_, true) => {
                write!(
                    f,
                    "in lines of {} bytes with {} ms after each",
                    self.record_bytes,
                    ms(self.line_delay)
                )
            }
            (_, false) => write!(f, "with {} ms after each character", ms(self.char_delay)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_leads_from_full_speed_through_all_paces() {
        let mut pace = Pace::FULL;
        let mut steps = 0;
        while let Some(slower) = pace.slower() {
            assert_eq!(Pace::from_name(slower.name), Some(slower));
            (pace, steps) = (slower, steps + 1);
        }
        assert_eq!(steps, Pace::ALL.len() - 1);
        assert_eq!(Pace::FULL.to_string(), "at full speed");
        assert_eq!(pace.to_string(), "with 10 ms after each character");
    }
}
