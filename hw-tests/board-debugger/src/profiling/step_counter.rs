//! Counts runs, jumps and T-states of each instruction on a simulated board.

use tdlasm::isa::decode;

use super::call_tree::CallTree;
use super::routine_map::RoutineMap;
use crate::opcodes::is_call;
use board_simulator::{BoardModel, SerialLine, StepOutcome};
use firmware::code_map::CodeMap;

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
    regions: RoutineMap,
    call_tree: CallTree,
    /// The address of the last instruction that ran.
    last: u16,
}

impl StepCounter {
    /// Creates a counter for a board with these programs.
    pub fn new(code: &CodeMap) -> Self {
        Self {
            counts: vec![InstructionCount::default(); 0x1_0000],
            lengths: vec![0; 0x1_0000],
            regions: RoutineMap::new(code),
            call_tree: CallTree::default(),
            last: 0,
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
        let opcode = board.bus().peek(before.pc);
        let clock = board.clock();
        self.follow_routine(before.pc);
        let turn = board.advance();
        if turn != StepOutcome::Executed {
            return turn;
        }
        let t_states = board.clock() - clock;
        let after = board.registers();
        if board.accepted_interrupt() {
            self.call_tree.enter(after.pc, before.pc, after.sp);
            self.call_tree.add_t_states(t_states);
            return turn;
        }
        self.last = before.pc;
        let length = self.length(board, before.pc);
        let count = &mut self.counts[usize::from(before.pc)];
        count.runs += 1;
        count.t_states += t_states;
        count.jumps += u64::from(after.pc != before.pc.wrapping_add(length));
        // Closed only now: the time of the return belongs to the routine.
        self.call_tree.add_t_states(t_states);
        self.call_tree.close_above(after.sp);
        if is_call(opcode) && after.sp == before.sp.wrapping_sub(2) {
            let routine = self.regions.owner(after.pc).unwrap_or(after.pc);
            self.call_tree.enter(routine, before.pc, after.sp);
        }
        turn
    }

    /// Updates the current routine. If no call led to `pc`, the previous routine has jumped there
    /// or fallen through.
    fn follow_routine(&mut self, pc: u16) {
        let Some(owner) = self.regions.owner(pc) else { return };
        if self.call_tree.running() != Some(owner) {
            self.call_tree.continue_in(owner, self.last, pc == owner);
        }
    }

    /// The length of the instruction at an address, decoded once: code is not modified.
    fn length<L: SerialLine>(&mut self, board: &BoardModel<L>, address: u16) -> u16 {
        let known = &mut self.lengths[usize::from(address)];
        if *known == 0 {
            *known = decode(&board.bus().dump(address, 4)).map_or(1, |found| found.length as u8);
        }
        u16::from(*known)
    }

    /// Returns the routines of the programs.
    pub fn routines(&self) -> &RoutineMap {
        &self.regions
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
