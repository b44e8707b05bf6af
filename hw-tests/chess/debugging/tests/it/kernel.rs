//! The debug kernel on simulated boards, frame by frame: the state of a program that it preserves,
//! the requests that it rejects, and the T-states and stack that it uses.

use board_debugger::Machine;
use board_simulator::{BoardModel, QueueLine, Registers, StepOutcome};
use firmware::ProgramKind;
use firmware::build::{BuiltImage, build};
use firmware::profile::{BoardProfile, Uart, UartKind};
use firmware_wire::{
    Decoder, DecoderEvent, ErrorCode, MAX_BREAKPOINTS, Reply, Request, Role, StopReason,
    StoppedState,
};

/// One board with each serial chip.
const BOARDS: [&str; 4] = ["rc2014-classic", "rc2014-zed", "sc126", "rc2014-16c550"];
/// The program, and its stack.
const PROGRAM: u16 = 0x8100;
const STACK: u16 = 0x9000;
/// Limit for any reply: the time of two frames of maximum length, and processing.
const REPLY_TIMEOUT_T_STATES: u64 = 2_000_000;

struct Kernel {
    machine: Machine,
    image: BuiltImage,
    decoder: Decoder,
    seq: u8,
}

impl Kernel {
    /// Powers up a board and lets the monitor start the kernel.
    fn start(board: &str) -> (Self, StoppedState) {
        Self::start_on(&BoardProfile::named(board).expect("it ships"))
    }

    fn start_on(profile: &BoardProfile) -> (Self, StoppedState) {
        let board = &profile.name;
        let machine = Machine::new(profile);
        let mut machine = machine.unwrap_or_else(|error| panic!("{error}"));
        let image = build(profile, ProgramKind::Kernel).unwrap_or_else(|error| panic!("{error}"));
        let loaded = image.program.symbol("KLOAD").expect("the layout sets it");
        machine.run_until_idle();
        machine.board.bus_mut().load(loaded, &image.bytes);
        machine.jump_to(loaded);
        let mut kernel = Self { machine, image, decoder: Decoder::default(), seq: 1 };
        let Some((0, Reply::Stopped(state))) = kernel.next_reply() else {
            panic!("the kernel does not start")
        };
        assert_eq!((state.reason, state.stop_number), (StopReason::Started, 1), "{board}");
        (kernel, state)
    }

    fn board(&mut self) -> &mut BoardModel<QueueLine> {
        &mut self.machine.board
    }

    /// Waits for the next reply; returns `None` after the timeout.
    fn next_reply(&mut self) -> Option<(u8, Reply)> {
        let end = self.board().clock() + REPLY_TIMEOUT_T_STATES;
        while self.board().clock() < end {
            let received: Vec<u8> = self.board().line_mut().from_board.drain(..).collect();
            let rest = received.into_iter().filter_map(|byte| match self.decoder.push(byte) {
                Some(DecoderEvent::Frame(frame)) => {
                    Some((frame.seq, Reply::parse(frame.kind, &frame.payload).expect("a reply")))
                }
                _ => None,
            });
            let mut rest: Vec<_> = rest.collect();
            assert!(rest.len() <= 1, "{rest:?}");
            if let Some(found) = rest.pop() {
                return Some(found);
            }
            self.board().run_for(500);
        }
        None
    }

    fn request(&mut self, request: &Request) -> Reply {
        self.seq += 1;
        let frame = request.frame(self.seq).expect("it fits a frame").encode();
        self.board().line_mut().to_board.extend(frame);
        let (seq, reply) = self.next_reply().unwrap_or_else(|| panic!("no answer to {request:?}"));
        assert_eq!(seq, self.seq, "{request:?}");
        reply
    }

    /// Resumes the program, and waits until it halts again.
    fn resume(&mut self, state: &StoppedState, places: &[u16]) -> StoppedState {
        let places = places.to_vec();
        assert_eq!(
            self.request(&Request::Go { number: state.stop_number, places }),
            Reply::Resumed
        );
        let Some((0, Reply::Stopped(halted))) = self.next_reply() else {
            panic!("the program does not halt")
        };
        assert_eq!(
            (halted.reason, halted.stop_number),
            (StopReason::Restart, state.stop_number.wrapping_add(1))
        );
        halted
    }
}

/// A state in which every register has another value.
fn state(started: &StoppedState, interrupts: bool) -> StoppedState {
    let mut words: [u16; 12] = std::array::from_fn(|at| 0x1122 + at as u16 * 0x0F0B);
    words[..2].copy_from_slice(&[STACK, PROGRAM]);
    StoppedState { registers: words, i: 0xC0, r: 0x9A, interrupts_enabled: interrupts, ..*started }
}

fn words(registers: &Registers) -> [u16; 12] {
    let Registers { sp, pc, af, bc, de, hl, ix, iy, .. } = *registers;
    let Registers { af_alt, bc_alt, de_alt, hl_alt, .. } = *registers;
    [sp, pc, af, bc, de, hl, ix, iy, af_alt, bc_alt, de_alt, hl_alt]
}

#[test]
fn a_program_stopped_anywhere_resumes_unchanged() {
    // INC HL; EX AF,AF'; EXX; DEC DE; LD A,R; PUSH AF; POP BC; NOP
    let code = [0x23, 0x08, 0xD9, 0x1B, 0xED, 0x5F, 0xF5, 0xC1, 0x00, 0x00];
    let starts = [0, 1, 2, 3, 4, 6, 7, 8, 9];
    for board in BOARDS {
        for interrupts in [false, true] {
            let (mut kernel, started) = Kernel::start(board);
            kernel.board().bus_mut().load(PROGRAM, &code);
            // Without the kernel: the same registers, and step by step.
            let begin = state(&started, interrupts);
            let mut free = kernel.machine.board.clone();
            assert_eq!(kernel.request(&Request::SetRegisters(begin)), Reply::RegistersSet);
            assert_eq!(kernel.request(&Request::State), Reply::State(begin));
            let mut halted = begin;
            // DI or EI first, since registers do not tell whether interrupts are on.
            free.bus_mut().load(PROGRAM - 1, &[if interrupts { 0xFB } else { 0xF3 }]);
            let before = Registers { pc: PROGRAM - 1, r: begin.r - 1, ..registers(&begin) };
            free.set_registers(&before);
            free.advance();
            assert_eq!(free.registers(), registers(&begin));
            for next in &starts[1..] {
                halted = kernel.resume(&halted, &[PROGRAM + next]);
                while free.registers().pc != PROGRAM + next {
                    free.advance();
                }
                let free = free.registers();
                assert_eq!(halted.registers, words(&free), "{board}, {next}");
                assert_eq!((halted.i, halted.r), (free.i, free.r), "{board}, {next}");
                assert_eq!(halted.interrupts_enabled, interrupts);
                // The RST 6 is removed while the program is halted.
                assert_eq!(kernel.board().bus().dump(PROGRAM, code.len()), code);
            }
        }
    }
}

fn registers(state: &StoppedState) -> Registers {
    let [sp, pc, af, bc, de, hl, ix, iy, af_alt, bc_alt, de_alt, hl_alt] = state.registers;
    let StoppedState { i, r, .. } = *state;
    Registers { af, bc, de, hl, ix, iy, sp, pc, af_alt, bc_alt, de_alt, hl_alt, i, r }
}

#[test]
fn memory_is_read_and_changed_and_what_is_not_ram_is_refused() {
    for board in BOARDS {
        let (mut kernel, started) = Kernel::start(board);
        let data: Vec<u8> = (0..236).map(|byte| byte as u8 ^ 0x55).collect();
        let write = Request::Write { address: PROGRAM, data: data.clone() };
        assert_eq!(kernel.request(&write), Reply::Written { address: PROGRAM, count: 236 });
        let read = Request::Read { address: PROGRAM, count: 236 };
        assert_eq!(kernel.request(&read), Reply::Memory { address: PROGRAM, data });
        let rom = kernel.board().bus().dump(0x30, 3);
        let read = Request::Read { address: 0x30, count: 3 };
        assert_eq!(kernel.request(&read), Reply::Memory { address: 0x30, data: rom.clone() });
        let refused = kernel.request(&Request::Write { address: 0x30, data: vec![!rom[0]] });
        let Reply::Error(error) = refused else { panic!("{refused:?}") };
        assert_eq!((error.code, error.detail), (ErrorCode::ReadBack, 0x30));
        // An address in ROM: the program does not resume, and the other addresses are unchanged.
        let before = kernel.board().bus().peek(PROGRAM + 4);
        let places = vec![PROGRAM + 4, 0x0100, PROGRAM + 8];
        let refused = kernel.request(&Request::Go { number: started.stop_number, places });
        let Reply::Error(error) = refused else { panic!("{refused:?}") };
        assert_eq!((error.code, error.detail), (ErrorCode::ReadBack, 0x0100));
        assert_eq!(kernel.board().bus().peek(PROGRAM + 4), before);
        assert_eq!(kernel.request(&Request::State), Reply::State(started));
    }
}

#[test]
fn a_repeated_go_request_runs_once_and_invalid_ones_are_refused() {
    let (mut kernel, started) = Kernel::start("rc2014-classic");
    kernel.board().bus_mut().load(PROGRAM, &[0; 200]);
    kernel.request(&Request::SetRegisters(state(&started, false)));
    let places: Vec<u16> = (1..=MAX_BREAKPOINTS as u16).map(|at| PROGRAM + at).collect();
    let halted = kernel.resume(&started, &places);
    assert_eq!(halted.registers[1], PROGRAM + 1);
    let again =
        kernel.request(&Request::Go { number: started.stop_number, places: places.clone() });
    let Reply::Error(error) = again else { panic!("{again:?}") };
    assert_eq!(error.code, ErrorCode::BadArgument);
    let too_many = [&places[..], &[PROGRAM]].concat();
    let refused = kernel.request(&Request::Go { number: halted.stop_number, places: too_many });
    let Reply::Error(error) = refused else { panic!("{refused:?}") };
    assert_eq!(error.code, ErrorCode::BadLength);
    let refused = kernel.request(&Request::Crc { address: 0, length: 1 });
    let Reply::Error(error) = refused else { panic!("{refused:?}") };
    assert_eq!(error.code, ErrorCode::UnknownType);
    let Reply::Identity(identity) = kernel.request(&Request::Identify) else { panic!() };
    assert_eq!((identity.role, identity.build_id), (Role::Kernel, kernel.image.build));
    assert_eq!(kernel.request(&Request::State), Reply::State(halted));
}

#[test]
fn a_corrupted_frame_is_ignored_and_the_next_one_gets_a_reply() {
    for board in BOARDS {
        let (mut kernel, started) = Kernel::start(board);
        let good = Request::Read { address: 0, count: 1 }.frame(9).expect("it fits").encode();
        for at in 1..good.len() - 1 {
            for change in [0xFF, 0x00] {
                let mut bad = good.clone();
                bad[at] = if change == 0 { 0 } else { bad[at] ^ change };
                kernel.board().line_mut().to_board.extend(bad);
                assert_eq!(kernel.request(&Request::State), Reply::State(started), "{board}, {at}");
            }
        }
        kernel.board().line_mut().to_board.extend([0x55; 600]);
        kernel.board().line_mut().to_board.extend([0; 40]);
        assert_eq!(kernel.request(&Request::State), Reply::State(started), "{board}");
    }
}

#[test]
fn the_monitor_comes_back_by_reset_and_stays() {
    for board in BOARDS {
        let (mut kernel, _) = Kernel::start(board);
        assert_eq!(kernel.request(&Request::Reset), Reply::Resetting);
        kernel.machine.run_until_idle();
        kernel.machine.take_replies();
        let Reply::Identity(identity) = kernel.request(&Request::Identify) else { panic!() };
        assert_eq!(identity.role, Role::Monitor, "{board}");
    }
}

/// A program that turns the transmitter off at once.
fn transmitter_off(uart: &Uart) -> Vec<u8> {
    let (value, port) = match uart.kind {
        UartKind::Acia => (0x03, uart.control_port), // master reset
        UartKind::Sio => (0x18, uart.control_port),  // channel reset
        UartKind::Asci => (0x00, uart.control_port - 4), // CNTLA0 without TE
        UartKind::Ns550 => (0x04, uart.control_port - 3), // FCR: the FIFO is emptied
    };
    let output: &[u8] = if uart.kind == UartKind::Asci { &[0xED, 0x39] } else { &[0xD3] };
    [&[0x3E, value], output, &[port, 0x18, 0xFE]].concat()
}

#[test]
fn the_reply_to_reset_and_go_is_complete_at_each_speed_of_the_line() {
    for board in BOARDS {
        let profile = BoardProfile::named(board).expect("it ships");
        // A Z180 divides its own clock.
        let bauds = if profile.is_z180() { &[][..] } else { &profile.uart.other_bauds };
        for baud in bauds.iter().chain([&profile.uart.baud]) {
            let mut slow = profile.clone();
            slow.uart.clock_hz = slow.uart.clock_hz * u64::from(*baud) / u64::from(slow.uart.baud);
            slow.uart.baud = *baud;
            let (mut kernel, started) = Kernel::start_on(&slow);
            kernel.board().bus_mut().load(PROGRAM, &transmitter_off(&profile.uart));
            kernel.request(&Request::SetRegisters(state(&started, false)));
            let go = Request::Go { number: started.stop_number, places: Vec::new() };
            assert_eq!(kernel.request(&go), Reply::Resumed, "{board} at {baud} baud");
            let (mut kernel, _) = Kernel::start_on(&slow);
            let reply = kernel.request(&Request::Reset);
            assert_eq!(reply, Reply::Resetting, "{board} at {baud} baud");
        }
    }
}

#[test]
fn halting_and_resuming_take_the_t_states_and_the_stack_of_the_contract() {
    let source = include_str!("../../../../../firmware/z80/debug.asm");
    // Its figures are those of a Z80.
    for board in BOARDS.into_iter().filter(|board| *board != "sc126") {
        let mut took = Vec::new();
        for interrupts in [false, true] {
            let (mut kernel, started) = Kernel::start(board);
            kernel.board().bus_mut().load(PROGRAM, &[0; 8]);
            kernel.request(&Request::SetRegisters(state(&started, interrupts)));
            let below = STACK - 8;
            kernel.board().bus_mut().load(below, &[0x5A; 8]);
            let symbol = |name| kernel.image.program.symbol(name).expect("it has one");
            let (free, goes) = (symbol("FREE"), symbol("GOES"));
            let go = Request::Go { number: started.stop_number, places: vec![PROGRAM + 1] };
            let frame = go.frame(7).expect("it fits a frame").encode();
            kernel.board().line_mut().to_board.extend(frame);
            let went = t_states_between(kernel.board(), goes, PROGRAM);
            let halted = t_states_between(kernel.board(), PROGRAM + 1, free);
            took.push((halted, went));
            let stack = kernel.board().bus().dump(below, 8);
            assert_eq!(stack[..4], [0x5A; 4], "{board}: four bytes of stack");
            assert_ne!(stack[4..], [0x5A; 4], "{board}");
        }
        let [(most, off), (least, on)] = took[..] else { panic!("{took:?}") };
        let halted = format!("{least}..{most} until all is saved");
        let goes = format!("GOES takes {off}..{on}");
        let is_documented = source.contains(&halted) && source.contains(&goes);
        assert!(is_documented, "{board}: {halted}, {goes}");
    }
}

/// T-states from one address to another.
fn t_states_between(board: &mut BoardModel<QueueLine>, from: u16, to: u16) -> u64 {
    let mut clocks = Vec::new();
    for address in [from, to] {
        let end = board.clock() + REPLY_TIMEOUT_T_STATES;
        while board.registers().pc != address {
            assert!(board.clock() < end, "{address:04X}H is not reached");
            assert_ne!(board.advance(), StepOutcome::Idle);
        }
        clocks.push(board.clock());
    }
    clocks[1] - clocks[0]
}
