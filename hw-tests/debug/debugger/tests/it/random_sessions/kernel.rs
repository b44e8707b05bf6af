//! Sessions on a target whose line fails at random.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use board_debugger::commands::execute;
use board_debugger::{Debugger, HaltReason, KernelLine, open_program};
use board_simulator::Probe;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use hil_harness::board::{Board, InProcessBoard, ResetFn};
use rcflash_link::Link;
use rcflash_transport::Transport;

use super::{Expected, Random, motion, program, run, session_count};

/// It counts calls and writes to memory; its stack is below the kernel.
const PROGRAM: &str = "        .LOC .PROG.
START:  LXI SP,0EF00H
        LXI H,TABLE
        MVI B,0
LOOP:   INR B
        CALL COUNT
        JMPR LOOP
COUNT:  INR M
        RNZ
        INX H
        RET
TABLE:  .BLKB 16
        .END START
";
const BAUD: u32 = 115_200;
/// The longest wait for a running program between two polls of the caller. Waits for replies are
/// longer.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A line that fails at random, but loses no reply: the kernel's client would wait for it again and
/// again, while the simulated program runs.
struct FaultyLine {
    line: Box<dyn Transport + Send>,
    faults: Arc<Mutex<Faults>>,
}

/// The faults of the line.
struct Faults {
    random: Random,
    /// How many of a hundred requests fail.
    percent: u64,
}

impl FaultyLine {
    fn fail_at_random(&self) -> io::Result<()> {
        let Faults { random, percent } = &mut *self.faults.lock().expect("one thread");
        match random.below(100) < *percent {
            true => Err(io::Error::other("the adapter was unplugged")),
            false => Ok(()),
        }
    }
}

impl Transport for FaultyLine {
    fn name(&self) -> &str {
        self.line.name()
    }

    fn inner(&self) -> Option<&dyn Transport> {
        Some(&*self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        Some(&mut *self.line)
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        if timeout <= POLL_INTERVAL {
            self.fail_at_random()?;
        }
        self.line.read(buffer, timeout)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.fail_at_random()?;
        self.line.write(bytes, deadline)
    }
}

/// Opens the program on a simulated board; also returns the board's reset button.
fn open(faults: &Arc<Mutex<Faults>>) -> (Debugger, ResetFn) {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let monitor = build(&profile, ProgramKind::Monitor).expect("it is built");
    let mut board = InProcessBoard::new(&profile, &monitor.bytes, Probe::default());
    let reset = board.reset_fn().expect("a simulated board has a reset");
    let line = board.open().expect("a line within this process");
    let line = FaultyLine { line, faults: Arc::clone(faults) };
    let kernel = KernelLine::new(Link::new(Box::new(line), BAUD), board);
    let opened = open_program(&profile, program(PROGRAM, &profile), Some(kernel));
    (opened.unwrap_or_else(|error| panic!("{error}")), reset)
}

fn play(debugger: &mut Debugger, reset: &ResetFn, random: &mut Random) {
    let mut expected = Expected::default();
    for _ in 0..4 + random.below(16) {
        match random.below(8) {
            0 | 1 => expected.change(debugger, random),
            2 => debugger.poke(0x9000, &[random.next() as u8]),
            3 if random.one_in(5) => {
                reset();
                debugger.restart();
            }
            _ => {
                let line = motion(random, debugger.step_count());
                let mut polls = 0;
                let _ = execute(debugger, &line, &mut |debugger| {
                    polls += 1;
                    if random.one_in(3) {
                        expected.change(debugger, random);
                    }
                    polls > 4
                });
            }
        }
        expected.check(debugger);
    }
}

#[test]
fn any_session_on_a_line_that_fails_keeps_its_breakpoints() {
    let faults = Arc::new(Mutex::new(Faults { random: Random::new(0), percent: 0 }));
    let (mut debugger, reset) = open(&faults);
    for session in 0..session_count() / 5 {
        println!("session {session}");
        let mut random = Random::new(session);
        *faults.lock().expect("one thread") = Faults {
            random: Random::new(session ^ 0x5555),
            percent: [0, 3, 20][random.below(3) as usize],
        };
        play(&mut debugger, &reset, &mut random);
        faults.lock().expect("one thread").percent = 0;
        run(&mut debugger, "delete all");
        // Also a program that runs without a breakpoint, which can't be stopped.
        reset();
        assert_eq!(debugger.restart(), HaltReason::HistoryStart, "{:?}", debugger.last_error());
        assert_eq!(debugger.registers().pc, debugger.code().symbol("START").expect("a label"));
    }
}
