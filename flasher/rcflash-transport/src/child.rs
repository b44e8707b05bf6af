//! Runs a command with a timeout, and forwards its output as it arrives.

use std::io::{self, PipeReader, Read, pipe};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};

use crate::platform::process::{kill_process_tree, use_new_process_group};
use crate::time::{Duration, Instant};

/// How often the deadline and the stop flag are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long the output of an exited process is read.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// The last bytes of the output are kept, which show how the process ended.
const MAX_KEPT_OUTPUT: usize = 64 << 10;

/// How a command ended. The bytes are the last 64 KiB of its output.
#[derive(Debug)]
pub enum ChildEnd {
    /// It exited.
    Exited(ExitStatus, Vec<u8>),
    /// It did not exit in time, and was killed.
    TimedOut(Vec<u8>),
    /// The stop flag was set, and it was killed.
    Interrupted,
}

/// Runs a command without input, in its own process group, which is killed with it. `watch` gets
/// both of its outputs, in the order in which they were written. `stop` ends it when set.
///
/// # Errors
/// Returns the error of the system if the command can't be started or waited for.
pub fn run(
    command: &mut Command,
    timeout: Duration,
    stop: &AtomicBool,
    mut watch: impl FnMut(&[u8]),
) -> io::Result<ChildEnd> {
    let deadline = Instant::now() + timeout;
    let (reader, writer) = pipe()?;
    let piped = command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let started = use_new_process_group(piped).spawn();
    // The command holds the other end of the pipe, which would never end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = KillOnDrop(started?);
    let chunks = read_chunks(reader);
    let mut output = Vec::new();
    let mut on_chunk = |bytes: &[u8]| {
        watch(bytes);
        output.extend_from_slice(bytes);
        output.drain(..output.len().saturating_sub(MAX_KEPT_OUTPUT));
    };
    loop {
        // The stop flag and the deadline are checked after every chunk, too: a process that prints
        // without end must not run forever. The exit status is checked only when the channel is
        // empty, so that no output is lost.
        let silent = match chunks.recv_timeout(POLL_INTERVAL) {
            Ok(bytes) => {
                on_chunk(&bytes);
                false
            }
            Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => {
                crate::time::sleep(POLL_INTERVAL);
                true
            }
        };
        if stop.load(Ordering::Relaxed) {
            return Ok(ChildEnd::Interrupted);
        }
        if Instant::now() >= deadline {
            return Ok(ChildEnd::TimedOut(output));
        }
        if silent && let Some(status) = running.0.try_wait()? {
            drain(&chunks, &mut on_chunk);
            return Ok(ChildEnd::Exited(status, output));
        }
    }
}

/// Forwards an exited process's output, for a limited time: a child may keep the pipe open.
fn drain(chunks: &Receiver<Vec<u8>>, on_chunk: &mut impl FnMut(&[u8])) {
    let deadline = Instant::now() + DRAIN_TIMEOUT;
    while let Ok(bytes) = chunks.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        on_chunk(&bytes);
    }
}

/// A process that is killed when this is dropped.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        kill_process_tree(&mut self.0);
    }
}

/// Reads in a thread, so that waiting for output can end.
fn read_chunks(mut from: PipeReader) -> Receiver<Vec<u8>> {
    let (sender, chunks) = sync_channel(64);
    std::thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if sender.send(buffer[..count].to_vec()).is_err() {
                return; // the receiver was dropped
            }
        }
    });
    chunks
}
