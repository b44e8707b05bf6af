//! T-states of the evaluator's routines: `cargo bench -p hil-harness --bench tstates`.
//!
//! Counted exactly on a bare processor, so the figures are the same on every computer, mended and
//! as in 1978: XCHNG over the core space of attackers arrays, and whole positions over the corpus.

use std::error::Error;

use board_debugger::profiling::routine_runner::{CallError, RoutineRunner};
use firmware::ProgramKind;
use firmware::build::build_with;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;
use hil_harness::exhaust::Space;
use sargon_corpus::{Subject, shipped};
use sargon_reference::{AttackersArray, Colour, Kind, Piece, Square};

/// Least, most, and what a mean needs.
#[derive(Debug, Clone, Copy)]
struct Times {
    calls: u64,
    sum: u64,
    least: u64,
    most: u64,
}

impl Default for Times {
    fn default() -> Self {
        Self { calls: 0, sum: 0, least: u64::MAX, most: 0 }
    }
}

impl Times {
    fn add(&mut self, t_states: u64) -> u64 {
        self.calls += 1;
        self.sum += t_states;
        self.least = self.least.min(t_states);
        self.most = self.most.max(t_states);
        t_states
    }

    fn row(&self, name: &str) {
        let mean = self.sum as f64 / self.calls.max(1) as f64;
        let Self { calls, least, most, .. } = self;
        println!("| {name} | {calls} | {least} | {mean:.1} | {most} |");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for behaviour in Behaviour::ALL {
        let profile = Profile::named("rc2014-classic")?;
        let evaluator = Evaluator { behaviour, own: None };
        let application = build_with(&profile, ProgramKind::Application, &evaluator)?;
        println!("\n{behaviour}: the application has {} bytes\n", application.bytes.len());
        println!("| routine | calls | least | mean | most |\n|---|---|---|---|---|");
        let mut bare = RoutineRunner::new(&application)?;
        core_space(&mut bare)?.row("XCHNG, core space of arrays");
        positions(&mut bare)?;
    }
    Ok(())
}

fn core_space(bare: &mut RoutineRunner) -> Result<Times, CallError> {
    let sections = Space::Core.sections();
    let mut times = Times::default();
    let mut bytes = [0; 14];
    for attackers in &sections {
        bytes[..7].copy_from_slice(attackers);
        for defenders in &sections {
            bytes[7..].copy_from_slice(defenders);
            let array = AttackersArray::from_bytes(&bytes);
            for kind in Kind::ALL {
                let piece = Piece { colour: Colour::Black, kind };
                bare.set_piece(Some(piece))?;
                bare.set_array(&array)?;
                times.add(bare.call("XCHNG")?);
            }
        }
    }
    Ok(times)
}

/// PINFND, ATTACK on all 64 squares, empty ones too, and XCHNG on the occupied ones.
fn positions(bare: &mut RoutineRunner) -> Result<(), Box<dyn Error>> {
    let [mut pins, mut attack, mut exchange, mut whole] = [Times::default(); 4];
    for case in shipped()? {
        let Subject::Position { position, .. } = &case.subject else { continue };
        bare.set_position(position)?;
        let mut sum = pins.add(bare.call("PINFND")?);
        for square in Square::all() {
            let piece = position.on(square);
            bare.set_square(square, piece)?;
            sum += bare.call("NEWLST")?;
            sum += attack.add(bare.call("ATTACK")?);
            if piece.is_some() {
                sum += exchange.add(bare.call("XCHNG")?);
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
