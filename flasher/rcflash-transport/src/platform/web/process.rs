//! Stub: a web page starts no processes.

use std::process::{Child, Command};

/// Does nothing.
pub fn use_new_process_group(command: &mut Command) -> &mut Command {
    command
}

/// Kills a command.
pub fn kill_process_tree(child: &mut Child) {
    let _ = child.kill();
}

/// Returns a command that can't be started.
pub fn shell_command(line: &str) -> Command {
    Command::new(line)
}

/// Returns `false`.
pub fn is_other_process_alive(_pid: i32) -> bool {
    false
}
