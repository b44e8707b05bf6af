//! `tdlasm lsp`.

use std::io::{self, BufReader};
use std::path::PathBuf;

use clap::Args;
use cli_support::exit;
use tdlasm::Options;
use tdlasm_tools::convert::translate;
use tdlasm_tools::server::{ServerEnd, serve};

use super::ReportedError;
use super::asm::parse_define;

const SETUP: &str = "\
Editors start the server. docs/editors/README.md describes its features and the setup of VS Code, \
Neovim and Emacs.

Example:
  tdlasm lsp -I include --define DEBUG=1";

#[derive(Debug, Args)]
#[command(after_help = SETUP)]
pub(crate) struct Arguments {
    /// Define a symbol before the first line of each source
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_define)]
    define: Vec<(String, u16)>,
    /// Also search this folder for included files
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Distinguish symbols by all characters instead of the first six
    #[arg(long)]
    long_symbols: bool,
    /// Assemble `.PROG.` as absolute code from address 0
    #[arg(long)]
    pabs: bool,
    /// Use standard input and output, which is the default; editors pass this option
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), ReportedError> {
    let options = Options {
        defines: arguments.define.clone(),
        include_dirs: arguments.include.clone(),
        long_symbols: arguments.long_symbols,
        absolute_prog: arguments.pabs,
        translate: Some(translate),
        ..Options::default()
    };
    // Each analysis allocates as much memory as the previous one has freed.
    match serve(BufReader::new(io::stdin()), &mut io::stdout().lock(), options) {
        Ok(ServerEnd::AfterShutdown) => Ok(()),
        // The protocol requires exit code 1.
        Ok(ServerEnd::WithoutShutdown) => Err(exit::FAILED),
        Err(error) => {
            cli_support::eprint_error!("{error}");
            cli_support::eprint_help!(
                "editors start this command; docs/editors/README.md describes their setup"
            );
            Err(exit::ENVIRONMENT)
        }
    }
}
