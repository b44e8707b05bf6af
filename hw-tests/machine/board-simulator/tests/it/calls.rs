//! The tree of a program's calls.

use board_simulator::profiling::{CallTree, StepCounter};
use board_simulator::{BoardModel, QueueLine, board_spec};
use firmware::code_map::{CodeMap, MappedProgram};
use firmware::profile::BoardProfile;
use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

/// Runs a program from START to HLT, whose routines are FIRST and SECOND. Returns the calls, and the
/// addresses of the two.
fn calls(text: &str) -> (CallTree, [u16; 2]) {
    let sources = MemoryLoader::new().with("program.asm", text);
    let assembly = assemble(&sources, &["program.asm".into()], &Options::default());
    let modules = assembly.unwrap_or_else(|error| panic!("{error}")).modules;
    let program = link(&modules, &Layout::flat(0)).unwrap_or_else(|error| panic!("{error}"));
    let code = CodeMap::from_programs([MappedProgram::from(&program)]);
    let routines = ["FIRST", "SECOND"].map(|name| code.symbol(name).expect("a label"));
    let mut counter = StepCounter::with_entries(&code, routines);
    let spec = board_spec(&BoardProfile::named("rc2014-classic").expect("it ships"));
    let mut board = BoardModel::new(spec, &program.image.flat(0), QueueLine::default());
    counter.run(&mut board, 100_000);
    (counter.calls().clone(), routines)
}

/// How often a routine was entered in the whole tree, and its T-states with callees.
fn of(calls: &CallTree, routine: u16) -> (u64, u64) {
    let nodes = calls.iter().enumerate().skip(1).filter(|(_, node)| node.routine == routine);
    nodes.fold((0, 0), |(count, all), (at, node)| (count + node.calls, all + calls.total(at)))
}

#[test]
fn a_routine_entered_by_falling_through_returns_with_the_one_before_it() {
    let (calls, [first, second]) = calls(
        "START:\tLXI\tSP,9000H\n\tCALL\tFIRST\n\tNOP\n\tHLT\n\
         FIRST:\tINX\tB\nSECOND:\tNOP\n\tRET\n\t.END\tSTART\n",
    );
    // INC BC takes 6 T-states, NOP 4, RET 10.
    assert_eq!((of(&calls, first), of(&calls, second)), ((1, 20), (1, 14)));
    // LD SP,nn takes 10, CALL 17, NOP 4 and HALT 4.
    assert_eq!((calls.total(0), calls.node(1).own), (55, 35));
}

#[test]
fn routines_that_jump_to_each_other_do_not_nest() {
    let (calls, [first, second]) = calls(
        "START:\tLXI\tSP,9000H\n\tMVI\tB,200\n\tCALL\tFIRST\n\tHLT\n\
         FIRST:\tNOP\nAGAIN:\tJMP\tSECOND\nSECOND:\tDJNZ\tAGAIN\n\tRET\n\t.END\tSTART\n",
    );
    // The root, START, FIRST and SECOND.
    assert_eq!(calls.iter().count(), 4);
    assert_eq!((of(&calls, first).0, of(&calls, second).0), (1, 200));
}
