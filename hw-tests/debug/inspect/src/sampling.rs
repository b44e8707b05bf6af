//! `hw-inspect profile` of a board on a serial line: samples its program counter at random times.
//!
//! Zeros on the line halt the program by an interrupt. So code with interrupts disabled is never
//! sampled; its samples count for the instruction after which they are enabled again.

use std::collections::BTreeMap;
use std::fmt::Write;

use board_debugger::{
    Debugger, ExecCommand, HaltReason, describe_halt, encode_request, parse_replies,
};
use board_simulator::profiling::{RoutineMap, qualified_name};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT};
use cli_support::output::{json_line, print};
use firmware::code_map::CodeMap;
use firmware_wire::{Reply, Request};
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

/// Maximum number of polls between two samples. The number is random, so that samples are not in
/// phase with a program that loops.
const MAX_POLLS_PER_SAMPLE: u32 = 4;

/// The samples of a program.
#[derive(Default)]
struct Samples {
    /// PC at each of them.
    places: Vec<u16>,
    random: u32,
}

/// The number of samples in a routine.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
struct SampledRoutine {
    /// The name of the routine.
    name: String,
    /// The number of samples.
    samples: u64,
    /// Their share of all samples, in percent.
    percent: f64,
    /// The standard error of that share, in percent.
    error: f64,
}

impl Samples {
    /// Runs the program for a random time, halts it, and records PC.
    ///
    /// # Errors
    /// Returns the reason if the program halted otherwise.
    fn take_sample(&mut self, debugger: &mut Debugger) -> Result<(), CommandError> {
        // The generator of "Numerical Recipes"; its high bits are good enough here.
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut polls = self.random >> 16;
        polls = 1 + polls % MAX_POLLS_PER_SAMPLE;
        let halt = debugger.run(ExecCommand::Continue, &mut |_| {
            polls = polls.saturating_sub(1);
            polls == 0
        });
        if halt != HaltReason::Paused {
            return Err(CommandError::new(ENVIRONMENT, describe_halt(debugger, halt)));
        }
        self.places.push(debugger.registers().pc);
        Ok(())
    }

    /// Returns the sampled routines, the most frequent first.
    fn routines(&self, code: &CodeMap) -> Vec<SampledRoutine> {
        let regions = RoutineMap::new(code, []);
        let mut found: BTreeMap<u16, u64> = BTreeMap::new();
        for place in &self.places {
            *found.entry(regions.owner(*place).unwrap_or(*place)).or_default() += 1;
        }
        let all = self.places.len().max(1) as f64;
        let routine = |(start, samples): (u16, u64)| {
            let share = samples as f64 / all;
            let error = (share * (1.0 - share) / all).sqrt() * 100.0;
            let percent = share * 100.0;
            SampledRoutine { name: qualified_name(code, start), samples, percent, error }
        };
        let mut routines: Vec<_> = found.into_iter().map(routine).collect();
        routines.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.name.cmp(&b.name)));
        routines
    }
}

/// Formats a table of sampled routines.
fn sample_table(routines: &[SampledRoutine]) -> String {
    let mut text = " samples       %  ±       routine\n".to_owned();
    for SampledRoutine { name, samples, percent, error } in routines {
        let _ = writeln!(text, "{samples:8}  {percent:6.1}  {error:<6.1}  {name}");
    }
    text
}

pub(super) struct Sampling {
    /// The number of samples to take.
    pub(super) sample_count: usize,
    pub(super) json: bool,
}

impl Sampling {
    /// Samples a program.
    pub(super) fn program(&self, debugger: &mut Debugger, input: &[u8]) -> CommandResult {
        let _ = debugger.send(input); // fails only while stepping back
        let mut samples = Samples::default();
        while samples.places.len() < self.sample_count {
            samples.take_sample(debugger)?;
        }
        self.show(&samples.routines(debugger.code()))
    }

    /// Samples the evaluator over positions, again and again; the request for the first one is in
    /// flight.
    pub(super) fn evaluator(&self, debugger: &mut Debugger, all: &[Position]) -> CommandResult {
        let mut samples = Samples::default();
        let mut next = all.iter().cycle();
        let (mut in_flight, mut first_reply, mut samples_in_round, mut empty_rounds) = (1, 0, 0, 0);
        while samples.places.len() < self.sample_count {
            samples.take_sample(debugger)?;
            samples_in_round += 1;
            if count_replies(&debugger.output()[first_reply..]) < in_flight {
                if samples_in_round == MAX_SAMPLES_PER_ROUND {
                    return Err(CommandError::new(ENVIRONMENT, "the board does not reply"));
                }
                continue;
            }
            // This sample was taken after the replies, while the board was idle.
            samples.places.pop();
            empty_rounds = if samples_in_round == 1 { empty_rounds + 1 } else { 0 };
            if empty_rounds == MAX_EMPTY_ROUNDS {
                return Err(CommandError::new(ENVIRONMENT, TOO_FAST));
            }
            (in_flight, first_reply, samples_in_round) =
                (POSITIONS_PER_ROUND, debugger.output().len(), 0);
            let positions = next.by_ref().take(in_flight).map(encode::squares);
            let sent = positions.flat_map(|squares| encode_request(&Request::Position { squares }));
            let _ = debugger.send(&sent.collect::<Vec<u8>>()); // fails only while stepping back
        }
        self.show(&samples.routines(debugger.code()))
    }

    fn show(&self, routines: &[SampledRoutine]) -> CommandResult {
        let text = match self.json {
            true => json_line(&json!({ "routines": routines }))?,
            false => sample_table(routines),
        };
        print(&text).map(|()| 0)
    }
}

/// Returns the number of positions with a complete reply.
fn count_replies(received: &[u8]) -> usize {
    parse_replies(received).filter(|reply| matches!(reply, Reply::PositionEnd(_))).count()
}
