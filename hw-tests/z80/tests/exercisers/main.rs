//! The exercisers of the crate `iz80`'s package, which others wrote and took from real chips. Those
//! of z80test run to their end; of ZEXALL, which takes 46.7 thousand million T-states, only the
//! last tests do, and all in `cargo run --release -p z80-core --example exercise -- zexall.com`.

mod machine;

use machine::{ALL, Machine};

/// Tests of ZEXALL that run here.
const LAST: u16 = 12;

fn run(name: &str) {
    assert!(ALL.contains(&name), "{name} is in the list that the example runs");
    let mut machine = Machine::with(name);
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

#[test]
fn the_last_tests_of_zexall() {
    let mut machine = Machine::with("zexall.com");
    machine.keep_last(LAST);
    machine.run();
    assert!(machine.passed(), "{}", machine.printed());
    assert_eq!(machine.printed().matches("OK").count(), usize::from(LAST), "{}", machine.printed());
}
