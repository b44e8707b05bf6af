//! Times of reverse commands: `cargo bench -p board-debugger --bench reverse`.

use std::time::{Duration, Instant};

use board_debugger::{
    BoundExpression, Debugger, ExecCommand, HaltReason, LoadedProgram, Stop, open_program,
};
use firmware::code_map::MappedProgram;
use firmware::profile::BoardProfile;
use tdlasm::image::{Image, ImageRun};

/// Instructions before the first reverse command.
const STEPS: u64 = 10_100_000;
/// At 8000H, which only the first instruction runs: NOP. Then for ever, over memory:
/// LOOP: LD (HL),L; INC HL; SET 7,H; SET 6,H; LD (9000H),BC; JR LOOP.
const PROGRAM: [u8; 13] =
    [0x00, 0x75, 0x23, 0xCB, 0xFC, 0xCB, 0xF4, 0xED, 0x43, 0x00, 0x90, 0x18, 0xF4];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = ImageRun { address: 0x8000, bytes: PROGRAM.into() };
    let known = MappedProgram { image: Image::new([run]), ..MappedProgram::default() };
    let profile = BoardProfile::named("rc2014-classic")?;
    let mut debugger = open_program(&profile, LoadedProgram::new(known, 0x8000), None)?;
    let forward = forward(&mut debugger, STEPS);
    println!("forward, {} instructions: {forward:.2?}", debugger.step_count());
    for steps in [1, 10_000, 1_000_000, 10_000_000] {
        let began = Instant::now();
        let halt = debugger.run(ExecCommand::ReverseSteps(steps), &mut |_| false);
        println!("back {steps}: {:.1?}", began.elapsed());
        assert_eq!(halt, HaltReason::Completed);
        self::forward(&mut debugger, steps);
    }
    let began = Instant::now();
    let halt = debugger.run(ExecCommand::ReverseToChange(0xA000), &mut |_| false);
    assert_eq!(halt, HaltReason::NeverChanged(0xA000));
    println!("lastchange of a byte that nothing writes: {:.1?}", began.elapsed());
    let first = BoundExpression::parse("PC == 8000H", debugger.code())?;
    debugger.stops.add(Stop { condition: Some(first), ..Stop::at(0x8000) });
    let began = Instant::now();
    let halt = debugger.run(ExecCommand::ReverseContinue, &mut |_| false);
    assert_eq!(halt, HaltReason::Breakpoint);
    println!("rrun over all: {:.2?}", began.elapsed());
    let last = BoundExpression::parse("HL == 0", debugger.code())?;
    debugger.stops.clear();
    debugger.stops.add(Stop { condition: Some(last), ..Stop::at(0x8001) });
    let forward = self::forward(&mut debugger, STEPS);
    println!("forward again, with a breakpoint: {forward:.2?}");
    Ok(())
}

fn forward(debugger: &mut Debugger, steps: u64) -> Duration {
    let began = Instant::now();
    let end = debugger.step_count() + steps;
    debugger.run(ExecCommand::Continue, &mut |debugger| debugger.step_count() >= end);
    began.elapsed()
}
