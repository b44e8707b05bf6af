//! Generates inputs by the strategies of `proptest`, whose value trees also simplify them.

use std::ops::RangeInclusive;

use proptest::num::u32::BinarySearch;
use proptest::prelude::{BoxedStrategy, Strategy};
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rcflash_transport::time::{SystemTime, UNIX_EPOCH};

use crate::model::{Generator, Property};

/// One value in this many is from the edges of its range, or from around powers of two.
const EDGE_SHARE: u32 = 4;
/// Values with which carries, signs and counters go wrong, where they are in the range.
const EDGES: [u16; 14] =
    [0, 1, 2, 9, 0x0F, 0x10, 0x7F, 0x80, 0xFE, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFE];

/// The generated part of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Input {
    /// The values of the registers, in the order of the property.
    pub(super) registers: Vec<u16>,
    /// The bytes of the arrays.
    pub(super) blocks: Vec<Vec<u8>>,
}

/// The strategy of a property's inputs.
pub(super) type InputStrategy = BoxedStrategy<Input>;
/// An input that can be simplified.
pub(super) type InputTree = Box<dyn ValueTree<Value = Input>>;

/// Returns a seed from the clock.
pub(super) fn clock_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) ^ now.as_secs() << 20 & 0xFFFF_FFFF
}

/// Returns a generator of random values.
pub(super) fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Returns the strategy of a property's inputs.
pub(super) fn strategy(property: &Property) -> InputStrategy {
    let args: Vec<_> = property.args.iter().map(|(_, generator)| values(generator)).collect();
    let block = |block: &crate::model::GeneratedBlock| {
        let length = usize::from(*block.length.start())..=usize::from(*block.length.end());
        proptest::collection::vec(values(&block.byte).prop_map(|value| value as u8), length)
    };
    let blocks: Vec<_> = property.blocks.iter().map(block).collect();
    let input = |(registers, blocks)| Input { registers, blocks };
    (args, blocks).prop_map(input).boxed()
}

fn values(generator: &Generator) -> BoxedStrategy<u16> {
    match generator {
        Generator::Range(range) => EdgeRange(range.clone()).prop_map(|value| value as u16).boxed(),
        Generator::OneOf(values) => proptest::sample::select(values.clone()).boxed(),
    }
}

/// The values of a range, its edges more often than others, simplified towards its start.
#[derive(Debug, Clone)]
struct EdgeRange(RangeInclusive<u16>);

impl Strategy for EdgeRange {
    type Tree = BinarySearch;
    type Value = u32;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let (low, high) = (*self.0.start(), *self.0.end());
        let mut pick =
            |range: RangeInclusive<u32>| range.new_tree(runner).map(|tree| tree.current());
        let value = if pick(1..=EDGE_SHARE)? == 1 {
            let ends = [low, low.saturating_add(1), high.saturating_sub(1), high];
            let edges = EDGES.into_iter().chain(ends).filter(|edge| self.0.contains(edge));
            let edges: Vec<u16> = edges.collect();
            u32::from(edges[pick(0..=edges.len() as u32 - 1)? as usize])
        } else {
            pick(low.into()..=high.into())?
        };
        Ok(BinarySearch::new_above(low.into(), value))
    }
}

/// Returns the combination of values with this number, in ascending order from 0; the last register
/// changes fastest.
pub(super) fn nth_input(property: &Property, mut index: u64) -> Input {
    let mut registers = vec![0; property.args.len()];
    for (value, (_, generator)) in registers.iter_mut().zip(&property.args).rev() {
        *value = nth(generator, index % generator.size());
        index /= generator.size();
    }
    Input { registers, blocks: Vec::new() }
}

fn nth(generator: &Generator, index: u64) -> u16 {
    match generator {
        Generator::Range(range) => range.start() + index as u16,
        Generator::OneOf(values) => values[index as usize],
    }
}
