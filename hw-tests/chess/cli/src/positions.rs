//! `sargon positions`: shows how position files are parsed.

use clap::Args;
use cli_support::exit::CommandResult;
use cli_support::output::json_line;
use sargon_corpus::args::{Jobs, NamedPosition, OutputForm, PositionArgs};

#[derive(Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    positions: PositionArgs,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    form: OutputForm,
}

pub(super) fn list(args: &ListArgs) -> CommandResult {
    let mut positions = args.positions.open_as(args.form)?.with_jobs(args.jobs);
    let line = |named: &NamedPosition| {
        if args.form.json {
            return json_line(&named.head());
        }
        if args.form.epd {
            return Ok(named.epd(None, &[]));
        }
        let note = named.entry.warning().map_or_else(String::new, |note| format!("  ({note})"));
        Ok(format!("{}  {}{note}\n", named.fen, named.id))
    };
    positions.for_each(line, |_, line, output| {
        output.push_str(&line?);
        Ok(())
    })?;
    positions.finish(Ok(0))
}
