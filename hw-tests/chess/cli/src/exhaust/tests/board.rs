//! The board's part: enumeration, check and histogram against reference and second model.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use board_simulator::board_spec;
use board_simulator::{BoardModel, QueueLine, Registers};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::{ErrorCode, ExhaustReply, ExhaustRequest};
use hil_harness::board::{Board, BoardError, BoardKind};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::BoardConfig;
use rcflash_link::LinkError;
use rcflash_transport::Transport;
use sargon_reference::Colour;
use sargon_suite::{SargonBoard, SargonConfig};

use super::model;
use crate::exhaust::check::{ExhaustEnd, ExhaustPlan, ExhaustTotals, check_arrays};
use crate::exhaust::prepare_pool;
use crate::exhaust::space::{ArraySpace, Space};

fn classic() -> BoardProfile {
    BoardProfile::named("rc2014-classic").expect("it ships")
}

fn rig() -> SargonBoard {
    SargonBoard::prepare(&BoardConfig::simulated(classic()).into())
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn board_reference_and_second_model_agree_wherever_a_range_begins_and_ends() {
    let mut rig = rig();
    let spaces = [(Space::Core, 1, 1), (Space::TwoBishops, 2, 1), (Space::TwoQueens, 2, 2)];
    for (space, bishops, queens) in spaces {
        let sections = model::sections(bishops, queens);
        let end = (sections.len() * sections.len() * 6) as u32;
        let row = sections.len() as u32 * 6;
        // From the first array, over changes of attackers between kinds, a single one, and up to
        // the last.
        for range in [0..4000, 40 * row - 2051..40 * row + 4, 77_777..77_778, end - 3001..end] {
            for owner in [Colour::White, Colour::Black] {
                let arrays = ArraySpace::new(space, owner);
                let goal = ExhaustPlan { arrays, range: range.clone(), crc: 0 };
                let (totals, ended) = check_arrays(
                    std::slice::from_mut(&mut rig),
                    &goal,
                    &AtomicBool::new(false),
                    |_| {},
                );
                assert!(
                    matches!(ended, ExhaustEnd::Complete),
                    "{space} {range:?} {owner:?}: {ended:?}"
                );
                let ExhaustTotals { crc, histogram, off_minimax, .. } = totals;
                let seen = model::Folded { crc, histogram, off_minimax };
                assert_eq!(seen, model::fold(&sections, range.clone()));
            }
        }
    }
}

#[test]
fn several_boards_have_the_results_of_one() {
    let arrays = ArraySpace::new(Space::Core, Colour::Black);
    let goal = ExhaustPlan { arrays, range: 0..20_000, crc: 0 };
    let right = BoardConfig { board: BoardKind::InProcess, ..BoardConfig::simulated(classic()) };
    let wrong = BoardConfig { application: Some(cheap_queen()), ..right.clone() };
    let checked = |plan: &BoardConfig, most| {
        let boards = prepare_pool(&plan.clone().into(), most);
        let mut boards = boards.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(boards.len(), most);
        let mut reported = Vec::new();
        let checked =
            check_arrays(&mut boards, &goal, &AtomicBool::new(false), |done| reported.push(done));
        (checked.0, format!("{:?}", checked.1), reported)
    };
    let one = checked(&right, 1);
    assert_eq!((&*one.1, one.2.last()), ("Complete", Some(&20_000)));
    assert_eq!(checked(&right, 3), one);
    let one = checked(&wrong, 1);
    assert!(one.1.starts_with("Differs") && !one.2.is_empty(), "{}", one.1);
    assert_eq!(checked(&wrong, 3), one);
}

/// An evaluator in which a queen is worth 8 points.
fn cheap_queen() -> (u16, Vec<u8>) {
    let image = build(&classic(), ProgramKind::Application).unwrap_or_else(|e| panic!("{e}"));
    let values = image.program.symbol("TBASE").expect("the table page") - image.address;
    let mut bytes = image.bytes.clone();
    assert_eq!(bytes[usize::from(values) + 5], 9);
    bytes[usize::from(values) + 5] = 8;
    (image.address, bytes)
}

/// A board that is seen only through its line.
struct RealBoard(Box<dyn Board>);

impl Board for RealBoard {
    fn name(&self) -> &str {
        "real"
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        self.0.open()
    }
}

/// Begins XCHNG with instructions, and returns what the check of some arrays finds.
fn damage(instructions: &str, wrap: fn(Box<dyn Board>) -> Box<dyn Board>) -> String {
    let source = firmware::source("xchng.asm").expect("a built-in file");
    let broken = source.replacen("XCHNG:", &format!("XCHNG: {instructions}\n"), 1);
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("xchng.asm"), &broken).expect("a file");
    let board = BoardConfig { board: BoardKind::InProcess, ..BoardConfig::simulated(classic()) };
    let mut config = SargonConfig::from(board);
    config.evaluator.own = Some(folder.path().to_owned());
    let programs = Arc::new(config.programs().unwrap_or_else(|error| panic!("{error}")));
    let board = SargonBoard::prepare_with(&config, programs, &OsFileSystem, wrap);
    let mut board = board.unwrap_or_else(|error| panic!("{error}"));
    let arrays = ArraySpace::new(Space::Core, Colour::Black);
    let goal = ExhaustPlan { arrays, range: 0..3000, crc: 0 };
    let boards = std::slice::from_mut(&mut board);
    let (totals, ended) = check_arrays(boards, &goal, &AtomicBool::new(false), |_| {});
    assert_eq!(totals.arrays, 0, "{ended:?}");
    match ended {
        ExhaustEnd::Damaged(Range { start: 0, end: 2048 }, damage) => damage,
        other => panic!("{instructions}: {other:?}"),
    }
}

#[test]
fn an_evaluator_that_damages_the_board_fails_although_its_residues_are_right() {
    let cases = [
        ("STA 0E000H", "wrote E000H outside its data"),
        ("STA XCHNG", "wrote"),
        ("OUT 7", "port 07H"),
        ("DI", "interrupts off"),
        ("LXI H,-300\n DAD SP\n MOV M,A", "wrote"),
    ];
    for (instructions, words) in cases {
        let found = damage(instructions, |board| board);
        assert!(found.starts_with("XCHNG ") && found.contains(words), "{instructions}: {found}");
    }
    let found = damage("DI", |board| Box::new(RealBoard(board)));
    assert_eq!(found, "interrupts were off when the evaluator returned, 1 times");
}

/// The last arrays of the core space, except two.
const LAST: ExhaustRequest =
    ExhaustRequest { space: 0, attackers: 377, defenders: 377, piece: 0x85, count: 2, crc: 0 };

fn ask(rig: &mut SargonBoard, request: ExhaustRequest) -> ExhaustReply {
    rig.request_exhaust(request).unwrap_or_else(|error| panic!("{error}")).tally
}

#[test]
fn a_request_has_the_same_reply_whatever_came_before() {
    let mut rig = rig();
    let request = ExhaustRequest { piece: 0x02, count: 600, attackers: 20, ..LAST };
    let first = ask(&mut rig, request);
    assert_eq!(ask(&mut rig, request), first);
    ask(&mut rig, ExhaustRequest { space: 2, ..request });
    assert_eq!(ask(&mut rig, request), first);
    assert_ne!(ask(&mut rig, ExhaustRequest { crc: 1, ..request }).crc, first.crc);
}

#[test]
fn the_board_stops_where_the_space_does() {
    let mut rig = rig();
    let all = ask(&mut rig, LAST);
    assert_eq!((all.count, all.histogram.iter().sum::<u16>()), (2, 2));
    assert_eq!(ask(&mut rig, ExhaustRequest { count: 65_535, ..LAST }), all);
}

#[test]
fn the_board_refuses_arrays_outside_every_space() {
    let mut rig = rig();
    let refused = [
        (0, ExhaustRequest { space: 3, ..LAST }),
        (1, ExhaustRequest { attackers: 378, ..LAST }),
        (1, ExhaustRequest { space: 2, attackers: 0xFFFF, ..LAST }),
        (3, ExhaustRequest { defenders: 378, ..LAST }),
        (3, ExhaustRequest { space: 1, defenders: 594, ..LAST }),
        (5, ExhaustRequest { piece: 0x80, ..LAST }),
        (5, ExhaustRequest { piece: 7, ..LAST }),
        (6, ExhaustRequest { count: 0, ..LAST }),
    ];
    for (offset, request) in refused {
        match rig.request_exhaust(request) {
            Err(LinkError::Refused { error, .. }) => {
                assert_eq!((error.code, error.detail), (ErrorCode::BadArgument, offset));
            }
            other => panic!("{request:?}: {other:?}"),
        }
    }
    assert_eq!(ask(&mut rig, LAST).count, 2);
}

#[test]
fn the_z80_computes_the_check_value_of_crc_32() {
    const HERE: u16 = 0xE000;
    let app = build(&classic(), ProgramKind::Application).unwrap_or_else(|error| panic!("{error}"));
    let symbol = |name| app.program.symbol(name).expect("a label of crc32.asm");
    let mut board = BoardModel::new(board_spec(&classic()), &[0xC3, 0, 0x80], QueueLine::default());
    board.bus_mut().load(app.address, &app.bytes);
    while board.registers().pc != symbol("TABLE") {
        board.step(); // until it is initialized and polls its input
    }
    board.bus_mut().load(symbol("CHECK"), &[0xFF; 4]);
    board.bus_mut().load(HERE, b"123456789");
    let sp = board.registers().sp;
    let call = Registers { pc: symbol("CRC32"), hl: HERE, bc: 0x0900, ..board.registers() };
    board.set_registers(&call);
    while board.registers().sp <= sp {
        board.step();
    }
    // The catalogue's check value of CRC-32/ISO-HDLC, lowest byte first; the board stores its
    // complement.
    assert_eq!(board.bus().dump(symbol("CHECK"), 4), (!0xCBF4_3926_u32).to_le_bytes());
}
