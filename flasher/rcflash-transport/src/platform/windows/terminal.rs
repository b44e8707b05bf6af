//! Raw mode of the user's terminal, in which every key goes to the board.

use std::io::{self, IsTerminal, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};

static IS_RAW: AtomicBool = AtomicBool::new(false);

/// Capacity of the queue between the reading thread and [`read_available_input`].
const MAX_QUEUED_READS: usize = 16;
/// Ctrl-Z: the end of input for the standard library, and the end of a text for CP/M.
const CTRL_Z: u8 = 0x1A;

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
        if !io::stdin().is_terminal() {
            return Ok(None);
        }
        crossterm::terminal::enable_raw_mode()?;
        IS_RAW.store(true, Ordering::SeqCst);
        Ok(Some(Self(())))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        restore();
    }
}

/// Waits for a moment, at most for a time.
pub fn wait_for_input(timeout: std::time::Duration) {
    std::thread::sleep(timeout.min(std::time::Duration::from_millis(20)));
}

/// Returns `false`: Windows ends a program whose console is closed.
pub fn is_closed() -> bool {
    false
}

/// Leaves raw mode, if it is active. For code that exits without dropping [`RawMode`].
pub fn restore() {
    if IS_RAW.swap(false, Ordering::SeqCst) {
        // The program is about to exit; there is no use for the error.
        let _ = crossterm::terminal::disable_raw_mode();
    }
}

/// Returns input from the keyboard or a pipe without waiting: `None` if there is none yet, empty at
/// the end of input.
///
/// # Errors
/// Returns the system's error.
pub fn read_available_input() -> io::Result<Option<Vec<u8>>> {
    static INPUT: OnceLock<Mutex<Receiver<io::Result<Vec<u8>>>>> = OnceLock::new();
    let input = INPUT.get_or_init(|| Mutex::new(spawn_reader()));
    match input.lock().unwrap_or_else(PoisonError::into_inner).try_recv() {
        Ok(result) => result.map(Some),
        Err(TryRecvError::Empty) => Ok(None),
        Err(TryRecvError::Disconnected) => Ok(Some(Vec::new())),
    }
}

/// Starts a thread that reads input: Windows can't poll a console and a pipe alike.
fn spawn_reader() -> Receiver<io::Result<Vec<u8>>> {
    let (sender, input) = sync_channel(MAX_QUEUED_READS);
    std::thread::spawn(move || {
        let mut typed = [0; 256];
        loop {
            let result = io::stdin().read(&mut typed).map(|count| match count {
                // A keyboard has no end of input: the user pressed Ctrl-Z.
                0 if IS_RAW.load(Ordering::SeqCst) => vec![CTRL_Z],
                count => typed[..count].to_vec(),
            });
            let is_over = result.as_ref().map_or(true, Vec::is_empty);
            if sender.send(result).is_err() || is_over {
                return;
            }
        }
    });
    input
}
