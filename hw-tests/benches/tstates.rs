//! T-states of the evaluator's routines: `cargo bench -p hw-tests --bench tstates`.
//!
//! Counted exactly on a bare processor, so the figures are the same on every computer, mended and as in 1978: XCHNG
//! over the core space of attackers arrays, and whole positions over the corpus.

use std::error::Error;

use firmware::ProgramKind;
use firmware::build::build_with;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;
use hw_tests::bare::{Bare, CallError};
use hw_tests::corpus::{Subject, shipped};
use hw_tests::reference::{AttackersArray, Colour, Kind, Piece, Square};

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
    for behaviour in [Behaviour::Mended, Behaviour::AsIn1978] {
        let profile = Profile::named("rc2014-classic")?;
        let evaluator = Evaluator { behaviour, own: None };
        let application = build_with(&profile, ProgramKind::Application, &evaluator)?;
        println!("\n{behaviour}: the application has {} bytes\n", application.bytes.len());
        println!("| routine | calls | least | mean | most |\n|---|---|---|---|---|");
        let mut bare = Bare::new(&application)?;
        core_space(&mut bare)?.row("XCHNG, core space of arrays");
        positions(&mut bare)?;
    }
    Ok(())
}

/// The bytes of a section: its count and six bytes of entries, the first comer low.
fn sections() -> Vec<[u8; 7]> {
    let mut all = Vec::new();
    for code in 0..3 * 3 * 2 {
        let (p, n, k) = (code / 6, code / 2 % 3, code % 2);
        let behinds: [&[u8]; 5] = [&[], &[], &[3], &[5], &[5, 5]];
        for (kind, behind) in behinds.iter().enumerate() {
            let queen = u8::from(kind > 0);
            let bishops = 2 - behind.iter().filter(|value| **value == 3).count() as u8;
            let rooks = 3 - behind.iter().filter(|value| **value == 5).count() as u8;
            for (b, r) in (0..bishops).flat_map(|b| (0..rooks).map(move |r| (b, r))) {
                all.push(section([p, n, b, r, queen, k], behind));
            }
        }
    }
    all
}

fn section(counts: [u8; 6], behind: &[u8]) -> [u8; 7] {
    let mut bytes = [0; 7];
    bytes[0] = counts.iter().sum::<u8>() + behind.len() as u8;
    for ((byte, count), kind) in bytes[1..].iter_mut().zip(counts).zip(Kind::ALL) {
        *byte = [0, 1, 0x11][usize::from(count)] * kind.value();
    }
    if let Some(first) = behind.first() {
        bytes[5] |= first << 4;
    }
    if let Some(second) = behind.get(1) {
        bytes[6] = bytes[6] << 4 | second;
    }
    bytes
}

fn core_space(bare: &mut Bare) -> Result<Times, CallError> {
    let sections = sections();
    assert_eq!(sections.len(), 378);
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
fn positions(bare: &mut Bare) -> Result<(), Box<dyn Error>> {
    let [mut pins, mut attack, mut exchange, mut whole] = [Times::default(); 4];
    for case in shipped()? {
        let Subject::Position { position, .. } = &case.subject else { continue };
        bare.set_position(position)?;
        let mut sum = pins.add(bare.call("PINFND")?);
        for square in Square::all() {
            let piece = position.on(square);
            bare.look_at(square, piece)?;
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
