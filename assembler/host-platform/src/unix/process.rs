//! Other processes.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process};

/// Has a command run in a group of its own, which [`end_group`] ends with it.
pub fn own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Ends a command that has a group of its own, with all that it has started, and waits for it.
pub fn end_group(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended already; either way it is over.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The user's shell with a command line.
#[must_use]
pub fn shell(line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", line]);
    shell
}

/// Puts a command in this process's place, with its terminal and its signals.
///
/// # Errors
/// Returns only if that fails.
pub fn replace_by(mut command: Command) -> io::Result<Option<i32>> {
    Err(command.exec())
}

/// Whether another process of this number runs.
#[must_use]
pub fn is_other_alive(pid: i32) -> bool {
    let is_other = u32::try_from(pid).is_ok_and(|pid| pid != std::process::id());
    is_other && Pid::from_raw(pid).is_some_and(|process| test_kill_process(process).is_ok())
}
