//! `hw-inspect profile` of a board on a serial line, by sampling.

use board_debugger::profiling::{SampledRoutine, Samples, sample_table};
use board_debugger::{Debugger, LoadedProgram, open_program_on_target};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT};
use cli_support::output::{json_line, print};
use firmware::evaluator::Evaluator;
use firmware_wire::{Decoder, DecoderEvent, REPLY_BIT, Request, kind};
use sargon_corpus::args::PositionStream;
use sargon_corpus::encode;
use sargon_debugging::open_position_on_target;
use sargon_reference::Position;
use serde_json::json;

use super::target::{TargetConnection, target_error};

/// Positions in flight: the size of the board's window.
const POSITIONS_PER_REQUEST: usize = 8;
/// Consecutive rounds without the board in time, after which sampling is given up.
const MAX_EMPTY_ROUNDS: u32 = 20;
const TOO_FAST: &str = "the board replies before it can be stopped: it must run at its own clock \
    (`hw-tests simulate board` without --free)";
/// Samples per position after which the board is considered stuck.
const MAX_SAMPLES_PER_POSITION: usize = 2_000;

pub(super) struct Sampling {
    /// The number of samples to take.
    pub(super) sample_count: u64,
    pub(super) json: bool,
}

impl Sampling {
    pub(super) fn program(
        &self,
        reached: TargetConnection,
        program: LoadedProgram,
        input: &[u8],
    ) -> CommandResult {
        let TargetConnection { profile, kernel } = reached;
        let mut debugger =
            open_program_on_target(&profile, program, kernel).map_err(target_error)?;
        let _ = debugger.send(input); // fails only while stepping back
        let mut samples = Samples::default();
        while samples.count() < self.sample_count {
            samples
                .take_sample(&mut debugger)
                .map_err(|problem| CommandError::new(ENVIRONMENT, problem))?;
        }
        self.show(&samples.routines(debugger.code()))
    }

    /// Samples the evaluator over positions, again and again.
    pub(super) fn evaluator(
        &self,
        reached: TargetConnection,
        evaluator: &Evaluator,
        positions: &mut PositionStream,
    ) -> CommandResult {
        let mut all = Vec::new();
        positions.for_each(
            |named| named.position(),
            |_, position, _| {
                all.push(position);
                Ok(())
            },
        )?;
        let Some(first) = all.first() else { return positions.finish(Ok(0)) };
        let TargetConnection { profile, kernel } = reached;
        let never = &mut |_: &mut Debugger| false;
        let mut debugger = open_position_on_target(&profile, evaluator, first, kernel, never)
            .map_err(target_error)?;
        let mut samples = Samples::default();
        // The first request is in flight already.
        self.work(&mut debugger, &mut samples, 1)?;
        let mut samples = Samples::default();
        let mut next = all.iter().cycle();
        let mut empty_rounds = 0;
        while samples.count() < self.sample_count {
            let before = samples.count();
            let bytes: Vec<u8> =
                next.by_ref().take(POSITIONS_PER_REQUEST).flat_map(request).collect();
            let _ = debugger.send(&bytes); // fails only while stepping back
            self.work(&mut debugger, &mut samples, POSITIONS_PER_REQUEST)?;
            empty_rounds = if samples.count() == before { empty_rounds + 1 } else { 0 };
            if empty_rounds == MAX_EMPTY_ROUNDS {
                return Err(CommandError::new(ENVIRONMENT, TOO_FAST));
            }
        }
        self.show(&samples.routines(debugger.code()))?;
        positions.finish(Ok(0))
    }

    /// Takes samples until this number of positions have replies.
    fn work(
        &self,
        debugger: &mut Debugger,
        samples: &mut Samples,
        positions: usize,
    ) -> Result<(), CommandError> {
        let from = debugger.output().len();
        for _ in 0..MAX_SAMPLES_PER_POSITION {
            let before = samples.clone();
            samples
                .take_sample(debugger)
                .map_err(|problem| CommandError::new(ENVIRONMENT, problem))?;
            if count_replies(&debugger.output()[from..]) >= positions {
                // The last sample was taken after the replies, while the board was idle.
                *samples = before;
                return Ok(());
            }
            if samples.count() >= self.sample_count {
                return Ok(());
            }
        }
        Err(CommandError::new(ENVIRONMENT, "the board does not reply"))
    }

    fn show(&self, routines: &[SampledRoutine]) -> CommandResult {
        if self.json {
            print(&json_line(&json!({ "routines": routines }))?)?;
        } else {
            print(&sample_table(routines))?;
        }
        Ok(0)
    }
}

fn request(position: &Position) -> Vec<u8> {
    let request = Request::Position { squares: encode::squares(position) };
    request.frame(1).expect("it fits a frame").encode()
}

/// Returns the number of positions with a complete reply.
fn count_replies(received: &[u8]) -> usize {
    let mut decoder = Decoder::default();
    let is_end = |event: &DecoderEvent| match event {
        DecoderEvent::Frame(frame) => frame.kind == kind::POSITION_END + REPLY_BIT,
        DecoderEvent::Invalid(_) => false,
    };
    received.iter().filter_map(|byte| decoder.push(*byte)).filter(is_end).count()
}
