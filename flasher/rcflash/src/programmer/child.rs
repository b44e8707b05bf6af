//! Runs a child process with a timeout, and forwards its output as it arrives.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rcflash_transport::platform::process::{kill_process_tree, use_new_process_group};

/// How often the deadline and the stop flag are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long the output of an exited process is read.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// The last bytes of the output are kept, which show how the process ended.
const MAX_KEPT_OUTPUT: usize = 64 << 10;

#[derive(Debug)]
pub(super) enum ChildEnd {
    /// It exited; its status, and the end of its output.
    Exited(ExitStatus, Vec<u8>),
    TimedOut,
    Interrupted,
}

/// Runs a command without input, in its own process group, which is killed with it.
pub(super) fn run(
    command: &mut Command,
    timeout: Duration,
    stop: &AtomicBool,
    mut watch: impl FnMut(&[u8]),
) -> io::Result<ChildEnd> {
    let deadline = Instant::now() + timeout;
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = KillOnDrop(use_new_process_group(piped).spawn()?);
    let chunks = output_channel(&mut running.0);
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
                std::thread::sleep(POLL_INTERVAL);
                true
            }
        };
        if stop.load(Ordering::Relaxed) {
            return Ok(ChildEnd::Interrupted);
        }
        if Instant::now() >= deadline {
            return Ok(ChildEnd::TimedOut);
        }
        if silent && let Some(status) = running.0.try_wait()? {
            drain(&chunks, &mut on_chunk);
            return Ok(ChildEnd::Exited(status, output));
        }
    }
}

/// Forwards an exited process's output, for a limited time: a child may keep the pipes open.
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

/// Returns the chunks of both outputs.
fn output_channel(child: &mut Child) -> Receiver<Vec<u8>> {
    let (sender, chunks) = sync_channel(64);
    if let Some(output) = child.stdout.take() {
        forward(output, sender.clone());
    }
    if let Some(output) = child.stderr.take() {
        forward(output, sender);
    }
    chunks
}

fn forward(mut from: impl Read + Send + 'static, to: SyncSender<Vec<u8>>) {
    std::thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if to.send(buffer[..count].to_vec()).is_err() {
                return; // the receiver was dropped
            }
        }
    });
}
