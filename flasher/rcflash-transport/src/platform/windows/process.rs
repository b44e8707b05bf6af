//! Process groups, shell commands, and the liveness of processes.

use std::os::windows::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// `CREATE_NEW_PROCESS_GROUP`: the child does not get Ctrl-C.
const NEW_GROUP: u32 = 0x200;

/// Makes a command run in a new process group, which [`kill_process_tree`] kills.
pub fn use_new_process_group(command: &mut Command) -> &mut Command {
    command.creation_flags(NEW_GROUP)
}

/// Kills a command started with [`use_new_process_group`] and its children; waits for its end.
pub fn kill_process_tree(child: &mut Child) {
    // Fails if the command has ended already.
    let mut all = Command::new("taskkill");
    all.args(["/T", "/F", "/PID", &child.id().to_string()]);
    let _ = all.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let _ = child.kill();
    let _ = child.wait();
}

/// Returns a command that runs `line` in the shell.
pub fn shell_command(line: &str) -> Command {
    let mut shell = Command::new("cmd");
    // `cmd` splits its command line by other rules than programs do.
    shell.arg("/C").raw_arg(line);
    shell
}

/// Returns `false`: lock files with process ids are a Unix convention.
pub fn is_other_process_alive(_pid: i32) -> bool {
    false
}
