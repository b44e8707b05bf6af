//! `hw-inspect profile` of a board on a serial line, by sampling.

use board_debugger::Debugger;
use board_debugger::profiling::{SampledRoutine, Samples, sample_table};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT};
use cli_support::output::{json_line, print};
use firmware_wire::{Decoder, DecoderEvent, REPLY_BIT, Request, kind};
use sargon_corpus::encode;
use sargon_reference::Position;
use serde_json::json;

/// Positions in flight: the size of the board's window.
const POSITIONS_PER_ROUND: usize = 8;
/// Consecutive rounds without the board in time, after which sampling is given up.
const MAX_EMPTY_ROUNDS: u32 = 20;
const TOO_FAST: &str = "the board replies before it can be stopped: it must run at its own clock \
    (`hw-tests simulate board` without --free)";
/// Samples before the replies after which the board is considered stuck.
const MAX_SAMPLES_PER_ROUND: usize = 2_000;

pub(super) struct Sampling {
    /// The number of samples to take.
    pub(super) sample_count: u64,
    pub(super) json: bool,
}

impl Sampling {
    /// Samples a program.
    pub(super) fn program(&self, debugger: &mut Debugger, input: &[u8]) -> CommandResult {
        let _ = debugger.send(input); // fails only while stepping back
        let mut samples = Samples::default();
        while samples.count() < self.sample_count {
            take_sample(&mut samples, debugger)?;
        }
        self.show(&samples.routines(debugger.code()))
    }

    /// Samples the evaluator over positions, again and again; the request for the first one is in
    /// flight.
    pub(super) fn evaluator(&self, debugger: &mut Debugger, all: &[Position]) -> CommandResult {
        let mut samples = Samples::default();
        let mut next = all.iter().cycle();
        let (mut in_flight, mut first_reply, mut samples_in_round, mut empty_rounds) = (1, 0, 0, 0);
        while samples.count() < self.sample_count {
            let before = samples.clone();
            take_sample(&mut samples, debugger)?;
            samples_in_round += 1;
            if count_replies(&debugger.output()[first_reply..]) < in_flight {
                if samples_in_round == MAX_SAMPLES_PER_ROUND {
                    return Err(CommandError::new(ENVIRONMENT, "the board does not reply"));
                }
                continue;
            }
            // This sample was taken after the replies, while the board was idle.
            samples = before;
            empty_rounds = if samples_in_round == 1 { empty_rounds + 1 } else { 0 };
            if empty_rounds == MAX_EMPTY_ROUNDS {
                return Err(CommandError::new(ENVIRONMENT, TOO_FAST));
            }
            (in_flight, first_reply, samples_in_round) =
                (POSITIONS_PER_ROUND, debugger.output().len(), 0);
            let requests = next.by_ref().take(in_flight).flat_map(request);
            let _ = debugger.send(&requests.collect::<Vec<u8>>()); // fails only while stepping back
        }
        self.show(&samples.routines(debugger.code()))
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

fn take_sample(samples: &mut Samples, debugger: &mut Debugger) -> Result<(), CommandError> {
    let taken = samples.take_sample(debugger);
    taken.map_err(|problem| CommandError::new(ENVIRONMENT, problem))
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
