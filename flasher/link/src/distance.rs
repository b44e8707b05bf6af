//! The distance to the board: the time that bytes are under way besides that on the serial line, as
//! over a network.

use std::time::Duration;

use firmware_wire::Request;

use crate::narrow::narrow;

/// Distances below are those of adapters: 16 ms at the most, which the board's window covers.
const NEAR: Duration = Duration::from_millis(20);
/// Distances above are failures of some kind, and not paid for in memory.
const FAR: Duration = Duration::from_secs(1);

/// The distance as far as it is known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Distance {
    /// The least time there and back that was seen.
    least: Option<Duration>,
    /// Whether a request had to be repeated on this line.
    lossy: bool,
}

impl Distance {
    /// Notes the time of a request that is answered at once, that on the serial line left out.
    pub(super) fn note(&mut self, took: Duration) {
        self.least = Some(self.least.map_or(took, |least| least.min(took)));
    }

    /// Notes that a request is repeated: from then on the board's window is all that is used.
    pub(super) fn distrust(&mut self) {
        self.lossy = true;
    }

    /// The bytes besides the board's window that may be under way before a request. They are
    /// between here and the board, and not in its buffer: a line of this speed holds as many. That
    /// is so only for requests that the board works off faster than its line brings them; it is,
    /// for a write to RAM: 236 bytes are copied and checked in less than the 21 ms of their frame.
    pub(super) fn ahead(&self, request: &Request, bytes_a_second: usize) -> usize {
        let keeps_up = matches!(request, Request::Write { .. });
        match self.least {
            Some(least) if keeps_up && !self.lossy && least > NEAR => {
                narrow::<_, usize>(least.min(FAR).as_millis()) * bytes_a_second / 1000
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_line_holds_what_it_carries_in_the_time_there_and_back() {
        let write = Request::Write { address: 0x8000, data: vec![0] };
        let ms = Duration::from_millis;
        let mut distance = Distance::default();
        assert_eq!(distance.ahead(&write, 11_520), 0);
        distance.note(ms(300));
        distance.note(ms(100));
        assert_eq!(distance.ahead(&write, 11_520), 1152);
        assert_eq!(distance.ahead(&Request::Identify, 11_520), 0, "the board may take its time");
        distance.note(ms(16));
        assert_eq!(distance.ahead(&write, 11_520), 0, "an adapter is near");
    }

    #[test]
    fn after_a_loss_the_window_is_all() {
        let write = Request::Write { address: 0x8000, data: vec![0] };
        let mut distance = Distance::default();
        distance.note(Duration::from_millis(100));
        distance.distrust();
        assert_eq!(distance.ahead(&write, 11_520), 0);
    }
}
