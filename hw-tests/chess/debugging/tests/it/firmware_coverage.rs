//! The corpus, every request, every error, damaged frames and hosts that send too much, with all
//! behaviours, from RAM and from flash, with chips of all sizes, execute nearly all of the firmware.

use board_debugger::Machine;
use board_simulator::profiling::{Coverage, FileCoverage, StepCounter};
use board_simulator::{
    BoardModel, BoardSpec, ChipKind, MemoryMap, QueueLine, SECTOR_BYTES, SstModel, board_spec,
};
use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build_with};
use firmware::code_map::CodeMap;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use firmware_wire::{
    ExhaustRequest, FlashRequest, Frame, LOCATE_SEQUENCE, MAX_BLOCK, PositionWithMove, Request,
    crc32, flash_program, kind,
};
use sargon_corpus::{Case, CaseInput, encode};
use sargon_reference::{Position, parse_fen};

/// Limit of T-states for one request.
const MAX_REQUEST_T_STATES: u64 = 250_000_000;
/// First address of RAM for programs.
const RAM_START: u16 = 0x8000;

/// The requests that do not leave the program running, or run for minutes.
const LEAVING: [u8; 3] = [kind::RESET, kind::RUN, kind::EXHAUST];
/// The first and the last address of memories, sectors and banks.
const EDGES: [u16; 7] = [0, 1, 0x1FFF, 0x3FFF, 0x7FFF, RAM_START, 0xEFFF];
/// A byte that follows an address, such as the page of one of the chip, and a count behind it.
const RESTS: [(u8, u8); 6] = [(0, 0), (0, 2), (2, 0), (0, 237), (8, 1), (7, 1)];

/// Positions that a small selection of the corpus may lack: pinned pieces of all kinds, a queen
/// pinned by a queen, second queens, and more pieces of a kind on a line than fit a byte of the
/// array.
const RARE_POSITIONS: [&str; 5] = [
    "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -",
    "3qr1k1/8/8/b6b/3N4/2N2P2/4B3/R2QK2R w - -",
    "4k3/8/8/8/4p3/3KQ3/4R3/4R3 w - -",
    "4r1k1/1b6/8/3p4/q1R1K2r/3P4/2B3B1/1q6 w - -",
    "QQ2k3/Q7/2r5/8/4n3/3R4/3R1BB1/3RK3 b - -",
];

/// Every how many cases of the corpus one is run: a part that takes seconds.
const CASE_STEP: usize = 20;
/// The whole corpus has 99.0 %: the rest is code for NMI, debug kernel, failing flash chips and rare
/// overruns.
const MIN_LINE_COVERAGE_PERCENT: f64 = 98.0;

#[test]
fn nearly_all_lines_of_the_firmware_run() {
    let cases = sargon_corpus::builtin_corpus().expect("it ships");
    let cases: Vec<_> = cases.into_iter().step_by(CASE_STEP).collect();
    let run = |name: &str| {
        let profile = BoardProfile::named(name).expect("it ships");
        boards(&profile, &cases).expect("the programs are built")
    };
    let (classic, zed) = std::thread::scope(|scope| {
        let classic = scope.spawn(|| run("rc2014-classic"));
        let zed = run("rc2014-zed");
        (classic.join().expect("it runs"), zed)
    });
    let mut coverage = Coverage::default();
    for MeasuredBoard { mut meter, code, machine, .. } in classic.into_iter().chain(zed) {
        // The flash commands run from RAM, to which the monitor copies them.
        let symbols = &machine.monitor.program.symbols;
        let label = |name: &str| {
            let mut own = symbols.iter().filter(|one| one.module.as_deref() == Some("FLCMD"));
            own.find(|symbol| symbol.name == name).map(|symbol| symbol.value)
        };
        if let (Some(from), Some(to), Some(size)) = (label("CODE"), label("HERE"), label("LENGTH"))
        {
            meter.credit_copy(from, to, size);
        }
        coverage.add(&meter, &code);
    }
    let files = coverage.files();
    let percent = FileCoverage::total(&files).percent();
    let missed = files.iter().map(|file| (&file.file, &file.missed)).collect::<Vec<_>>();
    assert!(percent >= MIN_LINE_COVERAGE_PERCENT, "{percent}: {missed:?}");
    let reset = files.iter().find(|file| file.file == "firmware:/reset.asm").expect("it is there");
    let source = firmware::source("reset.asm").expect("it ships");
    let line = |number: &u32| source.lines().nth(*number as usize - 1).expect("the line").trim();
    let missed: Vec<&str> = reset.missed.iter().map(line).collect();
    assert_eq!(missed, ["JMP KVECT", "RETN"], "no debug kernel is there, and nothing makes an NMI");
}

/// Runs all programs of a profile.
fn boards(profile: &BoardProfile, cases: &[Case]) -> Result<Vec<MeasuredBoard>, BuildError> {
    let mut all = Vec::new();
    for behaviour in Behaviour::ALL {
        let evaluator = Evaluator { behaviour, own: None };
        let mut session = MeasuredBoard::new(profile, &evaluator)?;
        session.exercise_monitor();
        session.exercise_application(cases);
        all.push(session);
    }
    for mut session in rts_sessions(profile)? {
        session.overflow_receive_buffer();
        all.push(session);
    }
    all.extend(session_without_low_ram(profile)?);
    if profile.chip.writable {
        for mut session in flash_sessions(profile)? {
            session.start_from_flash();
            all.push(session);
        }
        let mut session = MeasuredBoard::new(profile, &Evaluator::default())?;
        session.exercise_flash();
        all.push(session);
    }
    Ok(all)
}

/// A board whose steps are counted.
struct MeasuredBoard {
    machine: Machine,
    application: BuiltImage,
    meter: StepCounter,
    code: CodeMap,
}

impl MeasuredBoard {
    fn new(profile: &BoardProfile, evaluator: &Evaluator) -> Result<Self, BuildError> {
        let application = build_with(profile, ProgramKind::Application, evaluator)?;
        Ok(Self::on(Machine::new(profile)?, application))
    }

    /// Powers up a board and runs it until it has sent its banner.
    fn on(machine: Machine, application: BuiltImage) -> Self {
        let code = CodeMap::new(&[&machine.monitor, &application]);
        let mut session = Self { machine, application, meter: StepCounter::new(&code), code };
        session.send(&[]);
        session
    }

    /// Sends bytes, runs the board until it is idle, and discards its replies.
    fn send(&mut self, bytes: &[u8]) {
        self.machine.board.line_mut().to_board.extend(bytes);
        self.meter.run(&mut self.machine.board, MAX_REQUEST_T_STATES);
        self.machine.board.line_mut().from_board.clear();
    }

    fn frame(&mut self, kind: u8, payload: Vec<u8>) {
        self.send(&Frame::new(1, kind, payload).expect("it fits").encode());
    }

    fn request(&mut self, request: &Request) {
        self.frame(request.kind(), request.payload());
    }

    /// Sends requests that monitor and application share.
    fn run_common_requests(&mut self) {
        self.send(b"\rx");
        self.request(&Request::Identify);
        self.frame(kind::IDENT, vec![1]);
        self.frame(0x7F, Vec::new());
        let good = Frame::empty(9, kind::IDENT).encode();
        let mut wrong_check = good.clone();
        wrong_check[4] ^= 0x40;
        let too_long = [&[0][..], &[1; 300], &[0]].concat();
        let more_than_can_be = vec![0, 4, 0xF1, 1, 1, 0];
        for damaged in [too_long, wrong_check, more_than_can_be, vec![0, 9, 1, 2, 0], vec![0, 1, 0]]
        {
            self.send(&damaged);
        }
        self.send(&[&LOCATE_SEQUENCE[..], &LOCATE_SEQUENCE].concat());
        // Overflows the receive buffer.
        self.send(&vec![1; 3000]);
        self.send(&[0]);
    }

    /// Sends requests of each kind with payloads of any length, and with addresses and counts at
    /// their limits.
    fn send_edge_requests(&mut self) {
        let kinds = (kind::IDENT..=kind::STATUS).chain(kind::WRITE..=kind::BOOT);
        let kinds = kinds.chain(kind::EXCHANGE..=kind::CHECKS);
        for kind in kinds.filter(|kind| !LEAVING.contains(kind)) {
            for length in [0, 1, 2, 3, 15, 16, 32, 33, 34, MAX_BLOCK + 1] {
                [0, 7].into_iter().for_each(|byte| self.frame(kind, vec![byte; length]));
            }
            for address in EDGES.map(u16::to_le_bytes) {
                for (first, second) in RESTS {
                    for rest in [&[second][..], &[first, second], &[first, second, 0]] {
                        self.frame(kind, [&address, rest].concat());
                    }
                }
            }
        }
    }

    fn exercise_monitor(&mut self) {
        self.run_common_requests();
        self.send_edge_requests();
        // MVI A,'A'; RST 1 sends it; RST 0
        let address = RAM_START + 0x1000;
        self.upload(address, &[0x3E, b'A', 0xCF, 0xC7]);
        self.request(&Request::Run { address });
    }

    /// Uploads bytes to RAM.
    fn upload(&mut self, first: u16, bytes: &[u8]) {
        for (index, block) in bytes.chunks(MAX_BLOCK).enumerate() {
            let address = first + (index * MAX_BLOCK) as u16;
            self.request(&Request::Write { address, data: block.to_vec() });
        }
    }

    /// Sends more positions than the receive buffer holds: RTS stops the host, or some are lost.
    fn overflow_receive_buffer(&mut self) {
        let image = self.application.clone();
        self.machine.board.bus_mut().load(image.address, &image.bytes);
        self.request(&Request::Run { address: image.address });
        let position = Request::Position { squares: [0x55; 32] };
        let frame = position.frame(1).expect("it fits a frame").encode();
        self.send(&[frame.repeat(60), vec![0; 300]].concat());
        self.request(&Request::Identify);
        self.request(&Request::Identify);
    }

    fn exercise_application(&mut self, cases: &[Case]) {
        let image = self.application.clone();
        self.upload(image.address, &image.bytes);
        self.request(&Request::Run { address: image.address });
        self.run_common_requests();
        for case in cases {
            self.run_case(case);
        }
        for position in RARE_POSITIONS.iter().filter_map(|fen| parse_fen(fen).ok()) {
            self.run_position(&position);
        }
        self.send_invalid_requests();
        let (attackers, defenders, piece) = (377, 377, 0x86);
        let last = ExhaustRequest { space: 0, attackers, defenders, piece, count: 9, crc: 1 };
        let first = ExhaustRequest { attackers: 5, defenders: 0, crc: 0, ..last };
        for request in [
            ExhaustRequest { count: 400, ..first },
            ExhaustRequest { space: 1, piece: 1, count: 600, ..first },
            ExhaustRequest { space: 2, count: 800, ..first },
            last,
            ExhaustRequest { space: 3, ..last },
            ExhaustRequest { count: 0, ..last },
            ExhaustRequest { attackers: 378, ..last },
            ExhaustRequest { defenders: 378, ..last },
            ExhaustRequest { piece: 7, ..last },
        ] {
            self.request(&Request::Exhaust(request));
        }
        self.request(&Request::Reset);
    }

    /// Runs a case by every request that accepts it.
    fn run_case(&mut self, case: &Case) {
        match &case.subject {
            CaseInput::Position { position, .. } => self.run_position(position),
            CaseInput::Array { piece, array, .. } => {
                let stake = piece.kind.value();
                let array = array.to_bytes();
                let piece = encode::piece(*piece);
                self.request(&Request::Exchange { piece, array });
                self.request(&Request::Trace { piece, stake, array });
            }
        }
    }

    fn run_position(&mut self, position: &Position) {
        let squares = encode::squares(position);
        self.request(&Request::Position { squares });
        let mut positions = Vec::new();
        for (mover, moved) in [(0, 0), (0x80, 44)] {
            self.request(&Request::Points { squares, mover, moved });
            let checked = PositionWithMove { squares, side_moved: mover, moved_to: moved };
            self.request(&Request::PositionWithMove(checked));
            positions.push(checked);
        }
        self.request(&Request::Checks { status: 0xFF, positions });
    }

    fn send_invalid_requests(&mut self) {
        self.send_edge_requests();
        for (offset, byte) in [(0, 0x07), (31, 0xF0)] {
            let mut squares = [0; 32];
            squares[offset] = byte;
            self.request(&Request::Points { squares, mover: 0x80, moved: 0 });
        }
        for (squares, side_moved) in [([0; 32], 1), ([7; 32], 0)] {
            let position = PositionWithMove { squares, side_moved, moved_to: 0 };
            self.request(&Request::PositionWithMove(position));
            self.request(&Request::Checks { status: 0, positions: vec![position] });
        }
        for (piece, stake) in [(0x87, 1), (1, 0), (0x82, 16), (1, 15)] {
            self.request(&Request::Trace { piece, stake, array: [0; 14] });
        }
        // LOCATE while a reply is being sent: its answer is not part of a frame.
        let request = Request::Position { squares: [0xA2; 32] }.frame(1).expect("it fits");
        for wait in [150, 300, 450] {
            self.send(&[&request.encode()[..], &vec![1; wait], &LOCATE_SEQUENCE].concat());
        }
        for array in [[0xFF; 14], [1; 14], [6; 14]] {
            self.request(&Request::Exchange { piece: 5, array });
            self.request(&Request::Trace { piece: 0x85, stake: 9, array });
        }
    }

    /// Sends all requests for the flash chip, valid and invalid.
    fn exercise_flash(&mut self) {
        let data: Vec<u8> = (0..MAX_BLOCK as u8).collect();
        let (address, length, crc) = (0x4000, MAX_BLOCK as u16, crc32(&data));
        for request in [
            FlashRequest::Erase { sector: 4 },
            FlashRequest::Program { address, data: data.clone() },
            FlashRequest::Verify { address, length, crc },
            FlashRequest::Verify { address, length, crc: !crc },
            FlashRequest::Program { address: 0x7FF14, data },
        ] {
            self.request(&Request::Flash(request));
        }
        self.send_edge_requests();
        self.replace_monitor();
    }

    /// Replaces the boot sector, after an attempt with a wrong CRC.
    fn replace_monitor(&mut self) {
        let mut next = self.machine.monitor.bytes.clone();
        next.resize(SECTOR_BYTES, 0xFF);
        self.upload(RAM_START, &next);
        let crc = crc32(&next);
        for crc in [!crc, crc] {
            self.request(&Request::Flash(FlashRequest::Boot { crc }));
        }
    }

    /// Lets the board start the program in flash, and interrupts a second start.
    fn start_from_flash(&mut self) {
        self.request(&Request::Identify);
        self.send(b"\r");
        self.request(&Request::Reset);
        self.machine.board.reset();
        self.meter.run(&mut self.machine.board, 1_000_000);
        self.send(b"x");
        self.request(&Request::Identify);
    }
}

/// Creates boards with a host that obeys RTS, and with one that does not.
fn rts_sessions(profile: &BoardProfile) -> Result<Vec<MeasuredBoard>, BuildError> {
    let spec = board_spec(profile);
    let session = |host_obeys_rts| with_spec(profile, BoardSpec { host_obeys_rts, ..spec.clone() });
    [false, true].map(session).into_iter().collect()
}

/// Creates a board without RAM below C000H; `None` for boards with banked memory.
fn session_without_low_ram(profile: &BoardProfile) -> Result<Option<MeasuredBoard>, BuildError> {
    let spec = board_spec(profile);
    let MemoryMap::Plain { rom, .. } = &spec.memory else { return Ok(None) };
    let memory = MemoryMap::Plain { rom: rom.clone(), ram: 0xC000..=0xFFFF };
    let mut session = with_spec(profile, BoardSpec { memory, ..spec })?;
    session.request(&Request::Write { address: RAM_START, data: vec![0x55, 0xAA] });
    Ok(Some(session))
}

fn with_spec(profile: &BoardProfile, spec: BoardSpec) -> Result<MeasuredBoard, BuildError> {
    let application = build_with(profile, ProgramKind::Application, &Evaluator::default())?;
    let mut machine = Machine::new(profile)?;
    machine.board = BoardModel::new(spec, &machine.monitor.bytes, QueueLine::default());
    Ok(MeasuredBoard::on(machine, application))
}

/// Creates boards with a program in flash: valid, without autostart, corrupted; and with other
/// sizes of the chip, or one that is not writable.
fn flash_sessions(profile: &BoardProfile) -> Result<Vec<MeasuredBoard>, BuildError> {
    let spec = board_spec(profile);
    let chips = [
        (spec.clone(), true, None),
        (spec.clone(), false, None),
        (spec.clone(), true, Some(0)),
        (spec.clone(), true, Some(7)),
        (spec.clone(), true, Some(1000)),
        (BoardSpec { chip: ChipKind::Sst(SstModel::Sf010a), ..spec.clone() }, false, None),
        (BoardSpec { chip: ChipKind::Sst(SstModel::Sf020a), ..spec.clone() }, false, None),
        (BoardSpec { writable: false, ..spec }, false, None),
    ];
    let session = |(spec, autostart, corrupted): (BoardSpec, bool, Option<usize>)| {
        let app = build_with(profile, ProgramKind::FlashApplication, &Evaluator::default())?;
        let mut machine = Machine::new(profile)?;
        let header =
            flash_program::program_header(&app.bytes, app.address, autostart).unwrap_or_default();
        let mut content = [&header[..], &app.bytes].concat();
        if let Some(byte) = corrupted.and_then(|at| content.get_mut(at)) {
            *byte ^= 0x10;
        }
        let mut chip = spec.programmed(&machine.monitor.bytes);
        chip.load(flash_program::HEADER_ADDRESS.into(), &content);
        machine.board = BoardModel::with_chip(spec, chip, QueueLine::default());
        let mut session = MeasuredBoard::on(machine, app);
        for request in
            [FlashRequest::Chip, FlashRequest::Erase { sector: 40 }, FlashRequest::Boot { crc: 0 }]
        {
            session.request(&Request::Flash(request));
        }
        Ok(session)
    };
    chips.map(session).into_iter().collect()
}
