//! Sessions on a target whose line fails at random.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use board_debugger::commands::execute;
use board_debugger::{
    DebugKernel, Debugger, HaltReason, KernelError, board_with_program, open_program,
};
use board_simulator::{BoardModel, QueueLine, Registers};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::{StopReason, StoppedState};

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
/// Instructions between two polls of a running program.
const STEPS_PER_WAIT: u64 = 500;
/// The address of RST 6 in ROM.
const RST_6: u16 = 0x0030;
const RST_6_OPCODE: u8 = 0xF7;

/// A kernel that holds a simulated board, over a line that fails at random.
struct FaultyKernel {
    begin: BoardModel<QueueLine>,
    jump: [u8; 3],
    board: BoardModel<QueueLine>,
    number: u8,
    addresses: Vec<u16>,
    faults: Arc<Mutex<Faults>>,
}

/// The faults of the line.
struct Faults {
    random: Random,
    /// How many of a hundred requests fail.
    percent: u64,
}

impl FaultyKernel {
    fn request(&mut self) -> Result<(), KernelError> {
        let Faults { random, percent } = &mut *self.faults.lock().expect("one thread");
        match random.below(100) < *percent {
            true => Err(KernelError::Line("the board does not reply".to_owned())),
            false => Ok(()),
        }
    }

    fn state(&self, reason: StopReason) -> StoppedState {
        let Registers { sp, pc, af, bc, de, hl, ix, iy, .. } = self.board.registers();
        let Registers { af_alt, bc_alt, de_alt, hl_alt, i, r, .. } = self.board.registers();
        let registers = [sp, pc, af, bc, de, hl, ix, iy, af_alt, bc_alt, de_alt, hl_alt];
        StoppedState {
            stop_number: self.number,
            reason,
            registers,
            i,
            r,
            interrupts_enabled: self.board.interrupt_state().0,
        }
    }
}

impl DebugKernel for FaultyKernel {
    fn start(&mut self, _loaded: u16, _image: &[u8]) -> Result<StoppedState, KernelError> {
        self.request()?;
        self.board = self.begin.clone();
        self.number = 1;
        Ok(self.state(StopReason::Started))
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn take_output(&mut self) -> Vec<u8> {
        Vec::new()
    }

    fn set_registers(&mut self, state: &StoppedState) -> Result<(), KernelError> {
        self.request()?;
        let [sp, pc, af, bc, de, hl, ix, iy, af_alt, bc_alt, de_alt, hl_alt] = state.registers;
        let StoppedState { i, r, .. } = *state;
        let registers =
            Registers { sp, pc, af, bc, de, hl, ix, iy, af_alt, bc_alt, de_alt, hl_alt, i, r };
        self.board.set_registers(&registers);
        Ok(())
    }

    fn read(&mut self, address: u16, count: usize) -> Result<Vec<u8>, KernelError> {
        self.request()?;
        match address {
            RST_6 => Ok(self.jump[..count].to_vec()),
            _ => Ok(self.board.bus().dump(address, count)),
        }
    }

    fn write(&mut self, address: u16, bytes: &[u8]) -> Result<(), KernelError> {
        self.request()?;
        if address < 0x8000 {
            return Err(KernelError::NotWritable(address));
        }
        self.board.bus_mut().load(address, bytes);
        Ok(())
    }

    fn resume(&mut self, number: u8, addresses: &[u16]) -> Result<(), KernelError> {
        self.request()?;
        assert_eq!(number, self.number, "the number of the halt");
        self.addresses = addresses.to_vec();
        Ok(())
    }

    fn wait_until_receiving(&mut self) -> Result<(), KernelError> {
        self.request()
    }

    fn wait(&mut self, _timeout: Duration) -> Result<Option<StoppedState>, KernelError> {
        self.request()?;
        for _ in 0..STEPS_PER_WAIT {
            let pc = self.board.registers().pc;
            if self.addresses.contains(&pc) || self.board.bus().peek(pc) == RST_6_OPCODE {
                self.number = self.number.wrapping_add(1);
                return Ok(Some(self.state(StopReason::Restart)));
            }
            self.board.advance();
        }
        Ok(None)
    }

    fn break_in(&mut self) -> Result<Option<StoppedState>, KernelError> {
        self.request()?;
        Ok(None)
    }

    fn send(&mut self, _bytes: &[u8]) -> Result<(), KernelError> {
        self.request()
    }
}

/// Opens the program on the board.
fn open(faults: &Arc<Mutex<Faults>>) -> Debugger {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let load = || program(PROGRAM, &profile);
    let (board, _) = board_with_program(&profile, load()).unwrap_or_else(|error| panic!("{error}"));
    let image = build(&profile, ProgramKind::Kernel).expect("it is built");
    let [low, high] = image.program.symbol("KVECT").expect("its entry").to_le_bytes();
    let kernel = FaultyKernel {
        begin: board.clone(),
        jump: [0xC3, low, high],
        board,
        number: 0,
        addresses: Vec::new(),
        faults: Arc::clone(faults),
    };
    let opened = open_program(&profile, load(), Some(Box::new(kernel)));
    opened.unwrap_or_else(|error| panic!("{error}"))
}

fn play(debugger: &mut Debugger, random: &mut Random) {
    let mut expected = Expected::default();
    for _ in 0..4 + random.below(16) {
        match random.below(8) {
            0 | 1 => expected.change(debugger, random),
            2 => debugger.poke(0x9000, &[random.next() as u8]),
            3 if random.one_in(5) => _ = debugger.restart(),
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
    let mut debugger = open(&faults);
    for session in 0..session_count() / 5 {
        println!("session {session}");
        let mut random = Random::new(session);
        *faults.lock().expect("one thread") = Faults {
            random: Random::new(session ^ 0x5555),
            percent: [0, 3, 20][random.below(3) as usize],
        };
        play(&mut debugger, &mut random);
        faults.lock().expect("one thread").percent = 0;
        run(&mut debugger, "delete all");
        // Also a program that runs without a breakpoint, which can't be stopped.
        assert_eq!(debugger.restart(), HaltReason::HistoryStart, "{:?}", debugger.last_error());
        assert_eq!(debugger.registers().pc, debugger.code().symbol("START").expect("a label"));
    }
}
