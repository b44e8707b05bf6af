//! Counts runs, jumps and T-states of each instruction on a simulated board or processor.

use tdlasm::isa::decode;

use crate::profiling::call_tree::CallTree;
use crate::profiling::routine_map::RoutineMap;
use crate::{BoardModel, SerialLine, StepOutcome};
use firmware::code_map::CodeMap;
use z80_core::{Registers, is_call};

/// The counts of the instruction at an address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstructionCount {
    /// How often it ran.
    pub runs: u64,
    /// How often another instruction than the next one followed.
    pub jumps: u64,
    /// T-states of all its runs.
    pub t_states: u64,
}

/// The counts of all instructions of a board, and the tree of its calls.
pub struct StepCounter {
    counts: Vec<InstructionCount>,
    lengths: Vec<u8>,
    routines: RoutineMap,
    call_tree: CallTree,
    /// The address of the last instruction that ran.
    last: u16,
    next: Instruction,
}

/// An instruction that is about to run, with the registers before it.
#[derive(Debug, Clone, Copy, Default)]
struct Instruction {
    pc: u16,
    sp: u16,
    opcode: u8,
}

impl StepCounter {
    /// Creates a counter for a board with these programs.
    pub fn new(code: &CodeMap) -> Self {
        Self::with_entries(code, [])
    }

    /// Creates a counter for programs whose routines at `entries` are called from outside, too.
    #[must_use]
    pub fn with_entries(code: &CodeMap, entries: impl IntoIterator<Item = u16>) -> Self {
        Self {
            counts: vec![InstructionCount::default(); 0x1_0000],
            lengths: vec![0; 0x1_0000],
            routines: RoutineMap::new(code, entries),
            call_tree: CallTree::default(),
            last: 0,
            next: Instruction::default(),
        }
    }

    /// Runs the board for `t_states`, or until it waits for input; returns `true` in that case.
    /// Time in HALT is not counted.
    pub fn run<L: SerialLine>(&mut self, board: &mut BoardModel<L>, t_states: u64) -> bool {
        let end = board.clock() + t_states;
        while board.clock() < end {
            match self.step(board) {
                StepOutcome::Idle => return true,
                StepOutcome::Executed | StepOutcome::Waited => {}
            }
        }
        false
    }

    fn step<L: SerialLine>(&mut self, board: &mut BoardModel<L>) -> StepOutcome {
        let before = board.registers();
        let clock = board.clock();
        self.start_step(&before, |address| board.bus().peek(address));
        let outcome = board.advance();
        if outcome != StepOutcome::Executed {
            return outcome;
        }
        let t_states = board.clock() - clock;
        let after = board.registers();
        if board.accepted_interrupt() {
            self.call_tree.enter(after.pc, before.pc, after.sp);
            self.call_tree.add_t_states(t_states);
            return outcome;
        }
        self.end_step(&after, t_states);
        outcome
    }

    /// Starts a call from outside of the program: `registers` are those at the routine's first
    /// instruction, after the return address was pushed.
    pub fn start_call(&mut self, registers: &Registers) {
        self.call_tree.close_all();
        let routine = self.routines.owner(registers.pc).unwrap_or(registers.pc);
        self.call_tree.enter(routine, registers.pc, registers.sp);
    }

    /// Notes the instruction at PC, which is executed next; `peek` reads memory.
    pub fn start_step(&mut self, registers: &Registers, peek: impl Fn(u16) -> u8) {
        self.follow_routine(registers);
        let pc = registers.pc;
        self.next = Instruction { pc, sp: registers.sp, opcode: peek(pc) };
        // Decoded once: the code is not supposed to modify itself.
        let length = &mut self.lengths[usize::from(pc)];
        if *length == 0 {
            let bytes = [0, 1, 2, 3].map(|offset| peek(pc.wrapping_add(offset)));
            *length = decode(&bytes).map_or(1, |found| found.length as u8);
        }
    }

    /// Counts the instruction of the last [`Self::start_step`], by the registers after it.
    pub fn end_step(&mut self, registers: &Registers, t_states: u64) {
        let Instruction { pc, sp, opcode } = self.next;
        self.last = pc;
        let length = u16::from(self.lengths[usize::from(pc)]);
        let count = &mut self.counts[usize::from(pc)];
        count.runs += 1;
        count.t_states += t_states;
        count.jumps += u64::from(registers.pc != pc.wrapping_add(length));
        // Closed only now: the time of the return belongs to the routine.
        self.call_tree.add_t_states(t_states);
        self.call_tree.close_above(registers.sp);
        if is_call(opcode) && registers.sp == sp.wrapping_sub(2) {
            let routine = self.routines.owner(registers.pc).unwrap_or(registers.pc);
            self.call_tree.enter(routine, pc, registers.sp);
        }
    }

    /// Updates the current routine. If no call led to PC, the previous routine has jumped there or
    /// fallen through, or a routine that a test replaces has returned.
    fn follow_routine(&mut self, registers: &Registers) {
        let Some(owner) = self.routines.owner(registers.pc) else { return };
        self.call_tree.close_above(registers.sp);
        if self.call_tree.running() != Some(owner) {
            self.call_tree.continue_in(owner, self.last, registers.pc == owner);
        }
    }

    /// Returns the routines of the programs.
    pub fn routines(&self) -> &RoutineMap {
        &self.routines
    }

    /// Returns the counts of the instruction at an address.
    pub fn at(&self, address: u16) -> InstructionCount {
        self.counts[usize::from(address)]
    }

    /// Returns the call tree.
    pub fn calls(&self) -> &CallTree {
        &self.call_tree
    }

    /// Adds the counts of code at `copy` to those at `from`, where it was copied from.
    pub fn credit_copy(&mut self, from: u16, copy: u16, size: u16) {
        for offset in 0..size {
            let counted = self.at(copy.wrapping_add(offset));
            let count = &mut self.counts[usize::from(from.wrapping_add(offset))];
            count.runs += counted.runs;
            count.jumps += counted.jumps;
            count.t_states += counted.t_states;
        }
    }
}
