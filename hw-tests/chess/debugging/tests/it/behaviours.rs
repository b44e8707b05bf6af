//! Both behaviours of the evaluator, corrected and original: Z80 code and reference agree on random
//! input, and the behaviours differ where the bugs of the original have an effect.

use firmware::ProgramKind;
use firmware::build::build_with;
use firmware::evaluator::{self, Evaluator};
use firmware::profile::BoardProfile;
use firmware_wire::status;
use hil_testing::routine_runner::RoutineRunner;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use sargon_corpus::analysis::behaviours::{OriginalBug, compare};
use sargon_corpus::encode;
use sargon_corpus::{CaseInput, builtin_corpus};
use sargon_reference::{
    AttackersArray, Behaviour, Colour, ExchangeResult, Piece, PieceKind, Position, Square,
    evaluate_as, exchange_as, parse_fen,
};

/// The position in which a pin on h2 puts the knight d2 behind the queen, and the residue on e4 is
/// 0, not 3.
const EXAMPLE: &str = "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -";

fn bare(behaviour: evaluator::Behaviour) -> RoutineRunner {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
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

/// Runs all routines on a position and compares the results with the reference, square by square.
fn check_position(bare: &mut RoutineRunner, behaviour: Behaviour, position: &Position) {
    let expected = evaluate_as(position, behaviour);
    bare.set_position(position).expect("the evaluator's labels");
    call(bare, "PINFND");
    for verdict in &expected.squares {
        let at = verdict.square;
        bare.set_square(at, Some(verdict.piece)).expect("the evaluator's labels");
        call(bare, "NEWLST");
        call(bare, "ATTACK");
        let array = bare.array().expect("the array");
        assert_eq!(array.to_string(), verdict.array.to_string(), "{at} {behaviour:?}");
        call(bare, "XCHNG");
        let residue = bare.registers().de as u8;
        let status = bare.peek("STATUS").expect("the status");
        let wanted = (verdict.outcome.residue, bits(verdict.overflow, &verdict.outcome));
        assert_eq!((residue, status), wanted, "{at} {behaviour:?}");
    }
}

fn any_piece() -> impl Strategy<Value = Option<Piece>> {
    // Queens and empty squares are most frequent: lines stay open, batteries and overflow are
    // common.
    let kinds = prop::sample::select(vec![
        PieceKind::Pawn,
        PieceKind::Knight,
        PieceKind::Bishop,
        PieceKind::Rook,
        PieceKind::Queen,
        PieceKind::Queen,
        PieceKind::King,
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
        for _ in 0..5_000 {
            let (bytes, (kind, white)) =
                (&bytes, &pieces).new_tree(&mut runner).expect("an array").current();
            let colour = if white { Colour::White } else { Colour::Black };
            let piece = Piece { colour, kind: PieceKind::ALL[kind] };
            let array = AttackersArray::from_bytes(&bytes.try_into().expect("14 bytes"));
            call(&mut bare, "NOPINS");
            call(&mut bare, "NEWLST");
            bare.set_piece(Some(piece)).expect("the evaluator's labels");
            bare.set_array(&array).expect("the evaluator's labels");
            call(&mut bare, "XCHNG");
            let outcome = exchange_as(piece, &array, encode::behaviour(built));
            let result = (bare.registers().de as u8, bare.peek("STATUS").expect("the status"));
            assert_eq!(
                result,
                (outcome.residue, bits(false, &outcome)),
                "{built} {piece:?} {array}"
            );
        }
    }
}

#[test]
fn the_bug_in_the_example_is_reported_with_its_square() {
    let position = parse_fen(EXAMPLE).unwrap_or_else(|error| panic!("{error}"));
    let compared = compare(&position);
    let e4 = compared.iter().find(|found| found.square.to_string() == "e4").expect("a knight");
    assert_eq!((e4.corrected.residue, e4.original.residue), (3, 0));
    assert_eq!(e4.bugs, [OriginalBug::Flag]);
}

/// The residues of a position, in the order of its mirror image.
fn residues(position: &Position, behaviour: Behaviour) -> Vec<(Square, u8)> {
    let verdicts = evaluate_as(position, behaviour).squares;
    verdicts.iter().map(|verdict| (verdict.square, verdict.outcome.residue)).collect()
}

#[test]
fn the_original_has_other_residues_in_a_mirror_image() {
    let differ = |behaviour| {
        let cases = builtin_corpus().unwrap_or_else(|error| panic!("{error}"));
        let positions = cases.iter().filter_map(|case| match &case.subject {
            CaseInput::Position { position, .. } => Some(position),
            CaseInput::Array { .. } => None,
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
    assert!(!differ(Behaviour::Corrected));
    assert!(differ(Behaviour::Original));
}

/// Returns `true` if the order in which kings and queens are found does not matter.
fn is_one_royal_each(position: &Position) -> bool {
    [PieceKind::King, PieceKind::Queen].into_iter().all(|kind| {
        [Colour::White, Colour::Black].into_iter().all(|colour| {
            position.pieces().filter(|(_, p)| *p == Piece { colour, kind }).count() <= 1
        })
    })
}

#[test]
fn without_a_pin_and_a_full_slot_the_behaviours_are_equal() {
    let mut compared = 0;
    for case in builtin_corpus().unwrap_or_else(|error| panic!("{error}")) {
        let CaseInput::Position { position, .. } = &case.subject else { continue };
        let corrected = evaluate_as(position, Behaviour::Corrected);
        let original = evaluate_as(position, Behaviour::Original);
        if corrected.pins.is_empty() && original.squares.iter().all(|verdict| !verdict.overflow) {
            assert_eq!(original, corrected, "{}", case.id);
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn the_sentinels_end_a_walk_each_time_it_reaches_them() {
    // White's count, then Black's, is one more than the entries of its section.
    let arrays = [
        [3, 0x11, 0, 0, 0, 0, 0, 2, 0x11, 0, 0, 0, 0, 0],
        [3, 0x11, 0x01, 0, 0, 0, 0, 3, 0x11, 0, 0, 0, 0, 0],
    ];
    let piece = Piece { colour: Colour::Black, kind: PieceKind::Pawn };
    let mut bare = bare(evaluator::Behaviour::Corrected);
    for array in [arrays, arrays].concat() {
        let array = AttackersArray::from_bytes(&array);
        bare.set_piece(Some(piece)).expect("the evaluator's labels");
        call(&mut bare, "NEWLST");
        bare.set_array(&array).expect("the evaluator's labels");
        call(&mut bare, "XCHNG");
        let outcome = exchange_as(piece, &array, Behaviour::Corrected);
        assert!(outcome.short, "{array}");
        let result = (bare.registers().de as u8, bare.peek("STATUS").expect("the status"));
        assert_eq!(result, (outcome.residue, status::SHORT), "{array}");
    }
}

#[test]
fn the_index_variables_point_to_the_pages_of_the_calling_contract() {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
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
    // Values and steps of the article and of the authors' program, at offsets in the table page.
    let byte = |offset: u16| app.bytes[usize::from(symbol("TBASE") - app.address + offset)];
    let values: Vec<_> = (1..=6).map(|kind| byte(symbol("PVALUE") + kind)).collect();
    assert_eq!(values, [1, 3, 3, 5, 9, 10]);
    let steps: Vec<_> = (0..16).map(|index| byte(symbol("DIRECT") + index) as i8).collect();
    assert_eq!(steps, [9, 11, -11, -9, 10, -10, 1, -1, -21, -12, 8, 19, 21, 12, -8, -19]);
}
