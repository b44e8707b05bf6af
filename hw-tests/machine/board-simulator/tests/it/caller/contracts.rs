//! Stack and T-states in the contracts of the caller's routines, measured on the board.

use super::bench::{BOARDS, Bench};

const INVOKE: &str = include_str!("../../../../../../firmware/z80/invoke.asm");
const CALL: &str = include_str!("../../../../../../firmware/z80/call.asm");

/// The numbers of a field of a routine's contract: one, or the least and the most.
fn field(source: &str, routine: &str, name: &str) -> (u64, u64) {
    let contract = source.split(&format!("\n; {routine} - ")).nth(1).expect("a contract");
    let line = contract.lines().find_map(|line| line.strip_prefix(&format!(";   {name}:")));
    let line = line.expect("the field").trim();
    let mut numbers = line.split("..").map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("a number")
    });
    let least = numbers.next().expect("one number");
    (least, numbers.next().unwrap_or(least))
}

#[test]
fn routines_keep_their_contracts() {
    // The figures are those of a Z80.
    for board in &BOARDS[..2] {
        let mut bench = Bench::new(board);
        let check = |bench: &Bench, name, source, of_routine: u64, bc| {
            let (took, stack) = bench.measure(name, bc);
            let (least, most) = field(source, name, "Cycles");
            let took = took - of_routine;
            assert!((least..=most).contains(&took), "{board}: {name} takes {took} T-states");
            let (most, _) = field(source, name, "Stack");
            assert!(stack <= most, "{board}: {name} takes {stack} bytes of stack");
        };
        bench.make_one(bench.call("SUM", &[])); // its 4 and 10 T-states are not INVOKE's
        check(&bench, "INVOKE", INVOKE, 14, 0);
        check(&bench, "CLINI", INVOKE, 0, 0);
        check(&bench, "MARK", INVOKE, 0, 0);
        check(&bench, "JUDGE", INVOKE, 0, 0);
        check(&bench, "BATINI", CALL, 0, 0);
        check(&bench, "GIVEN", CALL, 0, 0);
        check(&bench, "GIVEN", CALL, 0, 0x03FF);
        // A stack that was used up takes the longest to fill again.
        let stack = bench.image.program.symbol("CALSTK").expect("the layout sets it");
        bench.board.poke(stack, &[0; 2]);
        check(&bench, "JUDGE", INVOKE, 0, 0);
    }
}
