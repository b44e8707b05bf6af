//! Checks the contracts of the serial drivers, the rings and the frames, under traffic that covers
//! all their paths: T-states, stack and clobbered registers, also in the interrupt service.

use crate::contract;

use std::collections::BTreeMap;

use board_simulator::{BoardModel, QueueLine, Registers, RunStop, board_spec};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::{ExhaustRequest, LOCATE_SEQUENCE, Request};
use sargon_corpus::encode;
use sargon_reference::parse_fen;

use contract::{Measured, field, number};

const ACIA: &str = include_str!("../../../../../firmware/z80/acia.asm");
const SIO: &str = include_str!("../../../../../firmware/z80/sio.asm");
const ASCI: &str = include_str!("../../../../../firmware/z80/asci.asm");
const NS550: &str = include_str!("../../../../../firmware/z80/ns550.asm");
/// What several drivers insert.
const FLOW: &str = include_str!("../../../../../firmware/z80/flow.asm");
const DRAIN: &str = include_str!("../../../../../firmware/z80/drain.asm");
const RING: &str = include_str!("../../../../../firmware/z80/ring.asm");
const PLACE: &str = include_str!("../../../../../firmware/z80/place.asm");
const FRAME: &str = include_str!("../../../../../firmware/z80/frame.asm");

/// The routines of each driver.
const DRIVERS: [&str; 7] = ["UINIT", "USERV", "HOLDUP", "LETGO", "TXGO", "TXREST", "UDRAIN"];
/// Those that both drivers share.
const SHARED: [(&str, &str); 10] = [
    ("NEWPGE", RING),
    ("TXNEXT", RING),
    ("GETC", RING),
    ("RXWAIT", RING),
    ("RXPAGE", RING),
    ("PUTC", RING),
    ("MISSED", PLACE),
    ("ZEROS", PLACE),
    ("PCRPT", PLACE),
    ("SENDFM", FRAME),
];
/// T-states of a round of traffic; a character takes 640.
const TURN: u64 = 200_000;
/// A middle game, whose replies fill several frames.
const GAME: &str = "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - -";

/// The parsed contract of a routine.
struct Contract {
    name: &'static str,
    clobbers: String,
    stack: u16,
    /// The first number of its T-states, and the second unless the line decides.
    cycles: (Option<u64>, Option<u64>),
}

impl Contract {
    fn of(name: &'static str, source: &str, is_z180: bool) -> Self {
        let has = |source: &&str| source.contains(&format!("\n; {name} - "));
        let source = [source, FLOW, DRAIN].into_iter().find(has).expect("a contract");
        let field = |name_of_field| field(source, name, name_of_field);
        let text = field("Cycles");
        let (z80, z180) = text.split_once("; Z180: ").unwrap_or((&text, &text));
        let text = if is_z180 { z180 } else { z80 }.to_owned();
        let (least, most) = text.split_once("..").unwrap_or((&text, &text));
        let waits = ["when", "up to", "as long"].iter().any(|word| text.contains(word));
        let most = (!waits).then(|| number(most)).flatten();
        let stack = number(&field("Stack")).expect("bytes") as u16;
        Self { name, clobbers: field("Clobbers"), stack, cycles: (number(least), most) }
    }

    /// Returns `true` if a register may be clobbered or has a result.
    fn may_change(&self, register: &str) -> bool {
        let result = matches!(
            (self.name, register),
            ("GETC" | "TXNEXT", "AF") | ("NEWPGE", "HL") | ("RXPAGE", "DE")
        );
        let named = |word: &str| !word.is_empty() && (word == "F" || register == word);
        result
            || self.clobbers.split([',', ' ']).any(|word| match word {
                "A" | "F" => register == "AF",
                word => named(word),
            })
    }
}

/// A call in progress.
struct Call {
    contract: usize,
    entry: Registers,
    clock: u64,
    lowest: u16,
    in_service: bool,
}

struct Bench {
    board: BoardModel<QueueLine>,
    contracts: Vec<Contract>,
    entries: BTreeMap<u16, usize>,
    calls: Vec<Call>,
    measured: Vec<Measured>,
}

impl Bench {
    /// The application on its board, run from its entry until it waits.
    fn start(board: &str, driver: &str) -> Self {
        let profile = BoardProfile::named(board).expect("it ships");
        let built = |kind| build(&profile, kind).unwrap_or_else(|error| panic!("{error}"));
        let (monitor, app) = (built(ProgramKind::Monitor), built(ProgramKind::Application));
        let names = DRIVERS.iter().map(|name| (*name, driver)).chain(SHARED);
        let contracts: Vec<_> =
            names.map(|(name, source)| Contract::of(name, source, profile.is_z180())).collect();
        let address = |name| app.program.symbol(name).unwrap_or_else(|| panic!("no {name}"));
        let entries = contracts.iter().enumerate().map(|(i, c)| (address(c.name), i)).collect();
        let measured = vec![Measured::NONE; contracts.len()];
        let line = QueueLine::default();
        let mut board = BoardModel::new(board_spec(&profile), &monitor.bytes, line);
        while board.run_for(TURN) != RunStop::Idle {} // the monitor has mapped RAM then
        board.bus_mut().load(app.address, &app.bytes);
        let run = Request::Run { address: app.address }.frame(1).expect("it fits a frame");
        board.line_mut().to_board.extend(run.encode());
        let mut bench = Self { board, contracts, entries, calls: Vec::new(), measured };
        bench.run(u64::MAX);
        bench
    }

    /// Sends bytes, and runs until the board is idle or the time has elapsed.
    fn send(&mut self, bytes: &[u8], t_states: u64) {
        self.board.line_mut().to_board.extend(bytes);
        self.run(t_states);
    }

    fn run(&mut self, t_states: u64) {
        let end = self.board.clock().saturating_add(t_states);
        while self.board.clock() < end && self.board.run_for(1) == RunStop::TimeElapsed {
            self.record_step();
        }
    }

    /// The clock for measuring a call: without interrupt service, unless the call is in it.
    fn clock(&self, in_service: bool) -> u64 {
        let served = if in_service { 0 } else { self.board.service_time() };
        self.board.clock() - served
    }

    fn record_step(&mut self) {
        let now = self.board.registers();
        let in_service = self.board.in_service();
        // Pushes of the interrupt service count in its own contract.
        let counts = |call: &&mut Call| call.in_service == in_service;
        if let Some(call) = self.calls.last_mut().filter(counts) {
            call.lowest = call.lowest.min(now.sp);
        }
        let is_over = |call: &Call| {
            now.sp == call.entry.sp.wrapping_add(2) && (call.in_service || !in_service)
        };
        while let Some(call) = self.calls.pop_if(|call| is_over(call)) {
            self.finish(&call, &now);
        }
        // An interrupt before the first instruction returns there.
        let is_known = |call: &Call| (call.entry.pc, call.entry.sp) == (now.pc, now.sp);
        if let Some(&contract) = self.entries.get(&now.pc)
            && !self.calls.last().is_some_and(is_known)
        {
            let clock = self.clock(in_service);
            let call = Call { contract, entry: now, clock, lowest: now.sp, in_service };
            if self.contracts[contract].name == "PCRPT" {
                self.place(call);
            } else {
                self.calls.push(call);
            }
        }
    }

    /// Runs PCRPT, to which the interrupt service returns instead of the program; its T-states and
    /// stack do not count for the interrupted routine.
    fn place(&mut self, call: Call) {
        let mut outer = std::mem::replace(&mut self.calls, vec![call]);
        let began = self.calls[0].clock;
        // It has no return address on the stack, but reserves space for one.
        let Registers { sp, pc, .. } = self.calls[0].entry;
        while self.board.run_for(1) == RunStop::TimeElapsed {
            let now = self.board.registers();
            if now.sp == sp && now.pc != pc && !self.board.in_service() {
                break;
            }
            self.record_step();
        }
        let call = self.calls.pop().expect("PCRPT itself");
        self.finish(&call, &self.board.registers());
        let took = self.clock(false) - began;
        for call in outer.iter_mut().filter(|call| !call.in_service) {
            call.clock += took;
        }
        self.calls = outer;
    }

    fn finish(&mut self, call: &Call, now: &Registers) {
        let took = self.clock(call.in_service) - call.clock;
        self.measured[call.contract].record(took, call.entry.sp - call.lowest);
        if let Some(outer) = self.calls.last_mut().filter(|o| o.in_service == call.in_service) {
            outer.lowest = outer.lowest.min(call.lowest);
        }
        let contract = &self.contracts[call.contract];
        for (register, before, after) in [
            ("AF", call.entry.af, now.af),
            ("BC", call.entry.bc, now.bc),
            ("DE", call.entry.de, now.de),
            ("HL", call.entry.hl, now.hl),
        ] {
            let may = before == after || contract.may_change(register);
            assert!(
                may,
                "{} changes {register} from {before:04X}h to {after:04X}h, at {:04X}h: {}",
                contract.name, now.pc, contract.clobbers
            );
        }
        let others =
            |all: &Registers| [all.ix, all.iy, all.af_alt, all.bc_alt, all.de_alt, all.hl_alt];
        assert_eq!(others(&call.entry), others(now), "{}", contract.name);
    }

    /// The measurements of a routine.
    fn of(&self, name: &str) -> Measured {
        let at = self.contracts.iter().position(|contract| contract.name == name);
        self.measured[at.expect("it is measured")]
    }
}

impl Measured {
    /// The measurements of the same routine on two boards.
    fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls.min(other.calls),
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            stack: self.stack.max(other.stack),
        }
    }

    /// Checks that a routine meets its contract.
    fn assert_meets(self, contract: &Contract, board: &str) {
        let Contract { name, stack, cycles: (least, most), .. } = contract;
        println!("{board} {name:8} {self:?}");
        assert!(self.calls > 0, "{name} was never called on {board}");
        assert_eq!(self.stack, *stack, "bytes of stack of {name} on {board}");
        let (least, most) = (least.unwrap_or(self.least), most.unwrap_or(self.most));
        assert_eq!((self.least, self.most), (least, most), "T-states of {name} on {board}");
    }
}

/// Sends all kinds of traffic; waits after each until the board is idle.
fn traffic(bench: &mut Bench) {
    let frame = |request: &Request| request.frame(1).expect("it fits a frame").encode();
    let position = parse_fen(GAME).expect("a position");
    let position = frame(&Request::Position { squares: encode::squares(&position) });
    let space =
        ExhaustRequest { space: 2, attackers: 1, defenders: 700, piece: 2, count: 900, crc: 0 };
    let work = frame(&Request::Exhaust(space));
    // Replies that fill the ring while requests come in, with all pages of the receive ring.
    for _ in 0..12 {
        bench.send(&[&position[..], &position, &position].concat(), u64::MAX);
    }
    // A terminal; a corrupted frame; one that is too long.
    bench.send(b"\r", u64::MAX);
    bench.send(&[0, 5, 1, 2, 0], u64::MAX);
    bench.send(&[&[0][..], &[0xA5; 300], &[0]].concat(), u64::MAX);
    // A host that RTS stops while replies are being sent, and one that ignores RTS.
    for disobeys in [false, true] {
        bench.board.line_mut().ignores_rts = disobeys;
        let queue = [&position[..], &work].concat().repeat(20);
        bench.send(&queue, u64::MAX);
        bench.send(&work, TURN);
        bench.send(&[0xA5; 1500], TURN * 10);
        bench.send(&[0; 50], u64::MAX);
    }
    // LOCATE while idle, while busy, and while a reply is being sent.
    for pause in [0, TURN, TURN / 2, TURN / 5] {
        bench.send(if pause == 0 { &[] } else { &work }, pause);
        bench.send(&LOCATE_SEQUENCE, u64::MAX);
        bench.send(&position, 2 * pause);
        bench.send(&LOCATE_SEQUENCE, u64::MAX);
    }
}

#[test]
fn all_drivers_and_what_they_share_keep_their_contracts() {
    let boards =
        [("rc2014-classic", ACIA), ("rc2014-zed", SIO), ("sc126", ASCI), ("rc2014-16c550", NS550)];
    let [acia, sio, ..] = boards.map(|(board, driver)| {
        let mut bench = Bench::start(board, driver);
        traffic(&mut bench);
        for contract in bench.contracts.iter().filter(|one| DRIVERS.contains(&one.name)) {
            bench.of(contract.name).assert_meets(contract, board);
        }
        bench
    });
    for contract in acia.contracts.iter().filter(|one| !DRIVERS.contains(&one.name)) {
        let both = acia.of(contract.name).and(sio.of(contract.name));
        both.assert_meets(contract, "both Z80 boards");
    }
}
