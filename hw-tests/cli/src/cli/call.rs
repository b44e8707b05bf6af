//! `hw-tests call`.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT};
use testfile_suite::{BoardMachine, CallServer, Machine, Program};

use hil_harness::args::BoardArgs;

#[derive(Args)]
pub(super) struct CallArgs {
    /// TDL sources of the program, each assembled by itself, or the output of another assembler or
    /// compiler; or else a request loads it
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Symbols and lines of the program: a symbol file, map or listing of any assembler or linker
    #[arg(long, value_name = "FILE", requires = "files")]
    symbols: Vec<PathBuf>,
    /// Address of a binary, or of the first section of sources
    #[arg(long, value_name = "ADDRESS", value_parser = testfile_suite::parse_address, requires = "files")]
    origin: Option<u16>,
    #[command(flatten)]
    board: BoardArgs,
}

/// Replies to requests until the end of standard input, or until nobody reads the replies.
pub(super) fn serve(args: &CallArgs) -> CommandResult {
    let machine: Box<dyn Machine> = match args.board.names_board() {
        true => Box::new(BoardMachine::prepare(&args.board.plan()?)?),
        false => Box::new(Program::default().machine()),
    };
    let mut server = CallServer::new(machine);
    if !args.files.is_empty() {
        let loaded = server.load(&args.files, &args.symbols, args.origin);
        loaded.map_err(|message| CommandError::new(ENVIRONMENT, message))?;
    }
    match server.serve(&mut io::stdin().lock(), &mut io::stdout().lock()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CommandError::new(ENVIRONMENT, format!("standard input or output: {error}")))
        }
        _ => {
            let left = server.into_machine().leave();
            left.map_err(|error| CommandError::new(ENVIRONMENT, error))?;
            Ok(0)
        }
    }
}
