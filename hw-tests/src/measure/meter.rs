//! Counts what a board does, instruction by instruction.

use tdlasm::isa::decode;

use super::calls::Calls;
use crate::debug::is_call;
use crate::sim::{Line, SimBoard, Turn};

/// What was counted of the instruction at an address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// How often it ran.
    pub runs: u64,
    /// How often the processor went elsewhere than to the next instruction.
    pub jumps: u64,
    /// T-states of all its runs.
    pub t_states: u64,
}

/// What was counted on a board.
pub struct Meter {
    counts: Vec<Count>,
    lengths: Vec<u8>,
    calls: Calls,
}

impl Default for Meter {
    fn default() -> Self {
        let (counts, lengths) = (vec![Count::default(); 0x1_0000], vec![0; 0x1_0000]);
        Self { counts, lengths, calls: Calls::default() }
    }
}

impl Meter {
    /// Runs the board for so many T-states, or until nothing can happen any more without the host; whether that came
    /// about. The time that the processor waits in HALT is counted for nobody.
    pub fn run<L: Line>(&mut self, board: &mut SimBoard<L>, t_states: u64) -> bool {
        let end = board.clock() + t_states;
        while board.clock() < end {
            match self.turn(board) {
                Turn::Idle => return true,
                Turn::Ran | Turn::Waited => {}
            }
        }
        false
    }

    fn turn<L: Line>(&mut self, board: &mut SimBoard<L>) -> Turn {
        let before = board.registers();
        let opcode = board.bus().peek(before.pc);
        let clock = board.clock();
        let turn = board.advance();
        if turn != Turn::Ran {
            return turn;
        }
        let t_states = board.clock() - clock;
        let after = board.registers();
        if board.accepted_interrupt() {
            self.calls.enter(after.pc, after.sp);
            self.calls.spend(t_states);
            return turn;
        }
        let length = self.length(board, before.pc);
        let count = &mut self.counts[usize::from(before.pc)];
        count.runs += 1;
        count.t_states += t_states;
        count.jumps += u64::from(after.pc != before.pc.wrapping_add(length));
        self.calls.spend(t_states);
        if is_call(opcode) && after.sp == before.sp.wrapping_sub(2) {
            self.calls.enter(after.pc, after.sp);
        }
        self.calls.leave_above(after.sp);
        turn
    }

    /// The length of the instruction that has just run at an address. No program of ours changes its instructions, so
    /// that it is found out once.
    fn length<L: Line>(&mut self, board: &SimBoard<L>, address: u16) -> u16 {
        let known = &mut self.lengths[usize::from(address)];
        if *known == 0 {
            *known = decode(&board.bus().dump(address, 4)).map_or(1, |found| found.length as u8);
        }
        u16::from(*known)
    }

    /// What was counted at an address.
    #[must_use]
    pub fn at(&self, address: u16) -> Count {
        self.counts[usize::from(address)]
    }

    /// Who called whom, and the T-states of each.
    #[must_use]
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Adds what was counted of a copy of `size` bytes at `copy` to where they were copied from.
    pub fn credit(&mut self, from: u16, copy: u16, size: u16) {
        for offset in 0..size {
            let counted = self.at(copy.wrapping_add(offset));
            let count = &mut self.counts[usize::from(from.wrapping_add(offset))];
            count.runs += counted.runs;
            count.jumps += counted.jumps;
            count.t_states += counted.t_states;
        }
    }
}
