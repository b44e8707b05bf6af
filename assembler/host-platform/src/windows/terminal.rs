//! The user's terminal in raw mode, in which every key goes to the board, and how it is put back.

use std::io::{self, IsTerminal, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Whether the terminal is in raw mode.
static RAW: AtomicBool = AtomicBool::new(false);

/// Pieces of input that may wait.
const PIECES: usize = 16;
/// Ctrl-Z, which the library takes for the end of input, and CP/M for the end of a text.
const CTRL_Z: u8 = 0x1A;

/// A terminal in raw mode; dropping it puts it back, also when a panic unwinds.
#[derive(Debug)]
pub struct RawMode(());

impl RawMode {
    /// Puts the terminal at standard input into raw mode; `None` when it is none.
    ///
    /// # Errors
    /// The system's error.
    pub fn of_input() -> io::Result<Option<Self>> {
        if !io::stdin().is_terminal() {
            return Ok(None);
        }
        crossterm::terminal::enable_raw_mode()?;
        RAW.store(true, Ordering::SeqCst);
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
    if RAW.swap(false, Ordering::SeqCst) {
        // Nobody is left to tell if this fails.
        let _ = crossterm::terminal::disable_raw_mode();
    }
}

/// Returns input from the keyboard or a pipe; empty at its end, `None` when there is nothing now.
///
/// # Errors
/// The system's error.
pub fn take_input() -> io::Result<Option<Vec<u8>>> {
    static INPUT: OnceLock<Mutex<Receiver<io::Result<Vec<u8>>>>> = OnceLock::new();
    let input = INPUT.get_or_init(|| Mutex::new(listen()));
    match input.lock().unwrap_or_else(PoisonError::into_inner).try_recv() {
        Ok(heard) => heard.map(Some),
        Err(TryRecvError::Empty) => Ok(None),
        Err(TryRecvError::Disconnected) => Ok(Some(Vec::new())),
    }
}

/// Has a thread wait for input, which can't be asked whether there is any here.
fn listen() -> Receiver<io::Result<Vec<u8>>> {
    let (sender, input) = sync_channel(PIECES);
    std::thread::spawn(move || {
        let mut typed = [0; 256];
        loop {
            let heard = io::stdin().read(&mut typed).map(|count| match count {
                // A keyboard has no end: the key itself was pressed.
                0 if RAW.load(Ordering::SeqCst) => vec![CTRL_Z],
                count => typed[..count].to_vec(),
            });
            let is_over = heard.as_ref().map_or(true, Vec::is_empty);
            if sender.send(heard).is_err() || is_over {
                return;
            }
        }
    });
    input
}
