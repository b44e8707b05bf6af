//! A program under test as it is loaded on a board, and what restores it before a call.

use std::collections::BTreeMap;
use std::ops::Range;

use board_simulator::routines::Call;
use board_simulator::routines::FILL;
use firmware_wire as wire;
use tdlasm::image::{Image, ImageRun};

use super::mocks::PlacedMocks;
use super::wire::request;
use crate::program::Program;

/// Most bytes of one write of a call.
const MAX_WRITE: usize = 255;
/// Most bytes without content inside a program, such as a buffer, that are filled before a call. A
/// larger hole is memory that the program does not use.
const MAX_GAP: usize = 256;

/// A program under test.
#[derive(Default)]
pub(super) struct LoadedProgram {
    pub(super) program: Program,
    /// First and last address that programs may use.
    pub(super) free: (u16, u16),
    /// Its code, which routines must not change.
    pub(super) code: Image,
    /// What else lies within it, which a reload restores.
    data: Image,
    /// Memory outside that tests wrote since the last reload: addresses with lengths.
    pub(super) written: BTreeMap<u16, usize>,
    /// The mocks of the last call.
    mocks: PlacedMocks,
    /// What restores memory at mocks of earlier calls.
    pub(super) replaced: Vec<ImageRun>,
}

impl LoadedProgram {
    /// Describes a program that will be loaded. `written` is what tests wrote before.
    pub(super) fn new(program: &Program, free: (u16, u16), written: BTreeMap<u16, usize>) -> Self {
        let image = &program.linked.image;
        let byte = |at: u32| ImageRun {
            address: at as u16,
            bytes: vec![image.byte(at as u16).unwrap_or(FILL)],
        };
        let code = Image::new(program.areas.code.iter().cloned().flatten().map(byte));
        let data = filled(image).flatten().filter(|at| code.byte(*at as u16).is_none());
        let data = Image::new(data.map(byte));
        Self { program: program.clone(), free, code, data, written, ..Self::default() }
    }

    /// Returns code as it is after the last call, with its mocks.
    pub(super) fn code_with_mocks(&self) -> Image {
        Image::new(self.code.runs().iter().chain(&self.mocks.code).cloned())
    }

    /// Returns what removes mocks.
    pub(super) fn mocks(&self) -> Vec<ImageRun> {
        [&self.replaced[..], &self.mocks.originals].concat()
    }

    /// Notes that mocks were removed.
    pub(super) fn forget_mocks(&mut self) {
        self.replaced.clear();
        self.mocks = PlacedMocks::default();
    }

    /// Returns all of the program, after the memory outside that tests wrote.
    pub(super) fn content(&self) -> Vec<ImageRun> {
        let program = self.code.runs().iter().chain(self.data.runs());
        self.written.iter().map(fill).chain(program.cloned()).collect()
    }

    /// Adds what tests wrote and was perhaps not restored. Blocks may be empty: an input of no bytes.
    pub(super) fn add_writes(&mut self, writes: impl IntoIterator<Item = (u16, usize)>) {
        for (address, length) in writes.into_iter().filter(|(_, length)| *length > 0) {
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
        let mocks = self.place_mocks(call, kept.map(|(at, length)| (*at, *length)))?;
        let last = std::mem::replace(&mut self.mocks, mocks);
        let mut writes = last.originals.clone();
        self.replaced.extend(last.originals);
        if call.reload {
            writes.extend(std::mem::take(&mut self.written).iter().map(fill));
            writes.extend(self.data.runs().iter().cloned());
        }
        let outside = call.memory.iter().chain(call.mock_memory()).filter(|run| !self.has(run));
        let outside: Vec<_> = outside.map(|run| (run.address, run.bytes.len())).collect();
        self.add_writes(outside);
        let mocks = self.mocks.data.iter().chain(&self.mocks.code);
        writes.extend(call.memory.iter().chain(mocks).cloned());
        let split = |ImageRun { address, bytes }: &ImageRun| -> Vec<(u16, Vec<u8>)> {
            let places = (*address..).step_by(MAX_WRITE);
            places.zip(bytes.chunks(MAX_WRITE)).map(|(at, part)| (at, part.to_vec())).collect()
        };
        Ok(request(call, writes.iter().flat_map(split).collect(), self.mocks.tables))
    }

    /// Returns `true` if a block lies in the program's data.
    fn has(&self, block: &ImageRun) -> bool {
        let contains = |run: &ImageRun| run.address <= block.address && block.end() <= run.end();
        self.data.runs().iter().any(contains)
    }
}

/// Returns memory as it is before a test.
pub(super) fn fill((address, length): (&u16, &usize)) -> ImageRun {
    ImageRun { address: *address, bytes: vec![FILL; *length] }
}

/// Returns the addresses of an image, with its small gaps.
fn filled(image: &Image) -> impl Iterator<Item = Range<u32>> {
    let runs = image.runs();
    let gaps = runs.windows(2).map(|pair| pair[0].end()..pair[1].address.into());
    let gaps = gaps.filter(|gap| gap.len() <= MAX_GAP);
    runs.iter().map(|run| u32::from(run.address)..run.end()).chain(gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_no_bytes_is_not_restored() {
        let mut loaded = LoadedProgram::default();
        loaded.add_writes([(0x9000, 0), (0x9100, 2), (0x9100, 0)]);
        assert_eq!(loaded.content(), [ImageRun { address: 0x9100, bytes: vec![FILL; 2] }]);
    }

    #[test]
    fn data_is_what_is_not_code() {
        let data = |code: &[Range<u32>], runs: &[Range<u32>]| -> Vec<Range<u32>> {
            let run = |run: &Range<u32>| ImageRun {
                address: run.start as u16,
                bytes: vec![1; run.len()],
            };
            let mut program = Program::default();
            program.areas.code = code.to_vec();
            program.linked.image = Image::new(runs.iter().map(run));
            let data = LoadedProgram::new(&program, (0, 0), BTreeMap::new()).data;
            data.runs().iter().map(|run| run.address.into()..run.end()).collect()
        };
        let code = [0x8004..0x8006, 0x8000..0x8003, 0x8003..0x8004, 0x8010..0x8010];
        let one = |start, end| vec![Range { start, end }];
        assert_eq!(data(&code, &one(0x8000, 0x8009)), one(0x8006, 0x8009));
        assert_eq!(data(&code, &one(0x7FF0, 0x8009)), [0x7FF0..0x8000, 0x8006..0x8009]);
        assert_eq!(data(&code, &one(0x8000, 0x8006)), []);
        assert_eq!(data(&code, &[0x8000..0x8006, 0x8106..0x8107]), one(0x8006, 0x8107));
        assert_eq!(data(&code, &[0x8000..0x8006, 0x8107..0x8108]), one(0x8107, 0x8108));
    }
}
