//! Completions and manual pages, as `rcflash` and `hw-tests` hand them out.

use std::io::{self, Write};

use clap::Command;
use tdlasm::manual::{CompletionsArgs, ManArgs};

use crate::exit::{Failure, Outcome, RIG};

/// Prints the script for a shell.
///
/// # Errors
/// Standard output failed.
pub fn completions(args: &CompletionsArgs, command: Command) -> Outcome {
    print(&args.script(command))
}

/// Prints the program's manual page, or writes those of all subcommands.
///
/// # Errors
/// The pages can't be written.
pub fn man(args: &ManArgs, command: Command) -> Outcome {
    let mut page = Vec::new();
    let said = args
        .make(command, &mut page)
        .map_err(|error| Failure::new(RIG, format!("can't write the manual pages: {error}")))?;
    if let Some(said) = said {
        eprintln!("{said}");
    }
    print(&page)
}

fn print(text: &[u8]) -> Outcome {
    match io::stdout().write_all(text).and_then(|()| io::stdout().flush()) {
        // Whoever reads it has had enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(Failure::new(RIG, format!("can't write to standard output: {error}"))),
        Ok(()) => Ok(0),
    }
}
