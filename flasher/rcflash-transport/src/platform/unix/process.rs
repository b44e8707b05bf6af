//! Process groups, shell commands, and the liveness of processes.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process};

/// Makes a command run in a new process group, which [`kill_process_tree`] kills.
pub fn use_new_process_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Kills a command started with [`use_new_process_group`] and its children; waits for its end.
pub fn kill_process_tree(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // Fails if the group has ended already.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Returns a command that runs `line` in the shell.
pub fn shell_command(line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", line]);
    shell
}

/// Returns `true` if a process other than this one runs with this id.
pub fn is_other_process_alive(pid: i32) -> bool {
    let is_other = u32::try_from(pid).is_ok_and(|pid| pid != std::process::id());
    // A process of another user may not be signalled, but exists.
    let exists = |process| matches!(test_kill_process(process), Ok(()) | Err(Errno::PERM));
    is_other && Pid::from_raw(pid).is_some_and(exists)
}
