//! Mocks on a board: their routines begin with a jump to code beside the program.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use tdlasm::image::Image;
use tdlasm::link::{Layout, link};
use tdlasm::module::Module;
use z80_core::{Registers, set_register};

use super::wire::pairs;
use crate::block::Block;
use crate::machine::{Call, Mock, MockReturn};
use crate::program::{JUMP, Program, assemble_text};

/// Bytes of an entry: `SHLD %HL`, `LXI H,table`, `JMP MOCK`.
const ENTRY: u16 = 9;
/// Bytes of a table: how often the mock was called, and the address of the next record.
pub(super) const TABLE: u16 = 4;
/// The opcodes of SHLD and LXI H.
const SHLD: u8 = 0x22;
const LXI_H: u8 = 0x21;

static MODULE: LazyLock<Result<Vec<Module>, String>> =
    LazyLock::new(|| assemble_text("testfile:/mocks.asm", include_str!("mocks.asm")));

/// Where mocks can be placed beside a program.
#[derive(Default)]
pub(super) struct MockSpace {
    image: Image,
    labels: BTreeSet<u16>,
    used: Vec<Range<u32>>,
    /// First and last address that programs may use.
    free: (u16, u16),
}

/// The mocks of a call in the memory of a board.
#[derive(Clone, Default)]
pub(super) struct PlacedMocks {
    /// What is written before the call.
    pub(super) blocks: Vec<Block>,
    /// What of that must not change.
    pub(super) code: Vec<Block>,
    /// What restores memory.
    pub(super) originals: Vec<Block>,
    /// The tables: address and number of bytes.
    pub(super) tables: (u16, usize),
}

impl MockSpace {
    pub(super) fn new(program: &Program, free: (u16, u16)) -> Self {
        let runs = program.image.runs().iter();
        let used = runs.map(|run| u32::from(run.address)..run.end());
        Self {
            image: program.image.clone(),
            labels: program.linked.labels.iter().map(|(address, _)| *address).collect(),
            used: used.chain(program.sections.iter().cloned()).collect(),
            free,
        }
    }

    /// Places the mocks of a call, not in memory that the call names nor in `kept`.
    ///
    /// # Errors
    /// Returns why they can't be placed.
    pub(super) fn place(
        &self,
        call: &Call,
        kept: impl Iterator<Item = (u16, usize)>,
    ) -> Result<PlacedMocks, String> {
        if call.mocks.is_empty() {
            return Ok(PlacedMocks::default());
        }
        let original = self.replaced(&call.mocks)?;
        let size = area(&call.mocks, 0)?.bytes.len() as u32;
        let base = self.room(call, kept, size)?;
        let Area { bytes, code, entries, tables } = area(&call.mocks, base)?;
        let jumps = call.mocks.iter().zip((entries..).step_by(ENTRY.into()));
        let jump = |(mock, entry): (&Mock, u16)| {
            let [low, high] = entry.to_le_bytes();
            Block { address: mock.address, bytes: vec![JUMP, low, high] }
        };
        let jumps: Vec<_> = jumps.map(jump).collect();
        let part = |range: Range<u16>| Block {
            address: range.start,
            bytes: bytes[usize::from(range.start - base)..usize::from(range.end - base)].to_vec(),
        };
        let guarded = [part(base..code), part(entries..tables)];
        let fill = Block { address: base, bytes: vec![crate::simulated::FILL; bytes.len()] };
        Ok(PlacedMocks {
            tables: (tables, call.mocks.len() * usize::from(TABLE)),
            code: guarded.into_iter().chain(jumps.iter().cloned()).collect(),
            blocks: std::iter::once(Block { address: base, bytes }).chain(jumps).collect(),
            originals: original.into_iter().chain([fill]).collect(),
        })
    }

    /// Returns the first bytes of routines.
    fn replaced(&self, mocks: &[Mock]) -> Result<Vec<Block>, String> {
        let mut all = Vec::new();
        for Mock { address, .. } in mocks {
            let places: Vec<_> = (0..3).filter_map(|offset| address.checked_add(offset)).collect();
            let in_range = |at: &u16| (self.free.0..=self.free.1).contains(at);
            let bytes = places.iter().filter(|at| in_range(at)).map(|at| self.image.byte(*at));
            let Some(bytes) = bytes.collect::<Option<Vec<_>>>().filter(|all| all.len() == 3) else {
                return Err(format!("{address:04X}H to replace is not in the program's RAM"));
            };
            let is_entry = |at: &u16| {
                self.labels.contains(at) || mocks.iter().any(|other| other.address == *at)
            };
            if places[1..].iter().any(is_entry) {
                return Err(format!(
                    "the routine to replace at {address:04X}H has less than 3 bytes"
                ));
            }
            all.push(Block { address: *address, bytes });
        }
        Ok(all)
    }

    /// Returns the highest address with room for this number of bytes.
    fn room(
        &self,
        call: &Call,
        kept: impl Iterator<Item = (u16, usize)>,
        size: u32,
    ) -> Result<u16, String> {
        let blocks = call.memory.iter().chain(call.mock_memory());
        let named = blocks.map(|block| (block.address, block.bytes.len()));
        let named = named.chain(call.read.iter().copied()).chain(kept);
        let named = named.map(|(at, length)| u32::from(at)..u32::from(at) + length as u32);
        let used: Vec<_> = self.used.iter().cloned().chain(named).collect();
        let mut end = u32::from(self.free.1) + 1;
        loop {
            let base = end.checked_sub(size).filter(|base| *base >= self.free.0.into());
            let base = base.ok_or_else(|| format!("no {size} bytes of RAM are free for mocks"))?;
            match used.iter().find(|used| used.start < end && used.end > base) {
                Some(used) => end = used.start,
                None => return Ok(base as u16),
            }
        }
    }
}

/// Memory for mocks.
struct Area {
    bytes: Vec<u8>,
    /// The end of the code.
    code: u16,
    entries: u16,
    tables: u16,
}

/// Returns what is placed at `base`: the module, the entries, the tables, the records.
fn area(mocks: &[Mock], base: u16) -> Result<Area, String> {
    let modules = MODULE.as_ref().map_err(Clone::clone)?;
    let module = link(modules, &Layout::flat(base)).map_err(|errors| errors.to_string())?;
    let symbol = |name| module.symbols.value(name).unwrap_or_default();
    let [start, hl, registers] = ["MOCK", "%HL", "%REGS"].map(symbol);
    let mut bytes: Vec<u8> = module.image.runs().iter().flat_map(|run| run.bytes.clone()).collect();
    let entries = base.wrapping_add(bytes.len() as u16);
    let tables = entries.wrapping_add(ENTRY.wrapping_mul(mocks.len() as u16));
    for table in (tables..).step_by(TABLE.into()).take(mocks.len()) {
        for (opcode, word) in [(SHLD, hl), (LXI_H, table), (JUMP, start)] {
            bytes.push(opcode);
            bytes.extend(word.to_le_bytes());
        }
    }
    let records = tables.wrapping_add(TABLE.wrapping_mul(mocks.len() as u16));
    let (mut table, mut all) = (Vec::new(), Vec::new());
    for mock in mocks {
        let next = |all: &[u8]| records.wrapping_add(all.len() as u16).to_le_bytes();
        table.extend([0, 0]);
        table.extend(next(&all));
        let none = [MockReturn::default()];
        let returns = if mock.returns.is_empty() { &none } else { &mock.returns[..] };
        for (index, returned) in returns.iter().enumerate() {
            let record = record(returned, registers)?;
            let is_last = index + 1 == returns.len();
            let following = records.wrapping_add((all.len() + 2 + record.len()) as u16);
            let itself = next(&all);
            all.extend(if is_last { itself } else { following.to_le_bytes() });
            all.extend(record);
        }
    }
    bytes.extend(table.into_iter().chain(all));
    Ok(Area { bytes, code: registers, entries, tables })
}

/// Returns a record without the address of the next one.
fn record(returned: &MockReturn, registers: u16) -> Result<Vec<u8>, String> {
    let changed = changed(returned);
    let mut bytes = vec![changed.len() as u8];
    for (offset, keep, value) in changed {
        bytes.extend((registers + offset).to_le_bytes());
        bytes.extend([keep, value]);
    }
    let blocks: Vec<_> = returned.memory.iter().filter(|block| !block.bytes.is_empty()).collect();
    let count = u8::try_from(blocks.len()).map_err(|_| "a mock sets more than 255 blocks")?;
    bytes.push(count);
    for block in blocks {
        bytes.extend(block.address.to_le_bytes());
        bytes.extend((block.bytes.len() as u16).to_le_bytes());
        bytes.extend(&block.bytes);
    }
    Ok(bytes)
}

/// Returns the bytes of registers that change, by their offset from F: bits to keep and to set.
fn changed(returned: &MockReturn) -> Vec<(u16, u8, u8)> {
    let after = |before: u16| {
        let mut all = Registers::default();
        pairs(&mut all).into_iter().for_each(|(_, pair)| *pair = before);
        for (name, value) in &returned.registers {
            set_register(&mut all, name, *value);
        }
        all.af = returned.flags.apply(all.af);
        pairs(&mut all).map(|(_, pair)| pair.to_le_bytes())
    };
    let [zeros, ones] = [0, 0xFFFF].map(after);
    let bytes = zeros.iter().flatten().zip(ones.iter().flatten()).enumerate();
    let change = |(offset, (zero, one)): (usize, (&u8, &u8))| (offset as u16, one & !zero, *zero);
    bytes.map(change).filter(|(_, keep, _)| *keep != 0xFF).collect()
}
