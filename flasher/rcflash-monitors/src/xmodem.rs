//! XMODEM (Christensen, 1977; "XMODEM/YMODEM Protocol Reference", Forsberg, 1988): blocks of 128
//! bytes with a number and a checksum, or with a CRC if the receiver calls for it by `C`.
//!
//! There are crates for it; the ones found have no deadlines, no progress and do not tell a
//! repeated block from a wrong one, which a lossy line needs.

use std::fmt;
use std::time::Duration;

use crc::{CRC_16_XMODEM, Crc};

use super::contact;
use super::error::{LoaderError, Result};
use super::pace::Pace;
use super::prompt::{Peer, recognise};
use super::talk::Talk;
use super::{Note, Stage, Watch};

/// Bytes of a block.
pub(super) const BLOCK: usize = 128;
const SOH: u8 = 0x01;
const EOT: u8 = 0x04;
const ACK: u8 = 0x06;
const NAK: u8 = 0x15;
const CAN: u8 = 0x18;
/// Calls for blocks with a CRC.
const CALL: u8 = b'C';
/// Follows that of a receiver that takes blocks of 1,024 bytes too.
const LONG: u8 = b'K';
/// The longest wait for the answer to a block that a call has crossed.
const CROSSED: Duration = Duration::from_secs(1);
/// Fills the last block: CP/M's end of a text.
pub(super) const FILLER: u8 = 0x1A;
const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);
/// Most sendings of a block, and most waits in silence one after the other.
const ATTEMPTS: usize = 10;
const SILENCES: usize = 3;
/// Refusals of a block after which it is sent more slowly.
const REFUSALS: usize = 3;
/// Bytes without a meaning after which the line counts as noisy: more than any program says before
/// it calls.
const NOISE: usize = 4096;
/// A call is followed by nothing for so long; letters of a text are followed by others.
const AFTER_CALL: Duration = Duration::from_millis(200);
const NAME: &str = "the XMODEM receiver";

/// Check that a block carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// By the sum of the bytes.
    Checksum,
    /// By CRC-16/XMODEM.
    Crc,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checksum => "checksum",
            Self::Crc => "CRC",
        })
    }
}

/// Outcome of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The check that the receiver chose.
    pub form: Form,
    /// The number that was sent.
    pub blocks: usize,
    /// The number that was sent again.
    pub repeated: usize,
}

/// The receiver's answer to a block.
enum Answer {
    Good,
    Bad,
    Silence,
}

/// A file on its way.
pub struct Sender<'a> {
    /// The conversation with the receiver, which is waiting or about to.
    pub talk: &'a mut Talk,
    /// The one who is shown how it goes.
    pub watch: &'a mut dyn Watch,
    /// The longest wait for the receiver's call, and for each answer.
    pub patience: Duration,
    /// The speed at which blocks go out.
    pub pace: Pace,
}

impl Sender<'_> {
    /// Sends a file, its last block filled up.
    ///
    /// # Errors
    /// Nobody called for it, the receiver gave up, or a block did not arrive however often it was
    /// sent.
    pub fn send(&mut self, file: &[u8]) -> std::result::Result<Sent, LoaderError> {
        let form = self.wait_for_call()?;
        self.send_as(form, file)
    }

    /// Sends a file to a receiver that has called for blocks of this form.
    pub(super) fn send_as(&mut self, form: Form, file: &[u8]) -> Result<Sent> {
        let mut repeated = 0;
        for (index, data) in file.chunks(BLOCK).enumerate() {
            let block = block(index + 1, data, form);
            repeated += self.send_until_good(&block, index + 1)?;
            self.watch.progress(Stage::Sending, index * BLOCK + data.len(), file.len());
        }
        self.end()?;
        Ok(Sent { form, blocks: file.len().div_ceil(BLOCK), repeated })
    }

    /// Waits for the receiver's call: a line of nothing but NAK, `C` or `CK`, with nothing after it
    /// for a while. XM 12.5 calls every five seconds, the first time after up to ten; a block that
    /// comes before is refused.
    pub(super) fn wait_for_call(&mut self) -> Result<Form> {
        const WHAT: &str = "waiting for the receiver's call";
        let mut heard = Vec::new();
        let mut silences = 0;
        while silences < SILENCES {
            if heard.len() > NOISE {
                return Err(self.talk.noise(WHAT));
            }
            let Some(byte) = self.talk.get(WHAT, self.patience)? else {
                silences += 1;
                continue;
            };
            heard.push(byte);
            if !ends_in_call(&heard) {
                refusal(&heard, self.talk, WHAT)?;
                continue;
            }
            // Letters of a text are followed by others; a call is not.
            if !self.talk.is_any_within(WHAT, AFTER_CALL.min(self.patience))? {
                return Ok(if byte == NAK { Form::Checksum } else { Form::Crc });
            }
        }
        Err(self.talk.silence(WHAT, self.patience * SILENCES as u32))
    }

    /// Sends a block until it is acknowledged; how often it had to be repeated.
    fn send_until_good(&mut self, block: &[u8], number: usize) -> Result<usize> {
        const WHAT: &str = "sending blocks";
        let mut refusals = 0;
        let mut silences = 0;
        for attempt in 0..ATTEMPTS {
            self.talk.take();
            self.talk.say(WHAT, block, self.pace)?;
            match self.answer(WHAT, number == 1)? {
                Answer::Good => {
                    // Each sending of the block may have been acknowledged, late. One ACK too many
                    // would count for the next block, and the transfer would be one off from here
                    // on.
                    if attempt > 0 {
                        self.forget_doubles(WHAT)?;
                    }
                    return Ok(attempt);
                }
                Answer::Bad => {
                    refusals += 1;
                    silences = 0;
                }
                Answer::Silence => silences += 1,
            }
            // Silence and refusal are different faults: who refuses is there, and is helped by a
            // lower speed; who is silent is not, and waiting longer does not help.
            if silences == SILENCES {
                return Err(self.talk.silence(WHAT, self.patience * SILENCES as u32));
            }
            if refusals == REFUSALS {
                self.slow_down(number);
                refusals = 0;
            }
        }
        let text =
            format!("block {number} was refused {ATTEMPTS} times; look at cable and flow control");
        Err(LoaderError::Refused { who: NAME, what: WHAT, text })
    }

    fn slow_down(&mut self, number: usize) {
        let mut next = self.pace.slower();
        while let Some(pace) = next.filter(|pace| pace.character.is_zero()) {
            next = pace.slower();
        }
        if let Some(next) = next {
            let report = format!("block {number} was refused {REFUSALS} times");
            self.watch.note(Note::Lost { wrong: None, of: BLOCK, report, pace: self.pace, next });
            self.pace = next;
        }
    }

    /// The receiver's answer to a block. Anything but the protocol's own characters is noise. A
    /// call after the first block may have crossed it on the line: then the answer still comes.
    fn answer(&mut self, what: &'static str, first: bool) -> Result<Answer> {
        let mut heard = Vec::new();
        let mut patience = self.talk.unsent() + self.patience;
        let mut called = false;
        while let Some(byte) = self.talk.get(what, patience)? {
            heard.push(byte);
            match byte {
                ACK => return Ok(Answer::Good),
                NAK => return Ok(Answer::Bad),
                CALL | LONG if first => {
                    called = true;
                    patience = patience.min(CROSSED);
                }
                _ => refusal(&heard, self.talk, what)?,
            }
            if heard.len() > BLOCK {
                return Ok(Answer::Bad);
            }
        }
        Ok(if called { Answer::Bad } else { Answer::Silence })
    }

    /// A block that was sent twice is acknowledged twice: the second one must not count for the
    /// next block.
    fn forget_doubles(&mut self, what: &'static str) -> Result<()> {
        self.talk.receive_until_quiet(what, self.patience / 50, self.patience).map(drop)
    }

    /// Says that that was all, until it is acknowledged. Many receivers refuse it once, to be sure.
    fn end(&mut self) -> Result<()> {
        const WHAT: &str = "ending the transfer";
        let mut silences = 0;
        for _ in 0..ATTEMPTS {
            self.talk.take();
            self.talk.put(WHAT, &[EOT])?;
            match self.answer_to_end(WHAT)? {
                Answer::Good => return Ok(()),
                Answer::Bad => silences = 0,
                Answer::Silence => silences += 1,
            }
            if silences == SILENCES {
                break;
            }
        }
        Err(self.talk.silence(WHAT, self.patience * SILENCES as u32))
    }

    /// As [`Self::answer`]; a prompt also says that the receiver has ended, when its last word was
    /// lost.
    fn answer_to_end(&mut self, what: &'static str) -> Result<Answer> {
        let mut heard = Vec::new();
        while let Some(byte) = self.talk.get(what, self.patience)? {
            heard.push(byte);
            match byte {
                ACK => return Ok(Answer::Good),
                NAK => return Ok(Answer::Bad),
                _ if recognise(&heard) == Some(Peer::Cpm) => {
                    self.talk.give_back(&heard);
                    return Ok(Answer::Good);
                }
                _ if heard.len() > BLOCK => return Ok(Answer::Bad),
                _ => {}
            }
        }
        Ok(Answer::Silence)
    }
}

/// The error when the receiver gives up: by CAN twice, or by the prompt that comes back.
fn refusal(heard: &[u8], talk: &mut Talk, what: &'static str) -> Result<()> {
    let text = match heard {
        [.., CAN, CAN] => "it cancelled the transfer".to_owned(),
        _ if is_disk_error(heard) => contact::shown(heard),
        _ if recognise(heard) == Some(Peer::Cpm) && !talk.is_any_within(what, AFTER_CALL)? => {
            String::from_utf8_lossy(heard).split_whitespace().collect::<Vec<_>>().join(" ")
        }
        _ => return Ok(()),
    };
    Err(LoaderError::Refused { who: NAME, what, text })
}

/// Whether a call stands at the end: NAK, or `C` or `CK` in a line of its own; after noise in that
/// line two of them.
fn ends_in_call(heard: &[u8]) -> bool {
    let line = heard.rsplit(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let calls = line.iter().rev().take_while(|byte| matches!(**byte, NAK | CALL | LONG)).count();
    let run = &line[line.len() - calls..];
    match run {
        [.., NAK] => true,
        [CALL, ..] => {
            run.len() == line.len() || run.iter().filter(|byte| **byte == CALL).count() > 1
        }
        _ => false,
    }
}

/// Whether CP/M shows an error of a disk, after which it waits for a key.
pub(super) fn is_disk_error(heard: &[u8]) -> bool {
    let text = String::from_utf8_lossy(heard);
    let error = text.rsplit("Bdos Err On ").next().filter(|rest| rest.len() < text.len());
    // The drive and the reason, all of it.
    error.is_some_and(|rest| ["Bad Sector", "Select", "R/O"].iter().any(|end| rest.ends_with(end)))
}

/// Makes a receiver give up, whatever it is doing.
pub(super) fn cancel(talk: &mut Talk, what: &'static str) -> Result<()> {
    talk.put(what, &[CAN; 5])
}

/// A block: its number from 1, the data filled up, and the check.
fn block(number: usize, data: &[u8], form: Form) -> Vec<u8> {
    let mut filled = [FILLER; BLOCK];
    filled[..data.len()].copy_from_slice(data);
    let mut block = vec![SOH, number as u8, !(number as u8)];
    block.extend(filled);
    match form {
        Form::Checksum => block.push(sum(&filled)),
        Form::Crc => block.extend(CRC.checksum(&filled).to_be_bytes()),
    }
    block
}

fn sum(data: &[u8]) -> u8 {
    data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// Calls for a file and takes it in blocks of a form. `progress` gets how many bytes have come.
///
/// # Errors
/// Nobody sends, the sender gave up, or a block did not arrive however often it was asked for.
pub fn receive(
    talk: &mut Talk,
    form: Form,
    patience: Duration,
    mut progress: impl FnMut(usize),
) -> std::result::Result<Vec<u8>, LoaderError> {
    const WHAT: &str = "reading the file back";
    let first = if form == Form::Crc { CALL } else { NAK };
    let mut file = Vec::new();
    let mut errors = 0;
    let mut call = first;
    while errors < ATTEMPTS {
        talk.put(WHAT, &[call])?;
        match incoming(talk, WHAT, form, patience, (file.len() / BLOCK + 1) as u8)? {
            Incoming::Next(data) => {
                file.extend(data);
                progress(file.len());
                call = ACK;
                errors = 0;
            }
            Incoming::Again => call = ACK,
            Incoming::End => {
                talk.put(WHAT, &[ACK])?;
                return Ok(file);
            }
            Incoming::Bad => {
                errors += 1;
                call = if file.is_empty() { first } else { NAK };
            }
        }
    }
    cancel(talk, WHAT)?;
    Err(talk.silence(WHAT, patience * ATTEMPTS as u32))
}

/// A block, or what came instead of one.
enum Incoming {
    Next(Vec<u8>),
    /// The one before: our answer to it was lost.
    Again,
    End,
    Bad,
}

fn incoming(
    talk: &mut Talk,
    what: &'static str,
    form: Form,
    patience: Duration,
    number: u8,
) -> Result<Incoming> {
    let mut heard = Vec::new();
    loop {
        let Some(byte) = talk.get(what, patience)? else { return Ok(Incoming::Bad) };
        heard.push(byte);
        match byte {
            SOH => break,
            // In the middle of a block whose start was lost it means nothing.
            EOT if !talk.is_any_within(what, AFTER_CALL.min(patience))? => {
                return Ok(Incoming::End);
            }
            // A line that never stops would keep us here for ever: each byte begins a new wait.
            _ if heard.len() > NOISE => return Err(talk.noise(what)),
            _ => refusal(&heard, talk, what)?,
        }
    }
    let mut block = Vec::new();
    let check = if form == Form::Crc { 2 } else { 1 };
    while block.len() < 2 + BLOCK + check {
        match talk.get(what, AFTER_CALL.min(patience))? {
            Some(byte) => block.push(byte),
            None => return Ok(Incoming::Bad),
        }
    }
    let (numbers, rest) = block.split_at(2);
    let (data, check) = rest.split_at(BLOCK);
    let is_whole = match form {
        Form::Crc => CRC.checksum(data).to_be_bytes() == check,
        Form::Checksum => [sum(data)] == check,
    };
    let good = numbers[0] == !numbers[1] && is_whole;
    Ok(match good {
        true if numbers[0] == number => Incoming::Next(data.to_vec()),
        // A block is numbered modulo 256, and only the one before can be sent again: our
        // acknowledgement was lost. It is acknowledged once more, and not kept.
        true if numbers[0] == number.wrapping_sub(1) => Incoming::Again,
        _ => {
            // A refusal in the middle of a block that is still coming would be lost in it, or its
            // rest be taken for the answer.
            talk.receive_until_quiet(what, AFTER_CALL.min(patience), patience)?;
            Incoming::Bad
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_from_texts() {
        for call in [&b"\x15"[..], b"C", b"CK", b"CKCK", b"Ctrl-X\r\nCK", b"\x80CC", b"text\x15"] {
            assert!(ends_in_call(call), "{call:?}");
        }
        for text in [&b""[..], b"C\r\n", b"To C", b"Ctrl-X, pause, C", b"K", b"\x80C"] {
            assert!(!ends_in_call(text), "{text:?}");
        }
    }

    #[test]
    fn blocks_have_number_complement_filler_and_check() {
        let by_sum = block(257, b"ABC", Form::Checksum);
        assert_eq!((by_sum.len(), &by_sum[..6]), (132, &[SOH, 1, 0xFE, b'A', b'B', b'C'][..]));
        assert!(by_sum[6..131].iter().all(|byte| *byte == 0x1A));
        // 41h + 42h + 43h + 125 x 1Ah = 0D78h
        assert_eq!(by_sum[131], 0x78);
        let by_crc = block(1, b"ABC", Form::Crc);
        assert_eq!(by_crc.len(), 133);
        assert_eq!(by_crc[131..], CRC.checksum(&by_crc[3..131]).to_be_bytes());
        // The check value of CRC-16/XMODEM in the catalogue of parametrised CRCs.
        assert_eq!(CRC.checksum(b"123456789"), 0x31C3);
    }
}
