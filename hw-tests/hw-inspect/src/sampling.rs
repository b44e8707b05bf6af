//! `hw-tests profile` of a board at the end of a line, by samples.

use board_debugger::profiling::{SampledRoutine, Samples, sample_table};
use board_debugger::{Debugger, LoadedProgram, open_position_on_target, open_program_on_target};
use cli_support::exit::{Failure, Outcome, RIG};
use cli_support::output::{json_line, print};
use firmware::evaluator::Evaluator;
use firmware_wire::{Decoder, Event, REPLY, Request, kind};
use sargon_corpus::args::Positions;
use sargon_corpus::encode;
use sargon_reference::Position;
use serde_json::json;

use super::target::{TargetConnection, board_failure};

/// Positions that are sent together: what the board's window takes.
const POSITIONS_PER_REQUEST: usize = 8;
/// Rounds in which the board had answered before it was first stopped, after which it is given up.
const MAX_EMPTY_ROUNDS: u32 = 20;
const TOO_FAST: &str = "the board answers before it can be stopped: it does not keep to its clock \
                        (`hw-tests sim` does without --free)";
/// Samples of so many positions after which the board is taken for lost.
const MAX_SAMPLES_PER_POSITION: usize = 2_000;

/// The wishes for samples.
pub(super) struct Sampling {
    /// The number wanted.
    pub(super) wanted: u64,
    /// Whether the result is JSON.
    pub(super) json: bool,
}

impl Sampling {
    /// Samples a program of the user's.
    pub(super) fn program(
        &self,
        reached: TargetConnection,
        program: LoadedProgram,
        input: &[u8],
    ) -> Outcome {
        let TargetConnection { profile, kernel } = reached;
        let mut debugger =
            open_program_on_target(&profile, program, kernel).map_err(board_failure)?;
        let _ = debugger.send(input); // the board is held in no past
        let mut samples = Samples::default();
        while samples.count() < self.wanted {
            samples.take(&mut debugger).map_err(|problem| Failure::new(RIG, problem))?;
        }
        self.show(&samples.routines(debugger.code()))
    }

    /// Samples the evaluator over positions, again and again.
    pub(super) fn evaluator(
        &self,
        reached: TargetConnection,
        evaluator: &Evaluator,
        positions: &Positions,
    ) -> Outcome {
        let mut all = Vec::new();
        positions.each(false, |named| {
            all.push(named.position.clone());
            Ok(())
        })?;
        let Some(first) = all.first() else { return positions.conclude(Ok(0)) };
        let TargetConnection { profile, kernel } = reached;
        let ask = &mut |_: &mut Debugger| false;
        let begun = open_position_on_target(&profile, evaluator, first, kernel, ask);
        let mut debugger = begun.map_err(board_failure)?;
        let mut samples = Samples::default();
        // The first request is on its way already.
        self.work(&mut debugger, &mut samples, 1)?;
        let mut samples = Samples::default();
        let mut next = all.iter().cycle();
        let mut in_vain = 0;
        while samples.count() < self.wanted {
            let before = samples.count();
            let bytes: Vec<u8> =
                next.by_ref().take(POSITIONS_PER_REQUEST).flat_map(request).collect();
            let _ = debugger.send(&bytes); // the board is held in no past
            self.work(&mut debugger, &mut samples, POSITIONS_PER_REQUEST)?;
            in_vain = if samples.count() == before { in_vain + 1 } else { 0 };
            if in_vain == MAX_EMPTY_ROUNDS {
                return Err(Failure::new(RIG, TOO_FAST));
            }
        }
        self.show(&samples.routines(debugger.code()))?;
        positions.conclude(Ok(0))
    }

    /// Takes samples until so many positions are answered.
    fn work(
        &self,
        debugger: &mut Debugger,
        samples: &mut Samples,
        positions: usize,
    ) -> Result<(), Failure> {
        let from = debugger.output().len();
        for _ in 0..MAX_SAMPLES_PER_POSITION {
            let before = samples.clone();
            samples.take(debugger).map_err(|problem| Failure::new(RIG, problem))?;
            if answered(&debugger.output()[from..]) >= positions {
                // By then it had nothing to do.
                *samples = before;
                return Ok(());
            }
            if samples.count() >= self.wanted {
                return Ok(());
            }
        }
        Err(Failure::new(RIG, "the board does not answer"))
    }

    fn show(&self, routines: &[SampledRoutine]) -> Outcome {
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

/// The number of positions whose answers have ended.
fn answered(heard: &[u8]) -> usize {
    let mut decoder = Decoder::default();
    let is_end = |event: &Event| match event {
        Event::Frame(frame) => frame.kind == kind::POSITION_END + REPLY,
        Event::Damaged(_) => false,
    };
    heard.iter().filter_map(|byte| decoder.push(*byte)).filter(is_end).count()
}
