//! Mocks on a board: their routines begin with a jump to code beside the program.

use std::fmt::Write;

use board_simulator::routines::{Call, Mock, MockReturn};
use tdlasm::assemble_text;
use tdlasm::image::ImageRun;
use tdlasm::link::{Layout, link};
use z80_core::{REGISTER_HALVES, Registers, set_register};

use super::loaded::{LoadedProgram, fill};
use super::wire::number;
use crate::program::jump;
use crate::registers::value;

/// Bytes of a table: how often the mock was called, and the address of the next record.
pub(super) const TABLE: usize = 4;
/// Bytes of a jump, by which a routine is replaced.
const JUMP: u16 = 3;
/// Bytes that a line of the source defines.
const BYTES_PER_LINE: usize = 16;

/// The mocks of a call in the memory of a board.
#[derive(Clone, Default)]
pub(super) struct PlacedMocks {
    /// What is written before the call, and must not change.
    pub(super) code: Vec<ImageRun>,
    /// What is written before the call, and may change.
    pub(super) data: Vec<ImageRun>,
    /// What restores memory.
    pub(super) originals: Vec<ImageRun>,
    /// The tables: address and number of bytes.
    pub(super) tables: (u16, usize),
}

impl LoadedProgram {
    /// Places the mocks of a call, not in memory that the call names nor in `kept`.
    ///
    /// # Errors
    /// Returns why they can't be placed.
    pub(super) fn place_mocks(
        &self,
        call: &Call,
        kept: impl Iterator<Item = (u16, usize)>,
    ) -> Result<PlacedMocks, String> {
        let mocks = &call.mocks;
        if mocks.is_empty() {
            return Ok(PlacedMocks::default());
        }
        let original = mocks.iter().map(|mock| self.replaced(mock.address, mocks));
        let original = original.collect::<Result<Vec<_>, _>>()?;
        let modules = assemble_text(&source(mocks)?).map_err(|error| error.to_string())?.modules;
        let sections = modules.iter().flat_map(|module| &module.sections);
        let size = sections.map(|section| section.size).sum();
        let base = self.room(call, kept, size)?;
        let area = link(&modules, &Layout::flat(base)).map_err(|errors| errors.to_string())?;
        let address = |label: &str| area.symbol(label).unwrap_or_default();
        let jump = |(index, mock): (usize, &Mock)| ImageRun {
            address: mock.address,
            bytes: jump(address(&format!("%E{index}"))).into(),
        };
        let (shared, variables) = (address("MOCK"), address("%REGS"));
        let mut own = area.image.flat(0);
        let mut code = own.split_off(usize::from(shared - base));
        let registers = code.split_off(usize::from(variables - shared));
        let code = [ImageRun { address: shared, bytes: code }].into_iter();
        Ok(PlacedMocks {
            code: code.chain(mocks.iter().enumerate().map(jump)).collect(),
            data: [(base, own), (variables, registers)]
                .map(|(address, bytes)| ImageRun { address, bytes })
                .into(),
            originals: original.into_iter().chain([fill((&base, &(size as usize)))]).collect(),
            tables: (address("%T0"), mocks.len() * TABLE),
        })
    }

    /// Returns the first bytes of a routine.
    fn replaced(&self, address: u16, mocks: &[Mock]) -> Result<ImageRun, String> {
        let program = &self.program.linked;
        let places = (0..JUMP).filter_map(|offset| address.checked_add(offset));
        let in_range = |at: &u16| (self.free.0..=self.free.1).contains(at);
        let bytes = places.filter(in_range).map_while(|at| program.image.byte(at));
        let bytes: Vec<_> = bytes.collect();
        if bytes.len() < JUMP.into() {
            return Err(format!("{address:04X}H to replace is not in the program's RAM"));
        }
        let labels = program.labels.iter().map(|(label, _)| *label);
        let mut entries = labels.chain(mocks.iter().map(|mock| mock.address));
        if entries.any(|entry| (1..JUMP).contains(&entry.wrapping_sub(address))) {
            return Err(format!("the routine to replace at {address:04X}H has less than 3 bytes"));
        }
        Ok(ImageRun { address, bytes })
    }

    /// Returns the highest address with room for this number of bytes.
    pub(super) fn room(
        &self,
        call: &Call,
        kept: impl Iterator<Item = (u16, usize)>,
        size: u32,
    ) -> Result<u16, String> {
        let blocks = call.memory.iter().chain(call.mock_memory());
        let runs = blocks.chain(self.program.linked.image.runs());
        let runs = runs.map(|run| u32::from(run.address)..run.end());
        let named = call.read.iter().copied().chain(kept);
        let named = named.map(|(at, length)| u32::from(at)..u32::from(at) + length as u32);
        let used: Vec<_> =
            runs.chain(named).chain(self.program.areas.sections.iter().cloned()).collect();
        let mut end = u32::from(self.free.1) + 1;
        loop {
            let base = end.checked_sub(size).filter(|base| *base >= self.free.0.into());
            let base = base
                .ok_or_else(|| format!("no {size} bytes of RAM are free for mocks or arguments"))?;
            match used.iter().find(|used| used.start < end && used.end > base) {
                Some(used) => end = used.start,
                None => return Ok(base as u16),
            }
        }
    }
}

/// Returns the source of what is placed: entry and table of each mock, the records, and the code
/// that they share with its variables.
fn source(mocks: &[Mock]) -> Result<String, String> {
    let (mut entries, mut tables, mut records) = (String::new(), String::new(), String::new());
    for (index, mock) in mocks.iter().enumerate() {
        entries += &format!("%E{index}: SHLD %HL\n LXI H,%T{index}\n JMP MOCK\n");
        tables += &format!("%T{index}: .WORD 0,%R{index}\n");
        records += &format!("%R{index}:\n");
        let none = [MockReturn::default()];
        let returns = if mock.returns.is_empty() { &none } else { &mock.returns[..] };
        for (number, returned) in returns.iter().enumerate() {
            let next = (number + 1).min(returns.len() - 1);
            records += &format!("..{number}: .WORD ..{next}\n{}", record(returned)?);
        }
    }
    Ok([&entries, &tables, &records, include_str!("mocks.asm")].concat())
}

/// Returns a record without the address of the next one.
fn record(returned: &MockReturn) -> Result<String, String> {
    let changed = changed(returned);
    let mut text = format!(" .BYTE {}\n", changed.len());
    for (offset, keep, value) in changed {
        let _ = write!(text, " .WORD %REGS+{offset}\n .BYTE {keep},{value}\n");
    }
    let blocks: Vec<_> = returned.memory.iter().filter(|block| !block.bytes.is_empty()).collect();
    let count = u8::try_from(blocks.len()).map_err(|_| "a mock sets more than 255 blocks")?;
    let _ = writeln!(text, " .BYTE {count}");
    for block in blocks {
        let _ = writeln!(text, " .WORD {},{}", block.address, block.bytes.len());
        for bytes in block.bytes.chunks(BYTES_PER_LINE) {
            let bytes: Vec<_> = bytes.iter().map(u8::to_string).collect();
            let _ = writeln!(text, " .BYTE {}", bytes.join(","));
        }
    }
    Ok(text)
}

/// Returns the bytes of registers that change, by their offset from F: bits to keep and to set.
fn changed(returned: &MockReturn) -> Vec<(u8, u16, u16)> {
    let after = |before: u16| {
        let mut all = Registers::default();
        REGISTER_HALVES.iter().for_each(|half| _ = set_register(&mut all, half, before));
        for (name, value) in &returned.registers {
            set_register(&mut all, name, *value);
        }
        all.af = returned.flags.apply(all.af);
        all
    };
    let (zeros, ones) = (after(0), after(0xFF));
    let change = |half: &&str| {
        let set = value(&zeros, half);
        let keep = value(&ones, half) & !set;
        Some((number(half)?, keep, set)).filter(|_| keep != 0xFF)
    };
    REGISTER_HALVES.iter().filter_map(change).collect()
}
