//! The user's terminal in raw mode, in which every key goes to the board, and how it is put back.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcsetattr};

/// The terminal as it was. Kept here so that a handler of signals can put it back, too.
static BEFORE: Mutex<Option<(OwnedFd, Termios)>> = Mutex::new(None);

/// A terminal in raw mode; dropping it puts it back, also when a panic unwinds.
#[derive(Debug)]
pub struct RawMode(());

impl RawMode {
    /// Puts the terminal at standard input into raw mode; `None` when it is none.
    ///
    /// # Errors
    /// The system's error.
    pub fn of_input() -> io::Result<Option<Self>> {
        Self::enter(rustix::stdio::stdin())
    }

    fn enter(terminal: impl AsFd) -> io::Result<Option<Self>> {
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

/// Puts the user's terminal back as it was, if it is in raw mode: for whoever ends the program at
/// once.
pub fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((terminal, before)) = before {
        // Nobody is left to tell if this fails.
        let _ = tcsetattr(terminal, OptionalActions::Now, &before);
    }
}

/// Returns input from the keyboard or a pipe; empty at its end, `None` when there is nothing now.
///
/// # Errors
/// The system's error.
pub fn take_input() -> io::Result<Option<Vec<u8>>> {
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
            let _raw = RawMode::enter(&master).expect("it goes").expect("it is a terminal");
            assert_eq!(modes(), LocalModes::empty());
            std::panic::panic_any("on purpose");
        });
        assert!(outcome.is_err());
        assert_eq!(modes(), cooked);
    }

    #[test]
    fn a_pipe_has_no_modes() {
        let (reader, _writer) = std::io::pipe().expect("a pipe");
        assert!(RawMode::enter(reader).expect("it goes").is_none());
    }
}
