//! Sessions on a simulated board, against a board that only runs forward.

use board_debugger::commands::execute;
use board_debugger::{Debugger, ExecCommand, board_with_program};
use board_simulator::{BoardModel, QueueLine, StepOutcome};
use firmware::code_map::CodeMap;
use firmware::profile::BoardProfile;

use super::{Expected, Random, motion, program, session_count};

/// It counts calls, writes to memory, and takes each character by an interrupt; with an odd one it
/// waits for the next in HALT.
const PROGRAM: &str = "        .LOC .PROG.
START:  LXI SP,0FF00H
        LXI H,TABLE
        MVI B,0
        MVI A,95H       ; 8 bits, no parity; interrupts of the receiver
        OUT 80H
        IM1
        EI
LOOP:   INR B
        CALL COUNT
        LDA LAST
        ANI 1
        JRZ LOOP
        XRA A
        STA LAST
        HLT
        JMPR LOOP
COUNT:  PUSH PSW
        MOV A,B
        ANI 7
        MOV E,A
        MVI D,0
        PUSH H
        DAD D
        INR M
        POP H
        POP PSW
        RET
LAST:   .BYTE 0
TABLE:  .BLKB 16
        .END START
";

/// The board at the program's first instruction, and the map of the code.
struct Start {
    board: BoardModel<QueueLine>,
    code: CodeMap,
}

impl Start {
    fn new() -> Self {
        let profile = BoardProfile::named("rc2014-classic").expect("it ships");
        let (board, code) = board_with_program(&profile, program(PROGRAM, &profile))
            .unwrap_or_else(|error| panic!("{error}"));
        Self { board, code }
    }
}

/// What the session has done to the board at a step.
enum Event {
    Sent(Vec<u8>),
    /// A byte of the table was set by hand.
    Set(u16, u8),
}

/// The events that lead to the present.
struct Story<'s> {
    begin: &'s BoardModel<QueueLine>,
    events: Vec<(u64, u64, Event)>,
    /// How often time has gone back.
    reversals: u64,
    last_step: u64,
    /// The step at which the recorded past begins.
    start: u64,
}

impl<'s> Story<'s> {
    fn new(begin: &'s BoardModel<QueueLine>) -> Self {
        Self { begin, events: Vec::new(), reversals: 0, last_step: 0, start: 0 }
    }

    /// Notes where a command has left the board.
    fn note(&mut self, debugger: &Debugger) {
        let step = debugger.step_count();
        self.reversals += u64::from(step < self.last_step);
        self.last_step = step;
    }

    /// Adds an event at the present. What was recorded after it no longer happens, nor what was
    /// sent at this step before time went back to before it.
    fn add(&mut self, debugger: &Debugger, event: Event) {
        self.note(debugger);
        let (now, reversals) = (self.last_step, self.reversals);
        self.events.retain(|(step, past, event)| {
            // The recorded past begins with a change by hand, which is not undone.
            let is_kept = *past == reversals || matches!(event, Event::Set(..));
            *step < now || (*step == now && is_kept)
        });
        if matches!(event, Event::Set(..)) {
            self.start = now;
        }
        self.events.push((now, reversals, event));
    }

    /// Runs a fresh board to a step.
    fn board_at(&self, step: u64) -> BoardModel<QueueLine> {
        let mut board = self.begin.clone();
        let mut events = self.events.iter().peekable();
        for now in 0..=step {
            while let Some((_, _, event)) = events.next_if(|(at, ..)| *at == now) {
                match event {
                    Event::Sent(bytes) => board.line_mut().to_board.extend(bytes),
                    Event::Set(address, value) => board.bus_mut().load(*address, &[*value]),
                }
            }
            if now < step {
                assert_ne!(board.advance(), StepOutcome::Idle, "at step {now} of {step}");
            }
        }
        board
    }

    /// Compares the debugger with a fresh run.
    fn check(&self, debugger: &Debugger) {
        let board = self.board_at(debugger.step_count());
        assert_eq!(debugger.registers(), board.registers());
        assert_eq!(debugger.clock(), board.clock());
        assert_eq!(debugger.interrupt_state().0, board.interrupt_state().0);
        assert_eq!(debugger.output(), board.line().from_board);
        assert!(debugger.dump(0x8000, 0x8000) == board.bus().dump(0x8000, 0x8000), "memory");
    }
}

struct Player<'s> {
    random: Random,
    expected: Expected,
    story: Story<'s>,
}

impl Player<'_> {
    /// Plays what a client does while the board runs or the past is searched; returns `true` to
    /// stop it.
    fn interfere(&mut self, debugger: &mut Debugger) -> bool {
        // A breakpoint's commands may run the board back.
        if !debugger.is_searching() {
            self.story.note(debugger);
        }
        match self.random.below(6) {
            0 => self.expected.change(debugger, &mut self.random),
            1 => {
                let bytes = vec![self.random.next() as u8];
                if debugger.send(&bytes).is_ok() {
                    self.story.add(debugger, Event::Sent(bytes));
                }
            }
            2 => {
                let _ = (debugger.calls(), debugger.dump(0xFF00, 32), debugger.take_log());
            }
            3 => assert_eq!(debugger.can_modify().is_err(), debugger.is_searching()),
            _ => {}
        }
        self.random.one_in(3)
    }

    fn act(&mut self, debugger: &mut Debugger) {
        match self.random.below(12) {
            0..2 => self.expected.change(debugger, &mut self.random),
            2 => {
                let bytes = vec![self.random.next() as u8; 1 + self.random.below(3) as usize];
                debugger.send(&bytes).expect("it is halted");
                self.story.add(debugger, Event::Sent(bytes));
            }
            3 if self.random.one_in(4) => {
                let value = self.random.next() as u8;
                let table = debugger.code().symbol("TABLE").expect("a label");
                debugger.poke(table, &[value]);
                self.story.add(debugger, Event::Set(table, value));
            }
            4 if self.random.one_in(6) => {
                debugger.restart();
                self.story = Story::new(self.story.begin);
            }
            5 => {
                let step = self.random.below(debugger.step_count() + 50);
                debugger.run(ExecCommand::GoToStep(step), &mut |_| false);
            }
            _ => {
                let line = motion(&mut self.random, debugger.step_count());
                let outcome = execute(debugger, &line, &mut |debugger| self.interfere(debugger));
                assert!(outcome.is_ok(), "{line}: {outcome:?}");
            }
        }
        self.story.note(debugger);
        self.expected.check(debugger);
    }
}

fn play(session: u64, begin: &Start) {
    let mut random = Random::new(session);
    let actions = 4 + random.below(20);
    let mut debugger = Debugger::new(begin.board.clone(), begin.code.clone());
    let mut player =
        Player { random, expected: Expected::default(), story: Story::new(&begin.board) };
    for _ in 0..actions {
        player.act(&mut debugger);
    }
    let Player { mut random, story, .. } = player;
    story.check(&debugger);
    let end = debugger.step_count();
    let past = story.start + random.below(end - story.start + 1);
    for step in [past, story.start, end, past] {
        debugger.run(ExecCommand::GoToStep(step), &mut |_| false);
        assert_eq!(debugger.step_count(), step);
        story.check(&debugger);
    }
}

#[test]
fn a_recorded_step_has_the_state_of_a_fresh_run_after_any_session() {
    let begin = Start::new();
    for session in 0..session_count() {
        println!("session {session}");
        play(session, &begin);
    }
}
