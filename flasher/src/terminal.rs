//! A terminal on the board: what is typed goes to the board, what it says to the screen.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcsetattr};

use crate::transport::Transport;

/// Ctrl-], which leaves the terminal.
pub const LEAVE: u8 = 0x1D;

/// How long one look at the board may take.
const LOOK: Duration = Duration::from_millis(10);
/// How long the board may refuse to take what was typed.
const STALL: Duration = Duration::from_secs(5);

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Ctrl-] was typed.
    ByKey,
    /// The input ended.
    InputEnded,
}

/// The user's terminal in raw mode; dropping it puts it back.
struct RawMode(Option<Termios>);

impl RawMode {
    fn enter() -> io::Result<Self> {
        let stdin = rustix::stdio::stdin();
        if !isatty(stdin) {
            return Ok(Self(None));
        }
        let before = tcgetattr(stdin)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin, OptionalActions::Now, &raw)?;
        Ok(Self(Some(before)))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // Nobody is left to tell if this fails.
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, before);
        }
    }
}

/// Connects standard input and output with the board until Ctrl-] or the end of the input. When the input
/// ends, what the board still says within `linger` is shown.
///
/// # Errors
/// The line or the terminal failed.
pub fn talk(board: &mut dyn Transport, linger: Duration) -> io::Result<Left> {
    let _raw = RawMode::enter()?;
    let mut typed = [0; 256];
    loop {
        show(board, LOOK)?;
        if !is_typed()? {
            continue;
        }
        let count = rustix::io::read(rustix::stdio::stdin(), &mut typed)?;
        if count == 0 {
            let deadline = Instant::now() + linger;
            while Instant::now() < deadline {
                show(board, LOOK)?;
            }
            return Ok(Left::InputEnded);
        }
        let leave = typed[..count].iter().position(|key| *key == LEAVE);
        board.write(&typed[..leave.unwrap_or(count)], Instant::now() + STALL)?;
        if leave.is_some() {
            return Ok(Left::ByKey);
        }
    }
}

fn show(board: &mut dyn Transport, wait: Duration) -> io::Result<()> {
    let mut heard = [0; 1024];
    let count = board.read(&mut heard, wait)?;
    let mut screen = io::stdout().lock();
    screen.write_all(&heard[..count])?;
    screen.flush()
}

fn is_typed() -> io::Result<bool> {
    let stdin = rustix::stdio::stdin();
    let now = Timespec::default();
    Ok(poll(&mut [PollFd::from_borrowed_fd(stdin, PollFlags::IN)], Some(&now))? > 0)
}
