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

/// A breakpoint at a label. What is empty is not given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Breakpoint {
    pub(crate) label: &'static str,
    pub(crate) condition: &'static str,
    pub(crate) hits: &'static str,
    pub(crate) log: &'static str,
    /// Commands after a halt, which only the command `break` takes.
    pub(crate) commands: &'static str,
}

/// A breakpoint that halts at every hit, without its label.
const AT: Breakpoint = Breakpoint { label: "", condition: "", hits: "", log: "", commands: "" };

impl Breakpoint {
    /// The command that sets it.
    pub(crate) fn command(&self) -> String {
        let Self { label, condition, hits, log, commands } = self;
        let parts = [("if", condition), ("hits", hits), ("log", log), ("do", commands)];
        let given = parts.into_iter().filter(|(_, text)| !text.is_empty());
        given.fold(format!("break {label}"), |line, (word, text)| format!("{line} {word} {text}"))
    }

    /// The number of the line with its label, from 1.
    pub(crate) fn line(&self) -> usize {
        let is_here =
            |line: &str| line.split_once(':').is_some_and(|(label, _)| label == self.label);
        1 + PROGRAM.lines().position(is_here).expect("the program has the label")
    }
}

/// Breakpoints, and motions with where they halt.
pub(crate) struct Session {
    pub(crate) breakpoints: &'static [Breakpoint],
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
        breakpoints: &[Breakpoint { label: "COUNT", condition: "B == 3", ..AT }],
        motions: &[(Run, ("COUNT", 3, 2, &[])), (Step, ("COUNT+1", 3, 3, &[]))],
    },
    // Hits: one, from one on, every second.
    Session {
        breakpoints: &[
            Breakpoint { label: "COUNT", hits: "== 2", ..AT },
            Breakpoint { label: "LOOP", condition: "B == 5", ..AT },
        ],
        motions: &[(Run, ("COUNT", 2, 1, &[])), (Run, ("LOOP", 5, 5, &[]))],
    },
    Session {
        breakpoints: &[Breakpoint { label: "COUNT", condition: "B > 1", hits: "2", ..AT }],
        motions: &[(Run, ("COUNT", 3, 2, &[])), (Run, ("COUNT", 4, 3, &[]))],
    },
    Session {
        breakpoints: &[Breakpoint { label: "COUNT", hits: "% 2", ..AT }],
        motions: &[(Run, ("COUNT", 2, 1, &[])), (Run, ("COUNT", 4, 3, &[]))],
    },
    // A log, also of hits, and with words of the command language in its text.
    Session {
        breakpoints: &[
            Breakpoint { label: "COUNT", log: "call {B}", ..AT },
            Breakpoint { label: "LOOP", condition: "B == 2", ..AT },
        ],
        motions: &[(Run, ("LOOP", 2, 2, &["call 01H (1)", "call 02H (2)"]))],
    },
    Session {
        breakpoints: &[
            Breakpoint { label: "COUNT", hits: "== 2", log: "only {B}", ..AT },
            Breakpoint { label: "LOOP", condition: "B == 3", ..AT },
        ],
        motions: &[(Run, ("LOOP", 3, 3, &["only 02H (2)"]))],
    },
    Session {
        breakpoints: &[
            Breakpoint { label: "COUNT", log: "what to do if it hits {B}", ..AT },
            Breakpoint { label: "LOOP", condition: "B == 1", ..AT },
        ],
        motions: &[(Run, ("LOOP", 1, 1, &["what to do if it hits 01H (1)"]))],
    },
    // Commands, some of which run the board.
    Session {
        breakpoints: &[Breakpoint {
            label: "COUNT",
            condition: "B == 2",
            commands: "print B; set HL = 1234H",
            ..AT
        }],
        motions: &[(Run, ("COUNT", 2, 0x1234, &["0002H = 2", "HL is 1234H"]))],
    },
    Session {
        breakpoints: &[Breakpoint {
            label: "COUNT",
            condition: "B == 2",
            commands: "to LOOP",
            ..AT
        }],
        motions: &[(Run, ("LOOP", 2, 2, &[]))],
    },
    Session {
        breakpoints: &[
            Breakpoint { label: "COUNT", commands: "send if, to log this; run", ..AT },
            Breakpoint { label: "LOOP", condition: "B == 1", ..AT },
        ],
        motions: &[(Run, ("LOOP", 1, 1, &["15 bytes sent"]))],
    },
    // Two breakpoints at one address: the commands of the one that halts.
    Session {
        breakpoints: &[
            Breakpoint { label: "COUNT", condition: "B == 9", commands: "set HL = 1111H", ..AT },
            Breakpoint { label: "COUNT", condition: "B == 2", commands: "set HL = 2222H", ..AT },
        ],
        motions: &[(Run, ("COUNT", 2, 0x2222, &["HL is 2222H"]))],
    },
    // Hit counts go back with time.
    Session {
        breakpoints: &[Breakpoint { label: "COUNT", hits: "== 3", ..AT }],
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
        breakpoints: &[
            Breakpoint { label: "COUNT", condition: "B == 4", ..AT },
            Breakpoint { label: "COUNT", condition: "B == 2", commands: "print 2 * B", ..AT },
        ],
        motions: &[
            (Run, ("COUNT", 2, 1, &["0004H = 4"])),
            (Run, ("COUNT", 4, 3, &[])),
            (RunBack, ("COUNT", 2, 1, &["0004H = 4"])),
        ],
    },
];
