//! `sargon positions`: shows how position files are parsed.

use clap::Args;
use cli_support::exit::CommandResult;
use cli_support::output::{json_line, print};
use sargon_corpus::args::PositionArgs;

#[derive(Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    positions: PositionArgs,
    /// Print JSON, one line per position: FEN, operations, moves, suite, notes
    #[arg(long)]
    json: bool,
}

pub(super) fn list(args: &ListArgs) -> CommandResult {
    let positions = args.positions.read(args.json)?;
    positions.for_each(args.json, |named| {
        if args.json {
            return print(&json_line(&named.head())?);
        }
        let note = named.entry.warning().map_or_else(String::new, |note| format!("  ({note})"));
        print(&format!("{}  {}{note}\n", named.fen, named.id))
    })?;
    positions.finish(Ok(0))
}
