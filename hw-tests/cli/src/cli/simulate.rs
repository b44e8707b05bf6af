//! `hw-tests simulate`.

mod board;
mod monitor;

use clap::{Args, Subcommand};
use cli_support::exit::CommandResult;

#[derive(Args)]
pub(super) struct SimulateArgs {
    #[command(subcommand)]
    what: Simulated,
}

#[derive(Subcommand)]
enum Simulated {
    /// Serve a simulated board on a pseudo-terminal
    #[command(after_help = "\
Example:
  hw-tests simulate board
  (prints a path such as /dev/pts/5; in another terminal:)
  rcflash write --port /dev/pts/5

Enter presses its reset button.")]
    Board(board::BoardArgs),
    /// Emulate a stock monitor on a pseudo-terminal, for `rcflash write --via`
    #[command(after_help = "\
Example:
  hw-tests simulate monitor scm
  (prints a path such as /dev/pts/5; in another terminal:)
  rcflash write --via scm --port /dev/pts/5 prog.hex")]
    Monitor(monitor::MonitorArgs),
}

pub(super) fn serve(args: &SimulateArgs) -> CommandResult {
    match &args.what {
        Simulated::Board(args) => board::serve(args),
        Simulated::Monitor(args) => monitor::serve(args),
    }
}
