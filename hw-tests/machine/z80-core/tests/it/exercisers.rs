//! The exercisers of z80test, whose expected values were taken from real chips, run to their end.
//!
//! They are in `tests/data/z80test`, under the MIT licence. ZEXALL (GPL) is not included:
//! `system` runs its last tests from the package of the crate `iz80`.

mod machine;
#[cfg(feature = "system-tests")]
mod system;

use std::path::Path;

use machine::Machine;

fn run(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/z80test").join(name);
    let program = std::fs::read(path).expect("the exerciser");
    let mut machine = Machine::with(name, &program);
    machine.run();
    let printed = machine.printed();
    assert!(machine.passed(), "{name} after {} T-states:\n{printed}", machine.t_states());
}

#[test]
fn all_registers_and_flags_of_z80full() {
    run("z80full.out");
}

#[test]
fn memptr_after_each_instruction_of_z80memptr() {
    run("z80memptr.out");
}

#[test]
fn flags_of_scf_and_ccf_after_each_instruction_of_z80ccf() {
    run("z80ccf.out");
}
