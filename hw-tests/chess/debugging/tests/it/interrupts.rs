//! Interrupts: a byte that arrives at the first or the last T-state of any instruction of a routine
//! of the evaluator changes nothing but the receive ring.

use std::collections::BTreeSet;

use board_simulator::board_spec;
use board_simulator::{BoardModel, QueueLine, Registers, RunStop};
use firmware::ProgramKind;
use firmware::build::{BuiltImage, build_with_sources};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use firmware_wire::Request;
use sargon_corpus::encode;
use sargon_corpus::{Case, CaseInput, builtin_corpus};
use sargon_reference::{Square, parse_fen};

/// Both sides attack e4, and since one piece is pinned, ATTACK calls PNCK for each.
const BATTLE: &str = "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -";
/// Pins against king and queen; one is of a queen by a queen, so that PINFND calls ATTACK to count
/// its defenders.
const PINS: &str = "3qr1k1/8/8/b6b/3N4/2N2P2/4B3/R2QK2R w - -";
/// Two pieces of a kind on one file, so that a byte of the array has two entries.
const PAIR: &str = "4k3/8/8/8/4p3/3KQ3/4R3/4R3 w - -";
/// The byte that arrives; its value is arbitrary.
const BYTE: u8 = 0xA5;
/// The address bit that is set at the end of the receive ring (ring.asm).
const RING_BIT: u16 = 0x0400;
/// Limit of T-states for a routine to return.
const MAX_ROUTINE_T_STATES: u64 = 100_000;
/// T-states between snapshots of an uninterrupted call. Each interrupted call starts from the last
/// one before the interrupt.
const SNAPSHOT_INTERVAL_T_STATES: u64 = 500;
/// Maximum number of bytes that a routine and the interrupt service may push.
const STACK_USED: u16 = 64;

/// The application on its board, waiting for requests.
struct Machine {
    board: BoardModel<QueueLine>,
    app: BuiltImage,
}

/// A state to which the board can be restored.
struct Snapshot {
    registers: Registers,
    memory: Box<[u8; 0x1_0000]>,
    /// T-states since the routine was entered.
    past: u64,
}

/// The state at the entry of a routine, and its return address.
struct Entry {
    moment: Snapshot,
    home: u16,
}

/// The end of a call.
struct CallResult {
    registers: Registers,
    memory: Box<[u8; 0x1_0000]>,
    /// T-states without those of the interrupt service.
    t_states: u64,
    /// Program counter when the interrupt was accepted.
    interrupted_at: Option<u16>,
}

/// The record of a call without an interrupt.
struct UninterruptedCall {
    ended: CallResult,
    /// The addresses of all executed instructions.
    places: BTreeSet<u16>,
    /// T-states from the entry to the first and to the last T-state of each instruction.
    offsets: BTreeSet<u64>,
    /// Snapshots in order of time; the first is at the entry.
    moments: Vec<Snapshot>,
}

/// Builds the application; `replaced` are sources that replace those of the same name.
fn application(behaviour: Behaviour, replaced: &[(&str, &str)]) -> BuiltImage {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let evaluator = Evaluator { behaviour, own: None };
    build_with_sources(&profile, ProgramKind::Application, &evaluator, replaced)
        .unwrap_or_else(|error| panic!("{error}"))
}

impl Machine {
    /// Starts the application.
    fn start(behaviour: Behaviour) -> Self {
        let app = application(behaviour, &[]);
        let spec = board_spec(&BoardProfile::named("rc2014-classic").expect("it ships"));
        let mut board = BoardModel::new(spec, &[0xC3, 0x00, 0x80], QueueLine::default());
        board.bus_mut().load(app.address, &app.bytes);
        while board.run_for(MAX_ROUTINE_T_STATES) != RunStop::Idle {}
        Self { board, app }
    }

    fn symbol(&self, name: &str) -> u16 {
        self.app.program.symbol(name).unwrap_or_else(|| panic!("no {name}"))
    }

    fn peek(&self, name: &str) -> u8 {
        self.board.bus().peek(self.symbol(name))
    }

    /// Sends a request and runs to the entry of `routine`, for the square if one is given.
    fn run_up_to(&mut self, request: &Request, routine: &str, square: Option<Square>) -> Entry {
        let frame = request.frame(1).expect("it fits a frame");
        self.board.line_mut().to_board.extend(frame.encode());
        let entry = self.symbol(routine);
        let is_there = |machine: &Self| {
            machine.board.registers().pc == entry
                && square.is_none_or(|square| machine.peek("M3") == encode::square(square))
        };
        while !is_there(self) {
            assert_eq!(self.board.run_for(1), RunStop::TimeElapsed, "{routine} is not reached");
        }
        let moment = self.moment(0);
        let sp = moment.registers.sp;
        let home = u16::from_le_bytes([moment.at(sp), moment.at(sp + 1)]);
        Entry { moment, home }
    }

    /// Takes a snapshot, `past` T-states after the entry.
    fn moment(&self, past: u64) -> Snapshot {
        let memory = self.board.bus().memory();
        Snapshot { registers: self.board.registers(), memory, past }
    }

    /// Restores a snapshot; returns the clock at the entry, without interrupt service.
    fn restore(&mut self, to: &Snapshot) -> u64 {
        self.board.bus_mut().load(0, &*to.memory);
        self.board.set_registers(&to.registers);
        self.board.clock() - self.board.service_time() - to.past
    }

    fn has_returned(&self, entry: &Entry) -> bool {
        let now = self.board.registers();
        let sp = entry.moment.registers.sp + 2;
        now.pc == entry.home && now.sp == sp && !self.board.in_service()
    }

    /// Returns the result of the call that was entered at this time, without interrupt service.
    fn ended(&self, entered: u64, interrupted_at: Option<u16>) -> CallResult {
        let t_states = self.board.clock() - self.board.service_time() - entered;
        let registers = Registers { r: 0, ..self.board.registers() };
        CallResult { registers, memory: self.board.bus().memory(), t_states, interrupted_at }
    }

    /// Runs the routine to its end without an interrupt.
    fn call(&mut self, entry: &Entry) -> Result<UninterruptedCall, String> {
        let entered = self.restore(&entry.moment);
        let (mut places, mut offsets) = (BTreeSet::new(), BTreeSet::new());
        let mut moments = Vec::<Snapshot>::new();
        while !self.has_returned(entry) {
            let past = self.board.clock() - self.board.service_time() - entered;
            if past > MAX_ROUTINE_T_STATES {
                return Err("it does not return".to_owned());
            }
            if moments.last().is_none_or(|last| past >= last.past + SNAPSHOT_INTERVAL_T_STATES) {
                moments.push(self.moment(past));
            }
            places.insert(self.board.registers().pc);
            self.board.run_for(1);
            let next = self.board.clock() - self.board.service_time() - entered;
            offsets.extend([past, next - 1]);
        }
        Ok(UninterruptedCall { ended: self.ended(entered, None), places, offsets, moments })
    }

    /// Runs the routine to its end from a snapshot; the serial chip receives a byte `offset`
    /// T-states after the entry.
    fn call_interrupted(
        &mut self,
        entry: &Entry,
        from: &Snapshot,
        offset: u64,
    ) -> Result<CallResult, String> {
        let entered = self.restore(from);
        let began = self.board.clock();
        self.board.receive_at(BYTE, began + offset - from.past);
        while !self.board.in_service() {
            if self.board.clock() - began > MAX_ROUTINE_T_STATES {
                return Err("the byte is not noticed".to_owned());
            }
            let before = self.board.registers().pc;
            self.board.run_for(1);
            if self.board.in_service() {
                return self.finish_call(entry, entered, before);
            }
        }
        Err("an interrupt was accepted before the byte".to_owned())
    }

    /// Runs an interrupted routine to its end.
    fn finish_call(&mut self, entry: &Entry, entered: u64, at: u16) -> Result<CallResult, String> {
        let began = self.board.clock();
        while !self.has_returned(entry) {
            if self.board.clock() - began > MAX_ROUTINE_T_STATES {
                return Err("it does not return".to_owned());
            }
            self.board.run_for(1);
        }
        Ok(self.ended(entered, Some(at)))
    }

    /// Interrupts a routine at each of its instructions, twice; returns the addresses of the
    /// interrupts.
    fn interrupt_everywhere(&mut self, entry: &Entry) -> Result<BTreeSet<u16>, String> {
        let quiet = self.call(entry)?;
        let expected = self.with_byte_received(&entry.moment, &quiet.ended);
        let mut interrupted = BTreeSet::new();
        for &offset in &quiet.offsets {
            let after = quiet.moments.partition_point(|moment| moment.past <= offset);
            let ended = self.call_interrupted(entry, &quiet.moments[after - 1], offset)?;
            let at = ended.interrupted_at.unwrap_or_default();
            compare_results(&quiet.ended, &expected, &ended)
                .map_err(|problem| format!("{offset} T-states on, at {at:04X}h: {problem}"))?;
            interrupted.insert(at);
        }
        let mut boundaries = quiet.places;
        boundaries.insert(quiet.ended.registers.pc);
        assert_eq!(interrupted, boundaries, "where it was interrupted, and all its instructions");
        Ok(interrupted)
    }

    /// Returns the memory expected after an undisturbed call, with the byte in the ring.
    fn with_byte_received(&self, from: &Snapshot, quiet: &CallResult) -> Box<[u8; 0x1_0000]> {
        let mut memory = quiet.memory.clone();
        let rxin = self.symbol("RXIN");
        let slot = u16::from_le_bytes([from.at(rxin), from.at(rxin + 1)]);
        memory[usize::from(slot)] = BYTE;
        let next = (slot + 1) & !RING_BIT;
        memory[usize::from(rxin)..][..2].copy_from_slice(&next.to_le_bytes());
        memory
    }
}

impl Snapshot {
    fn at(&self, address: u16) -> u8 {
        self.memory[usize::from(address)]
    }
}

/// Checks that an interrupted call has the result of the uninterrupted one, except for memory below
/// the stack pointer.
fn compare_results(
    quiet: &CallResult,
    expected: &[u8; 0x1_0000],
    ended: &CallResult,
) -> Result<(), String> {
    if ended.registers != quiet.registers {
        return Err(format!("{:X?}, else {:X?}", ended.registers, quiet.registers));
    }
    if ended.t_states != quiet.t_states {
        return Err(format!("{} T-states, else {}", ended.t_states, quiet.t_states));
    }
    let top = usize::from(quiet.registers.sp);
    let below = top - usize::from(STACK_USED);
    for part in [0..below, top..0x1_0000] {
        if ended.memory[part.clone()] != expected[part.clone()] {
            let differs = |at: &usize| ended.memory[*at] != expected[*at];
            let at = part.into_iter().find(differs).unwrap_or_default();
            return Err(format!(
                "memory at {at:04X}h {:02X}, not {:02X}",
                ended.memory[at], expected[at]
            ));
        }
    }
    Ok(())
}

/// Interrupts `routine` at every instruction in these requests, for the square if one is given;
/// together they execute the other addresses, too.
fn nothing_changes(
    requests: &[Request],
    routine: &str,
    square: Option<Square>,
    behaviour: Behaviour,
    others: &[&str],
) {
    let mut machine = Machine::start(behaviour);
    let mut places = BTreeSet::new();
    for request in requests {
        let entry = machine.run_up_to(request, routine, square);
        let disturbed = machine.interrupt_everywhere(&entry);
        places.extend(disturbed.unwrap_or_else(|e| panic!("{behaviour}, {request:?}: {e}")));
        while machine.board.run_for(MAX_ROUTINE_T_STATES) != RunStop::Idle {}
    }
    for other in others {
        // Several modules may define a label of this name.
        let mut symbols = machine.app.program.symbols.iter().filter(|one| one.name == *other);
        let passed = symbols.any(|one| places.contains(&one.value));
        assert!(passed, "{routine} without {other}");
    }
}

fn position(fen: &str) -> Request {
    let position = parse_fen(fen).expect("a position");
    Request::Position { squares: encode::squares(&position) }
}

/// The exchanges of the corpus that are given as arrays.
fn exchanges() -> Vec<Request> {
    let cases = builtin_corpus().unwrap_or_else(|error| panic!("{error}"));
    let request = |case: &Case| match &case.subject {
        CaseInput::Array { piece, array, .. } => {
            Some(Request::Exchange { piece: encode::piece(*piece), array: array.to_bytes() })
        }
        CaseInput::Position { .. } => None,
    };
    cases.iter().filter_map(request).collect()
}

#[test]
fn xchng_may_be_interrupted_at_every_instruction() {
    let bookings = ["XCBOOK", "XCLAST"];
    let called = [&bookings[..], &["DEARER", "WINBAK", "NEXTAD"]].concat();
    let fast = ["TAKEN1", "DEAR1", "DEAR2", "ALONE", "WHITE", "ADDED", "SUBBED"];
    nothing_changes(&exchanges(), "XCHNG", None, Behaviour::Corrected, &called);
    nothing_changes(&exchanges(), "XCHNG", None, Behaviour::Original, &called);
    // Bytes that hold a piece in the high half only: the first attacker's and the first defender's;
    // and counts that are larger than the number of entries.
    let halves = [1, 3].map(|count| {
        let section = [count, 0x10, 0, 0, 0, 0, 0];
        let array = [section, section].concat().try_into().expect("14 bytes");
        Request::Exchange { piece: 0x84, array }
    });
    // A pawn takes a knight, and the queen that guards it takes last.
    let array = [1, 0x01, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0x09, 0];
    let last = Request::Exchange { piece: 0x82, array };
    let all = [exchanges(), halves.to_vec(), vec![last]].concat();
    nothing_changes(&all, "XCHNG", None, Behaviour::Fast, &fast);
}

#[test]
fn attack_may_be_interrupted_at_every_instruction() {
    for behaviour in [Behaviour::Corrected, Behaviour::Original] {
        let battle = [position(BATTLE)];
        let square = Square::named("e4");
        nothing_changes(&battle, "ATTACK", square, behaviour, &["PNCK", "ATKSAV"]);
    }
}

#[test]
fn pinfnd_may_be_interrupted_at_every_instruction() {
    for behaviour in [Behaviour::Corrected, Behaviour::Original] {
        let others = ["HELD", "ATTACK", "NEWLST"];
        nothing_changes(&[position(PINS)], "PINFND", None, behaviour, &others);
    }
}

#[test]
fn the_fast_finding_of_attackers_may_be_interrupted_at_every_instruction() {
    let others = ["HELD", "ATKRAY", "SPREAD", "PINNED", "SECOND", "PAWNRY", "OTHERQ", "CLEAR"];
    let pins = [position(PINS), position(PAIR)];
    nothing_changes(&pins, "PINFND", None, Behaviour::Fast, &others);
    let battle = [position(BATTLE)];
    nothing_changes(&battle, "ATTACK", Square::named("e4"), Behaviour::Fast, &[]);
}

/// Returns the first problem in XCHNG with lines replaced in the interrupt service; until XCHNG is
/// entered, the original service runs.
fn problem_with(replaced: &[(&str, &str)]) -> String {
    let driver = firmware::source("acia.asm").expect("it ships");
    let start = driver.find("\nUSERV:").expect("the service");
    let end = start + driver[start..].find("RETI").expect("its end");
    let mut service = driver[start..end].to_owned();
    for (line, other) in replaced {
        assert_eq!(service.matches(line).count(), 1, "'{line}' occurs once");
        service = service.replace(line, other);
    }
    let driver = format!("{}{service}{}", &driver[..start], &driver[end..]);
    let broken = application(Behaviour::Corrected, &[("acia.asm", &driver)]);
    let mut machine = Machine::start(Behaviour::Corrected);
    let mut entry = machine.run_up_to(&position(BATTLE), "XCHNG", Square::named("e4"));
    let memory = &mut entry.moment.memory;
    memory[usize::from(broken.address)..][..broken.bytes.len()].copy_from_slice(&broken.bytes);
    machine.interrupt_everywhere(&entry).expect_err("the fault was not detected")
}

#[test]
fn a_service_that_forgets_a_register_is_caught() {
    for pair in ["PSW", "H"] {
        let push = format!("PUSH {pair}\n");
        let pop = format!("POP {pair}\n");
        let problem = problem_with(&[(&push, "NOP\n"), (&pop, "NOP\n")]);
        assert!(problem.contains("Registers"), "{pair}: {problem}");
    }
}

#[test]
fn a_service_that_borrows_the_second_registers_is_caught() {
    let problem = problem_with(&[("PUSH H\n", "EXX\n"), ("POP H\n", "EXX\n")]);
    assert!(problem.contains("Registers"), "{problem}");
}

#[test]
fn a_service_that_loses_the_byte_is_caught() {
    let problem = problem_with(&[("SHLD RXIN\n", "LHLD RXIN\n")]);
    assert!(problem.contains("memory"), "{problem}");
}
