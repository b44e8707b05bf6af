//! `sargon corpus`.

use clap::Args;
use cli_support::exit::CommandResult;
use cli_support::output::print;
use sargon_corpus::{CORPUS_SEED, generate, to_epd};

#[derive(Args)]
pub(super) struct CorpusArgs {
    /// Seed of the games
    #[arg(long, default_value_t = CORPUS_SEED)]
    seed: u64,
    /// Number of positions
    #[arg(long, default_value_t = 1200)]
    count: usize,
}

pub(super) fn corpus(args: &CorpusArgs) -> CommandResult {
    print(&to_epd(&generate(args.seed, args.count)))?;
    Ok(0)
}
