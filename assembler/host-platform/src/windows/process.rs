//! Other processes.

use std::io;
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// `CREATE_NEW_PROCESS_GROUP`: Ctrl-C goes to us alone.
const NEW_GROUP: u32 = 0x200;
/// `STATUS_CONTROL_C_EXIT`, the exit code of a process that left Ctrl-C to the system.
const ENDED_BY_CTRL_C: i32 = 0xC000_013A_u32.cast_signed();
/// The exit code of a program that Ctrl-C ended, as shells count it.
const INTERRUPTED: i32 = 130;

/// Has a command run in a group of its own, which [`end_group`] ends with it.
pub fn own_group(command: &mut Command) -> &mut Command {
    command.creation_flags(NEW_GROUP)
}

/// Ends a command that has a group of its own, with all that it has started, and waits for it.
pub fn end_group(child: &mut Child) {
    // It may have ended already; either way it is over.
    let mut all = Command::new("taskkill");
    all.args(["/T", "/F", "/PID", &child.id().to_string()]);
    let _ = all.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let _ = child.kill();
    let _ = child.wait();
}

/// The system's shell with a command line.
#[must_use]
pub fn shell(line: &str) -> Command {
    let mut shell = Command::new("cmd");
    // `cmd` divides its line by itself, by other rules than programs do.
    shell.arg("/C").raw_arg(line);
    shell
}

/// Runs a command in this process's place; its exit code, if it has one. Ctrl-C comes to both
/// processes of the console: only the command's answer to it counts, and this one waits for its
/// end, lest a shell and the command read from one keyboard.
///
/// # Errors
/// It can't be started.
pub fn replace_by(mut command: Command) -> io::Result<Option<i32>> {
    // It fails only where there is a handler already, which then keeps this process, too.
    let _ = ctrlc::set_handler(|| {});
    Ok(command.status()?.code().map(|code| match code {
        ENDED_BY_CTRL_C => INTERRUPTED,
        code => code,
    }))
}

/// Whether another process of this number runs, which is not asked here: no lock file of other
/// programs names one.
#[must_use]
pub fn is_other_alive(_pid: i32) -> bool {
    false
}
