//! Commands that look into the Z80 code. They belong to `hw-inspect`, a program of its own, so that
//! whoever runs the corpus need not build a debugger.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use program_kit::exit::{BUG, Failure, Outcome, RIG};
use program_kit::text::Show;

/// The program, and the package that it is built from.
const PROGRAM: &str = "hw-inspect";

/// The words after the command's name, as they came.
#[derive(Args)]
pub(super) struct Handed {
    /// The arguments of the command; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl Handed {
    /// Runs the command in `hw-inspect`, which stands beside this program.
    ///
    /// # Errors
    /// Fails with exit code 3 if it is not there and can't be built.
    pub(super) fn hand_over(&self, command: &str) -> Outcome {
        let ours = std::env::current_exe().map_err(|error| Failure::new(RIG, error))?;
        let theirs = ours.with_file_name(PROGRAM).with_extension(std::env::consts::EXE_EXTENSION);
        if let Some(cargo) = builder() {
            build(&cargo, &ours)?;
        }
        if !theirs.exists() {
            let problem = format!(
                "this command is in {PROGRAM}, which is not beside this program as {}; \
                 `cargo build --release -p {PROGRAM}` builds it",
                theirs.shown()
            );
            return Err(Failure::new(RIG, problem));
        }
        let mut process = Command::new(&theirs);
        process.arg(command).args(&self.arguments);
        become_it(process)
            .map_err(|error| Failure::new(RIG, format!("can't start {}: {error}", theirs.shown())))
    }
}

/// Returns the cargo that runs this program, if `cargo run` does: the program of another package
/// beside ours may then be older than its sources, or not be there yet.
fn builder() -> Option<PathBuf> {
    let is_ours = std::env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == "hw-tests");
    std::env::var_os("CARGO").filter(|_| is_ours).map(PathBuf::from)
}

/// Builds `hw-inspect` into the folder of our own program.
fn build(cargo: &Path, ours: &Path) -> Result<(), Failure> {
    let mut process = Command::new(cargo);
    process.args(["build", "--quiet", "--package", PROGRAM]);
    // The folder of ours is TARGET/PROFILE; "debug" is the one that cargo calls "dev".
    let folder = ours.parent().unwrap_or(Path::new("."));
    let profile = folder.file_name().filter(|name| *name != "debug").unwrap_or(OsStr::new("dev"));
    process.arg("--profile").arg(profile);
    if let Some(target) = folder.parent() {
        process.arg("--target-dir").arg(target);
    }
    // Told by cargo at the run: at the build, the name of a folder would get into the program.
    if let Some(package) = std::env::var_os("CARGO_MANIFEST_DIR") {
        process.current_dir(package);
    }
    match process.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::new(RIG, format!("cargo can't build {PROGRAM}, as reported above"))),
        Err(error) => Err(Failure::new(RIG, format!("can't start cargo: {error}"))),
    }
}

/// Puts the process in this one's place; its exit code, where the system runs it beside this one.
fn become_it(process: Command) -> std::io::Result<u8> {
    let code = host_platform::process::replace_by(process)?;
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(BUG))
}
