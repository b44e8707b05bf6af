//! The debugger: motions forward and back, stops, and the registers by the article's names.

use board_debugger::{
    BoundExpression, Debugger, ExecCommand, FLAGS, HaltReason, HitCondition, MachineState,
    REGISTER_NAMES, Stop, StopKind, WatchHit, WatchTarget, WatchTrigger, Watchpoint,
    register_value, set_register,
};
use board_simulator::{AccessKind, BusAccess, Registers};
use firmware::code_map::CodeMap;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use sargon_corpus::encode;
use sargon_debugging::{EntryOutcome, open_position, run_to_exchange, xchng_register_roles};
use sargon_reference::{Square, evaluate, parse_fen};

/// The article's Figure 1.
pub(crate) const FIGURE_1: &str = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -";

fn square(name: &str) -> Square {
    Square::named(name).expect("a square")
}

/// At XCHNG for e5, where a pawn is attacked by a knight and a rook with a queen behind.
fn at_e5(behaviour: Behaviour) -> Debugger {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let position = parse_fen(FIGURE_1).expect("a position");
    let evaluator = Evaluator { behaviour, own: None };
    let board =
        open_position(&profile, &evaluator, &position, None, &mut |_| false).expect("it is built");
    let session = run_to_exchange(board, square("e5"), 10.0, &mut |_| false);
    let session = session.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(session.outcome, EntryOutcome::Reached);
    session.debugger
}

/// Executes a motion without interrupting it.
pub(crate) fn run(debugger: &mut Debugger, motion: ExecCommand) -> HaltReason {
    debugger.run(motion, &mut |_| false)
}

fn corrected() -> Debugger {
    at_e5(Behaviour::Corrected)
}

fn break_at(debugger: &mut Debugger, label: &str) -> u16 {
    let address = debugger.code().symbol(label).unwrap_or_else(|| panic!("no {label}"));
    debugger.stops.add(Stop::at(address));
    address
}

/// The watchpoint and the access of a halt.
fn touched(halt: HaltReason) -> (u32, BusAccess) {
    match halt {
        HaltReason::Watchpoint(WatchHit { id, trigger: WatchTrigger::Access(access) }) => {
            (id, access)
        }
        other => panic!("not watched: {other:?}"),
    }
}

fn value(debugger: &Debugger, meaning: &str) -> u16 {
    let roles = xchng_register_roles(&debugger.registers(), debugger.code());
    let role = roles.iter().find(|role| role.meaning == meaning);
    role.unwrap_or_else(|| panic!("no {meaning} in {roles:?}")).value
}

#[test]
fn steps_back_go_where_steps_came_from() {
    let mut debugger = corrected();
    let mut past = vec![(debugger.step_count(), debugger.clock(), debugger.registers())];
    for _ in 0..3000 {
        assert_eq!(run(&mut debugger, ExecCommand::Step), HaltReason::Completed);
        past.push((debugger.step_count(), debugger.clock(), debugger.registers()));
    }
    let memory = debugger.dump(0x8000, 0x8000);
    for moment in past.iter().rev().skip(1).take(300) {
        assert_eq!(run(&mut debugger, ExecCommand::ReverseStep), HaltReason::Completed);
        assert_eq!((debugger.step_count(), debugger.clock(), debugger.registers()), *moment);
    }
    for _ in 0..300 {
        run(&mut debugger, ExecCommand::Step);
    }
    assert_eq!(past.last(), Some(&(debugger.step_count(), debugger.clock(), debugger.registers())));
    assert!(debugger.dump(0x8000, 0x8000) == memory, "the same memory");
}

#[test]
fn conditions_select_passages_forward_and_back() {
    let mut debugger = corrected();
    let xchng = break_at(&mut debugger, "XCHNG");
    // The squares are evaluated in the order a1, b1 .. h8: squares after e5 are still to come.
    let (_, verdicts) = evaluate(&parse_fen(FIGURE_1).expect("a position"));
    let mut squares: Vec<u8> = verdicts.iter().map(|one| encode::square(one.square)).collect();
    squares.sort_unstable();
    let at =
        squares.iter().position(|one| *one == encode::square(square("e5"))).expect("it is one");
    let variable = debugger.code().symbol("M3").expect("M3");
    for expected in &squares[at + 1..] {
        assert_eq!(run(&mut debugger, ExecCommand::Continue), HaltReason::Breakpoint);
        assert_eq!((debugger.registers().pc, debugger.peek(variable)), (xchng, *expected));
    }
    for expected in squares[..squares.len() - 1].iter().rev() {
        assert_eq!(run(&mut debugger, ExecCommand::ReverseContinue), HaltReason::Breakpoint);
        assert_eq!(debugger.peek(variable), *expected);
    }
    assert_eq!(run(&mut debugger, ExecCommand::ReverseContinue), HaltReason::HistoryStart);
    debugger.stops.clear();
    let last = format!("[M3] == {} && HL != 0", squares[squares.len() - 1]);
    let condition = BoundExpression::parse(&last, debugger.code()).expect("a condition");
    debugger.stops.add(Stop { condition: Some(condition), ..Stop::at(xchng) });
    assert_eq!(run(&mut debugger, ExecCommand::Continue), HaltReason::Breakpoint);
    assert_eq!(Some(&debugger.peek(variable)), squares.last());
}

#[test]
fn memory_and_ports_are_watched_in_both_directions() {
    let mut debugger = corrected();
    let array = debugger.code().symbol("ATKLST").expect("ATKLST");
    let id = debugger.stops.add(Stop::new(StopKind::Watchpoint(Watchpoint {
        target: WatchTarget::Memory,
        first: array,
        count: 14,
        reads: false,
        writes: true,
    })));
    let filed = debugger.dump(array, 14);
    let (found, access) = touched(run(&mut debugger, ExecCommand::ReverseContinue));
    assert_eq!((found, access.kind), (id, AccessKind::Write));
    assert!((array..array + 14).contains(&access.address));
    assert!(debugger.dump(array, 14) != filed, "before the write");
    assert!(matches!(run(&mut debugger, ExecCommand::Continue), HaltReason::Watchpoint(..)));
    assert_eq!(debugger.dump(array, 14), filed, "and after it");
    debugger.stops.remove(id);
    // The 68B50's data register.
    debugger.stops.add(Stop::new(StopKind::Watchpoint(Watchpoint {
        target: WatchTarget::Ports,
        first: 0x81,
        count: 1,
        reads: false,
        writes: true,
    })));
    let (_, access) = touched(run(&mut debugger, ExecCommand::Continue));
    assert_eq!(
        (access.kind, access.address & 0xFF, access.value),
        (AccessKind::Out, 0x81, 0),
        "a frame begins"
    );
}

#[test]
fn steps_go_over_calls_out_of_routines_and_by_lines() {
    let mut debugger = corrected();
    let attack = break_at(&mut debugger, "ATTACK");
    assert_eq!(run(&mut debugger, ExecCommand::Continue), HaltReason::Breakpoint);
    debugger.stops.clear();
    let sp = debugger.registers().sp;
    let caller = u16::from_le_bytes([debugger.peek(sp), debugger.peek(sp + 1)]);
    let before = debugger.code().line_at(attack).map(|line| line.place.line);
    for _ in 0..6 {
        assert_eq!(run(&mut debugger, ExecCommand::StepLine), HaltReason::Completed);
        let registers = debugger.registers();
        assert!(registers.sp >= sp - 4, "not inside of a call");
        let line = debugger.code().line_at(registers.pc).expect("a line");
        assert!(&*line.place.file == "firmware:/attack.asm" && Some(line.place.line) != before);
    }
    let here = debugger.registers();
    assert_eq!(run(&mut debugger, ExecCommand::StepLine), HaltReason::Completed);
    assert_eq!(run(&mut debugger, ExecCommand::ReverseStepLine), HaltReason::Completed);
    assert_eq!(debugger.registers().sp, here.sp);
    assert_eq!(run(&mut debugger, ExecCommand::StepOut), HaltReason::Completed);
    let registers = debugger.registers();
    assert_eq!((registers.pc, registers.sp), (caller, sp + 2));
}

#[test]
fn table_2_names_the_registers_as_the_reference_has_the_values() {
    let position = parse_fen(FIGURE_1).expect("a position");
    let (_, verdicts) = evaluate(&position);
    let verdict = verdicts.iter().find(|one| one.square == square("e5")).expect("e5");
    let own = verdict.piece.colour;
    let attackers = verdict.array.in_order(own.other());
    let defenders = verdict.array.in_order(own);
    for behaviour in [Behaviour::Corrected, Behaviour::Original] {
        let mut debugger = at_e5(behaviour);
        assert!(
            xchng_register_roles(&debugger.registers(), debugger.code()).is_empty(),
            "not set up yet"
        );
        break_at(&mut debugger, "GUARD");
        assert_eq!(run(&mut debugger, ExecCommand::Continue), HaltReason::Breakpoint);
        assert_eq!(value(&debugger, "points at stake"), u16::from(verdict.piece.kind.value()));
        assert_eq!(value(&debugger, "value of the attacker"), u16::from(attackers[0]));
        assert_eq!(value(&debugger, "residue"), 0);
        assert_eq!(value(&debugger, "attackers left"), attackers.len() as u16 - 1);
        assert_eq!(value(&debugger, "defenders left"), defenders.len() as u16);
        // A knight is worth more than the pawn that it would capture.
        break_at(&mut debugger, "DEARER");
        assert_eq!(run(&mut debugger, ExecCommand::Continue), HaltReason::Breakpoint);
        assert_eq!(value(&debugger, "value of the defender"), u16::from(defenders[0]));
        assert_eq!(value(&debugger, "residue"), 0);
    }
}

#[test]
fn a_manual_change_discards_the_recorded_past() {
    let mut debugger = corrected();
    let array = debugger.code().symbol("ATKLST").expect("ATKLST");
    debugger.poke(array, &[0; 14]);
    run(&mut debugger, ExecCommand::Step);
    run(&mut debugger, ExecCommand::Step);
    run(&mut debugger, ExecCommand::ReverseStep);
    assert_eq!(
        (
            run(&mut debugger, ExecCommand::ReverseStep),
            run(&mut debugger, ExecCommand::ReverseStep)
        ),
        (HaltReason::Completed, HaltReason::HistoryStart)
    );
    assert_eq!(debugger.dump(array, 14), [0; 14]);
    assert_eq!(run(&mut debugger, ExecCommand::StepOut), HaltReason::Completed);
    let residue = register_value(&debugger.registers(), "E").expect("E");
    assert_eq!(residue, 0, "no attackers");
}

/// A state in which each byte of memory is the low byte of its address.
struct LowAddressBytes;

impl MachineState for LowAddressBytes {
    fn registers(&self) -> Registers {
        Registers { af: 0x1240, hl: 0x8003, de_alt: 7, ..Registers::default() }
    }

    fn peek(&self, address: u16) -> u8 {
        (address & 0xFF) as u8
    }
}

#[test]
fn conditions_are_parsed_with_their_precedence() {
    let code = CodeMap::new(&[]);
    for (text, expected) in [
        ("A == 12H", 1),
        ("a == 0x12 && f & 40H", 1),
        ("A == 1 || E' == 7", 1),
        ("[HL] == 3", 1),
        ("[HL + 2] - 1 == 4", 1),
        ("(A > 17) == (A <= 18)", 1),
        ("A < 18", 0),
        ("HL >= 8003H && HL != 8003H", 0),
        ("0FFH", 255),
    ] {
        let condition =
            BoundExpression::parse(text, &code).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(condition.value(&LowAddressBytes), expected, "{text}");
    }
    for text in ["", "A ==", "NOSUCH == 1", "[HL", "A = 1", "99999", &"(".repeat(100)] {
        assert!(BoundExpression::parse(text, &code).is_err(), "{text}");
    }
}

#[test]
fn hit_counts_select_passages_and_restart_with_the_program() {
    let mut debugger = corrected();
    let address = debugger.code().symbol("ATTACK").expect("ATTACK");
    let hits = HitCondition::parse("== 3").expect("a count");
    let id = debugger.stops.add(Stop { hits, ..Stop::at(address) });
    assert_eq!(run(&mut debugger, ExecCommand::Continue), HaltReason::Breakpoint);
    assert_eq!(debugger.hit_count(id), 3);
    assert_eq!(run(&mut debugger, ExecCommand::Continue), HaltReason::Idle, "the third one alone");
    debugger.restart();
    assert_eq!(debugger.hit_count(id), 0);
    for (text, expected) in
        [("2", Ok(HitCondition::From(2))), ("% 4", Ok(HitCondition::EveryNth(4)))]
    {
        assert_eq!(HitCondition::parse(text), expected, "{text}");
    }
    assert!(HitCondition::parse("0").is_err() && HitCondition::parse("often").is_err());
}

#[test]
fn a_register_is_watched_in_both_directions() {
    let mut debugger = corrected();
    let before = debugger.registers().hl;
    let watch = Watchpoint::register("HL").expect("a register");
    debugger.stops.add(Stop::new(StopKind::Watchpoint(watch)));
    let HaltReason::Watchpoint(WatchHit {
        trigger: WatchTrigger::Register { name, before: from, after },
        ..
    }) = run(&mut debugger, ExecCommand::Continue)
    else {
        panic!("not watched")
    };
    assert_eq!((name, from, after), ("HL", before, debugger.registers().hl));
    assert!(matches!(run(&mut debugger, ExecCommand::ReverseContinue), HaltReason::Watchpoint(_)));
    assert_eq!(debugger.registers().hl, before, "before the instruction that changed it");
    assert!(Watchpoint::register("NOSUCH").is_none());
}

#[test]
fn the_last_change_of_a_byte_is_found_despite_writes_of_the_same_value() {
    let mut debugger = corrected();
    let array = debugger.code().symbol("ATKLST").expect("ATKLST");
    let count = debugger.peek(array);
    assert_eq!(count, 3, "three attack e5");
    assert!(matches!(
        run(&mut debugger, ExecCommand::ReverseToChange(array)),
        HaltReason::Watchpoint(_)
    ));
    assert_eq!(debugger.peek(array), count - 1, "before the last one was filed");
    let place = debugger.code().address_name(debugger.registers().pc);
    assert!(
        place.starts_with("ATKSAV")
            || debugger
                .code()
                .line_at(debugger.registers().pc)
                .is_some_and(|line| &*line.place.file == "firmware:/atksav.asm"),
        "{place}"
    );
}

#[test]
fn open_calls_are_known_and_lead_to_the_request() {
    let mut debugger = corrected();
    break_at(&mut debugger, "ATKSAV");
    assert_eq!(run(&mut debugger, ExecCommand::Continue), HaltReason::Breakpoint);
    let calls = debugger.calls();
    let names: Vec<String> =
        calls.iter().map(|call| debugger.code().address_name(call.routine)).collect();
    assert!(calls[0].was_seen && names.contains(&"ATTACK".to_owned()), "{names:?}");
    let site = debugger.code().line_at(calls[0].site).expect("a line");
    assert!(&*site.place.file == "firmware:/attack.asm", "{site:?}");
}

#[test]
fn every_register_and_flag_is_set_by_name() {
    let mut registers = Registers::default();
    for (number, name) in REGISTER_NAMES.into_iter().enumerate() {
        let value = number as u16 + 1;
        assert!(set_register(&mut registers, name, value), "{name}");
        assert_eq!(register_value(&registers, name), Some(value), "{name}");
    }
    assert!(!set_register(&mut registers, "A", 0x100), "a byte holds no more");
    assert!(!set_register(&mut registers, "NOSUCH", 1));
    for (name, mask) in FLAGS {
        registers.af &= 0xFF00;
        assert!(set_register(&mut registers, name, 1));
        assert_eq!(
            (registers.af & 0xFF, register_value(&registers, name)),
            (mask, Some(1)),
            "{name}"
        );
    }
}

#[test]
fn sent_input_is_part_of_the_recorded_past() {
    let mut debugger = corrected();
    assert_eq!(run(&mut debugger, ExecCommand::Continue), HaltReason::Idle, "it has answered");
    let answered = debugger.output().len();
    let frame = firmware_wire::Frame::empty(2, firmware_wire::kind::IDENT);
    debugger.send(&frame.encode()).expect("it listens");
    assert_eq!(run(&mut debugger, ExecCommand::Continue), HaltReason::Idle);
    let all = debugger.output().to_vec();
    assert!(all.len() > answered + 10, "it has identified itself");
    let step = debugger.step_count();
    for _ in 0..50 {
        run(&mut debugger, ExecCommand::ReverseStep);
    }
    assert!(debugger.step_count() < step);
    assert_eq!(run(&mut debugger, ExecCommand::Continue), HaltReason::Idle);
    assert_eq!((debugger.step_count(), debugger.output()), (step, &all[..]), "the same again");
}
