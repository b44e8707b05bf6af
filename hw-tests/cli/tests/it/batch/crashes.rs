//! Programs that crash the board at random, between others that do not.

use super::{Programs, print};

/// A generator of numbers (xorshift, Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn byte(&mut self) -> usize {
        self.below(256)
    }
}

/// Overwrites the routine that sends the exit code: nobody could tell a wild jump there from an end.
const WIPE: &str = "\tLXI H,FINISH\n\tLXI D,FINISH+1\n\tLXI B,MAIN-FINISH-1\n\tMVI M,76H\n\tLDIR\n";

/// Returns the code of a crash: it never ends by an exit code.
fn crash(random: &mut Random) -> String {
    let value = random.byte();
    let end = match random.below(10) {
        0 => "\tDI\n\tHLT".to_owned(),
        1 => "\tEI\n\tHLT\n\tJMP .-1".to_owned(),
        2 => format!("\tLXI SP,{}\nLOOP:\tPUSH PSW\n\tJMP LOOP", value * 256),
        // All memory beyond the program is filled.
        3 => format!("\tLXI H,9000H\n\tLXI D,9001H\n\tLXI B,6FFEH\n\tMVI M,{value}\n\tLDIR\n\tRET"),
        // Writes to each port of the serial chips, and to the pages of banked memory.
        4 => format!("\tMVI C,80H\nLOOP:\tMVI A,{value}\n\tOUTP A\n\tINR C\n\tJRNZ LOOP\n\tJMP ."),
        5 => format!("\tMVI A,{value}\n\tOUT 80H\n\tOUT 78H\n\tOUT 79H\n\tOUT 7CH\n\tJMP 8"),
        // Another divisor of the 68B50, and text at that speed.
        6 => {
            format!("\tMVI A,3\n\tOUT 80H\n\tMVI A,15H\n\tOUT 80H\n{}\tJMP .", print("garbage\r\n"))
        }
        7 => format!("\tIM2\n\tMVI A,{value}\n\tSTAI\n\tEI\n\tJMP ."),
        8 => format!("\tJMP {}", 0x100 * (0x10 + random.below(0x70))),
        _ => format!(
            "\tMVI A,{value}\nLOOP:\tCALL SEND\n\tADI {}\n\tJMP LOOP",
            2 * random.below(9) + 1
        ),
    };
    WIPE.to_owned() + &end
}

/// Adds programs, and returns the exit code of each; `None` for one that crashes.
fn add_programs(programs: &Programs, seed: u64, count: usize) -> Vec<Option<usize>> {
    let mut random = Random(seed);
    let add = |index| {
        let name = format!("p{index:05}");
        let hello = print(&format!("program {index}\r\n"));
        let code = match random.below(3) {
            0 => None,
            1 => Some(0),
            _ => Some(random.byte()),
        };
        let end = code.map_or_else(
            || crash(&mut random),
            |code| format!("\tMVI A,{code}\n\tLXI H,5AA5H\n\tJMP FINISH"),
        );
        programs.add(&name, &(hello + &end));
        code
    };
    (0..count).map(add).collect()
}

/// Runs programs, and checks each verdict.
pub(super) fn check(seed: u64, count: usize, options: &[&str]) {
    let programs = Programs::new();
    let codes = add_programs(&programs, seed, count);
    let limits = ["--silence", "1s", "--timeout", "2s", "--report-dir", "out"];
    let (code, shown) = programs.run(&[options, &limits].concat());
    assert_eq!(code, Some(1), "{shown}");
    let junit = programs.junit("out");
    assert_eq!(junit.len(), count, "{options:?}");
    for (index, (code, (name, status))) in codes.iter().zip(&junit).enumerate() {
        assert_eq!(name, &format!("p{index:05}.ihx"));
        let status = status.as_deref();
        let is_right = match code {
            None => status.is_some_and(|why| !why.contains("exit code ")),
            Some(0) => status.is_none(),
            Some(code) => status == Some(&*format!("exit code {code}")),
        };
        assert!(is_right, "{options:?}, {name}: {code:?} expected, found {status:?}");
    }
}

#[test]
fn random_crashes_harm_no_verdict_but_their_own() {
    for (seed, options) in [
        (1, &[][..]),
        (2, &["--board", "rc2014-zed"]),
        (3, &["--board", "sc126"]),
        (4, &["--via", "scm"]),
        (5, &["--via", "romwbw"]),
        (6, &["--via", "cpm"]),
    ] {
        check(seed, 60, options);
    }
}
