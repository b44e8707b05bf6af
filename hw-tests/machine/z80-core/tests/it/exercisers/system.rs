//! ZEXALL, from the package of the crate `iz80`, which cargo has fetched.
//!
//! It takes 46.7 thousand million T-states, so that only its last tests run here; `cargo run
//! --release -p z80-core --example exercise -- zexall.com` runs all.

use z80_core::Bus;

use super::machine::Machine;

#[path = "package.rs"]
mod package;

/// The operand with which ZEXALL and ZEXDOC load the address of their table of tests.
const FIRST_TEST: u16 = 0x0120;
/// Number of tests that run here.
const LAST: u16 = 12;

#[test]
fn the_last_tests_of_zexall() {
    let mut machine = Machine::with("zexall.com", &package::exerciser("zexall.com"));
    machine.keep_last(LAST);
    machine.run();
    assert!(machine.passed(), "{}", machine.printed());
    assert_eq!(machine.printed().matches("OK").count(), usize::from(LAST), "{}", machine.printed());
}

impl Machine {
    /// Makes ZEXALL or ZEXDOC run its last tests only, which are short.
    pub(crate) fn keep_last(&mut self, tests: u16) {
        let word = |at: u16| u16::from_le_bytes([self.memory.read(at), self.memory.read(at + 1)]);
        let table = word(FIRST_TEST);
        let end = (table..).step_by(2).find(|at| word(*at) == 0).expect("the table has an end");
        let [low, high] = (end - 2 * tests).to_le_bytes();
        self.memory.write(FIRST_TEST, low);
        self.memory.write(FIRST_TEST + 1, high);
    }
}
