//! Single requests to a board, and what a simulated board measures meanwhile.

use std::time::Duration;

use board_simulator::{CallRecord, Registers};
use firmware_wire::Reply;
use rcflash_link::{LinkError, RequestSpec};

use super::BoardSuite;
use super::LiveBoard;

/// Calls that are kept for replies still to be received.
const MAX_UNCLAIMED_RECORDS: usize = 1 << 14;

impl<S: BoardSuite> LiveBoard<S> {
    /// Sends a request that has a single reply, and waits for it.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    pub fn request(&mut self, request: &RequestSpec) -> Result<Reply, LinkError> {
        self.link.request(request.operation, &request.request, request.processing_time)
    }

    /// Sends a request, waits for all frames of its reply, and decodes them.
    ///
    /// # Errors
    /// Returns the error of the link if there is no valid reply.
    pub fn request_response(
        &mut self,
        request: &RequestSpec,
    ) -> Result<super::Response<S>, LinkError> {
        let replies = self.link.request_all(request)?;
        self.decode(replies, self.link.seq())
    }

    /// Takes all measured calls; `None` if the board is not simulated here.
    pub fn take_records(&mut self) -> Option<Vec<CallRecord>> {
        self.board.instrumentation().map(|board| board.take_records())
    }

    /// Takes the recorded registers; `None` if the board is not simulated here.
    pub fn take_hits(&mut self) -> Option<Vec<Registers>> {
        self.board.instrumentation().map(|board| board.take_hits())
    }

    /// Takes the calls measured while the board worked on a request.
    pub(super) fn claim_records(&mut self, seq: u8) -> Option<Vec<CallRecord>> {
        let records = self.take_records()?;
        self.records.extend(records);
        // The oldest are left over from cancelled requests.
        if self.records.len() > 2 * MAX_UNCLAIMED_RECORDS {
            self.records.drain(..MAX_UNCLAIMED_RECORDS);
        }
        Some(self.records.extract_if(.., |record| record.request_tag == seq).collect())
    }

    /// Returns the duration of `t_states` by the clock of the board's profile.
    #[must_use]
    pub fn time_of(&self, t_states: u64) -> Duration {
        Duration::from_micros(t_states * 1_000_000 / self.clock_hz.max(1))
    }
}
