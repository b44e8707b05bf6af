//! Exercises for boards, so that their code runs: the corpus, every request, refused ones, and
//! damage on the line.

use firmware::ProgramKind;
use firmware::build::BuildError;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;
use firmware_wire::slot;
use firmware_wire::{
    CALL, CheckedPosition, ExhaustRequest, FlashRequest, Frame, MAX_BLOCK, Request, crc32, kind,
};

use super::coverage::Coverage;
use super::step_counter::StepCounter;
use crate::Machine;
use board_simulator::board_spec;
use board_simulator::{BoardModel, BoardSpec, ChipKind, MemoryMap, QueueLine, SECTOR, SstModel};
use firmware::code::CodeMap;
use sargon_corpus::encode;
use sargon_corpus::{Case, Subject};
use sargon_reference::{Position, parse_fen};

/// T-states within which a board does whatever it is asked here.
const MAX_REQUEST_T_STATES: u64 = 250_000_000;
/// First address of RAM for programs.
const RAM: u16 = 0x8000;

/// Positions whose like a small selection of the corpus may lack: pinned pieces of all kinds, a
/// queen held against a queen, second queens, and more of a kind on a line than a slot of the array
/// holds.
const RARE_POSITIONS: [&str; 5] = [
    "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -",
    "3qr1k1/8/8/b6b/3N4/2N2P2/4B3/R2QK2R w - -",
    "4k3/8/8/8/4p3/3KQ3/4R3/4R3 w - -",
    "4r1k1/1b6/8/3p4/q1R1K2r/3P4/2B3B1/1q6 w - -",
    "QQ2k3/Q7/2r5/8/4n3/3R4/3R1BB1/3RK3 b - -",
];

/// The result of a workout.
pub struct CoverageWorkload {
    /// Lines and branches that have run.
    pub coverage: Coverage,
    /// The programs that ran.
    pub code: Vec<CodeMap>,
}

impl CoverageWorkload {
    /// Exercises monitor and application of the boards that ship, as built here, mended and
    /// as in 1978.
    ///
    /// # Errors
    /// Returns `BuildError` if a program can't be built.
    pub fn run(profiles: &[Profile], cases: &[Case]) -> Result<Self, BuildError> {
        let mut all = Self { coverage: Coverage::default(), code: Vec::new() };
        for profile in profiles {
            for behaviour in Behaviour::ALL {
                let evaluator = Evaluator { behaviour, own: None };
                let mut one = MeasuredBoard::new(profile, ProgramKind::Application, &evaluator)?;
                one.monitor();
                one.application(cases);
                all.add(one);
            }
            for mut one in hurried_sessions(profile)? {
                one.flood();
                all.add(one);
            }
            session_with_hole(profile)?.into_iter().for_each(|one| all.add(one));
            if profile.chip.writable {
                for mut one in flash_sessions(profile)? {
                    one.start_from_flash();
                    all.add(one);
                }
                let mut one =
                    MeasuredBoard::new(profile, ProgramKind::Application, &Evaluator::default())?;
                one.flash();
                all.add(one);
            }
        }
        Ok(all)
    }

    fn add(&mut self, mut session: MeasuredBoard) {
        // The commands to flash chips run from RAM, where the monitor has put them.
        let symbols = &session.machine.monitor.program.symbols;
        let in_module =
            |name| symbols.iter().find(|one| one.module == Some("FLCMD") && one.name == name);
        let label = |name| in_module(name).map(|symbol| symbol.value);
        if let (Some(from), Some(to), Some(size)) = (label("CODE"), label("HERE"), label("LENGTH"))
        {
            session.meter.credit_copy(from, to, size);
        }
        self.coverage.add(&session.meter, &session.code);
        self.code.push(session.code);
    }
}

/// A board that is measured.
struct MeasuredBoard {
    machine: Machine,
    meter: StepCounter,
    code: CodeMap,
}

impl MeasuredBoard {
    fn new(
        profile: &Profile,
        kind: ProgramKind,
        evaluator: &Evaluator,
    ) -> Result<Self, BuildError> {
        Ok(Self::on(Machine::new(profile, kind, evaluator)?))
    }

    /// A board that has just been powered up, and sends its banner.
    fn on(machine: Machine) -> Self {
        let code = machine.code();
        let mut session = Self { machine, meter: StepCounter::new(&code), code };
        session.say(&[]);
        session
    }

    /// Sends bytes and waits until the board is at rest; its replies are for others to judge.
    fn say(&mut self, bytes: &[u8]) {
        self.machine.board.line_mut().to_board.extend(bytes);
        self.meter.run(&mut self.machine.board, MAX_REQUEST_T_STATES);
        self.machine.board.line_mut().from_board.clear();
    }

    fn frame(&mut self, kind: u8, payload: Vec<u8>) {
        self.say(&Frame::new(1, kind, payload).expect("it fits").encode());
    }

    fn ask(&mut self, request: &Request) {
        self.frame(request.kind(), request.payload());
    }

    /// Requests that both programs answer alike.
    fn common(&mut self) {
        self.say(b"\rx");
        self.ask(&Request::Identify);
        self.frame(kind::IDENT, vec![1]);
        self.frame(0x7F, Vec::new());
        let good = Frame::empty(9, kind::IDENT).encode();
        let mut wrong_check = good.clone();
        wrong_check[4] ^= 0x40;
        let too_long = [&[0][..], &[1; 300], &[0]].concat();
        let more_than_can_be = vec![0, 4, 0xF1, 1, 1, 0];
        for damaged in [too_long, wrong_check, more_than_can_be, vec![0, 9, 1, 2, 0], vec![0, 1, 0]]
        {
            self.say(&damaged);
        }
        self.say(&[&CALL[..], &CALL].concat());
        // More than the ring holds, from a host that does not listen.
        self.say(&vec![1; 3000]);
        self.say(&[0]);
    }

    fn monitor(&mut self) {
        self.common();
        let address = 0xEFFF - (MAX_BLOCK as u16 - 1);
        let data: Vec<u8> = (0..MAX_BLOCK as u8).collect();
        self.ask(&Request::Write { address, data });
        self.ask(&Request::Read { address, count: MAX_BLOCK as u8 });
        self.ask(&Request::Crc { address, length: MAX_BLOCK as u16 });
        for (address, count) in
            [(0x7FFFu16, 1), (0, 4), (0xF000, 1), (0xFFFF, 2), (0xEFFF, 2), (RAM, 0), (RAM, 237)]
        {
            self.frame(kind::WRITE, [&address.to_le_bytes()[..], &vec![0; count]].concat());
        }
        self.frame(kind::CRC, vec![0, 0x80, 0, 0]);
        self.frame(kind::READ, vec![0, 0x80, 0]);
        self.frame(kind::READ, vec![0, 0x80, 237]);
        self.ask(&Request::Reset);
    }

    /// Uploads bytes.
    fn upload(&mut self, first: u16, bytes: &[u8]) {
        for (index, block) in bytes.chunks(MAX_BLOCK).enumerate() {
            let address = first + (index * MAX_BLOCK) as u16;
            self.ask(&Request::Write { address, data: block.to_vec() });
        }
    }

    /// More positions at once than the ring holds, which take long, so that the host is held off or
    /// characters are lost.
    fn flood(&mut self) {
        let image = self.machine.application.clone();
        self.machine.board.bus_mut().load(image.address, &image.bytes);
        self.ask(&Request::Run { address: image.address });
        let position = Request::Position { squares: [0x55; 32] };
        let frame = position.frame(1).expect("it fits a frame").encode();
        self.say(&[frame.repeat(60), vec![0; 300]].concat());
        self.ask(&Request::Identify);
        self.ask(&Request::Identify);
    }

    fn application(&mut self, cases: &[Case]) {
        let image = self.machine.application.clone();
        self.upload(image.address, &image.bytes);
        self.ask(&Request::Run { address: image.address });
        self.common();
        for case in cases {
            self.case(case);
        }
        for position in RARE_POSITIONS.iter().filter_map(|fen| parse_fen(fen).ok()) {
            self.position(&position);
        }
        self.refused_by_application();
        for (space, count) in [(0, 400), (1, 600), (2, 800)] {
            for piece in [0x01, 0x86] {
                let attackers = 5;
                let defenders = 0;
                let request = ExhaustRequest { space, attackers, defenders, piece, count, crc: 0 };
                self.ask(&Request::Exhaust(request));
            }
        }
        let last = ExhaustRequest {
            space: 0,
            attackers: 377,
            defenders: 377,
            piece: 0x86,
            count: 9,
            crc: 1,
        };
        for request in
            [last, ExhaustRequest { space: 3, ..last }, ExhaustRequest { count: 0, ..last }]
        {
            self.ask(&Request::Exhaust(request));
        }
        for request in [
            ExhaustRequest { attackers: 378, ..last },
            ExhaustRequest { defenders: 378, ..last },
            ExhaustRequest { piece: 7, ..last },
        ] {
            self.ask(&Request::Exhaust(request));
        }
        self.ask(&Request::Reset);
    }

    /// A case of the corpus by every request that takes such a one.
    fn case(&mut self, case: &Case) {
        match &case.subject {
            Subject::Position { position, .. } => self.position(position),
            Subject::Array { piece, array, .. } => {
                let stake = piece.kind.value();
                let array = array.to_bytes();
                let piece = encode::piece(*piece);
                self.ask(&Request::Exchange { piece, array });
                self.ask(&Request::Trace { piece, stake, array });
            }
        }
    }

    fn position(&mut self, position: &Position) {
        let squares = encode::squares(position);
        self.ask(&Request::Position { squares });
        let mut positions = Vec::new();
        for (mover, moved) in [(0, 0), (0x80, 44)] {
            self.ask(&Request::Points { squares, mover, moved });
            let checked = CheckedPosition { squares, mover, moved };
            self.ask(&Request::Examine(checked));
            positions.push(checked);
        }
        self.ask(&Request::Checks { status: 0xFF, positions });
    }

    fn refused_by_application(&mut self) {
        for piece in [0x00, 0x07, 0x80] {
            self.frame(kind::EXCHANGE, [&[piece][..], &[0; 14]].concat());
        }
        for (offset, byte) in [(0, 0x07), (31, 0xF0)] {
            let mut squares = [0; 32];
            squares[offset] = byte;
            self.ask(&Request::Position { squares });
            self.ask(&Request::Points { squares, mover: 0x80, moved: 0 });
        }
        let unmoved = CheckedPosition { squares: [0; 32], mover: 1, moved: 0 };
        self.ask(&Request::Points { squares: [0; 32], mover: 1, moved: 0 });
        self.ask(&Request::Examine(unmoved));
        self.ask(&Request::Checks { status: 0, positions: vec![unmoved] });
        let nothing = CheckedPosition { squares: [7; 32], mover: 0, moved: 0 };
        self.ask(&Request::Checks { status: 0, positions: vec![nothing] });
        self.frame(kind::CHECKS, vec![0; 34]);
        for length in [31, 33] {
            self.frame(kind::POSITION, vec![0; length]);
            self.frame(kind::POINTS, vec![0; length]);
        }
        for (piece, stake) in [(0, 1), (0x87, 1), (1, 0), (0x82, 16), (1, 15)] {
            self.ask(&Request::Trace { piece, stake, array: [0; 14] });
        }
        self.frame(kind::TRACE, vec![1; 15]);
        self.frame(kind::WRITE, vec![0; 3]);
        self.ask(&Request::Idle);
        // Asked for its place while a reply leaves: what is sent meanwhile is part of no frame.
        let request = Request::Position { squares: [0xA2; 32] }.frame(1).expect("it fits");
        for wait in [150, 300, 450] {
            self.say(&[&request.encode()[..], &vec![1; wait], &CALL].concat());
        }
        for array in [[0xFF; 14], [1; 14], [6; 14]] {
            self.ask(&Request::Exchange { piece: 5, array });
            self.ask(&Request::Trace { piece: 0x85, stake: 9, array });
        }
    }

    /// Everything about the flash chip.
    fn flash(&mut self) {
        let data: Vec<u8> = (0..MAX_BLOCK as u8).collect();
        let program = |address, data: &[u8]| FlashRequest::Program { address, data: data.to_vec() };
        let crc = |address, length| FlashRequest::Crc { address, length };
        let read = |address, count| FlashRequest::Read { address, count };
        let length = MAX_BLOCK as u16;
        let sum = crc32(&data);
        let verify = |crc| FlashRequest::Verify { address: 0x4000, length, crc };
        let requests = [
            FlashRequest::Chip,
            FlashRequest::Erase { sector: 4 },
            FlashRequest::Erase { sector: 0 },
            FlashRequest::Erase { sector: 128 },
            FlashRequest::Erase { sector: 0x8001 },
            program(0x4000, &data),
            program(0x4000, &data),
            program(0x4000, &[0xFF; 3]),
            program(0x7FF14, &data),
            program(0, &[0]),
            program(0x8_0000, &[0]),
            program(0xFF_1234, &[0]),
            program(0x1FFF, &[0, 0]),
            crc(0x4000, length),
            crc(0, 0x4000),
            crc(0x3FFF, 2),
            crc(1, 0xFFFF),
            crc(0x8_0000, 1),
            crc(0x1000, 0),
            verify(sum),
            verify(!sum),
            read(0x4000, MAX_BLOCK as u8),
            read(0x3FFF, 2),
            read(0x1000, 0),
            read(0x1000, 237),
        ];
        for request in requests {
            self.ask(&Request::Flash(request));
        }
        self.frame(kind::PROGRAM, vec![0, 0x10, 0]);
        self.replace_monitor();
    }

    /// The boot sector by itself, after a check that fails.
    fn replace_monitor(&mut self) {
        let mut next = self.machine.monitor.bytes.clone();
        next.resize(SECTOR, 0xFF);
        self.upload(RAM, &next);
        let crc = crc32(&next);
        for crc in [!crc, crc] {
            self.ask(&Request::Flash(FlashRequest::Boot { crc }));
        }
    }

    /// Has the board start the program in flash, if it is whole; and stops the start.
    fn start_from_flash(&mut self) {
        self.ask(&Request::Identify);
        self.say(b"\r");
        self.ask(&Request::Reset);
        self.machine.board.reset();
        self.meter.run(&mut self.machine.board, 1_000_000);
        self.say(b"x");
        self.ask(&Request::Identify);
    }
}

/// Boards with a host that obeys RTS, and with one that does not.
fn hurried_sessions(profile: &Profile) -> Result<Vec<MeasuredBoard>, BuildError> {
    let spec = board_spec(profile);
    let session = |host_obeys_rts| with_spec(profile, BoardSpec { host_obeys_rts, ..spec.clone() });
    [false, true].map(session).into_iter().collect()
}

/// A board without RAM where a host may write, if it has such a map.
fn session_with_hole(profile: &Profile) -> Result<Option<MeasuredBoard>, BuildError> {
    let spec = board_spec(profile);
    let MemoryMap::Plain { rom, .. } = &spec.memory else { return Ok(None) };
    let memory = MemoryMap::Plain { rom: rom.clone(), ram: 0xC000..=0xFFFF };
    let mut session = with_spec(profile, BoardSpec { memory, ..spec })?;
    session.ask(&Request::Write { address: RAM, data: vec![0x55, 0xAA] });
    Ok(Some(session))
}

fn with_spec(profile: &Profile, spec: BoardSpec) -> Result<MeasuredBoard, BuildError> {
    let mut machine = Machine::new(profile, ProgramKind::Application, &Evaluator::default())?;
    machine.board = BoardModel::new(spec, &machine.monitor.bytes, QueueLine::default());
    Ok(MeasuredBoard::on(machine))
}

/// Boards with a program in flash: whole, not to be started, damaged; and with chips of all sizes
/// and none.
fn flash_sessions(profile: &Profile) -> Result<Vec<MeasuredBoard>, BuildError> {
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
    let session = |(spec, autostart, spoilt): (BoardSpec, bool, Option<usize>)| {
        let evaluator = Evaluator::default();
        let mut machine = Machine::new(profile, ProgramKind::FlashApplication, &evaluator)?;
        let app = &machine.application;
        let header = slot::header(&app.bytes, app.address, autostart).unwrap_or_default();
        let mut content = [&header[..], &app.bytes].concat();
        if let Some(byte) = spoilt.and_then(|at| content.get_mut(at)) {
            *byte ^= 0x10;
        }
        let mut chip = spec.programmed(&machine.monitor.bytes);
        chip.load(slot::ADDRESS.into(), &content);
        machine.board = BoardModel::with_chip(spec, chip, QueueLine::default());
        let mut session = MeasuredBoard::on(machine);
        for request in
            [FlashRequest::Chip, FlashRequest::Erase { sector: 40 }, FlashRequest::Boot { crc: 0 }]
        {
            session.ask(&Request::Flash(request));
        }
        Ok(session)
    };
    chips.map(session).into_iter().collect()
}
