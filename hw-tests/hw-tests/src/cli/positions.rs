//! `hw-tests positions`: how lines of positions are read.

use clap::Args;
use cli_support::exit::Outcome;
use cli_support::output::{json_line, print};
use sargon_corpus::args::PositionArgs;

/// Arguments of `hw-tests positions`.
#[derive(Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    positions: PositionArgs,
    /// One line of JSON a position: FEN, operations, moves, suite, notes
    #[arg(long)]
    json: bool,
}

/// Shows how lines of positions are read.
pub(super) fn list(args: &ListArgs) -> Outcome {
    let positions = args.positions.read(args.json)?;
    positions.each(args.json, |named| {
        if args.json {
            return print(&json_line(&named.head())?);
        }
        let note = named.entry.warning().map_or_else(String::new, |note| format!("  ({note})"));
        print(&format!("{}  {}{note}\n", named.fen, named.id))
    })?;
    positions.conclude(Ok(0))
}
