//! `hw-tests corpus`.

use clap::Args;
use hw_tests::corpus::{SEED, generate, to_epd};
use rcflash::exit::Outcome;

use super::print;

#[derive(Args)]
pub(super) struct CorpusArgs {
    /// Chooses the games
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// How many positions
    #[arg(long, default_value_t = 1200)]
    count: usize,
}

pub(super) fn corpus(args: &CorpusArgs) -> Outcome {
    print(&to_epd(&generate(args.seed, args.count)))?;
    Ok(0)
}
