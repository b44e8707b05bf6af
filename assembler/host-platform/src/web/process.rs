//! Other processes, of which there are none.

use std::io;
use std::process::{Child, Command};

/// Has a command run in a group of its own; none runs at all.
pub fn own_group(command: &mut Command) -> &mut Command {
    command
}

/// Ends a command.
pub fn end_group(child: &mut Child) {
    let _ = child.kill();
}

/// A shell, which can't be started.
#[must_use]
pub fn shell(line: &str) -> Command {
    Command::new(line)
}

/// Runs a command in this process's place.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`].
pub fn replace_by(mut command: Command) -> io::Result<Option<i32>> {
    Ok(command.status()?.code())
}

/// Whether another process of this number runs: none does.
#[must_use]
pub fn is_other_alive(_pid: i32) -> bool {
    false
}
