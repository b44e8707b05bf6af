//! Stub: a web page starts no processes.

use std::io;
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

/// Always fails.
pub fn replace_process(mut command: Command) -> io::Result<Option<i32>> {
    Ok(command.status()?.code())
}

/// Returns `false`.
pub fn is_other_process_alive(_pid: i32) -> bool {
    false
}
