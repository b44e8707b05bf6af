//! `tdlasm lsp`.

use std::io::{self, BufReader};
use std::path::PathBuf;

use clap::Args;

use tdlasm::Options;
use tdlasm_rewrite::convert::translate;
use tdlasm_server::{ServerEnd, serve};

use super::Failed;
use super::asm::parse_define;
use super::memory::keep_freed;

const SETUP: &str = "\
Editors start it by themselves: docs/editors/README.md tells how to set up VS Code, Neovim and \
Emacs, and what the server can do.

Example:
  tdlasm lsp -I include --define DEBUG=1";

#[derive(Debug, Args)]
#[command(after_help = SETUP)]
pub(crate) struct Arguments {
    /// Define a symbol before the first line of each source
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_define)]
    define: Vec<(String, u16)>,
    /// Look for inserted files in this folder too
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Let all characters of a symbol count, not the first six only
    #[arg(long)]
    long_symbols: bool,
    /// Take `.PROG.` as absolute code from 0 on
    #[arg(long)]
    pabs: bool,
    /// Speak over standard input and output, as the server always does; editors say so
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Runs `tdlasm lsp`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failed> {
    let options = Options {
        defines: arguments.define.clone(),
        include_dirs: arguments.include.clone(),
        long_symbols: arguments.long_symbols,
        absolute_prog: arguments.pabs,
        translate: Some(translate),
        ..Options::default()
    };
    // Each analysis takes as much as the one before has freed.
    keep_freed();
    match serve(BufReader::new(io::stdin()), &mut io::stdout().lock(), options) {
        Ok(ServerEnd::Orderly) => Ok(()),
        // The protocol wants 1 then.
        Ok(ServerEnd::Abrupt) => Err(Failed::Source),
        Err(error) => {
            cli_support::tell!("error: {error}");
            cli_support::tell!(
                "help: this is for editors; docs/editors/README.md tells how to set them up"
            );
            Err(Failed::File)
        }
    }
}
