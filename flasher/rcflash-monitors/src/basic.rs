//! ROM BASIC 4.7 as Searle's and feilipu's boards have it: a hex loader of ours is typed in, byte
//! by byte, and called.
//!
//! BASIC holds 63 characters (Searle) or 255 (feilipu) while it works, and loses the rest without
//! flow control. So every line is shorter than that, and nothing is sent before BASIC is ready
//! again. A line is carried out only when its echo shows that it arrived as it was typed: a changed
//! digit in a POKE would store a byte somewhere else. Our loader answers every line of Intel HEX,
//! so that it loses none and what is damaged goes again at once.

use std::ops::RangeInclusive;
use std::time::Duration;

use tdlasm::image::Image;

use super::contact::{self, ask as put_and_hear};
use super::dump::Memory;
use super::error::{LoaderError, Result};
use super::knock::{self, ANSWER, QUIET};
use super::pace::Pace;
use super::prompt::{HOW_TO_START, MEMORY_TOP, Peer};
use super::records::{END, Record, line, records};
use super::stub::Stub;
use super::talk::Talk;
use super::{HexMonitor, Loaded, Note, Watch};

const NAME: &str = "the ROM BASIC";
const FINDING: &str = "looking for BASIC's prompt";
/// The longest wait for a line that BASIC carries out; the longest adds up 250 bytes.
const CARRIED_OUT: Duration = Duration::from_secs(5);
/// Characters of a line: fewer than the 63 that BASIC holds.
const LINE: usize = 60;
/// The most that BASIC and its variables need at the start of RAM.
const FREE: RangeInclusive<u16> = 0x8400..=0xFEFF;
/// The room that BASIC's stack and strings may need below and above the stack pointer.
const STACK: (u16, u16) = (0x80, 0x180);
/// Bytes that the loader shows at once.
const SHOWN: u16 = 0x80;
/// The number of times a line goes again that does not arrive.
const ATTEMPTS: usize = 5;
/// The number of times the hex loader is typed in before its sum is given up.
const ROUNDS: usize = 2;
/// The longest wait for the echo of a line: BASIC echoes each character as it comes.
const ECHO: Duration = Duration::from_millis(400);
/// The byte before USR's address: JP.
const JUMP: u8 = 0xC3;
/// USR's address in Searle's BASIC for 32 KiB of RAM, in feilipu's, and by analogy in Searle's for
/// 56 KiB.
const SEARLE: u16 = 0x8049;
const FEILIPU: u16 = 0x8204;
const SEARLE_56K: u16 = 0x2049;
/// Removes the line that is being typed.
const KILL_LINE: &[u8] = b"\x15";
/// Stops a program of BASIC's.
const INTERRUPT: &[u8] = b"\x03";
/// The longest wait for BASIC's banner after the answer to `Memory top?`: it looks at each byte of
/// RAM first.
const MEMORY_TEST: Duration = Duration::from_secs(4);
/// The longest wait for a warm or a cold start.
const STARTS: Duration = Duration::from_secs(2);

/// The BASICs that differ in where USR's address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Searle's; the address.
    Searle(u16),
    /// feilipu's 4.7c.
    Feilipu,
    /// The one in RomWBW's ROM.
    Romwbw,
    /// Another one.
    Unknown,
}

impl Dialect {
    /// Finds out which BASIC is ready, by the jump before USR's address and by the words of an
    /// error.
    pub(super) fn of(talk: &mut Talk) -> Result<Self> {
        const WHAT: &str = "looking for USR's address";
        for (usr, dialect) in [
            (SEARLE, Self::Searle(SEARLE)),
            (FEILIPU, Self::Feilipu),
            (SEARLE_56K, Self::Searle(SEARLE_56K)),
        ] {
            let before = (usr - 1).cast_signed();
            let answer = ask(talk, WHAT, &format!("PRINT PEEK({before})"))?;
            if numbers(&answer).next_back() == Some(JUMP.into()) {
                return Ok(dialect);
            }
        }
        let heard = put_and_hear(talk, WHAT, b"PRINT)\r", ANSWER)?;
        let is_romwbw = String::from_utf8_lossy(&heard).contains("?Syntax Error");
        Ok(if is_romwbw { Self::Romwbw } else { Self::Unknown })
    }

    fn usr(self) -> Option<u16> {
        match self {
            Self::Searle(usr) => Some(usr),
            Self::Feilipu => Some(FEILIPU),
            Self::Romwbw | Self::Unknown => None,
        }
    }
}

/// The version in a banner, with a blank before it.
pub(super) fn version(banner: &str) -> String {
    let after = banner.split_once("BASIC Ver").map(|(_, after)| after);
    let version = after.and_then(|after| after.split_whitespace().next());
    version.map_or(String::new(), |version| format!(" {version}"))
}

/// BASIC, and our loader in it.
#[derive(Default)]
pub(super) struct Basic {
    /// Location of USR's address.
    usr: u16,
}

impl HexMonitor for Basic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reach(&mut self, talk: &mut Talk, watch: &mut dyn Watch) -> Result<String> {
        let found = match knock::find(talk, watch, FINDING, NAME, &[Peer::Basic]) {
            // A program of BASIC's hears nothing else. Whoever loads another one by BASIC wants it
            // stopped.
            Err(LoaderError::Silence { .. }) => stop_program(talk)?,
            other => other?,
        };
        get_ready(talk, found.heard)?;
        let dialect = Dialect::of(talk)?;
        let Some(usr) = dialect.usr() else {
            let text = match dialect {
                Dialect::Romwbw => {
                    "this is RomWBW's BASIC: type BYE there, and load with --via romwbw"
                }
                _ => "none of the places known holds a jump: this is another BASIC",
            };
            let what = "looking for USR's address";
            return Err(LoaderError::Refused { who: NAME, what, text: text.to_owned() });
        };
        self.usr = usr;
        Ok(format!("ROM BASIC, USR's address at {usr:04X}h"))
    }

    fn check(&self, image: &Image) -> Result<()> {
        super::keep_within(image, FREE, |free| {
            format!("only {free} is free while BASIC runs: assemble it for there")
        })?;
        match image.bounds() {
            Some(needs) if Stub::beside(image).is_none() => {
                let keeper = "it leaves no room for the hex loader".to_owned();
                Err(LoaderError::DoesNotFit { needs, keeper })
            }
            _ => Ok(()),
        }
    }

    fn prepare(&mut self, talk: &mut Talk, image: &Image, watch: &mut dyn Watch) -> Result<()> {
        const WHAT: &str = "adding up the hex loader";
        self.check(image)?;
        let Some(stub) = Stub::beside(image) else { return Err(LoaderError::Empty) };
        let sum: u32 = stub.bytes.iter().copied().map(u32::from).sum();
        let mut said = String::new();
        for _ in 0..ROUNDS {
            for (index, line) in typed(&stub, self.usr).iter().enumerate() {
                if type_line(talk, "typing in the hex loader", line)? > 1 {
                    watch.note(Note::Retyped(index + 1));
                }
            }
            said = ask(talk, WHAT, &summing(&stub))?;
            if numbers(&said).next_back() == Some(sum) {
                return check_stack(image, &stub, call(talk)?);
            }
        }
        let text = format!("the loader's bytes add up to {sum}, it says {}", said.trim());
        Err(LoaderError::Nonsense { who: NAME, what: WHAT, text })
    }

    fn load(
        &mut self,
        talk: &mut Talk,
        lines: &[Record],
        pace: Pace,
        sent: &mut dyn FnMut(usize),
    ) -> Result<Loaded> {
        for record in lines {
            if let Some(report) = deliver_line(talk, &record.text(), pace)? {
                return Ok(Loaded::Failed(format!("line {}: {report}", record.number)));
            }
            sent(record.data.len());
        }
        Ok(Loaded::Clean)
    }

    fn read(&mut self, talk: &mut Talk, first: u16, last: u16) -> Result<Memory> {
        let mut memory = Memory::new();
        for from in (first..=last).step_by(SHOWN.into()) {
            let count = (last - from).min(SHOWN - 1) + 1;
            let bytes = show(talk, from, count as u8)?;
            memory.extend((from..=last).zip(bytes));
        }
        Ok(memory)
    }

    fn start(&mut self, talk: &mut Talk, entry: u16) -> Result<()> {
        match deliver_line(talk, &line(1, entry, &[]), Pace::FULL)? {
            None => Ok(()),
            Some(text) => {
                Err(LoaderError::Refused { who: NAME, what: "starting the program", text })
            }
        }
    }

    fn leave(&mut self, talk: &mut Talk) -> Result<()> {
        const WHAT: &str = "going back to BASIC";
        talk.put(WHAT, format!("{END}\r").as_bytes())?;
        talk.hear_until(WHAT, ANSWER, is_ready).map(drop)
    }

    fn abandon(&mut self, talk: &mut Talk) -> &'static str {
        match talk.discard_unsent().and_then(|()| self.leave(talk)) {
            Ok(()) => "BASIC is ready again, the program is there in part: write it again",
            Err(_) => "the hex loader may wait for a line: press reset before the next write",
        }
    }

    fn script(&self, image: &Image, entry: Option<u16>, pace: Pace) -> Vec<String> {
        let Some(stub) = Stub::beside(image) else { return Vec::new() };
        typed(&stub, SEARLE)
            .into_iter()
            .chain([summing(&stub), "PRINT USR(0)".to_owned()])
            .chain(records(image, pace.record).iter().map(Record::text))
            .chain([line(1, entry.unwrap_or(0), &[])])
            .collect()
    }
}

/// The lines that put the loader, and its address for USR, into memory.
fn typed(stub: &Stub, usr: u16) -> Vec<String> {
    let cells = (stub.entry..).zip(stub.bytes.iter().copied());
    let entry = (usr..).zip(stub.entry.to_le_bytes());
    let mut lines = vec![String::new()];
    for (address, byte) in cells.chain(entry) {
        // Addresses from 8000h on are negative numbers there.
        let poke = format!("POKE{},{byte}", address.cast_signed());
        match lines.last_mut() {
            Some(line) if line.is_empty() => *line = poke,
            Some(line) if line.len() + 1 + poke.len() <= LINE => {
                line.push(':');
                line.push_str(&poke);
            }
            _ => lines.push(poke),
        }
    }
    lines
}

/// The line that adds up the loader's bytes.
fn summing(stub: &Stub) -> String {
    let first = stub.entry.cast_signed();
    let count = stub.bytes.len() as i16;
    let last = first.wrapping_add(count - 1);
    format!("S=0:FOR I={first} TO {last}:S=S+PEEK(I):NEXT:PRINT S")
}

/// Whether it is ready for a command.
fn is_ready(heard: &[u8]) -> bool {
    heard.ends_with(b"Ok\r\n")
}

/// Stops a program that runs. ESC would do the same, but other monitors take it for more.
fn stop_program(talk: &mut Talk) -> Result<contact::Contact> {
    let heard = knock::knock(talk, FINDING, INTERRUPT)?;
    if !is_ready(&heard) && !contact::is_line_end(&heard) {
        return Err(contact::nobody(talk, FINDING));
    }
    Ok(contact::Contact { peer: Some(Peer::Basic), heard, unstuck: true })
}

/// Answers BASIC's questions at its start: a warm one, and all the memory. A cold start, which
/// clears the program, is the last resort for a BASIC whose warm start fails.
fn get_ready(talk: &mut Talk, mut heard: Vec<u8>) -> Result<()> {
    const WHAT: &str = "answering BASIC's questions";
    for keys in [b"W", b"C"] {
        let text = String::from_utf8_lossy(&heard).into_owned();
        if !HOW_TO_START.iter().any(|question| text.ends_with(question)) {
            break;
        }
        let answered = put_and_hear(talk, WHAT, keys, STARTS)?;
        if !answered.is_empty() {
            heard = answered;
        }
    }
    if heard.ends_with(MEMORY_TOP.as_bytes()) {
        talk.put(WHAT, b"\r")?;
        talk.hear_until(WHAT, MEMORY_TEST, is_ready)?;
    }
    Ok(())
}

/// Types a command, waits until it is carried out, and gives what it printed.
fn ask(talk: &mut Talk, what: &'static str, command: &str) -> Result<String> {
    enter(talk, what, command, CARRIED_OUT, &mut 0)
}

/// The same with the longest wait for its end; `typed` counts how often it was typed.
fn enter(
    talk: &mut Talk,
    what: &'static str,
    command: &str,
    patience: Duration,
    typed: &mut usize,
) -> Result<String> {
    type_in(talk, what, command, typed)?;
    talk.put(what, b"\r")?;
    let heard = talk.hear_until(what, patience, is_ready)?;
    let text = String::from_utf8_lossy(&heard).replace(['\r', '\n'], "");
    if text.contains("Error") {
        let text = contact::shown(&heard);
        return Err(LoaderError::Nonsense { who: NAME, what, text });
    }
    Ok(text.trim_end_matches("Ok").to_owned())
}

/// Types a line that can be carried out again, until it was; how often that took.
fn type_line(talk: &mut Talk, what: &'static str, line: &str) -> Result<usize> {
    let mut typed = 0;
    for _ in 1..ATTEMPTS {
        match enter(talk, what, line, CARRIED_OUT, &mut typed) {
            Ok(_) => return Ok(typed),
            // The line end was damaged, or the answer: the whole line again.
            Err(LoaderError::Silence { .. } | LoaderError::Nonsense { .. }) => {
                put_and_hear(talk, what, KILL_LINE, QUIET * 2)?;
            }
            Err(error) => return Err(error),
        }
    }
    enter(talk, what, line, CARRIED_OUT, &mut typed).map(|_| typed)
}

/// Types a command without its line end until the echo is right.
fn type_in(talk: &mut Talk, what: &'static str, command: &str, typed: &mut usize) -> Result<()> {
    let mut heard = Vec::new();
    for _ in 0..ATTEMPTS {
        talk.take();
        *typed += 1;
        talk.put(what, command.as_bytes())?;
        let echoed = |heard: &[u8]| heard.ends_with(command.as_bytes());
        heard = match talk.hear_until(what, ECHO, echoed) {
            Ok(_) => return Ok(()),
            Err(LoaderError::Silence { .. }) => talk.take(),
            Err(error) => return Err(error),
        };
        put_and_hear(talk, what, KILL_LINE, QUIET * 2)?;
    }
    if heard.is_empty() {
        return Err(talk.silence(what, ECHO * ATTEMPTS as u32));
    }
    let text = contact::shown(&heard);
    Err(LoaderError::Nonsense { who: NAME, what, text })
}

/// The whole numbers in a text.
fn numbers(text: &str) -> impl DoubleEndedIterator<Item = u32> {
    text.split_whitespace().filter_map(|word| word.parse().ok())
}

/// Whether it can multiply, as nothing but BASIC does. It may still be looking at its memory for
/// `patience`.
pub(super) fn calculates(talk: &mut Talk, what: &'static str, patience: Duration) -> Result<bool> {
    talk.take();
    talk.put(what, b"PRINT 6*7\r")?;
    match talk.hear_until(what, patience, is_ready) {
        Ok(heard) => {
            let text = String::from_utf8_lossy(&heard).into_owned();
            Ok(numbers(text.trim_end().trim_end_matches("Ok")).next_back() == Some(42))
        }
        Err(LoaderError::Silence { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Calls the loader, and returns the stack pointer that it reports.
fn call(talk: &mut Talk) -> Result<u16> {
    const WHAT: &str = "starting the hex loader";
    type_in(talk, WHAT, "PRINT USR(0)", &mut 0)?;
    talk.put(WHAT, b"\r")?;
    let stack = |heard: &[u8]| {
        let at = heard.iter().rposition(|byte| *byte == b'=')?;
        let digits = heard.get(at + 1..at + 5)?;
        (heard.get(at + 5) == Some(&b':')).then_some(())?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let heard = talk.hear_until(WHAT, ANSWER, |heard| stack(heard).is_some())?;
    Ok(stack(&heard).unwrap_or_default())
}

/// Whether image and loader keep off BASIC's stack and strings.
fn check_stack(image: &Image, stub: &Stub, stack: u16) -> Result<()> {
    let from = stack.saturating_sub(STACK.0);
    let to = stack.saturating_add(STACK.1);
    let runs = image
        .runs()
        .iter()
        .map(|run| (run.address, (usize::from(run.address) + run.bytes.len() - 1) as u16));
    match runs.chain([(stub.entry, stub.last)]).find(|(first, last)| *first <= to && *last >= from)
    {
        None => Ok(()),
        Some(needs) => {
            let keeper = format!(
                "BASIC's stack is at {stack:04X}h: reset the board, and at `Memory top?` give an \
                 address below the program's"
            );
            Err(LoaderError::DoesNotFit { needs, keeper })
        }
    }
}

/// Sends a line until the loader says that it arrived; what it said to the last attempt if it did
/// not.
fn deliver_line(talk: &mut Talk, line: &str, pace: Pace) -> Result<Option<String>> {
    const WHAT: &str = "sending lines";
    let mut report = String::new();
    for _ in 0..ATTEMPTS {
        talk.take();
        talk.say(WHAT, format!("{line}\r").as_bytes(), pace)?;
        match talk.hear_until(WHAT, ANSWER, |heard| !heard.is_empty()) {
            Ok(heard) if heard.starts_with(b"+") => {
                // After the line that starts a program its first words follow.
                talk.give_back(&heard[1..]);
                return Ok(None);
            }
            Ok(heard) => report = format!("it said {}", contact::shown(&heard)),
            Err(LoaderError::Silence { .. }) => "it did not answer".clone_into(&mut report),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(report))
}

/// Asks the loader for memory, again when an answer is damaged.
fn show(talk: &mut Talk, from: u16, count: u8) -> Result<Vec<u8>> {
    const WHAT: &str = "reading memory back";
    let request = line(2, from, &[count]);
    let mut heard = Vec::new();
    for _ in 0..ATTEMPTS {
        talk.take();
        talk.say(WHAT, format!("{request}\r").as_bytes(), Pace::FULL)?;
        let patience = ANSWER + talk.line_time(2 * usize::from(count));
        heard = match talk
            .hear_until(WHAT, patience, |heard| heard.ends_with(b"+") || heard.ends_with(b"-"))
        {
            Ok(heard) => heard,
            Err(LoaderError::Silence { .. }) => talk.take(),
            Err(error) => return Err(error),
        };
        if let Some(bytes) = shown(&heard, count) {
            return Ok(bytes);
        }
    }
    let text = contact::shown(&heard);
    Err(LoaderError::Nonsense { who: NAME, what: WHAT, text })
}

/// The bytes of a line that shows memory, if it is whole: `>`, digits, their sum, `+`.
fn shown(heard: &[u8], count: u8) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(heard).ok()?;
    let digits = text.split_once('>')?.1.strip_suffix('+')?.as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let mut bytes = digits.chunks(2).map(pair).collect::<Option<Vec<u8>>>()?;
    let sum = bytes.pop()?;
    let added = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    (bytes.len() == usize::from(count) && sum == added).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdlasm::image::Run;

    fn stub() -> Stub {
        Stub { entry: 0x8900, bytes: vec![1, 20, 255], last: 0x8930 }
    }

    #[test]
    fn what_is_typed_fits_a_line_and_has_addresses_as_basic_writes_them() {
        let lines = typed(&stub(), 0x8049);
        let pokes = "POKE-30464,1:POKE-30463,20:POKE-30462,255:POKE-32695,0";
        assert_eq!(lines, [pokes.to_owned(), "POKE-32694,137".to_owned()]);
        assert!(summing(&stub()).ends_with("FOR I=-30464 TO -30462:S=S+PEEK(I):NEXT:PRINT S"));
        let image = Image::new([Run { address: 0x9000, bytes: vec![0] }]);
        let script = Basic::default().script(&image, Some(0x9000), Pace::FULL);
        assert!(script.iter().all(|line| line.len() <= LINE), "{script:?}");
        assert_eq!(
            script[script.len() - 2..],
            [":019000000".to_owned() + "06F", ":009000016F".to_owned()]
        );
    }

    #[test]
    fn shown_memory_counts_only_when_it_is_whole() {
        assert_eq!(shown(b">01FF00+", 2), Some(vec![1, 0xFF]));
        for heard in [&b">01FF01+"[..], b">01FF00-", b"01FF00+", b">01F00+", b">0100+", b""] {
            assert_eq!(shown(heard, 2), None, "{heard:?}");
        }
    }

    #[test]
    fn nothing_may_lie_on_basics_stack() {
        let image = |address| Image::new([Run { address, bytes: vec![0; 16] }]);
        assert!(check_stack(&image(0x9000), &stub(), 0xFF54).is_ok());
        assert!(check_stack(&image(0xFEE0), &stub(), 0xFF54).is_err());
        assert!(check_stack(&image(0x9000), &stub(), 0x8900).is_err());
    }
}
