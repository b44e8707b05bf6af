//! T-states of the evaluator's routines: `cargo bench -p hil-harness --bench tstates`.
//!
//! Counts XCHNG over the core space of attackers arrays, and whole positions over the corpus, for
//! the corrected and the original evaluator. The counts are exact, on a processor without board,
//! and equal on every computer.

use std::error::Error;

use firmware::ProgramKind;
use firmware::build::build_with;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use hil_testing::routine_runner::{CallError, RoutineRunner};
use sargon_corpus::{CaseInput, builtin_corpus};
use sargon_reference::{AttackersArray, Colour, Piece, PieceKind, Square};
use space::Space;

#[allow(dead_code, reason = "the bench needs the sections only")]
#[path = "../../cli/src/exhaust/space.rs"]
mod space;

/// Statistics of the T-states of a routine.
#[derive(Debug, Clone, Copy)]
struct TStateStats {
    calls: u64,
    sum: u64,
    min: u64,
    max: u64,
}

impl Default for TStateStats {
    fn default() -> Self {
        Self { calls: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl TStateStats {
    fn add(&mut self, t_states: u64) -> u64 {
        self.calls += 1;
        self.sum += t_states;
        self.min = self.min.min(t_states);
        self.max = self.max.max(t_states);
        t_states
    }

    fn row(&self, name: &str) {
        let mean = self.sum as f64 / self.calls.max(1) as f64;
        let Self { calls, min, max, .. } = self;
        println!("| {name} | {calls} | {min} | {mean:.1} | {max} |");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for behaviour in Behaviour::ALL {
        let profile = BoardProfile::named("rc2014-classic")?;
        let evaluator = Evaluator { behaviour, own: None };
        let application = build_with(&profile, ProgramKind::Application, &evaluator)?;
        println!("\n{behaviour}: the application has {} bytes\n", application.bytes.len());
        println!("| routine | calls | min | mean | max |\n|---|---|---|---|---|");
        let mut runner = RoutineRunner::new(&application)?;
        core_space(&mut runner)?.row("XCHNG, core space of arrays");
        positions(&mut runner)?;
    }
    Ok(())
}

fn core_space(runner: &mut RoutineRunner) -> Result<TStateStats, CallError> {
    let sections = Space::Core.sections();
    let mut times = TStateStats::default();
    let mut bytes = [0; 14];
    for attackers in &sections {
        bytes[..7].copy_from_slice(attackers);
        for defenders in &sections {
            bytes[7..].copy_from_slice(defenders);
            let array = AttackersArray::from_bytes(&bytes);
            for kind in PieceKind::ALL {
                let piece = Piece { colour: Colour::Black, kind };
                runner.set_piece(Some(piece))?;
                runner.set_array(&array)?;
                times.add(runner.call("XCHNG")?);
            }
        }
    }
    Ok(times)
}

/// Counts PINFND, ATTACK on all 64 squares, and XCHNG on the occupied ones.
fn positions(runner: &mut RoutineRunner) -> Result<(), Box<dyn Error>> {
    let [mut pins, mut attack, mut exchange, mut whole] = [TStateStats::default(); 4];
    for case in builtin_corpus()? {
        let CaseInput::Position { position, .. } = &case.subject else { continue };
        runner.set_position(position)?;
        let mut sum = pins.add(runner.call("PINFND")?);
        for square in Square::all() {
            let piece = position.on(square);
            runner.set_square(square, piece)?;
            sum += runner.call("NEWLST")?;
            sum += attack.add(runner.call("ATTACK")?);
            if piece.is_some() {
                sum += exchange.add(runner.call("XCHNG")?);
            }
        }
        whole.add(sum);
    }
    pins.row("PINFND");
    attack.row("ATTACK");
    exchange.row("XCHNG on the occupied squares of the corpus");
    whole.row("a whole position: PINFND, 64 ATTACK with NEWLST, XCHNG");
    Ok(())
}
