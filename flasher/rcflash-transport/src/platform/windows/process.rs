//! Process groups, shell commands, and the liveness of processes.

use std::io;
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// `CREATE_NEW_PROCESS_GROUP`: the child does not get Ctrl-C.
const NEW_GROUP: u32 = 0x200;
/// `STATUS_CONTROL_C_EXIT`, the exit code of a process that left Ctrl-C to the system.
const ENDED_BY_CTRL_C: i32 = 0xC000_013A_u32.cast_signed();
/// The exit code of a program that Ctrl-C ended, as shells count it.
const INTERRUPTED: i32 = 130;

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

/// Runs a command and returns its exit code, since Windows has no `exec`. Ctrl-C reaches both
/// processes of the console. This one ignores it and waits for the command's end; otherwise a shell
/// and the command would read from the same keyboard.
///
/// # Errors
/// Returns the system's error if the command can't be started.
pub fn replace_process(mut command: Command) -> io::Result<Option<i32>> {
    // Fails only if there is a handler already, which keeps this process alive just as well.
    let _ = ctrlc::set_handler(|| {});
    Ok(command.status()?.code().map(|code| match code {
        ENDED_BY_CTRL_C => INTERRUPTED,
        code => code,
    }))
}

/// Returns `false`: lock files with process ids are a Unix convention.
pub fn is_other_process_alive(_pid: i32) -> bool {
    false
}
