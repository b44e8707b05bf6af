//! XMODEM (Christensen, 1977; "XMODEM/YMODEM Protocol Reference", Forsberg, 1988): blocks of 128
//! bytes with a number and a checksum, or with a CRC if the receiver requests that by `C`; by `CK`
//! also of 1,024 bytes.
//!
//! Existing crates lack deadlines, progress and the distinction between a repeated and a wrong
//! block, which a lossy line needs.

use std::fmt;

use cli_support::text::Escape;
use crc::{CRC_16_XMODEM, Crc};
use rcflash_transport::time::{Duration, Instant};

use crate::error::{LoaderError, Result};
use crate::event::{LoadEvent, LoadObserver, LoadStage};
use crate::exchange;
use crate::pace::Pace;
use crate::prompt::{Peer, identify_prompt};
use crate::session::MonitorSession;

pub(crate) const BLOCK_BYTES: usize = 128;
/// The data bytes of a block that begins with STX.
const LONG_BLOCK_BYTES: usize = 1024;
const SOH: u8 = 0x01;
const STX: u8 = 0x02;
pub(crate) const EOT: u8 = 0x04;
const ACK: u8 = 0x06;
const NAK: u8 = 0x15;
const CAN: u8 = 0x18;
/// Requests blocks with a CRC.
const CRC_START: u8 = b'C';
/// Follows `C` from a receiver that also accepts blocks of 1,024 bytes.
const K_SUFFIX: u8 = b'K';
/// How long to wait for the reply to a block that crossed a start request.
const CROSSED_START_TIMEOUT: Duration = Duration::from_secs(1);
/// Pads the last block: CP/M's end-of-file character.
pub(crate) const PAD: u8 = 0x1A;
pub(crate) const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);
/// A block is sent in pieces of this many bytes, at most one ahead of the line: once the receiver
/// has ended, the bytes in flight are typed into the program that follows it.
const PIECE_BYTES: usize = 16;
/// How many character times after a reply to look for a text that follows it.
const FOLLOWING_CHARS: usize = 3;
/// The maximum number of transmissions of a block, and of timeouts without a reply.
const MAX_ATTEMPTS: usize = 10;
const MAX_TIMEOUTS: usize = 3;
/// The number of NAKs after which a block is sent more slowly.
const NAKS_BEFORE_SLOWER: usize = 3;
/// The most bytes before the start request, beyond any program's output. More is noise.
const MAX_NOISE_BYTES: usize = 4096;
/// The last bytes in which a program's message is looked for: more than any message has.
const MAX_MESSAGE_BYTES: usize = 512;
/// How long nothing follows a start request; a letter of a text is followed by others.
const START_QUIET: Duration = Duration::from_millis(200);
const RECEIVER_NAME: &str = "the XMODEM receiver";

/// The check of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckMode {
    /// The sum of the bytes.
    Checksum,
    /// CRC-16/XMODEM.
    Crc,
}

impl fmt::Display for CheckMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checksum => "checksum",
            Self::Crc => "CRC",
        })
    }
}

/// The result of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferSummary {
    /// The check that the receiver selected.
    pub check_mode: CheckMode,
    /// The length of the file in blocks of 128 bytes, of which eight may be sent as one.
    pub blocks: usize,
    /// The number of retransmissions.
    pub resent: usize,
}

/// The start request of a receiver.
pub(crate) struct StartRequest {
    check_mode: CheckMode,
    /// Whether it accepts blocks of 1,024 bytes.
    accepts_long: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockReply {
    Ack,
    Nak,
}

/// Sends files by XMODEM. The receiver sets the rhythm: a block or EOT is sent only after its start
/// request, ACK or NAK, and no block is repeated after a timeout. A receiver that is still there
/// sends NAK by itself; if it has ended, the program after it would take the bytes for commands.
pub struct XmodemSender<'a> {
    /// The session with the receiver, which is waiting or about to.
    pub session: &'a mut MonitorSession,
    /// The observer of the progress.
    pub observer: &'a mut dyn LoadObserver,
    /// How long to wait for the receiver's start request, and for each reply.
    pub reply_timeout: Duration,
    /// The pace of the blocks.
    pub pace: Pace,
}

impl XmodemSender<'_> {
    /// Sends a file; the last block is padded.
    ///
    /// # Errors
    /// Returns [`LoaderError`] if there is no start request, the receiver cancels, or a block fails
    /// after all attempts.
    pub fn send(&mut self, file: &[u8]) -> std::result::Result<TransferSummary, LoaderError> {
        let start = self.wait_for_start()?;
        self.send_with(start, file)
    }

    /// Sends a file to a receiver that has sent its start request.
    pub(crate) fn send_with(
        &mut self,
        StartRequest { check_mode, accepts_long }: StartRequest,
        file: &[u8],
    ) -> Result<TransferSummary> {
        let (mut resent, mut done) = (0, 0);
        for number in 1.. {
            let rest = &file[done..];
            if rest.is_empty() {
                break;
            }
            // A line that corrupts long blocks may pass short ones. The block itself keeps its
            // length: if only its ACK was lost, the receiver discards the repetition.
            let is_long = accepts_long && resent == 0 && rest.len() >= LONG_BLOCK_BYTES;
            let size = if is_long { LONG_BLOCK_BYTES } else { BLOCK_BYTES };
            let data = &rest[..size.min(rest.len())];
            resent += self.send_block(&encode_block(number, data, size, check_mode), number)?;
            done += data.len();
            self.observer.on_progress(LoadStage::Sending, done, file.len());
        }
        self.end_transfer()?;
        Ok(TransferSummary { check_mode, blocks: file.len().div_ceil(BLOCK_BYTES), resent })
    }

    /// Waits for the receiver's start request: a line of only NAK, `C` or `CK`, and then silence.
    /// XM 12.5 repeats it every five seconds, the first time after up to ten; it refuses a block
    /// that comes before.
    pub(crate) fn wait_for_start(&mut self) -> Result<StartRequest> {
        const OPERATION: &str = "waiting for the receiver's start request";
        let mut received = Vec::new();
        let mut timeouts = 0;
        while timeouts < MAX_TIMEOUTS {
            if received.len() > MAX_NOISE_BYTES {
                return Err(self.session.noise_error(OPERATION));
            }
            let Some(byte) = self.session.read_byte(OPERATION, self.reply_timeout)? else {
                timeouts += 1;
                continue;
            };
            received.push(byte);
            if !ends_with_start(&received) {
                check_refusal(&received, self.session, OPERATION)?;
                continue;
            }
            // A letter of a text is followed by others; a start request is not.
            if !self.session.receives_within(OPERATION, START_QUIET.min(self.reply_timeout))? {
                let check_mode = if byte == NAK { CheckMode::Checksum } else { CheckMode::Crc };
                return Ok(StartRequest { check_mode, accepts_long: byte == K_SUFFIX });
            }
        }
        Err(self.session.timeout_error(OPERATION, self.reply_timeout * MAX_TIMEOUTS as u32))
    }

    fn send_block(&mut self, encoded: &[u8], number: usize) -> Result<usize> {
        const OPERATION: &str = "sending blocks";
        let is_first = number == 1;
        self.check_still_receiving(OPERATION, is_first)?;
        for attempt in 0..MAX_ATTEMPTS {
            self.send_pieces(OPERATION, encoded)?;
            if self.receive_block_reply(OPERATION, is_first)? == BlockReply::Ack {
                // Each transmission may have been acknowledged, late. An extra ACK would be taken
                // for the next block's, and all later replies would be off by one.
                if attempt > 0 {
                    self.discard_duplicate_acks(OPERATION)?;
                }
                return Ok(attempt);
            }
            if (attempt + 1) % NAKS_BEFORE_SLOWER == 0 {
                self.slow_down(number);
            }
            self.check_still_receiving(OPERATION, is_first)?;
        }
        let text = format!(
            "block {number} was refused {MAX_ATTEMPTS} times; check cable and flow control"
        );
        Err(LoaderError::Refused { peer: RECEIVER_NAME, operation: OPERATION, text })
    }

    /// Sends a block, or the part of it before anything but a reply is received. An interruption
    /// takes effect between blocks only.
    fn send_pieces(&mut self, operation: &'static str, encoded: &[u8]) -> Result<()> {
        self.session.check_stop(operation)?;
        let lead = self.session.line_time(PIECE_BYTES);
        for piece in encoded.chunks(PIECE_BYTES) {
            self.session.send_delayed(operation, piece, self.pace.char_delay)?;
            let excess = self.session.tx_remaining().saturating_sub(lead);
            self.session.pause(operation, excess)?;
            if !self.session.received().iter().all(is_reply) {
                return Ok(());
            }
        }
        if self.pace.line_delay.is_zero() {
            return Ok(());
        }
        self.session.pause(operation, self.session.tx_remaining() + self.pace.line_delay)
    }

    fn check_still_receiving(&mut self, operation: &'static str, first: bool) -> Result<()> {
        let window = self.session.line_time(FOLLOWING_CHARS);
        if !self.session.receives_within(operation, window)? {
            return Ok(());
        }
        let quiet = START_QUIET.min(self.reply_timeout);
        let received = match self.session.received().iter().all(is_reply) {
            true => self.session.take_received(),
            false => self.session.receive_until_quiet(operation, quiet, self.reply_timeout)?,
        };
        if received.iter().all(is_reply) {
            return Ok(());
        }
        check_refusal(&received, self.session, operation)?;
        for _ in 0..MAX_ATTEMPTS {
            if self.receive_block_reply(operation, first)? == BlockReply::Nak {
                return Ok(());
            }
        }
        Err(self.session.noise_error(operation))
    }

    fn slow_down(&mut self, number: usize) {
        let mut next_pace = self.pace.slower();
        while let Some(pace) = next_pace.filter(|pace| pace.char_delay.is_zero()) {
            next_pace = pace.slower();
        }
        if let Some(next_pace) = next_pace {
            let report = format!("block {number} was refused {NAKS_BEFORE_SLOWER} times");
            self.observer.on_event(LoadEvent::BytesLost {
                mismatches: None,
                total: BLOCK_BYTES,
                report,
                pace: self.pace,
                next_pace,
            });
            self.pace = next_pace;
        }
    }

    /// Receives the reply to a block. Other characters are noise. A start request after the first
    /// block may have crossed it on the line; then the reply still follows.
    fn receive_block_reply(&mut self, operation: &'static str, first: bool) -> Result<BlockReply> {
        let waited = self.reply_timeout * MAX_TIMEOUTS as u32;
        let mut deadline = self.session.now() + self.session.tx_remaining() + waited;
        let mut received = Vec::new();
        while let Some(byte) = self.read_byte_before(operation, deadline)? {
            received.push(byte);
            match byte {
                ACK => return Ok(BlockReply::Ack),
                NAK => return Ok(BlockReply::Nak),
                CRC_START | K_SUFFIX if first && received.iter().all(is_reply) => {
                    deadline = deadline.min(self.session.now() + CROSSED_START_TIMEOUT);
                }
                _ => check_refusal(&received, self.session, operation)?,
            }
            if received.len() > MAX_NOISE_BYTES {
                return Err(self.session.noise_error(operation));
            }
        }
        if first && !received.is_empty() && received.iter().all(is_reply) {
            return Ok(BlockReply::Nak);
        }
        Err(self.session.timeout_error(operation, waited))
    }

    fn read_byte_before(
        &mut self,
        operation: &'static str,
        deadline: Instant,
    ) -> Result<Option<u8>> {
        let remaining = deadline.saturating_duration_since(self.session.now());
        self.session.read_byte(operation, remaining)
    }

    /// A block that was sent twice is acknowledged twice, and the second ACK must not count for the
    /// next block. Other characters remain unread.
    fn discard_duplicate_acks(&mut self, operation: &'static str) -> Result<()> {
        let quiet = self.reply_timeout / 50;
        let received = self.session.receive_until_quiet(operation, quiet, self.reply_timeout)?;
        if !received.iter().all(is_reply) {
            self.session.unread(&received);
        }
        Ok(())
    }

    /// Sends EOT until it is acknowledged. Many receivers reject the first one, to be sure. It is the
    /// only character that is repeated after a timeout, as the protocol has it: it stores nothing.
    fn end_transfer(&mut self) -> Result<()> {
        const OPERATION: &str = "ending the transfer";
        self.check_still_receiving(OPERATION, false)?;
        let mut error = None;
        for _ in 0..MAX_ATTEMPTS {
            self.session.send(OPERATION, &[EOT])?;
            match self.receive_end_reply(OPERATION) {
                Ok(BlockReply::Ack) => return Ok(()),
                Ok(BlockReply::Nak) => error = None,
                Err(timeout @ LoaderError::NoReply { .. }) => error = Some(timeout),
                Err(other) => return Err(other),
            }
        }
        let text =
            format!("the end was refused {MAX_ATTEMPTS} times; check cable and flow control");
        let refused = LoaderError::Refused { peer: RECEIVER_NAME, operation: OPERATION, text };
        Err(error.unwrap_or(refused))
    }

    /// Receives the reply to EOT; a prompt also shows that the receiver has ended.
    fn receive_end_reply(&mut self, operation: &'static str) -> Result<BlockReply> {
        let mut received = Vec::new();
        let deadline = self.session.now() + self.session.tx_remaining() + self.reply_timeout;
        while let Some(byte) = self.read_byte_before(operation, deadline)? {
            received.push(byte);
            match byte {
                ACK => return Ok(BlockReply::Ack),
                NAK => return Ok(BlockReply::Nak),
                _ if identify_prompt(&received) == Some(Peer::Cpm) => {
                    self.session.unread(&received);
                    return Ok(BlockReply::Ack);
                }
                _ if received.len() > MAX_NOISE_BYTES => {
                    return Err(self.session.noise_error(operation));
                }
                _ => {}
            }
        }
        Err(self.session.timeout_error(operation, self.reply_timeout))
    }
}

/// Returns `true` for the characters that a receiver sends: ACK, NAK, `C` and `K`.
fn is_reply(byte: &u8) -> bool {
    matches!(*byte, ACK | NAK | CRC_START | K_SUFFIX)
}

/// Returns an error if the receiver cancels: by CAN twice, or by the prompt that returns.
fn check_refusal(
    received: &[u8],
    session: &mut MonitorSession,
    operation: &'static str,
) -> Result<()> {
    let received = &received[received.len().saturating_sub(MAX_MESSAGE_BYTES)..];
    let text = match received {
        [.., CAN, CAN] => "it cancelled the transfer".to_owned(),
        _ if is_disk_error(received) => exchange::escape_tail(received),
        _ if identify_prompt(received) == Some(Peer::Cpm)
            && !session.receives_within(operation, START_QUIET)? =>
        {
            let text = String::from_utf8_lossy(received);
            text.split_whitespace().collect::<Vec<_>>().join(" ").escaped()
        }
        _ => return Ok(()),
    };
    Err(LoaderError::Refused { peer: RECEIVER_NAME, operation, text })
}

/// Returns `true` for a start request at the end: NAK, or `C` or `CK` in a line of its own, or
/// twice after noise in that line.
fn ends_with_start(received: &[u8]) -> bool {
    let line = received.rsplit(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let start_chars =
        line.iter().rev().take_while(|byte| matches!(**byte, NAK | CRC_START | K_SUFFIX)).count();
    let run = &line[line.len() - start_chars..];
    match run {
        [.., NAK] => true,
        [CRC_START, ..] => {
            run.len() == line.len() || run.iter().filter(|byte| **byte == CRC_START).count() > 1
        }
        _ => false,
    }
}

/// Returns `true` if CP/M shows a disk error, after which it waits for a key.
pub(crate) fn is_disk_error(received: &[u8]) -> bool {
    let text = String::from_utf8_lossy(received);
    let error = text.rsplit("Bdos Err On ").next().filter(|rest| rest.len() < text.len());
    // The drive and the complete reason.
    error.is_some_and(|rest| ["Bad Sector", "Select", "R/O"].iter().any(|end| rest.ends_with(end)))
}

/// Returns `true` if a program that sends this is in a transfer and between two blocks: replies of
/// a receiver are the last line, or it is a whole block of a sender.
pub(crate) fn is_in_transfer(received: &[u8]) -> bool {
    let line = received.rsplit(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let has_block = received.windows(3 + BLOCK_BYTES).any(
        |block| matches!(block, [SOH | STX, number, complement, ..] if *number == !*complement),
    );
    has_block || !line.is_empty() && line.iter().all(is_reply)
}

/// Acknowledges an EOT that a sender repeats because the first ACK was lost.
pub(crate) fn acknowledge_end(session: &mut MonitorSession, operation: &'static str) -> Result<()> {
    session.send(operation, &[ACK])
}

/// Cancels the transfer of a program that is known to be in one, and between two blocks.
pub(crate) fn cancel(session: &mut MonitorSession, operation: &'static str) -> Result<()> {
    session.send(operation, &[CAN; 2])
}

/// Encodes a block of `size` data bytes, which is 128 or 1,024.
fn encode_block(number: usize, data: &[u8], size: usize, check_mode: CheckMode) -> Vec<u8> {
    let mut filled = data.to_vec();
    filled.resize(size, PAD);
    let start = if size == BLOCK_BYTES { SOH } else { STX };
    let mut bytes = vec![start, number as u8, !(number as u8)];
    bytes.extend(&filled);
    match check_mode {
        CheckMode::Checksum => bytes.push(checksum(&filled)),
        CheckMode::Crc => bytes.extend(CRC.checksum(&filled).to_be_bytes()),
    }
    bytes
}

fn checksum(data: &[u8]) -> u8 {
    data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// Requests a file and receives it in blocks with this check. `on_progress` is called with the
/// number of bytes received.
///
/// # Errors
/// Returns [`LoaderError`] if nothing is sent, the sender cancels, or a block fails after all
/// attempts.
pub fn receive_file(
    session: &mut MonitorSession,
    check_mode: CheckMode,
    timeout: Duration,
    mut on_progress: impl FnMut(usize),
) -> std::result::Result<Vec<u8>, LoaderError> {
    const OPERATION: &str = "reading the file back";
    let first = if check_mode == CheckMode::Crc { CRC_START } else { NAK };
    let mut file = Vec::new();
    let mut number = 1u8;
    let mut error_count = 0;
    let mut request = first;
    let mut is_sending = false;
    while error_count < MAX_ATTEMPTS {
        // What follows a block at once is a prompt, or a block that was requested twice: an ACK
        // would be typed, or be one too many.
        let window = session.line_time(FOLLOWING_CHARS);
        if request != ACK || !session.receives_within(OPERATION, window)? {
            session.send(OPERATION, &[request])?;
        }
        match receive_block(session, OPERATION, check_mode, timeout, number)? {
            ReceivedBlock::Next(data) => {
                file.extend(data);
                number = number.wrapping_add(1);
                on_progress(file.len());
                request = ACK;
                error_count = 0;
            }
            ReceivedBlock::Duplicate => request = ACK,
            ReceivedBlock::End => {
                session.send(OPERATION, &[ACK])?;
                return Ok(file);
            }
            invalid @ (ReceivedBlock::Invalid | ReceivedBlock::Silence) => {
                is_sending = matches!(invalid, ReceivedBlock::Invalid);
                error_count += 1;
                request = if file.is_empty() { first } else { NAK };
            }
        }
    }
    // A sender that was silent may have ended.
    if is_sending {
        cancel(session, OPERATION)?;
    }
    Err(session.timeout_error(OPERATION, timeout * MAX_ATTEMPTS as u32))
}

/// A received block, or the reason for none.
enum ReceivedBlock {
    Next(Vec<u8>),
    /// The previous block: its ACK was lost.
    Duplicate,
    End,
    /// A block that is corrupted or incomplete.
    Invalid,
    /// No block has begun.
    Silence,
}

fn receive_block(
    session: &mut MonitorSession,
    operation: &'static str,
    check_mode: CheckMode,
    timeout: Duration,
    number: u8,
) -> Result<ReceivedBlock> {
    let mut received = Vec::new();
    let size = loop {
        let Some(byte) = session.read_byte(operation, timeout)? else {
            return Ok(ReceivedBlock::Silence);
        };
        received.push(byte);
        match byte {
            SOH => break BLOCK_BYTES,
            STX => break LONG_BLOCK_BYTES,
            // In the middle of a block whose start was lost, EOT is data.
            EOT if !session.receives_within(operation, START_QUIET.min(timeout))? => {
                return Ok(ReceivedBlock::End);
            }
            // Each byte begins a new wait, so a line that sends without end needs a limit.
            _ if received.len() > MAX_NOISE_BYTES => return Err(session.noise_error(operation)),
            _ => check_refusal(&received, session, operation)?,
        }
    };
    let mut bytes = Vec::new();
    let check = if check_mode == CheckMode::Crc { 2 } else { 1 };
    while bytes.len() < 2 + size + check {
        match session.read_byte(operation, START_QUIET.min(timeout))? {
            Some(byte) => bytes.push(byte),
            None => return Ok(ReceivedBlock::Invalid),
        }
    }
    let (numbers, rest) = bytes.split_at(2);
    let (data, check) = rest.split_at(size);
    let is_intact = match check_mode {
        CheckMode::Crc => CRC.checksum(data).to_be_bytes() == check,
        CheckMode::Checksum => [checksum(data)] == check,
    };
    let is_valid = numbers[0] == !numbers[1] && is_intact;
    Ok(match is_valid {
        true if numbers[0] == number => ReceivedBlock::Next(data.to_vec()),
        // Blocks are numbered modulo 256, and only the previous one can be repeated, if its ACK was
        // lost. It is acknowledged again and discarded.
        true if numbers[0] == number.wrapping_sub(1) => ReceivedBlock::Duplicate,
        _ => {
            // A NAK in the middle of a block that is still arriving would be lost, or the rest of
            // the block be taken for the reply.
            session.receive_until_quiet(operation, START_QUIET.min(timeout), timeout)?;
            ReceivedBlock::Invalid
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_requests_are_told_apart_from_text() {
        for request in [&b"\x15"[..], b"C", b"CK", b"CKCK", b"Ctrl-X\r\nCK", b"\x80CC", b"text\x15"]
        {
            assert!(ends_with_start(request), "{request:?}");
        }
        for text in [&b""[..], b"C\r\n", b"To C", b"Ctrl-X, pause, C", b"K", b"\x80C"] {
            assert!(!ends_with_start(text), "{text:?}");
        }
    }

    #[test]
    fn blocks_have_number_complement_padding_and_check() {
        let by_sum = encode_block(257, b"ABC", 128, CheckMode::Checksum);
        assert_eq!((by_sum.len(), &by_sum[..6]), (132, &[SOH, 1, 0xFE, b'A', b'B', b'C'][..]));
        assert!(by_sum[6..131].iter().all(|byte| *byte == 0x1A));
        // 41h + 42h + 43h + 125 x 1Ah = 0D78h
        assert_eq!(by_sum[131], 0x78);
        let by_crc = encode_block(1, b"ABC", 128, CheckMode::Crc);
        assert_eq!(by_crc.len(), 133);
        assert_eq!(by_crc[131..], CRC.checksum(&by_crc[3..131]).to_be_bytes());
        // The check value of CRC-16/XMODEM in the catalogue of parametrised CRCs.
        assert_eq!(CRC.checksum(b"123456789"), 0x31C3);
    }
}
