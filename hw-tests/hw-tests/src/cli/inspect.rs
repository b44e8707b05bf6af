//! Commands that run `hw-inspect`, which debugs and profiles Z80 code. It is a separate program so
//! that running the corpus does not require building a debugger.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
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
    ///
    /// # Errors
    /// Returns exit code 3 if `hw-inspect` is missing and cannot be built.
    pub(super) fn exec_hw_inspect(&self, command: &str) -> CommandResult {
        let ours =
            std::env::current_exe().map_err(|error| CommandError::new(ENVIRONMENT, error))?;
        let theirs = ours.with_file_name(PROGRAM).with_extension(std::env::consts::EXE_EXTENSION);
        if let Some(cargo) = builder() {
            build(&cargo, &ours)?;
        }
        if !theirs.exists() {
            let problem = format!(
                "{} is missing, which runs this command; \
                 build it with `cargo build --release -p {PROGRAM}`",
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

/// Returns the path of cargo if this program was started by `cargo run`, in which case `hw-inspect`
/// may be missing or older than its sources.
fn builder() -> Option<PathBuf> {
    let is_ours = std::env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == "hw-tests");
    std::env::var_os("CARGO").filter(|_| is_ours).map(PathBuf::from)
}

/// Builds `hw-inspect` into the folder of this program.
fn build(cargo: &Path, ours: &Path) -> Result<(), CommandError> {
    let mut process = Command::new(cargo);
    process.args(["build", "--quiet", "--package", PROGRAM]);
    // The folder is TARGET/PROFILE; the folder of the profile "dev" is called "debug".
    let folder = ours.parent().unwrap_or(Path::new("."));
    let profile = folder.file_name().filter(|name| *name != "debug").unwrap_or(OsStr::new("dev"));
    process.arg("--profile").arg(profile);
    if let Some(target) = folder.parent() {
        process.arg("--target-dir").arg(target);
    }
    // Read at run time: at build time it would put a path of the build machine into the binary.
    if let Some(package) = std::env::var_os("CARGO_MANIFEST_DIR") {
        process.current_dir(package);
    }
    match process.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(CommandError::new(
            ENVIRONMENT,
            format!("cargo failed to build {PROGRAM}; see its messages above"),
        )),
        Err(error) => Err(CommandError::new(ENVIRONMENT, format!("cannot start cargo: {error}"))),
    }
}

/// Replaces this process. Where the system can't, runs `process` to its end and returns its exit
/// code.
fn replace_process(process: Command) -> std::io::Result<u8> {
    let code = host_platform::process::replace_process(process)?;
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(BUG))
}
