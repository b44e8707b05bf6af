//! A program under test as it is loaded on a board, and what restores it before a call.

use std::collections::BTreeMap;
use std::ops::Range;

use firmware_wire as wire;

use super::mocks::{MockSpace, PlacedMocks};
use super::wire::request;
use crate::block::Block;
use crate::machine::Call;
use crate::program::Program;
use crate::simulated::FILL;

/// Most bytes of one write of a call.
const MAX_WRITE: usize = 255;
/// Most bytes without content inside a program, such as a buffer, that are filled before a call.
const MAX_GAP: usize = 256;

/// A program under test.
#[derive(Default)]
pub(super) struct LoadedProgram {
    /// Its code, which routines must not change.
    pub(super) code: Vec<Block>,
    /// What else lies within it, which a reload restores.
    data: Vec<Block>,
    /// Memory outside that tests wrote since the last reload: addresses with lengths.
    pub(super) written: BTreeMap<u16, usize>,
    space: MockSpace,
    /// The mocks of the last call.
    mocks: PlacedMocks,
    /// What restores memory at mocks of earlier calls.
    pub(super) replaced: Vec<Block>,
}

impl LoadedProgram {
    pub(super) fn new(program: &Program, free: (u16, u16)) -> Self {
        let image = &program.image;
        let code = merged(&program.code);
        let content = |range: &Range<u32>| Block {
            address: range.start as u16,
            bytes: range.clone().map(|at| image.byte(at as u16).unwrap_or(FILL)).collect(),
        };
        let mut data = Vec::new();
        let mut after = None;
        for run in image.runs() {
            let (start, end) = (u32::from(run.address), run.end());
            // A large hole is memory that the program does not use.
            let gap = after.filter(|after| (start - after) as usize <= MAX_GAP);
            data.extend(without(&code, gap.unwrap_or(start)..end).iter().map(content));
            after = Some(end);
        }
        let code = code.iter().map(content).collect();
        Self { code, data, space: MockSpace::new(program, free), ..Self::default() }
    }

    /// Returns why the mocks of a call can't be placed.
    pub(super) fn refusal(&self, call: &Call) -> Option<String> {
        self.space.place(call, std::iter::empty()).err()
    }

    /// Returns code as it is after the last call, with its mocks.
    pub(super) fn code_with_mocks(&self) -> Vec<Block> {
        let mut all = self.code.clone();
        for &Block { address, ref bytes } in &self.mocks.code {
            for (at, byte) in (address..).zip(bytes) {
                let of_code = |block: &&mut Block| {
                    at >= block.address && usize::from(at - block.address) < block.bytes.len()
                };
                if let Some(block) = all.iter_mut().find(of_code) {
                    block.bytes[usize::from(at - block.address)] = *byte;
                }
            }
        }
        let beside = |block: &&Block| !all.iter().any(|code| overlap(code, block));
        let mocks: Vec<_> = self.mocks.code.iter().filter(beside).cloned().collect();
        all.extend(mocks);
        all
    }

    /// Returns what removes mocks.
    pub(super) fn mocks(&self) -> Vec<Block> {
        [&self.replaced[..], &self.mocks.originals].concat()
    }

    /// Notes that mocks were removed.
    pub(super) fn forget_mocks(&mut self) {
        self.replaced.clear();
        self.mocks = PlacedMocks::default();
    }

    /// Returns all of the program, after the memory outside that tests wrote.
    pub(super) fn content(&self) -> Vec<Block> {
        let written = self.written.iter().map(fill);
        written.chain(self.code.iter().chain(&self.data).cloned()).collect()
    }

    /// Adds what tests wrote and was perhaps not restored.
    pub(super) fn add_writes(&mut self, writes: BTreeMap<u16, usize>) {
        for (address, length) in writes {
            let known = self.written.entry(address).or_default();
            *known = length.max(*known);
        }
    }

    /// Returns the request for a call, with what restores memory if the call reloads.
    ///
    /// # Errors
    /// Returns why its mocks can't be placed.
    pub(super) fn request(&mut self, call: &Call) -> Result<wire::Call, String> {
        let kept = self.written.iter().filter(|_| !call.reload);
        let mocks = self.space.place(call, kept.map(|(at, length)| (*at, *length)))?;
        let last = std::mem::replace(&mut self.mocks, mocks);
        let mut writes = last.originals.clone();
        self.replaced.extend(last.originals);
        if call.reload {
            writes.extend(std::mem::take(&mut self.written).iter().map(fill));
            writes.extend(self.data.iter().cloned());
        }
        for block in call.memory.iter().chain(call.mock_memory()) {
            if !self.has(block) {
                let length = self.written.entry(block.address).or_default();
                *length = block.bytes.len().max(*length);
            }
        }
        writes.extend(call.memory.iter().chain(&self.mocks.blocks).cloned());
        let split = |Block { address, bytes }: &Block| -> Vec<(u16, Vec<u8>)> {
            let places = (*address..).step_by(MAX_WRITE);
            places.zip(bytes.chunks(MAX_WRITE)).map(|(at, part)| (at, part.to_vec())).collect()
        };
        Ok(request(call, writes.iter().flat_map(split).collect(), self.mocks.tables))
    }

    /// Returns `true` if a block lies in the program.
    fn has(&self, block: &Block) -> bool {
        let contains = |run: &Block| run.address <= block.address && end(block) <= end(run);
        self.data.iter().any(contains)
    }
}

/// Returns memory as it is before a test.
fn fill((address, length): (&u16, &usize)) -> Block {
    Block { address: *address, bytes: vec![FILL; *length] }
}

fn overlap(one: &Block, other: &Block) -> bool {
    u32::from(one.address) < end(other) && u32::from(other.address) < end(one)
}

/// Returns the address after a block.
fn end(block: &Block) -> u32 {
    u32::from(block.address) + block.bytes.len() as u32
}

/// Returns ranges in ascending order, adjacent ones as one.
fn merged(ranges: &[Range<u32>]) -> Vec<Range<u32>> {
    let mut sorted: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_by_key(|range| range.start);
    let mut all: Vec<Range<u32>> = Vec::new();
    for range in sorted {
        match all.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

/// Returns the parts of a range that are in none of `ranges`, which ascend.
fn without(ranges: &[Range<u32>], range: Range<u32>) -> Vec<Range<u32>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    for code in ranges.iter().filter(|one| one.start < range.end && one.end > range.start) {
        parts.push(start..code.start);
        start = code.end;
    }
    parts.push(start..range.end);
    parts.retain(|part| part.start < part.end);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_what_is_not_code() {
        let code = merged(&[0x8004..0x8006, 0x8000..0x8003, 0x8003..0x8004, 0x8010..0x8010]);
        assert_eq!(code, vec![Range { start: 0x8000, end: 0x8006 }]);
        let one = |start, end| vec![Range { start, end }];
        assert_eq!(without(&code, 0x8000..0x8009), one(0x8006, 0x8009));
        assert_eq!(without(&code, 0x7FF0..0x8009), [0x7FF0..0x8000, 0x8006..0x8009]);
        assert_eq!(without(&code, 0x8000..0x8006), []);
        assert_eq!(without(&code, 0x9000..0x9002), one(0x9000, 0x9002));
    }
}
