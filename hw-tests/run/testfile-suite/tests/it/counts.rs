//! Counts of instructions and calls by a simulated machine.

use testfile_suite::TestOptions;

use crate::{folder, parse, run};

/// Runs cases; returns name, entries and own T-states of each node of the call tree, and its
/// depth.
fn nodes(source: &str, cases: &str) -> Vec<(usize, String, u64, u64)> {
    let folder = folder(source);
    let file = parse(folder.path(), cases).unwrap_or_else(|error| panic!("{error}"));
    let mut machine = file.program.machine();
    machine.counter = Some(file.step_counter());
    let options = TestOptions::default();
    run(&file, &mut machine, &options, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let calls = machine.counter.as_ref().expect("it counts").calls();
    let mut found = Vec::new();
    let mut open = vec![(0, 0)];
    while let Some((depth, number)) = open.pop() {
        let node = calls.node(number);
        let name = file.program.map.address_name(node.routine);
        found.push((depth, name, node.calls, node.own));
        open.extend(node.callees.iter().rev().map(|callee| (depth + 1, *callee)));
    }
    found.remove(0);
    found
}

fn node(depth: usize, name: &str, calls: u64, own: u64) -> (usize, String, u64, u64) {
    (depth, name.to_owned(), calls, own)
}

/// CALL 17, NOP 4, RET 10.
#[test]
fn a_mock_returns_to_its_caller() {
    let source = "RUN:\tCALL SUB\n\tNOP\n\tRET\nSUB:\tNOP\n\tRET";
    let case = "[[case]]\nname = \"a\"\ncall = \"RUN\"\n";
    let found = nodes(source, case);
    assert_eq!(found, [node(1, "RUN", 1, 17 + 4 + 10), node(2, "SUB", 1, 14)]);
    let found = nodes(source, &format!("{case}mock.SUB = {{}}\n"));
    assert_eq!(found, [node(1, "RUN", 1, 17 + 4 + 10), node(2, "SUB", 1, 0)]);
}

/// JR 12, so 9 of them exceed 100 T-states.
#[test]
fn a_call_that_does_not_return_is_not_the_caller_of_the_next_one() {
    let source = "RUN:\tJMPR RUN\nEND:\tRET";
    let cases = "[[case]]\nname = \"a\"\ncall = \"RUN\"\ntimeout = 100\n[[case]]\nname = \
                 \"b\"\ncall = \"END\"\n";
    let found = nodes(source, cases);
    assert_eq!(found, [node(1, "RUN", 1, 9 * 12), node(1, "END", 1, 10)]);
}
