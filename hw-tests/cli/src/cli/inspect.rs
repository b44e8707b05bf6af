//! Commands that run `hw-inspect`, which debugs and profiles Z80 code. It is a separate program so
//! that running the corpus does not require building a debugger.

use std::ffi::OsString;
use std::process::Command;

use clap::Args;
use cli_support::exit::{BUG, CommandError, CommandResult, ENVIRONMENT};
use cli_support::text::Escape;

/// Name of the program and of its package.
const PROGRAM: &str = "hw-inspect";

/// Arguments passed to `hw-inspect` unchanged.
#[derive(Args)]
pub(super) struct PassthroughArgs {
    /// The arguments of the command; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl PassthroughArgs {
    /// Replaces this process by `hw-inspect COMMAND`, from the folder of this program.
    pub(super) fn exec_hw_inspect(&self, command: &str) -> CommandResult {
        let ours =
            std::env::current_exe().map_err(|error| CommandError::new(ENVIRONMENT, error))?;
        let theirs = ours.with_file_name(PROGRAM).with_extension(std::env::consts::EXE_EXTENSION);
        if !theirs.exists() {
            let problem = format!(
                "{} is missing, which runs this command; \
                 build it as this program was built: `cargo build --release -p {PROGRAM}`",
                theirs.escaped()
            );
            return Err(CommandError::new(ENVIRONMENT, problem));
        }
        let mut process = Command::new(&theirs);
        process.arg(command).args(&self.arguments);
        replace_process(process).map_err(|error| {
            CommandError::new(ENVIRONMENT, format!("cannot start {}: {error}", theirs.escaped()))
        })
    }
}

/// Replaces this process, or runs `process` to its end and returns its exit code.
fn replace_process(process: Command) -> std::io::Result<u8> {
    let code = rcflash_transport::platform::process::replace_process(process)?;
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(BUG))
}
