//! XMODEM receivers and senders that end early, in virtual time: nothing is typed into the prompt
//! of CP/M that follows them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use board_simulator::UsbPacketing;
use cli_support::text::is_unsafe_for_terminals;
use monitor_standins::{Cpm, EarlyEnd, MonitorLine, MonitorOptions};
use rcflash_monitors::{FileTransfer, LoaderError, MonitorSession, transfer_file};
use rcflash_transport::Transport;
use tdlasm::image::{Image, ImageRun};

use super::virtual_bench::{BAUD, EventLines, VirtualBench, file_transfer};

/// SOH, number, complement, 128 bytes, CRC.
const BLOCK: usize = 133;
const BLOCKS: usize = 3;
/// The characters in flight when a message arrives: two pieces of 16, and as many character times
/// as the message takes to arrive.
const IN_FLIGHT: usize = 36;
/// As recorded from XM 12.5.
const CANCELLED: &str = "\r\n\r\n++ Receive cancelled ++\r\n++ Partial file deleted ++\r\n";
const ABORTED: &str = "\r\r\n++ XMODEM aborted ++\r\n";

/// CP/M commands, each with its carriage return: what a file must never do at a prompt.
fn file() -> Vec<u8> {
    b"ERA *.*\r\nY\r\n".iter().copied().cycle().take(BLOCKS * 128).collect()
}

fn bench(peer: Cpm, options: MonitorOptions) -> VirtualBench {
    let image = Image::new([ImageRun { address: 0x0100, bytes: file() }]);
    // This host reads each character as soon as it has arrived, so that it replies at once.
    VirtualBench { line: MonitorLine::new(Box::new(peer), options), image }
}

/// Sends the file to a receiver that ends early; returns the error, and what was typed at CP/M's
/// prompt after that end.
fn send(end: EarlyEnd, options: MonitorOptions) -> (Option<LoaderError>, Vec<u8>) {
    let bench = bench(Cpm::quick().with_early_end(end), options);
    let bytes = file();
    let outcome =
        transfer_file(&mut bench.session(), &file_transfer(&bytes), &mut EventLines::default());
    bench.line.sleep(Duration::from_secs(15));
    (outcome.err(), bench.line.with_monitor(|peer| peer.typed_at_prompt().to_vec()))
}

fn packets() -> MonitorOptions {
    MonitorOptions { packets: UsbPacketing::Usb, ..MonitorOptions::default() }
}

#[test]
fn a_receiver_that_ends_after_a_block_gets_nothing_more_typed_into_the_prompt() {
    for block in 1..=BLOCKS {
        for (message, options) in [
            (CANCELLED, MonitorOptions::default()),
            (ABORTED, MonitorOptions::default()),
            ("", MonitorOptions::default()),
            (CANCELLED, packets()),
            ("", packets()),
        ] {
            let end = EarlyEnd { after: block * BLOCK, message, is_seen: true, is_sender: false };
            let (error, typed) = send(end, options);
            let refused = matches!(error, Some(LoaderError::Refused { .. }));
            assert!(refused, "block {block}, {message:?}: {error:?}");
            assert_eq!(typed, b"", "block {block}, {message:?}");
        }
    }
}

#[test]
fn a_receiver_that_ends_within_a_block_leaves_at_most_the_characters_in_flight() {
    for after in BLOCK..2 * BLOCK {
        let rest = (BLOCK - after % BLOCK) % BLOCK;
        for message in [ABORTED, ""] {
            let end = EarlyEnd { after, message, is_seen: true, is_sender: false };
            let (error, typed) = send(end, MonitorOptions::default());
            assert!(error.is_some(), "{after}, {message:?}");
            let most = rest.min(IN_FLIGHT);
            assert!(typed.len() <= most, "{after}, {message:?}: {} typed", typed.len());
        }
    }
}

#[test]
fn a_receiver_that_crashes_in_silence_gets_the_rest_of_the_block_and_nothing_after_it() {
    for after in BLOCK..2 * BLOCK {
        let rest = (BLOCK - after % BLOCK) % BLOCK;
        let end = EarlyEnd { after, message: "", is_seen: false, is_sender: false };
        let (error, typed) = send(end, MonitorOptions::default());
        assert!(error.is_some(), "{after}");
        // At the end of a block, the receiver has sent the ACK that requests the next one.
        let requested = if rest == 0 { BLOCK } else { rest };
        assert!(typed.len() <= requested, "{after}: {} typed", typed.len());
    }
}

#[test]
fn a_sender_that_ends_early_gets_nothing_more_typed_into_the_prompt() {
    // The request, and the ACK of each block and of EOT.
    for after in 1..=BLOCKS + 2 {
        for (message, options) in
            [("\r\n++ Send cancelled ++\r\n", MonitorOptions::default()), ("", packets())]
        {
            let end = EarlyEnd { after, message, is_seen: true, is_sender: true };
            let (error, typed) = send(end, options);
            let text = error.map_or(String::new(), |error| error.to_string());
            // The end after the ACK of EOT is the usual one.
            assert_eq!(text.contains("refused"), after < BLOCKS + 2, "{after}: {text}");
            assert_eq!(typed, if after < BLOCKS + 2 { &b""[..] } else { b"PROG\r" }, "{after}");
        }
    }
}

#[test]
fn the_request_to_read_back_waits_until_the_sender_has_started() {
    for load_time in [0, 190, 2000, 9000].map(Duration::from_millis) {
        let bench = bench(Cpm::quick().with_load_time(load_time), packets());
        let bytes = file();
        let order = FileTransfer { run: false, ..file_transfer(&bytes) };
        let sent = transfer_file(&mut bench.session(), &order, &mut EventLines::default());
        assert!(sent.is_ok(), "{load_time:?}: {sent:?}");
        assert_eq!(bench.line.with_monitor(|peer| peer.typed_at_prompt().to_vec()), b"");
    }
}

#[test]
fn a_sender_that_does_not_start_gets_no_request() {
    let bench = bench(Cpm::quick().with_load_time(Duration::from_secs(12)), packets());
    let bytes = file();
    let sent =
        transfer_file(&mut bench.session(), &file_transfer(&bytes), &mut EventLines::default());
    // The receiver's start request is waited for longer than the sender's text.
    assert!(matches!(sent, Err(LoaderError::NoReply { .. })), "{sent:?}");
    bench.line.sleep(Duration::from_secs(15));
    assert_eq!(bench.line.with_monitor(|peer| peer.typed_at_prompt().to_vec()), b"");
}

#[test]
fn the_text_of_a_program_is_escaped_in_the_message() {
    let message = "\x1b]0;title\x07\u{9b}2J\u{202e}txt\u{2066}\u{200b}\r\n";
    let (error, _) =
        send(EarlyEnd { after: BLOCK, message, is_seen: true, is_sender: false }, packets());
    let text = error.expect("the receiver has ended").to_string();
    assert!(!text.chars().any(is_unsafe_for_terminals), "{text:?}");
    assert!(text.contains("\\x1B]0;title\\x07\\u{9B}2J\\u{202E}txt\\u{2066}"), "{text}");
}

/// A line that interrupts the session after a time.
struct StoppingLine {
    line: MonitorLine,
    stop: Arc<AtomicBool>,
    after: Duration,
}

impl Transport for StoppingLine {
    fn name(&self) -> &str {
        self.line.name()
    }

    fn now(&self) -> Instant {
        self.line.now()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let count = self.line.read(buffer, timeout)?;
        self.stop.fetch_or(self.line.elapsed() >= self.after, Ordering::Relaxed);
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.line.write(bytes, deadline)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.line.discard_unsent()
    }
}

#[test]
fn an_interruption_cancels_the_transfer_and_types_neither_data_nor_can_into_the_prompt() {
    let mut cancelled = 0;
    for after in (0..3_000).step_by(25).map(Duration::from_millis) {
        let bench = bench(Cpm::quick(), MonitorOptions::default());
        let stop = Arc::new(AtomicBool::new(false));
        let line = StoppingLine { line: bench.line.clone(), stop: Arc::clone(&stop), after };
        let mut session = MonitorSession::new(Box::new(line), BAUD, stop);
        let bytes = file();
        let order = FileTransfer { run: false, ..file_transfer(&bytes) };
        let sent = transfer_file(&mut session, &order, &mut EventLines::default());
        let typed = bench.line.with_monitor(|peer| peer.typed_at_prompt().to_vec());
        assert!(
            !typed.iter().any(|byte| matches!(byte, 0x01 | 0x04 | 0x18)),
            "{after:?}: {typed:?}"
        );
        if let Err(LoaderError::Interrupted { operation: "sending blocks", state }) = sent {
            assert!(state.starts_with("CP/M is at its prompt again"), "{after:?}: {state}");
            cancelled += 1;
        }
    }
    assert!(cancelled > 0, "no interruption was during the transfer");
}
