//! Runs exercisers from the package of the crate `iz80`, to their end:
//! `cargo run --release -p z80-core --example exercise -- zexall.com`. Without names, all of them.

use std::process::ExitCode;
use std::time::Instant;

#[path = "../tests/it/exercisers/machine.rs"]
mod machine;
#[path = "../tests/it/exercisers/package.rs"]
mod package;

use machine::Machine;

/// All exercisers that the package has for the Z80.
const ALL: [&str; 8] = [
    "zexdoc.com",
    "zexall.com",
    "z80doc.out",
    "z80docflags.out",
    "z80flags.out",
    "z80full.out",
    "z80ccf.out",
    "z80memptr.out",
];

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        names = ALL.map(str::to_owned).to_vec();
    }
    let mut failed = false;
    for name in names {
        let began = Instant::now();
        let mut machine = Machine::with(&name, &package::exerciser(&name));
        machine.run();
        let seconds = began.elapsed().as_secs_f64();
        let giga = machine.t_states() as f64 / 1e9;
        println!("{}\n{name}: {giga:.2} G T-states in {seconds:.1} s", machine.printed());
        failed |= !machine.passed();
    }
    ExitCode::from(u8::from(failed))
}
