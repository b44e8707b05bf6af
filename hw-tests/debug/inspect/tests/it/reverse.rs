//! The cost of reverse steps, counted in replayed instructions.

use board_debugger::{Debugger, ExecCommand, HaltReason, LoadedProgram, Stop, open_program};
use firmware::code_map::MappedProgram;
use firmware::profile::BoardProfile;

use crate::debugger::run;

/// The bound on a gap between two snapshots, in instructions (docs/DEBUGGING.md).
const MAX_GAP: u64 = 256_000;

/// A program at 8000H.
fn program(bytes: &[u8]) -> Debugger {
    let run = tdlasm::image::ImageRun { address: 0x8000, bytes: bytes.into() };
    let image = tdlasm::image::Image::new([run]);
    let known = MappedProgram { image, ..MappedProgram::default() };
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    open_program(&profile, LoadedProgram::new(known, 0x8000), None)
        .unwrap_or_else(|e| panic!("{e}"))
}

/// It counts in HL for ever: INX H; JMP 8000H.
fn counting() -> Debugger {
    program(&[0x23, 0xC3, 0x00, 0x80])
}

/// Runs for this many instructions.
fn run_for(debugger: &mut Debugger, steps: u64) {
    let end = debugger.step_count() + steps;
    // The callback is polled every 2,048 steps.
    if steps > 8_192 {
        debugger.run(ExecCommand::Continue, &mut |debugger| debugger.step_count() + 2_048 >= end);
    }
    while debugger.step_count() < end {
        assert_eq!(run(debugger, ExecCommand::Step), HaltReason::Completed);
    }
}

#[test]
fn any_number_of_steps_back_replays_one_gap_between_snapshots() {
    let mut debugger = counting();
    run_for(&mut debugger, 600_000);
    for steps in [1, 2, 1_000, 99_999, 400_000] {
        let (count, registers) = (debugger.step_count(), debugger.registers());
        let replayed = debugger.replayed_steps();
        assert_eq!(run(&mut debugger, ExecCommand::ReverseSteps(steps)), HaltReason::Completed);
        assert_eq!(debugger.step_count(), count - steps);
        let replayed = debugger.replayed_steps() - replayed;
        assert!(replayed <= 2 * MAX_GAP, "{replayed} instructions for {steps} steps");
        // Two instructions for each count.
        let behind = registers.hl.wrapping_sub(debugger.registers().hl);
        assert!([steps / 2, steps.div_ceil(2)].contains(&behind.into()) || steps > 0x1_0000);
        run_for(&mut debugger, steps);
        assert_eq!(debugger.registers(), registers, "forward again");
    }
    assert_eq!(run(&mut debugger, ExecCommand::ReverseSteps(600_001)), HaltReason::HistoryStart);
    assert_eq!((debugger.step_count(), debugger.registers().pc), (0, 0x8000));
}

#[test]
fn a_step_of_the_history_is_reached_from_before_and_after_it_past_breakpoints() {
    let mut debugger = counting();
    let first = debugger.registers().hl;
    run_for(&mut debugger, 600_000);
    debugger.stops.add(Stop::at(debugger.registers().pc));
    for step in [100_000, 3, 599_999, 600_000, 600_100, 0] {
        assert_eq!(run(&mut debugger, ExecCommand::GoToStep(step)), HaltReason::Completed);
        assert_eq!(debugger.step_count(), step);
        // Two instructions for each count.
        let counted = debugger.registers().hl.wrapping_sub(first);
        assert!([step / 2, step.div_ceil(2)].map(|count| count as u16).contains(&counted));
    }
}

#[test]
fn a_breakpoint_in_the_past_is_found_with_one_replay_of_the_way_to_it() {
    let mut debugger = counting();
    run(&mut debugger, ExecCommand::Step);
    run_for(&mut debugger, 300_000);
    let replayed = debugger.replayed_steps();
    // INX H has run once at the first step, so HL was 1 at its second visit only.
    let hl = debugger.registers().hl.wrapping_sub(150_000u32 as u16);
    let condition = format!("HL == {hl} && PC == 8000H");
    let condition = board_debugger::BoundExpression::parse(&condition, debugger.code());
    debugger.stops.add(board_debugger::Stop {
        condition: Some(condition.expect("it is valid")),
        ..board_debugger::Stop::at(0x8000)
    });
    while debugger.step_count() > 2 {
        assert_eq!(run(&mut debugger, ExecCommand::ReverseContinue), HaltReason::Breakpoint);
    }
    let replayed = debugger.replayed_steps() - replayed;
    assert!(replayed <= 600_000 + MAX_GAP, "{replayed}");
}

#[test]
fn a_search_replays_only_where_it_may_find_something() {
    // INR A; STA 9000H; then for ever from 8004H on: INX H; SHLD 9100H; JMP 8004H.
    let mut debugger = program(&[0x3C, 0x32, 0, 0x90, 0x23, 0x22, 0, 0x91, 0xC3, 0x04, 0x80]);
    // So far that the oldest snapshots are farther apart.
    run_for(&mut debugger, 16_000_000);
    let replayed_by = |debugger: &mut Debugger, motion, expected: fn(HaltReason) -> bool| {
        let before = debugger.replayed_steps();
        let halt = run(debugger, motion);
        assert!(expected(halt), "{motion:?}: {halt:?}");
        debugger.replayed_steps() - before
    };
    let motion = ExecCommand::ReverseToChange(0x9101);
    let is_found = |halt| matches!(halt, HaltReason::Watchpoint(_));
    let replayed = replayed_by(&mut debugger, motion, is_found);
    assert!(replayed <= 2 * MAX_GAP, "it has changed a moment ago: {replayed}");
    let motion = ExecCommand::ReverseToChange(0xA000);
    let replayed =
        replayed_by(&mut debugger, motion, |halt| halt == HaltReason::NeverChanged(0xA000));
    assert!(replayed <= 2 * MAX_GAP, "nothing has written it: {replayed}");
    for (motion, step) in
        [(ExecCommand::ReverseToChange(0x9000), 1), (ExecCommand::ReverseTo(0x8000), 0)]
    {
        assert_eq!(run(&mut debugger, ExecCommand::GoToStep(16_000_000)), HaltReason::Completed);
        let replayed = replayed_by(&mut debugger, motion, |halt| halt != HaltReason::HistoryStart);
        assert_eq!(debugger.step_count(), step);
        assert!(replayed <= 10 * MAX_GAP, "of 62: {replayed}");
    }
    // Where snapshots are far apart, the way there is replayed once, and not for each motion.
    debugger.stops.add(Stop::at(0x8004));
    let mut replayed = 0;
    for step in [400_000, 900_000, 1_400_000, 1_900_000] {
        assert_eq!(run(&mut debugger, ExecCommand::GoToStep(step)), HaltReason::Completed);
        for _ in 0..5 {
            let motion = ExecCommand::ReverseContinue;
            replayed += replayed_by(&mut debugger, motion, |halt| halt == HaltReason::Breakpoint);
        }
        assert!((1..=15).contains(&(step - debugger.step_count())), "three steps each");
    }
    assert!(replayed <= 4 * MAX_GAP, "{replayed}");
}
