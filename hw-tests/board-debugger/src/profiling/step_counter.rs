//! Counts what a board does, instruction by instruction.

use tdlasm::isa::decode;

use super::call_tree::CallTree;
use super::routine_map::RoutineMap;
use crate::opcodes::is_call;
use board_simulator::{BoardModel, Line, StepOutcome};
use firmware::code::CodeMap;

/// The counts of the instruction at an address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// The number of times it ran.
    pub runs: u64,
    /// The number of times the processor went elsewhere than to the next instruction.
    pub jumps: u64,
    /// T-states of all its runs.
    pub t_states: u64,
}

/// The counts of a board.
pub struct StepCounter {
    counts: Vec<Count>,
    lengths: Vec<u8>,
    regions: RoutineMap,
    calls: CallTree,
    /// The last instruction that ran.
    last: u16,
}

impl StepCounter {
    /// A meter for boards with these programs.
    #[must_use]
    pub fn new(code: &CodeMap) -> Self {
        Self {
            counts: vec![Count::default(); 0x1_0000],
            lengths: vec![0; 0x1_0000],
            regions: RoutineMap::of(code),
            calls: CallTree::default(),
            last: 0,
        }
    }

    /// Runs the board for so many T-states, or until nothing can happen any more without the host;
    /// returns whether that came about. The time that the processor waits in HALT is counted for
    /// nobody.
    pub fn run<L: Line>(&mut self, board: &mut BoardModel<L>, t_states: u64) -> bool {
        let end = board.clock() + t_states;
        while board.clock() < end {
            match self.turn(board) {
                StepOutcome::Idle => return true,
                StepOutcome::Executed | StepOutcome::Waited => {}
            }
        }
        false
    }

    fn turn<L: Line>(&mut self, board: &mut BoardModel<L>) -> StepOutcome {
        let before = board.registers();
        let opcode = board.bus().peek(before.pc);
        let clock = board.clock();
        self.follow(before.pc);
        let turn = board.advance();
        if turn != StepOutcome::Executed {
            return turn;
        }
        let t_states = board.clock() - clock;
        let after = board.registers();
        if board.accepted_interrupt() {
            self.calls.enter(after.pc, before.pc, after.sp);
            self.calls.add_t_states(t_states);
            return turn;
        }
        self.last = before.pc;
        let length = self.length(board, before.pc);
        let count = &mut self.counts[usize::from(before.pc)];
        count.runs += 1;
        count.t_states += t_states;
        count.jumps += u64::from(after.pc != before.pc.wrapping_add(length));
        // The return itself is the routine's own time, so that it is closed only now.
        self.calls.add_t_states(t_states);
        self.calls.close_above(after.sp);
        if is_call(opcode) && after.sp == before.sp.wrapping_sub(2) {
            let routine = self.regions.owner(after.pc).unwrap_or(after.pc);
            self.calls.enter(routine, before.pc, after.sp);
        }
        turn
    }

    /// Takes note of the routine that the next instruction belongs to. If no call led there, the
    /// routine before it has jumped there or run into it.
    fn follow(&mut self, pc: u16) {
        let Some(owner) = self.regions.owner(pc) else { return };
        if self.calls.running() != Some(owner) {
            self.calls.continue_in(owner, self.last, pc == owner);
        }
    }

    /// The length of the instruction that has just run at an address. No program of ours changes
    /// its instructions, so that it is found out once.
    fn length<L: Line>(&mut self, board: &BoardModel<L>, address: u16) -> u16 {
        let known = &mut self.lengths[usize::from(address)];
        if *known == 0 {
            *known = decode(&board.bus().dump(address, 4)).map_or(1, |found| found.length as u8);
        }
        u16::from(*known)
    }

    /// The routines of the programs.
    #[must_use]
    pub fn regions(&self) -> &RoutineMap {
        &self.regions
    }

    /// The counts of an address.
    #[must_use]
    pub fn at(&self, address: u16) -> Count {
        self.counts[usize::from(address)]
    }

    /// The tree of calls, with the T-states of each.
    #[must_use]
    pub fn calls(&self) -> &CallTree {
        &self.calls
    }

    /// Adds the counts of a copy of `size` bytes at `copy` to where they were copied from.
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
