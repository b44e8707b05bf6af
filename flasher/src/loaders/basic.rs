//! ROM BASIC 4.7 as Searle's and feilipu's boards have it: a hex loader of ours is typed in, byte by byte, and called.
//!
//! BASIC holds 63 characters (Searle) or 255 (feilipu) while it works, and loses the rest without flow control. So
//! every line is shorter than that, and nothing is sent before BASIC is ready again. Our loader answers every line of
//! Intel HEX, so that it loses none and what is damaged goes again at once.

use std::ops::RangeInclusive;
use std::time::Duration;

use tdlasm::image::Image;

use super::dump::Memory;
use super::error::{LoaderError, Result};
use super::knock::{self, ANSWER};
use super::pace::Pace;
use super::prompt::{Peer, recognise};
use super::records::{END, Record, line, records};
use super::stub::Stub;
use super::talk::Talk;
use super::{HexMonitor, Loaded, Watch};

const NAME: &str = "the ROM BASIC";
const FINDING: &str = "looking for BASIC's prompt";
/// The longest wait for a line that BASIC carries out; the longest adds up 250 bytes.
const CARRIED_OUT: Duration = Duration::from_secs(5);
/// Characters of a line: fewer than the 63 that BASIC holds.
const LINE: usize = 60;
/// What BASIC and its variables need at the most at the start of RAM.
const FREE: RangeInclusive<u16> = 0x8400..=0xFEFF;
/// What BASIC's stack and strings may need below and above the stack pointer.
const STACK: (u16, u16) = (0x80, 0x180);
/// Bytes that the loader shows at once.
const SHOWN: u16 = 0x80;
/// How often a line goes again that does not arrive.
const ATTEMPTS: usize = 5;
/// What stands before USR's address: JP. The words are at 8049h in Searle's BASIC for 32 KiB of RAM and at 8204h in
/// feilipu's; at 2049h, by analogy, in Searle's for 56 KiB.
const JUMP: u8 = 0xC3;
const USR: [u16; 3] = [0x8049, 0x8204, 0x2049];
/// Keeps what is said to BASIC's questions at its start: all the memory, and what is there.
const ANSWERS: [(&str, &[u8]); 2] = [("Memory top? ", b"\r"), ("(C or W)? ", b"W")];

/// BASIC, and our loader in it.
#[derive(Default)]
pub(super) struct Basic {
    /// Where USR's address is.
    usr: u16,
}

impl HexMonitor for Basic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn reach(&mut self, talk: &mut Talk, watch: &mut dyn Watch) -> Result<String> {
        let mut heard = knock::find(talk, watch, FINDING, |talk| {
            let heard = knock::knock(talk, FINDING, format!("{END}\r").as_bytes())?;
            Ok(Some(heard).filter(|heard| !heard.is_empty()))
        })?;
        while let Some((_, answer)) =
            ANSWERS.iter().find(|(question, _)| heard.ends_with(question.as_bytes()))
        {
            heard = knock::knock(talk, "answering BASIC's questions", answer)?;
        }
        if recognise(&heard).is_some_and(|peer| peer != Peer::Basic) || !calculates(talk)? {
            return Err(knock::not_wanted(talk, NAME, &heard));
        }
        self.usr = find_usr(talk)?;
        Ok(format!("ROM BASIC, USR's address at {:04X}h", self.usr))
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

    fn prepare(&mut self, talk: &mut Talk, image: &Image) -> Result<()> {
        self.check(image)?;
        let Some(stub) = Stub::beside(image) else { return Err(LoaderError::Empty) };
        for line in typed(&stub, self.usr) {
            ask(talk, "typing in the hex loader", &line)?;
        }
        let sum: u32 = stub.bytes.iter().copied().map(u32::from).sum();
        let heard = ask(talk, "adding up the hex loader", &summing(&stub))?;
        if numbers(&heard).next_back() != Some(sum) {
            let text = format!("the loader's bytes add up to {sum}, it says {}", heard.trim());
            return Err(LoaderError::Nonsense {
                who: NAME,
                what: "adding up the hex loader",
                text,
            });
        }
        let stack = call(talk)?;
        check_stack(image, &stub, stack)
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
        typed(&stub, USR[0])
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
    let (first, count) = (stub.entry.cast_signed(), stub.bytes.len() as i16);
    let last = first.wrapping_add(count - 1);
    format!("S=0:FOR I={first} TO {last}:S=S+PEEK(I):NEXT:PRINT S")
}

/// Whether it is ready for a command.
fn is_ready(heard: &[u8]) -> bool {
    heard.ends_with(b"Ok\r\n")
}

/// Types a command, waits until it is carried out, and gives what it printed.
fn ask(talk: &mut Talk, what: &'static str, command: &str) -> Result<String> {
    talk.take();
    talk.put(what, format!("{command}\r").as_bytes())?;
    let heard = talk.hear_until(what, CARRIED_OUT, is_ready)?;
    let text: String = String::from_utf8_lossy(&heard).replace(['\r', '\n'], "");
    match text.split_once(command) {
        Some((_, answer)) if !answer.contains("Error") => {
            Ok(answer.trim_end_matches("Ok").to_owned())
        }
        _ => {
            let text = crate::link::show(&heard);
            Err(LoaderError::Nonsense { who: NAME, what, text })
        }
    }
}

/// The whole numbers in a text.
fn numbers(text: &str) -> impl DoubleEndedIterator<Item = u32> {
    text.split_whitespace().filter_map(|word| word.parse().ok())
}

/// Whether it can multiply, as nothing but BASIC does.
pub(super) fn calculates(talk: &mut Talk) -> Result<bool> {
    match ask(talk, FINDING, "PRINT 6*7") {
        Ok(answer) => Ok(numbers(&answer).next_back() == Some(42)),
        Err(LoaderError::Silence { .. } | LoaderError::Nonsense { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Where USR's address is: behind a jump at one of the places known.
fn find_usr(talk: &mut Talk) -> Result<u16> {
    const WHAT: &str = "looking for USR's address";
    for usr in USR {
        let before = (usr - 1).cast_signed();
        let answer = ask(talk, WHAT, &format!("PRINT PEEK({before})"))?;
        if numbers(&answer).next_back() == Some(JUMP.into()) {
            return Ok(usr);
        }
    }
    let text = "none of the places known holds a jump: this is another BASIC".to_owned();
    Err(LoaderError::Refused { who: NAME, what: WHAT, text })
}

/// Calls the loader; the stack pointer that it tells.
fn call(talk: &mut Talk) -> Result<u16> {
    const WHAT: &str = "starting the hex loader";
    talk.take();
    talk.put(WHAT, b"PRINT USR(0)\r")?;
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
    let (from, to) = (stack.saturating_sub(STACK.0), stack.saturating_add(STACK.1));
    let runs = image
        .runs()
        .iter()
        .map(|run| (run.address, (usize::from(run.address) + run.bytes.len() - 1) as u16));
    match runs.chain([(stub.entry, stub.last)]).find(|(first, last)| *first <= to && *last >= from)
    {
        None => Ok(()),
        Some(needs) => {
            let keeper = format!(
                "BASIC's stack is at {stack:04X}h: reset the board, and at `Memory top?` give an address below the \
                 program's"
            );
            Err(LoaderError::DoesNotFit { needs, keeper })
        }
    }
}

/// Sends a line until the loader says that it arrived; what it said to the last attempt if it did not.
fn deliver_line(talk: &mut Talk, line: &str, pace: Pace) -> Result<Option<String>> {
    const WHAT: &str = "sending lines";
    let mut report = String::new();
    for _ in 0..ATTEMPTS {
        talk.take();
        talk.say(WHAT, format!("{line}\r").as_bytes(), pace)?;
        match talk.hear_until(WHAT, ANSWER, |heard| !heard.is_empty()) {
            Ok(heard) if heard.starts_with(b"+") => return Ok(None),
            Ok(heard) => report = format!("it said {}", crate::link::show(&heard)),
            Err(LoaderError::Silence { .. }) => "it did not answer".clone_into(&mut report),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(report))
}

/// Has the loader show memory; again when an answer is damaged.
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
    let text = crate::link::show(&heard);
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
