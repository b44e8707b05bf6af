//! The debugger: forward and back, what it stops at, and the registers by the article's names.

use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;
use hw_tests::debug::{CodeMap, Condition, Debugger, Halt, Watch, at_exchange, register, table_2};
use hw_tests::encode;
use hw_tests::reference::{Square, examine, parse_fen};
use hw_tests::sim::{AccessKind, Registers};

/// The article's Figure 1.
pub(crate) const FIGURE_1: &str = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -";

fn square(name: &str) -> Square {
    Square::named(name).expect("a square")
}

/// At XCHNG for e5, where a pawn is attacked by a knight and a rook with a queen behind.
fn at_e5(behaviour: Behaviour) -> Debugger {
    let profile = Profile::named("rc2014-classic").expect("it ships");
    let position = parse_fen(FIGURE_1).expect("a position");
    let evaluator = Evaluator { behaviour, own: None };
    at_exchange(&profile, &evaluator, &position, square("e5")).unwrap_or_else(|e| panic!("{e}"))
}

fn mended() -> Debugger {
    at_e5(Behaviour::Mended)
}

fn break_at(debugger: &mut Debugger, label: &str) -> u16 {
    let address = debugger.code().symbol(label).unwrap_or_else(|| panic!("no {label}"));
    debugger.stops.add_break(address, None);
    address
}

fn value(debugger: &Debugger, meaning: &str) -> u16 {
    let roles = table_2(&debugger.registers(), debugger.code());
    let role = roles.iter().find(|role| role.meaning == meaning);
    role.unwrap_or_else(|| panic!("no {meaning} in {roles:?}")).value
}

#[test]
fn steps_back_go_where_steps_came_from() {
    let mut debugger = mended();
    let mut past = vec![(debugger.turn(), debugger.clock(), debugger.registers())];
    for _ in 0..3000 {
        assert_eq!(debugger.step(), Halt::Step);
        past.push((debugger.turn(), debugger.clock(), debugger.registers()));
    }
    let memory = debugger.dump(0x8000, 0x8000);
    for moment in past.iter().rev().skip(1).take(300) {
        assert_eq!(debugger.step_back(), Halt::Step);
        assert_eq!((debugger.turn(), debugger.clock(), debugger.registers()), *moment);
    }
    for _ in 0..300 {
        debugger.step();
    }
    assert_eq!(past.last(), Some(&(debugger.turn(), debugger.clock(), debugger.registers())));
    assert!(debugger.dump(0x8000, 0x8000) == memory, "the same memory");
}

#[test]
fn conditions_choose_among_passages_forward_and_back() {
    let mut debugger = mended();
    let xchng = break_at(&mut debugger, "XCHNG");
    // The squares come in the order a1, b1 .. h8: what is behind e5 is what is still to come.
    let (_, verdicts) = examine(&parse_fen(FIGURE_1).expect("a position"));
    let mut squares: Vec<u8> = verdicts.iter().map(|one| encode::square(one.square)).collect();
    squares.sort_unstable();
    let at =
        squares.iter().position(|one| *one == encode::square(square("e5"))).expect("it is one");
    let variable = debugger.code().symbol("M3").expect("M3");
    for expected in &squares[at + 1..] {
        assert_eq!(debugger.go(|| false), Halt::Breakpoint);
        assert_eq!((debugger.registers().pc, debugger.peek(variable)), (xchng, *expected));
    }
    for expected in squares[..squares.len() - 1].iter().rev() {
        assert_eq!(debugger.go_back(), Halt::Breakpoint);
        assert_eq!(debugger.peek(variable), *expected);
    }
    assert_eq!(debugger.go_back(), Halt::Start);
    debugger.stops.remove_breaks_at(xchng);
    let last = format!("[M3] == {} && HL != 0", squares[squares.len() - 1]);
    let condition = Condition::parse(&last, debugger.code()).expect("a condition");
    debugger.stops.add_break(xchng, Some(condition));
    assert_eq!(debugger.go(|| false), Halt::Breakpoint);
    assert_eq!(Some(&debugger.peek(variable)), squares.last());
}

#[test]
fn memory_and_ports_are_watched_in_both_directions() {
    let mut debugger = mended();
    let array = debugger.code().symbol("ATKLST").expect("ATKLST");
    let watch = Watch { is_port: false, first: array, count: 14, reads: false, writes: true };
    let id = debugger.stops.add_watch(watch);
    let filed = debugger.dump(array, 14);
    let Halt::Watchpoint(found, access) = debugger.go_back() else { panic!("not watched") };
    assert_eq!((found, access.kind), (id, AccessKind::Write));
    assert!((array..array + 14).contains(&access.address));
    assert!(debugger.dump(array, 14) != filed, "before the write");
    assert!(matches!(debugger.go(|| false), Halt::Watchpoint(..)));
    assert_eq!(debugger.dump(array, 14), filed, "and after it");
    debugger.stops.remove_watch(id);
    // The 68B50's data register.
    debugger.stops.add_watch(Watch {
        is_port: true,
        first: 0x81,
        count: 1,
        reads: false,
        writes: true,
    });
    let Halt::Watchpoint(_, access) = debugger.go(|| false) else { panic!("not watched") };
    assert_eq!(
        (access.kind, access.address & 0xFF, access.value),
        (AccessKind::Out, 0x81, 0),
        "a frame begins"
    );
}

#[test]
fn steps_go_over_calls_out_of_routines_and_by_lines() {
    let mut debugger = mended();
    let attack = break_at(&mut debugger, "ATTACK");
    assert_eq!(debugger.go(|| false), Halt::Breakpoint);
    debugger.stops.remove_breaks_at(attack);
    let sp = debugger.registers().sp;
    let caller = u16::from_le_bytes([debugger.peek(sp), debugger.peek(sp + 1)]);
    let before = debugger.code().line_at(attack).map(|line| line.place.line);
    for _ in 0..6 {
        assert_eq!(debugger.step_line(false), Halt::Step);
        let registers = debugger.registers();
        assert!(registers.sp >= sp - 4, "not inside of a call");
        let line = debugger.code().line_at(registers.pc).expect("a line");
        assert!(&*line.place.file == "attack.asm" && Some(line.place.line) != before);
    }
    let here = debugger.registers();
    assert_eq!(debugger.step_line(false), Halt::Step);
    assert_eq!(debugger.step_line_back(), Halt::Step);
    assert_eq!(debugger.registers().sp, here.sp);
    assert_eq!(debugger.step_out(), Halt::Step);
    let registers = debugger.registers();
    assert_eq!((registers.pc, registers.sp), (caller, sp + 2));
}

#[test]
fn table_2_names_the_registers_as_the_reference_has_the_values() {
    let position = parse_fen(FIGURE_1).expect("a position");
    let (_, verdicts) = examine(&position);
    let verdict = verdicts.iter().find(|one| one.square == square("e5")).expect("e5");
    let own = verdict.piece.colour;
    let attackers = verdict.array.in_order(own.other());
    let defenders = verdict.array.in_order(own);
    for behaviour in [Behaviour::Mended, Behaviour::AsIn1978] {
        let mut debugger = at_e5(behaviour);
        assert!(table_2(&debugger.registers(), debugger.code()).is_empty(), "not set up yet");
        break_at(&mut debugger, "GUARD");
        assert_eq!(debugger.go(|| false), Halt::Breakpoint);
        assert_eq!(value(&debugger, "points at stake"), u16::from(verdict.piece.kind.value()));
        assert_eq!(value(&debugger, "value of the attacker"), u16::from(attackers[0]));
        assert_eq!(value(&debugger, "residue"), 0);
        if behaviour == Behaviour::Mended {
            // As we assemble it, counts are one more than what is left.
            assert_eq!(value(&debugger, "attackers left"), attackers.len() as u16);
        }
        // A knight is dearer than the pawn that it would take.
        break_at(&mut debugger, "FIRST");
        assert_eq!(debugger.go(|| false), Halt::Breakpoint);
        assert_eq!(value(&debugger, "value of the defender"), u16::from(defenders[0]));
        assert_eq!(value(&debugger, "residue"), 0);
    }
}

#[test]
fn what_is_changed_by_hand_ends_the_known_past() {
    let mut debugger = mended();
    let array = debugger.code().symbol("ATKLST").expect("ATKLST");
    debugger.poke(array, &[0; 14]);
    debugger.step();
    debugger.step();
    debugger.step_back();
    assert_eq!((debugger.step_back(), debugger.step_back()), (Halt::Step, Halt::Start));
    assert_eq!(debugger.dump(array, 14), [0; 14]);
    assert_eq!(debugger.step_out(), Halt::Step);
    let residue = register(&debugger.registers(), "E").expect("E");
    assert_eq!(residue, 0, "nobody attacks");
}

#[test]
fn conditions_are_read_as_they_are_meant() {
    let code = CodeMap::new(&[]);
    let registers = Registers { af: 0x1240, hl: 0x8003, de_alt: 7, ..Registers::default() };
    let read = |at: u16| (at & 0xFF) as u8;
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
        let condition = Condition::parse(text, &code).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(condition.value(&registers, &read), expected, "{text}");
    }
    for text in ["", "A ==", "NOSUCH == 1", "[HL", "A = 1", "99999", &"(".repeat(100)] {
        assert!(Condition::parse(text, &code).is_err(), "{text}");
    }
}
