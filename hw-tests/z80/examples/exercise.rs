//! Runs exercisers from the package of the crate `iz80`, to their end:
//! `cargo run --release -p z80-core --example exercise -- zexall.com`. Without names, all of them.

use std::process::ExitCode;
use std::time::Instant;

#[path = "../tests/exercisers/machine.rs"]
mod machine;

use machine::{ALL, Machine};

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        names = ALL.map(str::to_owned).to_vec();
    }
    let mut failed = false;
    for name in names {
        let began = Instant::now();
        let mut machine = Machine::with(&name);
        machine.run();
        let seconds = began.elapsed().as_secs_f64();
        let giga = machine.t_states() as f64 / 1e9;
        println!("{}\n{name}: {giga:.2} G T-states in {seconds:.1} s", machine.printed());
        failed |= !machine.passed();
    }
    ExitCode::from(u8::from(failed))
}
