//! `hw-tests corpus`.

use clap::Args;
use cli_support::exit::Outcome;
use sargon_corpus::{SEED, generate, to_epd};

use cli_support::output::print;

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
