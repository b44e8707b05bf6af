//! Raw mode of the user's terminal, in which every key goes to the board.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcsetattr};

/// The terminal and its modes before raw mode. Global, so that a signal handler can restore it.
static BEFORE: Mutex<Option<(OwnedFd, Termios)>> = Mutex::new(None);

/// Keeps the terminal in raw mode; restores it when dropped, also while a panic unwinds.
#[derive(Debug)]
pub struct RawMode(());

impl RawMode {
    /// Puts the terminal at standard input into raw mode. Returns `None` if standard input is not a
    /// terminal.
    ///
    /// # Errors
    /// Returns the system's error.
    pub fn enable_on_stdin() -> io::Result<Option<Self>> {
        Self::enable(rustix::stdio::stdin())
    }

    fn enable(terminal: impl AsFd) -> io::Result<Option<Self>> {
        if !isatty(&terminal) {
            return Ok(None);
        }
        let before = tcgetattr(&terminal)?;
        let mut raw = before.clone();
        raw.make_raw();
        let kept = terminal.as_fd().try_clone_to_owned()?;
        tcsetattr(&terminal, OptionalActions::Now, &raw)?;
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some((kept, before));
        Ok(Some(Self(())))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        restore();
    }
}

/// Leaves raw mode, if it is active. For code that exits without dropping [`RawMode`].
pub fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((terminal, before)) = before {
        // The program is about to exit; there is no use for the error.
        let _ = tcsetattr(terminal, OptionalActions::Now, &before);
    }
}

/// Returns whether the terminal at standard input was closed, as by its window.
pub fn is_closed() -> bool {
    let stdin = rustix::stdio::stdin();
    let mut polled = [PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
    let closed = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    poll(&mut polled, Some(&Timespec::default())).is_ok() && polled[0].revents().intersects(closed)
}

/// Waits until standard input has bytes or is closed, at most for a time.
pub fn wait_for_input(timeout: Duration) {
    let stdin = rustix::stdio::stdin();
    let timeout = Timespec::try_from(timeout).unwrap_or_default();
    // A signal ends the wait early.
    let _ = poll(&mut [PollFd::from_borrowed_fd(stdin, PollFlags::IN)], Some(&timeout));
}

/// Returns input from the keyboard or a pipe without waiting: `None` if there is none yet, empty at
/// the end of input.
///
/// # Errors
/// Returns the system's error.
pub fn read_available_input() -> io::Result<Option<Vec<u8>>> {
    let stdin = rustix::stdio::stdin();
    let now = Timespec::default();
    match poll(&mut [PollFd::from_borrowed_fd(stdin, PollFlags::IN)], Some(&now)) {
        Ok(0) | Err(Errno::INTR) => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let mut typed = vec![0; 256];
    let count = match rustix::io::read(stdin, &mut typed) {
        Ok(count) => count,
        Err(Errno::INTR | Errno::AGAIN) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    typed.truncate(count);
    Ok(Some(typed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};
    use rustix::termios::LocalModes;

    #[test]
    fn a_panic_leaves_the_terminal_as_it_was() {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("its other end");
        let cooked = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        let modes = || tcgetattr(&master).expect("its modes").local_modes & cooked;
        assert_eq!(modes(), cooked);
        let outcome = std::panic::catch_unwind(|| {
            let _raw = RawMode::enable(&master).expect("it goes").expect("it is a terminal");
            assert_eq!(modes(), LocalModes::empty());
            std::panic::panic_any("on purpose");
        });
        assert!(outcome.is_err());
        assert_eq!(modes(), cooked);
    }

    #[test]
    fn a_pipe_has_no_modes() {
        let (reader, _writer) = std::io::pipe().expect("a pipe");
        assert!(RawMode::enable(reader).expect("it goes").is_none());
    }
}
