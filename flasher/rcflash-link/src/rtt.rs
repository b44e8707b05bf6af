//! Estimates the round-trip time beyond the serial line itself, for boards reached over a network.

use std::time::Duration;

use firmware_wire::Request;

use crate::narrow::narrow;

/// Shorter round trips are those of USB adapters (at most 16 ms), which the board's window covers.
const MIN_NETWORK_RTT: Duration = Duration::from_millis(20);
/// The longest round trip that extends the window; longer ones are outages.
const MAX_RTT: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RttEstimate {
    /// The smallest round trip measured.
    least: Option<Duration>,
    lossy: bool,
}

impl RttEstimate {
    /// Adds the round trip of a request that the board replies to without delay.
    pub(super) fn add_sample(&mut self, elapsed: Duration) {
        self.least = Some(self.least.map_or(elapsed, |least| least.min(elapsed)));
    }

    /// Records that a request was retried: from then on only the board's window is used.
    pub(super) fn mark_lossy(&mut self) {
        self.lossy = true;
    }

    /// Returns how many bytes beyond the board's window may be in flight before `request`: the
    /// bandwidth-delay product. Only WRITE qualifies, since the board processes it faster than the
    /// line delivers the next: 236 bytes are copied and checked in less than the 21 ms of their
    /// frame.
    pub(super) fn extra_window(&self, request: &Request, bytes_per_second: usize) -> usize {
        let keeps_up = matches!(request, Request::Write { .. });
        match self.least {
            Some(least) if keeps_up && !self.lossy && least > MIN_NETWORK_RTT => {
                narrow::<_, usize>(least.min(MAX_RTT).as_millis()) * bytes_per_second / 1000
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
        let mut rtt = RttEstimate::default();
        assert_eq!(rtt.extra_window(&write, 11_520), 0);
        rtt.add_sample(ms(300));
        rtt.add_sample(ms(100));
        assert_eq!(rtt.extra_window(&write, 11_520), 1152);
        assert_eq!(rtt.extra_window(&Request::Identify, 11_520), 0, "the board may take its time");
        rtt.add_sample(ms(16));
        assert_eq!(rtt.extra_window(&write, 11_520), 0, "an adapter is near");
    }

    #[test]
    fn after_a_loss_the_window_is_all() {
        let write = Request::Write { address: 0x8000, data: vec![0] };
        let mut rtt = RttEstimate::default();
        rtt.add_sample(Duration::from_millis(100));
        rtt.mark_lossy();
        assert_eq!(rtt.extra_window(&write, 11_520), 0);
    }
}
