//! Both behaviours of the evaluator, mended and as in 1978: Z80 code and reference agree on
//! whatever may come, and differ from each other where the facts about the program of 1978 say so.

use board_debugger::profiling::routine_runner::RoutineRunner;
use firmware::ProgramKind;
use firmware::build::build_with;
use firmware::evaluator::{self, Evaluator};
use firmware::profile::Profile;
use firmware_wire::status;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use sargon_analysis::behaviours::{Fault, compare};
use sargon_corpus::encode;
use sargon_corpus::{Subject, shipped};
use sargon_reference::{
    AttackersArray, Behaviour, Colour, ExchangeResult, Kind, Piece, Position, Square, examine_as,
    exchange_as, parse_fen,
};

/// The position in which a pin on h2 puts the knight d2 behind the queen, and the residue on e4 is
/// 0, not 3.
const EXAMPLE: &str = "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -";

fn bare(behaviour: evaluator::Behaviour) -> RoutineRunner {
    let profile = Profile::named("rc2014-classic").expect("it ships");
    let evaluator = Evaluator { behaviour, own: None };
    let app = build_with(&profile, ProgramKind::Application, &evaluator);
    RoutineRunner::new(&app.unwrap_or_else(|error| panic!("{error}")))
        .expect("it is the application")
}

fn bits(overflow: bool, outcome: &ExchangeResult) -> u8 {
    let short = if outcome.short { status::SHORT } else { 0 };
    short | if overflow { status::OVERFLOW } else { 0 }
}

fn call(bare: &mut RoutineRunner, routine: &str) {
    bare.call(routine).unwrap_or_else(|error| panic!("{error}"));
}

/// Runs all routines on a position and compares with the reference, square by square.
fn check_position(bare: &mut RoutineRunner, behaviour: Behaviour, position: &Position) {
    let expected = examine_as(position, behaviour);
    bare.set_position(position).expect("the evaluator's labels");
    call(bare, "PINFND");
    for verdict in &expected.verdicts {
        let at = verdict.square;
        bare.set_square(at, Some(verdict.piece)).expect("the evaluator's labels");
        call(bare, "NEWLST");
        call(bare, "ATTACK");
        let array = bare.array().expect("the array");
        assert_eq!(array.to_string(), verdict.array.to_string(), "{at} {behaviour:?}");
        call(bare, "XCHNG");
        let residue = bare.registers().de as u8;
        let told = bare.peek("STATUS").expect("the status");
        let wanted = (verdict.outcome.residue, bits(verdict.overflow, &verdict.outcome));
        assert_eq!((residue, told), wanted, "{at} {behaviour:?}");
    }
}

fn any_piece() -> impl Strategy<Value = Option<Piece>> {
    // Queens and empty squares are most frequent: lines stay open, batteries and overflow are
    // common.
    let kinds = prop::sample::select(vec![
        Kind::Pawn,
        Kind::Knight,
        Kind::Bishop,
        Kind::Rook,
        Kind::Queen,
        Kind::Queen,
        Kind::King,
    ]);
    let colours = prop::sample::select(vec![Colour::White, Colour::White, Colour::Black]);
    let piece = (kinds, colours).prop_map(|(kind, colour)| Piece { colour, kind });
    prop_oneof![2 => Just(None), 3 => piece.prop_map(Some)]
}

fn any_position() -> impl Strategy<Value = Position> {
    prop::collection::vec(any_piece(), 64).prop_map(|pieces| {
        let mut position = Position::empty(Colour::White);
        for (square, piece) in Square::all().zip(pieces) {
            position.set(square, piece);
        }
        position
    })
}

#[test]
fn board_and_reference_agree_on_positions_full_of_queens() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for built in evaluator::Behaviour::ALL {
        let mut bare = bare(built);
        for _ in 0..300 {
            let position = any_position().new_tree(&mut runner).expect("a position").current();
            check_position(&mut bare, encode::behaviour(built), &position);
        }
    }
}

#[test]
fn board_and_reference_agree_on_any_fourteen_bytes() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let nibbles = prop_oneof![3 => Just(0u8), 2 => any::<u8>(), 1 => 0u8..16];
    let bytes = prop::collection::vec(nibbles, 14);
    let pieces = (0usize..6, any::<bool>());
    for built in evaluator::Behaviour::ALL {
        let mut bare = bare(built);
        for _ in 0..20_000 {
            let (bytes, (kind, white)) =
                (&bytes, &pieces).new_tree(&mut runner).expect("an array").current();
            let colour = if white { Colour::White } else { Colour::Black };
            let piece = Piece { colour, kind: Kind::ALL[kind] };
            let array = AttackersArray::from_bytes(&bytes.try_into().expect("14 bytes"));
            call(&mut bare, "NOPINS");
            call(&mut bare, "NEWLST");
            bare.set_piece(Some(piece)).expect("the evaluator's labels");
            bare.set_array(&array).expect("the evaluator's labels");
            call(&mut bare, "XCHNG");
            let outcome = exchange_as(piece, &array, encode::behaviour(built));
            let said = (bare.registers().de as u8, bare.peek("STATUS").expect("the status"));
            assert_eq!(said, (outcome.residue, bits(false, &outcome)), "{built} {piece:?} {array}");
        }
    }
}

#[test]
fn the_example_of_the_fault_is_told_with_its_square() {
    let position = parse_fen(EXAMPLE).unwrap_or_else(|error| panic!("{error}"));
    let compared = compare(&position);
    let e4 = compared.iter().find(|found| found.square.to_string() == "e4").expect("a knight");
    assert_eq!((e4.mended.residue, e4.printed.residue), (3, 0));
    assert_eq!(e4.faults, [Fault::Flag]);
}

/// The residues of a position, in the order of its mirror image.
fn residues(position: &Position, behaviour: Behaviour) -> Vec<(Square, u8)> {
    let verdicts = examine_as(position, behaviour).verdicts;
    verdicts.iter().map(|verdict| (verdict.square, verdict.outcome.residue)).collect()
}

#[test]
fn the_program_of_1978_says_other_things_of_a_mirror_image() {
    let differ = |behaviour| {
        let cases = shipped().unwrap_or_else(|error| panic!("{error}"));
        let positions = cases.iter().filter_map(|case| match &case.subject {
            Subject::Position { position, .. } => Some(position),
            Subject::Array { .. } => None,
        });
        positions.filter(|position| is_one_royal_each(position)).any(|position| {
            let mut back = residues(&position.files_reversed(), behaviour);
            for (square, _) in &mut back {
                *square = Square::new(7 - square.file(), square.rank()).expect("on the board");
            }
            back.sort_unstable();
            back != residues(position, behaviour)
        })
    };
    assert!(!differ(Behaviour::Mended));
    assert!(differ(Behaviour::AsIn1978));
}

/// Returns whether it does not matter which king and queen are looked at first.
fn is_one_royal_each(position: &Position) -> bool {
    [Kind::King, Kind::Queen].into_iter().all(|kind| {
        [Colour::White, Colour::Black].into_iter().all(|colour| {
            position.pieces().filter(|(_, p)| *p == Piece { colour, kind }).count() <= 1
        })
    })
}

#[test]
fn without_a_pin_and_a_full_slot_the_behaviours_are_one() {
    let mut compared = 0;
    for case in shipped().unwrap_or_else(|error| panic!("{error}")) {
        let Subject::Position { position, .. } = &case.subject else { continue };
        let mended = examine_as(position, Behaviour::Mended);
        let printed = examine_as(position, Behaviour::AsIn1978);
        if mended.pins.is_empty() && printed.verdicts.iter().all(|verdict| !verdict.overflow) {
            assert_eq!(printed, mended, "{}", case.id);
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn the_fences_hold_as_often_as_they_are_reached() {
    // White's count, then Black's, promises one more than its section holds.
    let arrays = [
        [3, 0x11, 0, 0, 0, 0, 0, 2, 0x11, 0, 0, 0, 0, 0],
        [3, 0x11, 0x01, 0, 0, 0, 0, 3, 0x11, 0, 0, 0, 0, 0],
    ];
    let piece = Piece { colour: Colour::Black, kind: Kind::Pawn };
    let mut bare = bare(evaluator::Behaviour::Mended);
    for array in [arrays, arrays].concat() {
        let array = AttackersArray::from_bytes(&array);
        bare.set_piece(Some(piece)).expect("the evaluator's labels");
        call(&mut bare, "NEWLST");
        bare.set_array(&array).expect("the evaluator's labels");
        call(&mut bare, "XCHNG");
        let outcome = exchange_as(piece, &array, Behaviour::Mended);
        assert!(outcome.short, "{array}");
        let said = (bare.registers().de as u8, bare.peek("STATUS").expect("the status"));
        assert_eq!(said, (outcome.residue, status::SHORT), "{array}");
    }
}

#[test]
fn the_index_variables_point_where_the_calling_contract_says() {
    let profile = Profile::named("rc2014-classic").expect("it ships");
    let app = build_with(&profile, ProgramKind::Application, &Evaluator::default());
    let app = app.unwrap_or_else(|error| panic!("{error}"));
    let symbol = |name| app.program.symbol(name).expect("a name of the contract");
    let bare = RoutineRunner::new(&app).expect("it is the application");
    let word = |name| bare.peek_word(name).expect("a name of the contract");
    for (names, page) in [
        (&["M1", "M2", "M3", "M4"][..], symbol("BOARDA")),
        (&["T1", "T2", "T3", "INDX1", "INDX2"], symbol("TBASE")),
        (&["NPINS"], symbol("BOARDA") + 0x100),
    ] {
        for name in names {
            assert_eq!(word(name) & 0xFF00, page, "{name}");
        }
    }
    assert_eq!((word("T1") as u8, symbol("BOARD")), (7, 0));
    // Values and steps of the article and of the authors' program, seen from the table page.
    let byte = |offset: u16| app.bytes[usize::from(symbol("TBASE") - app.address + offset)];
    let values: Vec<_> = (1..=6).map(|kind| byte(symbol("PVALUE") + kind)).collect();
    assert_eq!(values, [1, 3, 3, 5, 9, 10]);
    let steps: Vec<_> = (0..16).map(|index| byte(symbol("DIRECT") + index) as i8).collect();
    assert_eq!(steps, [9, 11, -11, -9, 10, -10, 1, -1, -21, -12, 8, 19, 21, 12, -8, -19]);
}
