//! `hw-tests corpus`.

use clap::Args;
use program_kit::exit::Outcome;
use sargon_cases::{SEED, generate, to_epd};

use hw_console::print;

#[derive(Args)]
pub(super) struct CorpusArgs {
    /// Chooses the games
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// The number of positions
    #[arg(long, default_value_t = 1200)]
    count: usize,
}

pub(super) fn corpus(args: &CorpusArgs) -> Outcome {
    print(&to_epd(&generate(args.seed, args.count)))?;
    Ok(0)
}
