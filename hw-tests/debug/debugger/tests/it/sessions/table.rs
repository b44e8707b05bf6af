//! Sessions that have the same course in every front end: breakpoints with conditions, hits, logs
//! and commands.

/// A program that calls a routine for ever, with the number of the call in B.
pub(crate) const PROGRAM: &str = "        .LOC .PROG.
START:  LXI SP,0FF00H
        LXI H,0
        MVI B,0
LOOP:   INR B
        CALL COUNT
        JMPR LOOP
COUNT:  INX H
        RET
        .END START
";

/// A motion, by the means of the front end itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Motion {
    /// Forward to a breakpoint.
    Run,
    /// Back to a breakpoint.
    RunBack,
    /// One instruction.
    Step,
    /// One instruction back.
    StepBack,
}

/// Where a motion halted, and what was logged on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    /// The label at PC, or else the nearest one with the distance.
    pub(crate) place: String,
    pub(crate) b: u16,
    pub(crate) hl: u16,
    pub(crate) log: Vec<String>,
}

/// Where a motion halts: label, B, HL and log.
type ExpectedStop = (&'static str, u16, u16, &'static [&'static str]);

/// Commands that set breakpoints, and motions with where they halt.
pub(crate) struct Session {
    pub(crate) breakpoints: &'static [&'static str],
    pub(crate) motions: &'static [(Motion, ExpectedStop)],
}

impl Session {
    /// Checks what a front end returned for each motion.
    pub(crate) fn check(&self, front_end: &str, stops: &[Stop]) {
        let expected = self.motions.iter().map(|(_, (place, b, hl, log))| Stop {
            place: (*place).to_owned(),
            b: *b,
            hl: *hl,
            log: log.iter().map(|line| (*line).to_owned()).collect(),
        });
        assert_eq!(stops, expected.collect::<Vec<_>>(), "{front_end}: {:?}", self.breakpoints);
    }
}

use Motion::{Run, RunBack, Step, StepBack};

pub(crate) const SESSIONS: [Session; 13] = [
    // A condition.
    Session {
        breakpoints: &["break COUNT if B == 3"],
        motions: &[(Run, ("COUNT", 3, 2, &[])), (Step, ("COUNT+1", 3, 3, &[]))],
    },
    // Hits: one, from one on, every second.
    Session {
        breakpoints: &["break COUNT hits == 2", "break LOOP if B == 5"],
        motions: &[(Run, ("COUNT", 2, 1, &[])), (Run, ("LOOP", 5, 5, &[]))],
    },
    Session {
        breakpoints: &["break COUNT if B > 1 hits 2"],
        motions: &[(Run, ("COUNT", 3, 2, &[])), (Run, ("COUNT", 4, 3, &[]))],
    },
    Session {
        breakpoints: &["break COUNT hits % 2"],
        motions: &[(Run, ("COUNT", 2, 1, &[])), (Run, ("COUNT", 4, 3, &[]))],
    },
    // A log, also of hits, and with words of the command language in its text.
    Session {
        breakpoints: &["break COUNT log call {B}", "break LOOP if B == 2"],
        motions: &[(Run, ("LOOP", 2, 2, &["call 01H (1)", "call 02H (2)"]))],
    },
    Session {
        breakpoints: &["break COUNT hits == 2 log only {B}", "break LOOP if B == 3"],
        motions: &[(Run, ("LOOP", 3, 3, &["only 02H (2)"]))],
    },
    Session {
        breakpoints: &["break COUNT log what to do if it hits {B}", "break LOOP if B == 1"],
        motions: &[(Run, ("LOOP", 1, 1, &["what to do if it hits 01H (1)"]))],
    },
    // Commands, some of which run the board.
    Session {
        breakpoints: &["break COUNT if B == 2 do print B; set HL = 1234H"],
        motions: &[(Run, ("COUNT", 2, 0x1234, &["0002H = 2", "HL is 1234H"]))],
    },
    Session {
        breakpoints: &["break COUNT if B == 2 do to LOOP"],
        motions: &[(Run, ("LOOP", 2, 2, &[]))],
    },
    Session {
        breakpoints: &["break COUNT do print to log this; run", "break LOOP if B == 1"],
        motions: &[(Run, ("LOOP", 1, 1, &["print to log this: unknown name 'to'"]))],
    },
    // Two breakpoints at one address: the commands of the one that halts.
    Session {
        breakpoints: &[
            "break COUNT if B == 9 do set HL = 1111H",
            "break COUNT if B == 2 do set HL = 2222H",
        ],
        motions: &[(Run, ("COUNT", 2, 0x2222, &["HL is 2222H"]))],
    },
    // Hit counts go back with time.
    Session {
        breakpoints: &["break COUNT hits == 3"],
        motions: &[
            (Run, ("COUNT", 3, 2, &[])),
            (RunBack, ("COUNT", 2, 1, &[])),
            (RunBack, ("COUNT", 1, 0, &[])),
            (Run, ("COUNT", 3, 2, &[])),
            (StepBack, ("LOOP+1", 3, 2, &[])),
            (StepBack, ("LOOP", 2, 2, &[])),
            (Run, ("COUNT", 3, 2, &[])),
        ],
    },
    // Back to the breakpoint that holds, with its commands.
    Session {
        breakpoints: &["break COUNT if B == 4", "break COUNT if B == 2 do print 2 * B"],
        motions: &[
            (Run, ("COUNT", 2, 1, &["0004H = 4"])),
            (Run, ("COUNT", 4, 3, &[])),
            (RunBack, ("COUNT", 2, 1, &["0004H = 4"])),
        ],
    },
];
