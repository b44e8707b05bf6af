//! Checks the contracts of Z80 routines by running them on positions of the corpus, for each of the
//! three evaluators: clobbered registers, stack and T-states.

use crate::contract;

use board_simulator::board_spec;
use board_simulator::{BoardModel, BoardSpec, QueueLine, Registers, RunStop};
use firmware::ProgramKind;
use firmware::build::{BuiltImage, build_with};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use firmware_wire::{ExhaustRequest, Frame, Request, kind};
use sargon_corpus::encode;
use sargon_corpus::{CaseInput, builtin_corpus};
use sargon_reference::{Position, SquareResult, evaluate};

use contract::{Measured, field};

/// The sources of the routines with contracts.
const SOURCES: &[(&str, &str)] = &[
    ("ATTACK", include_str!("../../../../../sargon-src/attack.asm")),
    ("NEWLST", include_str!("../../../../../sargon-src/newlst.asm")),
    ("ATKSAV", include_str!("../../../../../sargon-src/atksav.asm")),
    ("PNCK", include_str!("../../../../../sargon-src/pnck.asm")),
    ("PINFND", include_str!("../../../../../sargon-src/pinfnd.asm")),
    ("NEXTAD", include_str!("../../../../../sargon-src/nextad.asm")),
    ("XCHNG", include_str!("../../../../../sargon-src/xchng.asm")),
    ("POINTS", include_str!("../../../../../sargon-src/points.asm")),
    ("SETUP", include_str!("../../../../../firmware/z80/positn.asm")),
    ("STINI", include_str!("../../../../../firmware/z80/status.asm")),
    ("CHKINT", include_str!("../../../../../firmware/z80/chkint.asm")),
    ("DOSTUS", include_str!("../../../../../firmware/z80/status.asm")),
    ("TRACE", include_str!("../../../../../sargon-src/trace.asm")),
    ("RINIT", include_str!("../../../../../firmware/z80/ring.asm")),
    ("GETC", include_str!("../../../../../firmware/z80/ring.asm")),
    ("PUTC", include_str!("../../../../../firmware/z80/ring.asm")),
    ("SETPCE", include_str!("../../../../../firmware/z80/positn.asm")),
    ("NEWARR", include_str!("../../../../../firmware/z80/positn.asm")),
    ("NOPINS", include_str!("../../../../../firmware/z80/positn.asm")),
    ("DOXHST", include_str!("../../../../../firmware/z80/exhaust.asm")),
    ("NOSPCE", include_str!("../../../../../firmware/z80/sectns.asm")),
    ("SECTNS", include_str!("../../../../../firmware/z80/sectns.asm")),
    ("SECADR", include_str!("../../../../../firmware/z80/sectns.asm")),
    ("SECNXT", include_str!("../../../../../firmware/z80/sectns.asm")),
    ("C16INI", include_str!("../../../../../firmware/z80/crc16.asm")),
    ("CRCINI", include_str!("../../../../../firmware/z80/crc32.asm")),
    ("CRC32", include_str!("../../../../../firmware/z80/crc32.asm")),
    ("FLIP", include_str!("../../../../../firmware/z80/crc32.asm")),
    ("NEWRPL", include_str!("../../../../../firmware/z80/frame.asm")),
    ("PUTFRM", include_str!("../../../../../firmware/z80/frame.asm")),
];
/// Routines that only the fast evaluator has, and those that replace other ones in it.
const FAST: &[(&str, &str)] = &[
    ("SPREAD", include_str!("../../../../../sargon-src/spread.asm")),
    ("ATTACK", include_str!("../../../../../sargon-src/spread.asm")),
    ("XCHNG", include_str!("../../../../../sargon-src/xchfst.asm")),
];
/// Routines that wait for the line, on which their T-states depend.
const WAITING: &[&str] = &["GETC", "PUTC", "PUTFRM", "DOXHST", "DOSTUS"];
/// Every position is sent with POINTS, whose reply is short; one in this many also with POSITION.
const STRIDE: usize = 12;

/// Arrays that the board counts through: the largest space, from one attackers' section to the
/// next; another space, and the same again; a space that does not exist, and sections that do not.
const STRETCHES: [ExhaustRequest; 6] = [
    ExhaustRequest { attackers: 1, defenders: 740, count: 200, ..ARRAY },
    ExhaustRequest { space: 0, ..ARRAY },
    ExhaustRequest { space: 0, attackers: 2, ..ARRAY },
    ExhaustRequest { space: 3, ..ARRAY },
    ExhaustRequest { attackers: 0xFFFF, ..ARRAY },
    ExhaustRequest { defenders: 756, ..ARRAY },
];
const ARRAY: ExhaustRequest =
    ExhaustRequest { space: 2, attackers: 0, defenders: 0, piece: 0x02, count: 1, crc: 0 };

/// The parsed contract of a routine.
#[derive(Debug)]
struct Contract {
    name: &'static str,
    clobbers: String,
    stack: u16,
    cycles: (u64, u64),
    /// Whether the corpus reaches both limits of the T-states.
    exact: bool,
}

fn number(text: &str) -> u64 {
    contract::number(text).unwrap_or_else(|| panic!("'{text}' does not start with a number"))
}

/// The part of a field that is for this behaviour: "CORRECTED; original FAULTY; fast FAST", or
/// fewer of these where several are the same.
fn of_behaviour(text: &str, behaviour: Behaviour) -> &str {
    let prefix = match behaviour {
        Behaviour::Corrected => "",
        Behaviour::Original => "original ",
        Behaviour::Fast => "fast ",
    };
    let mut parts = text.split("; ");
    let common = parts.next().unwrap_or_default();
    parts
        .find_map(|part| part.strip_prefix(prefix))
        .filter(|_| !prefix.is_empty())
        .unwrap_or(common)
}

/// The contracts of the routines that a program has.
fn contracts(app: &BuiltImage, behaviour: Behaviour) -> Vec<Contract> {
    let one = |&(name, source): &(&'static str, &str)| {
        let cycles = field(source, name, "Cycles");
        let exact = cycles.contains("over the corpus");
        let text = of_behaviour(&cycles, behaviour);
        let cycles = match text.split_once("..") {
            Some((least, most)) => (number(least), number(most)),
            None => (number(text), number(text)),
        };
        let stack = number(of_behaviour(&field(source, name, "Stack"), behaviour)) as u16;
        Contract { name, clobbers: field(source, name, "Clobbers"), stack, cycles, exact }
    };
    let fast = if behaviour == Behaviour::Fast { FAST } else { &[] };
    let is_other = |name| fast.iter().any(|(fast, _)| *fast == name);
    let common = SOURCES.iter().filter(|(name, _)| !is_other(*name));
    let all = fast.iter().chain(common);
    all.filter(|(name, _)| app.program.symbol(name).is_some()).map(one).collect()
}

/// A call in progress.
struct Call {
    contract: usize,
    entry: Registers,
    clock: u64,
    lowest: u16,
}

struct Bench {
    board: BoardModel<QueueLine>,
    contracts: Vec<Contract>,
    /// Indices of `contracts`, by the address of the entry.
    entries: Vec<Option<usize>>,
    calls: Vec<Call>,
    measured: Vec<Measured>,
}

impl Bench {
    fn new(app: &BuiltImage, behaviour: Behaviour) -> Self {
        let profile = BoardProfile::named("rc2014-classic").expect("it ships");
        let spec = BoardSpec { ..board_spec(&profile) };
        let mut board = BoardModel::new(spec, &[0xC3, 0x00, 0x80], QueueLine::default());
        board.bus_mut().load(app.address, &app.bytes);
        let contracts = contracts(app, behaviour);
        let address = |name| app.program.symbol(name).unwrap_or_else(|| panic!("no {name}"));
        let mut entries = vec![None; 0x1_0000];
        for (index, contract) in contracts.iter().enumerate() {
            entries[usize::from(address(contract.name))] = Some(index);
        }
        let measured = vec![Measured::NONE; contracts.len()];
        Self { board, contracts, entries, calls: Vec::new(), measured }
    }

    /// Sends a request and runs until the board has replied.
    fn request(&mut self, kind: u8, payload: Vec<u8>) {
        let frame = Frame::new(1, kind, payload).expect("it fits");
        self.board.line_mut().to_board.extend(frame.encode());
        self.run();
    }

    /// Requests the steps of every exchange of a position.
    fn trace(&mut self, position: &Position) {
        for SquareResult { piece, array, .. } in evaluate(position).1 {
            let head = [encode::piece(piece), piece.kind.value()];
            self.request(kind::TRACE, [&head[..], &array.to_bytes()].concat());
        }
    }

    /// Runs until the board waits for the host.
    fn run(&mut self) {
        while self.board.run_for(1) == RunStop::TimeElapsed {
            if !self.board.in_service() {
                self.record_step();
            }
        }
    }

    fn record_step(&mut self) {
        let now = self.board.registers();
        if let Some(call) = self.calls.last_mut() {
            call.lowest = call.lowest.min(now.sp);
        }
        while let Some(call) = self.calls.pop_if(|call| now.sp == call.entry.sp.wrapping_add(2)) {
            self.finish(&call, &now);
        }
        if let Some(contract) = self.entries[usize::from(now.pc)] {
            let clock = self.board.clock() - self.board.service_time();
            self.calls.push(Call { contract, entry: now, clock, lowest: now.sp });
        }
    }

    fn finish(&mut self, call: &Call, now: &Registers) {
        let Contract { name, clobbers, .. } = &self.contracts[call.contract];
        let took = self.board.clock() - self.board.service_time() - call.clock;
        self.measured[call.contract].record(took, call.entry.sp - call.lowest);
        if let Some(outer) = self.calls.last_mut() {
            outer.lowest = outer.lowest.min(call.lowest);
        }
        let changed = changed(&call.entry, now);
        let kept =
            |register: &&&str| !is_clobbered(clobbers, register) && !is_result(name, register);
        let wrong: Vec<_> = changed.iter().filter(|register| kept(register)).collect();
        assert!(wrong.is_empty(), "{name} changes {wrong:?}, its contract lists {clobbers}");
    }
}

fn changed(before: &Registers, after: &Registers) -> Vec<&'static str> {
    let pairs = [
        ("AF", before.af, after.af),
        ("BC", before.bc, after.bc),
        ("DE", before.de, after.de),
        ("HL", before.hl, after.hl),
        ("AF'", before.af_alt, after.af_alt),
        ("BC'", before.bc_alt, after.bc_alt),
        ("DE'", before.de_alt, after.de_alt),
        ("HL'", before.hl_alt, after.hl_alt),
        ("IX", before.ix, after.ix),
        ("IY", before.iy, after.iy),
    ];
    pairs.iter().filter(|(_, before, after)| before != after).map(|(name, ..)| *name).collect()
}

/// Returns whether the list names the register, its pair, or a half of it.
fn is_clobbered(clobbers: &str, register: &str) -> bool {
    let both_sets = clobbers.contains("of both sets");
    let plain = register.trim_end_matches('\'');
    let prime = register.ends_with('\'');
    clobbers.split([',', ' ']).any(|word| {
        let set = word.ends_with('\'') == prime || (both_sets && plain != "AF" && plain != "IX");
        let word = word.trim_end_matches('\'');
        set && !word.is_empty() && (word == plain || (word.len() == 1 && plain.contains(word)))
    })
}

/// Registers in which a routine returns its result.
fn is_result(name: &str, register: &str) -> bool {
    match name {
        "NEXTAD" => matches!(register, "AF" | "BC" | "BC'" | "DE'" | "HL'"),
        "GETC" => register == "AF",
        "NEWRPL" | "SECADR" => register == "HL",
        _ => false,
    }
}

/// Runs the corpus on a program with this evaluator and checks the contract of each routine.
fn check(evaluator: &Evaluator, is_judged: impl Fn(&str) -> bool) {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let app = build_with(&profile, ProgramKind::Application, evaluator)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut bench = Bench::new(&app, evaluator.behaviour);
    bench.run();
    let cases = builtin_corpus().unwrap_or_else(|error| panic!("{error}"));
    for (index, case) in cases.iter().enumerate() {
        match &case.subject {
            CaseInput::Position { position, .. } => {
                let squares = encode::squares(position);
                bench.request(kind::POINTS, [&squares[..], &[0x80, 0]].concat());
                if index % STRIDE == 0 {
                    bench.request(kind::POSITION, squares.to_vec());
                    bench.trace(position);
                }
            }
            CaseInput::Array { piece, array, .. } => {
                let payload = [&[encode::piece(*piece)][..], &array.to_bytes()].concat();
                bench.request(kind::EXCHANGE, payload);
            }
        };
    }
    bench.request(kind::STATUS, Vec::new());
    for request in STRETCHES {
        let request = Request::Exhaust(request);
        bench.request(request.kind(), request.payload());
    }
    assert!(!bench.board.line_mut().from_board.is_empty());
    for (contract, measured) in bench.contracts.iter().zip(&bench.measured) {
        println!("{:8} {measured:?}", contract.name);
    }
    let judged = bench.contracts.iter().zip(&bench.measured);
    for (contract, measured) in judged.filter(|(contract, _)| is_judged(contract.name)) {
        let Contract { name, stack, cycles: (least, most), exact, .. } = contract;
        assert!(measured.calls > 0, "{name} was never called");
        assert!(measured.stack <= *stack, "{name} takes {} bytes of stack", measured.stack);
        if *exact {
            assert_eq!((measured.least, measured.most), (*least, *most), "T-states of {name}");
        } else if !WAITING.contains(name) {
            assert!(measured.least >= *least, "{name} takes only {}", measured.least);
            assert!(measured.most <= *most, "{name} takes {}", measured.most);
        }
    }
}

#[test]
fn routines_keep_their_contracts() {
    check(&Evaluator::default(), |_| true);
}

#[test]
fn routines_keep_their_contracts_in_the_original() {
    let evaluator = Evaluator { behaviour: Behaviour::Original, own: None };
    check(&evaluator, |_| true);
}

#[test]
fn fast_routines_keep_their_contracts() {
    let evaluator = Evaluator { behaviour: Behaviour::Fast, own: None };
    let rare = ["NEXTAD", "ATKSAV", "PNCK"];
    check(&evaluator, |name| !rare.contains(&name));
}
