//! Runs another program to its end, its words handed on as they come, with a deadline.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use host_platform::process::{end_group, own_group};

/// The time between two looks at the deadline and at the user's wish to stop.
const LOOK: Duration = Duration::from_millis(20);
/// The time a program that has ended may leave its words behind.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Most bytes of its output that are kept, the last ones: the end shows how it went.
const KEPT: usize = 64 << 10;

/// The end of a program.
#[derive(Debug)]
pub(super) enum ChildEnd {
    /// By itself; with what it said on both of its outputs.
    Itself(ExitStatus, Vec<u8>),
    /// It was still running at the deadline, and was ended.
    Late,
    /// The user wanted to stop, and it was ended.
    Interrupted,
}

/// Runs a program. It gets no input, and a process group of its own, which is ended with it.
pub(super) fn run(
    command: &mut Command,
    patience: Duration,
    stop: &AtomicBool,
    mut watch: impl FnMut(&[u8]),
) -> io::Result<ChildEnd> {
    let deadline = Instant::now() + patience;
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(own_group(piped).spawn()?);
    let words = listen(&mut running.0);
    let mut said = Vec::new();
    let mut hear = |bytes: &[u8]| {
        watch(bytes);
        said.extend_from_slice(bytes);
        said.drain(..said.len().saturating_sub(KEPT));
    };
    loop {
        // Stop and deadline are looked at after every piece of output, too: a program that never
        // stops talking must not run for ever. The end is looked for in silence only, as words that
        // are still in the channel belong before it.
        let silent = match words.recv_timeout(LOOK) {
            Ok(bytes) => {
                hear(&bytes);
                false
            }
            Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(LOOK); // both outputs are closed, and the program may go on
                true
            }
        };
        if stop.load(Ordering::Relaxed) {
            return Ok(ChildEnd::Interrupted);
        }
        if Instant::now() >= deadline {
            return Ok(ChildEnd::Late);
        }
        if silent && let Some(status) = running.0.try_wait()? {
            hear_out(&words, &mut hear);
            return Ok(ChildEnd::Itself(status, said));
        }
    }
}

/// Passes on the rest of the output of a program that has ended. A child of its own may hold its
/// pipes open for ever.
fn hear_out(words: &Receiver<Vec<u8>>, hear: &mut impl FnMut(&[u8])) {
    let deadline = Instant::now() + LAST_WORDS;
    while let Ok(bytes) = words.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        hear(&bytes);
    }
}

/// A program that does not outlive its watcher.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        end_group(&mut self.0);
    }
}

/// Both of its outputs, as they come.
fn listen(child: &mut Child) -> Receiver<Vec<u8>> {
    let (sender, words) = sync_channel(64);
    if let Some(output) = child.stdout.take() {
        forward(output, sender.clone());
    }
    if let Some(output) = child.stderr.take() {
        forward(output, sender);
    }
    words
}

fn forward(mut from: impl Read + Send + 'static, to: SyncSender<Vec<u8>>) {
    std::thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if to.send(buffer[..count].to_vec()).is_err() {
                return; // nobody listens any more
            }
        }
    });
}
