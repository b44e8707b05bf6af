//! A program on an interactive terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// Longer than any operation of a program takes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A program on a pseudo-terminal of 110 columns and 40 rows.
pub(crate) struct TerminalSession {
    terminal: File,
    pub(crate) child: Child,
    /// All output of the program that the test has not removed.
    pub(crate) seen: String,
}

impl TerminalSession {
    pub(crate) fn spawn(mut command: Command) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).expect("a pseudo-terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("its other end");
        let size = Winsize { ws_row: 40, ws_col: 110, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("its size");
        let name = ptsname(&master, Vec::new()).expect("its name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let end =
            || -> OwnedFd { rustix::fs::open(&name, flags, Mode::empty()).expect("it opens") };
        // A test that looks at the user's state names a folder for it.
        if !command.get_envs().any(|(name, _)| name == "XDG_STATE_HOME") {
            command.env("XDG_STATE_HOME", "/dev/null");
        }
        if !command.get_envs().any(|(name, _)| name == "TERM") {
            command.env("TERM", "xterm");
        }
        command.stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().expect("it starts");
        Self { terminal: File::from(master), child, seen: String::new() }
    }

    /// Closes the terminal, and waits until the program has ended.
    #[track_caller]
    #[allow(dead_code, reason = "not every program of the tests has a view")]
    pub(crate) fn close(mut self) {
        self.terminal = File::open("/dev/null").expect("it is there");
        let deadline = Instant::now() + TIMEOUT;
        while self.child.try_wait().expect("it is ours").is_none() {
            assert!(Instant::now() < deadline, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn press(&mut self, keys: &[u8]) {
        self.terminal.write_all(keys).expect("the terminal accepts input");
    }

    /// Waits until the program has printed this.
    #[track_caller]
    pub(crate) fn expect(&mut self, text: &str) {
        let deadline = Instant::now() + TIMEOUT;
        while !self.seen.contains(text) {
            assert!(Instant::now() < deadline, "no {text:?} in {:?}", self.seen);
            self.read_output();
        }
    }

    /// Reads output, after a short wait if there is none. Returns `true` if there was some.
    fn read_output(&mut self) -> bool {
        let wait = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        let ready = poll(&mut [PollFd::new(&self.terminal, PollFlags::IN)], Some(&wait));
        let mut bytes = [0; 4096];
        // It is an error after the program has closed the terminal.
        let is_ready = ready.is_ok_and(|count| count > 0);
        let count = if is_ready { self.terminal.read(&mut bytes).unwrap_or(0) } else { 0 };
        self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        count > 0
    }

    /// Returns `true` if the terminal is in its usual mode: lines, echo, and interrupt keys.
    pub(crate) fn is_in_cooked_mode(&self) -> bool {
        let cooked = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        tcgetattr(&self.terminal).expect("its modes").local_modes.contains(cooked)
    }

    /// Waits until the program exits, and checks that the terminal mode is restored. Returns the
    /// exit code and the output.
    #[track_caller]
    pub(crate) fn wait_for_exit(mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + TIMEOUT;
        let status = loop {
            self.read_output();
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                break status;
            }
            assert!(Instant::now() < deadline, "it does not end: {}", self.seen);
        };
        while self.read_output() {}
        assert!(self.is_in_cooked_mode(), "the terminal is as it was");
        (status.code(), std::mem::take(&mut self.seen))
    }
}

impl Drop for TerminalSession {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
