//! CP/M 2.2 with XM 12.5, after recorded sessions of RomWBW 3.5.1 and 2.9.1: the line editor of the
//! console, a RAM drive A:, a ROM drive B: with XM, and guest programs.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::machine::CallAbi;
use crate::xmodem::{TransferEnd, XmodemCheck, XmodemReceiver, XmodemSender, XmodemTiming};
use crate::{GuestProgram, Memory, MonitorModel, ReceiverSpec};

/// The byte that pads a sector: CP/M's end of text.
const FILLER: u8 = 0x1A;
/// How long XM is loaded from the ROM drive, and then prints: recorded were 0.21 s, of which the
/// echo of the command is a part, and 0.12 s. BDOS keeps what arrives meanwhile for the CCP.
const LOAD_TIME: Duration = Duration::from_millis(190);
const PRINT_TIME: Duration = Duration::from_millis(120);
/// Start address of programs, and their stack.
const TPA: u16 = 0x0100;
const STACK: u16 = 0xD800;
const INTERRUPT: u8 = 0x03;

/// The differences between the two releases.
#[derive(Debug, Clone, Copy)]
struct Release {
    xm: &'static str,
    room: usize,
}

const THREE: Release =
    Release { xm: "RomWBW, 30-May-2020 [WBW], HBIOS FastPath on COM0", room: 248 };
const TWO: Release = Release { xm: "RBC, 06-Jun-2018 [WBW], COM0", room: 376 };

/// CP/M with a disk in memory.
pub struct Cpm {
    release: Release,
    files: BTreeMap<String, Vec<u8>>,
    memory: Memory,
    state: State,
    drive: char,
    line: Vec<u8>,
    check: XmodemCheck,
    timing: XmodemTiming,
    busy: Duration,
    room: usize,
    /// Whether files are read back with a wrong byte.
    bad_disk: bool,
    /// How the next receiver or sender ends early.
    early_end: Option<EarlyEnd>,
    /// How long a program is loaded from the disk; meanwhile nobody listens.
    load_time: Duration,
    /// The time by the line's clock, and when the transfer began.
    now: Duration,
    began: Duration,
    /// The characters that arrived while a program was loaded or printed.
    type_ahead: Vec<u8>,
    /// The characters typed at the prompt since the last receiver or sender was started.
    typed: Vec<u8>,
}

/// A receiver or sender that ends in the middle of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlyEnd {
    /// The number of characters that it receives before.
    pub after: usize,
    /// What is printed then, before the prompt: the message of a receiver, or of a restart.
    pub message: &'static str,
    /// Whether the message and the prompt are sent, or lost.
    pub is_seen: bool,
    /// Whether the next sender ends early, instead of the next receiver.
    pub is_sender: bool,
}

enum State {
    Prompt,
    /// A program with this command line is being loaded until that time.
    Loading(Duration, String),
    /// It is being loaded, or prints its messages, until that time, and is then in this state.
    Starting(Duration, Box<State>),
    Receiving(String, XmodemReceiver),
    Sending(XmodemSender),
    GuestProgram(Box<GuestProgram>),
    /// A disk error was shown; any key continues.
    DiskError,
}

impl Default for Cpm {
    fn default() -> Self {
        Self {
            release: THREE,
            files: BTreeMap::new(),
            memory: Memory::new(TPA..=0xFFFF),
            state: State::Prompt,
            drive: 'B',
            line: Vec::new(),
            check: XmodemCheck::CrcOrLong,
            timing: XmodemTiming::XM,
            busy: Duration::from_micros(20),
            room: usize::MAX,
            bad_disk: false,
            early_end: None,
            load_time: LOAD_TIME,
            now: Duration::ZERO,
            began: Duration::ZERO,
            type_ahead: Vec::new(),
            typed: Vec::new(),
        }
    }
}

impl Cpm {
    /// Creates CP/M whose XM has short intervals, for tests.
    pub fn quick() -> Self {
        Self { timing: XmodemTiming::QUICK, ..Self::default() }
    }

    /// Creates the CP/M of RomWBW 2.9.1.
    pub fn of_romwbw2() -> Self {
        Self { release: TWO, timing: XmodemTiming::XM_ROMWBW2, ..Self::default() }
    }

    /// Sets an XM that supports only checksums.
    #[must_use]
    pub fn with_checksums_only(self) -> Self {
        Self { check: XmodemCheck::Sum, ..self }
    }

    /// Sets the processing time per character.
    #[must_use]
    pub fn with_processing_time(self, busy: Duration) -> Self {
        Self { busy, ..self }
    }

    /// Limits the size of the disk, in sectors.
    #[must_use]
    pub fn with_room(self, sectors: usize) -> Self {
        Self { room: sectors, ..self }
    }

    /// Makes files read back with a wrong byte.
    #[must_use]
    pub fn with_bad_disk(self) -> Self {
        Self { bad_disk: true, ..self }
    }

    /// Makes the next receiver or sender end early.
    #[must_use]
    pub fn with_early_end(self, end: EarlyEnd) -> Self {
        Self { early_end: Some(end), ..self }
    }

    /// Sets how long XM is loaded.
    #[must_use]
    pub fn with_load_time(self, time: Duration) -> Self {
        Self { load_time: time, ..self }
    }

    /// Starts an XM that waits for the upload of this file for at least 20 s.
    #[must_use]
    pub fn with_pending_upload(self, name: &str) -> Self {
        let interval = self.timing.interval.max(Duration::from_secs(1));
        let timing = XmodemTiming { interval, ..self.timing };
        let receiver = XmodemReceiver::with_timing(self.check, timing);
        let state = State::Receiving(format!("A:{name}"), receiver);
        Self { state, ..self }
    }

    pub(super) fn prompt(&mut self, out: &mut Vec<u8>) {
        self.state = State::Prompt;
        out.extend(format!("\r\n{}>", self.drive).bytes());
        for character in std::mem::take(&mut self.type_ahead) {
            self.type_in(character, out);
        }
    }

    fn type_in(&mut self, character: u8, out: &mut Vec<u8>) {
        self.typed.push(character);
        match character & 0x7F {
            b'\r' | b'\n' => {
                out.push(b'\r');
                let typed = std::mem::take(&mut self.line);
                self.execute(String::from_utf8_lossy(&typed).as_ref(), out);
            }
            INTERRUPT if self.line.is_empty() => {
                out.extend(b"^C");
                self.prompt(out);
            }
            0x05 => out.extend(b"\r\n"),
            0x08 => {
                if self.line.pop().is_some() {
                    out.extend(b"\x08 \x08");
                }
            }
            0x15 => {
                self.line.clear();
                out.extend(b"#\r\n  ");
            }
            0x18 => {
                let typed = std::mem::take(&mut self.line);
                typed.iter().for_each(|_| out.extend(b"\x08 \x08"));
            }
            0x7F => out.extend(self.line.pop()),
            control @ 0..0x20 => {
                self.line.push(control);
                out.extend([b'^', control | 0x40]);
            }
            plain => {
                self.line.push(plain);
                out.push(plain);
            }
        }
    }

    fn execute(&mut self, typed: &str, out: &mut Vec<u8>) {
        let command = typed.to_ascii_uppercase();
        let words: Vec<&str> = command.split_whitespace().collect();
        let (drive, name) = match words.first() {
            None => return self.prompt(out),
            Some(word) => match word.split_once(':') {
                Some((drive @ ("A" | "B"), name)) => {
                    (drive.chars().next().unwrap_or(self.drive), name)
                }
                _ => (self.drive, *word),
            },
        };
        if name.is_empty() {
            self.drive = drive;
            return self.prompt(out);
        }
        match (name, &words[1..]) {
            ("DIR", _) => self.directory(&words[1..], out),
            ("ERA", [file]) => {
                let file = self.place(file);
                self.files.remove(&file);
            }
            ("XM" | "XMODEM", [letters, file]) if drive == 'B' => self.start_xm(letters, file),
            ("PCGET", [file]) if drive == 'B' => self.start_xm("R", file),
            ("PCPUT", [file]) if drive == 'B' => self.start_xm("S", file),
            _ => match self.files.get(&format!("{drive}:{name}.COM")).cloned() {
                Some(program) => {
                    out.extend(b"\r\n");
                    self.memory.load(TPA, &program);
                    let running = GuestProgram::start_with(&self.memory, TPA, STACK, CallAbi::Cpm);
                    let running = Box::new(State::GuestProgram(Box::new(running)));
                    return self.state = State::Starting(self.now + self.load_time, running);
                }
                None => out.extend(format!("\r\n{}?\r\n", words[0]).bytes()),
            },
        }
        if !matches!(self.state, State::Loading(..)) {
            self.prompt(out);
        }
    }

    fn start_xm(&mut self, letters: &str, file: &str) {
        let end = self.now + self.load_time;
        self.state = State::Loading(end, format!("{letters} {file}"));
    }

    fn place(&self, name: &str) -> String {
        if name.contains(':') { name.to_owned() } else { format!("{}:{name}", self.drive) }
    }

    fn directory(&self, words: &[&str], out: &mut Vec<u8>) {
        let drive = match words {
            [drive, ..] if drive.ends_with(':') => drive.chars().next().unwrap_or(self.drive),
            _ => self.drive,
        };
        let names: Vec<_> =
            self.files.keys().filter_map(|name| name.strip_prefix(&format!("{drive}:"))).collect();
        let show = |name: &&str| {
            let (stem, end) = name.split_once('.').unwrap_or((name, ""));
            format!("{stem:<8} {end:<3}")
        };
        match (drive, names.as_slice()) {
            ('B', _) => out.extend(b"\r\nB: XM       COM"),
            (_, []) => out.extend(b"\r\nNO FILE"),
            (_, names) => {
                let names: Vec<_> = names.iter().map(show).collect();
                out.extend(format!("\r\n{drive}: {}", names.join(" : ")).bytes());
            }
        }
    }

    fn xm(&mut self, letters: &str, file: &str, out: &mut Vec<u8>) {
        let place = self.place(file);
        let (drive, name) = place.split_once(':').unwrap_or(("A", file));
        let protocol = match letters {
            "RC" => "(Checksum protocol selected)\r\n",
            "RX" => "(128 byte protocol only)\r\n",
            _ => "",
        };
        let release = self.release.xm;
        self.typed.clear();
        out.extend(format!("\r\nXMODEM v12.5 - 07/13/86\r\n{protocol}{release}\r\n").bytes());
        if letters == "S" {
            return self.send(&place, name, out);
        }
        let room = self.release.room.saturating_sub(2 * self.files.len());
        let text = format!("\r\nReceiving: {drive}0:{name}\r\n{room}k available for uploads\r\n");
        out.extend(text.bytes());
        if drive == "B" {
            out.extend(b"\r\n\r\nBdos Err On B: Bad Sector");
            return self.state = State::DiskError;
        }
        if self.files.contains_key(&place) {
            out.extend(b"\r\n++ File exists, use a different name ++\r\n");
            return self.prompt(out);
        }
        out.extend(b"File open - ready to receive\r\nTo cancel: Ctrl-X, pause, Ctrl-X\r\n");
        let (check, timing) = match letters {
            "RC" if self.timing == XmodemTiming::XM_ROMWBW2 => (XmodemCheck::Sum, self.timing),
            "RC" => (XmodemCheck::Sum, XmodemTiming { first: Duration::ZERO, ..self.timing }),
            "RX" => (XmodemCheck::Crc, self.timing),
            _ => (self.check, self.timing),
        };
        let receiver = XmodemReceiver::with_timing(check, timing).with_room(self.room);
        self.state = State::Receiving(place, receiver);
    }

    fn send(&mut self, place: &str, name: &str, out: &mut Vec<u8>) {
        let Some(file) = self.files.get(place) else {
            out.extend(b"\r\n++ File not found ++\r\n");
            return self.prompt(out);
        };
        let records = file.len() / 128;
        let text = format!(
            "Sending: {name}\r\nFile size: {records} records ({}k)\r\nSend time: 0:00 at 9600 \
             baud\r\nTo cancel: Ctrl-X, pause, Ctrl-X\r\n",
            records.div_ceil(8)
        );
        out.extend(text.bytes());
        self.state = State::Sending(XmodemSender::new(self.as_read(file)));
    }

    /// Returns a file as it is read from the disk.
    fn as_read(&self, file: &[u8]) -> Vec<u8> {
        let mut read = file.to_vec();
        if let (true, Some(last)) = (self.bad_disk, read.last_mut()) {
            *last = !FILLER;
        }
        read
    }

    /// Counts a character of a receiver or sender. Returns `true` if it was the last one.
    fn is_early_end(&mut self, is_sender: bool) -> bool {
        let Some(end) = self.early_end.as_mut().filter(|end| end.is_sender == is_sender) else {
            return false;
        };
        end.after = end.after.saturating_sub(1);
        end.after == 0
    }

    /// Returns to the prompt in the middle of a transfer, after the receiver's reply.
    fn end_early(&mut self, out: &mut Vec<u8>) {
        let Some(EarlyEnd { message, is_seen, .. }) = self.early_end.take() else { return };
        let replied = out.len();
        out.extend(message.bytes());
        self.prompt(out);
        if !is_seen {
            out.truncate(replied);
        }
    }

    fn ended(&mut self, name: Option<String>, end: TransferEnd, out: &mut Vec<u8>) {
        match (name, end) {
            (Some(name), TransferEnd::Done(file)) => {
                out.extend(b"\r\nThanks for the upload\r\n");
                self.files.insert(name, file);
            }
            (None, TransferEnd::Done(_)) => {}
            (_, TransferEnd::Aborted) => out.extend(b"\r\r\n++ XMODEM aborted ++\r\n"),
            (Some(_), TransferEnd::Cancelled) => {
                out.extend(b"\r\n\r\n++ Receive cancelled ++\r\n++ Partial file deleted ++\r\n");
            }
            (None, TransferEnd::Cancelled) => out.extend(b"\r\n\r\n++ Send cancelled ++\r\n"),
        }
        self.prompt(out);
    }
}

impl MonitorModel for Cpm {
    /// Restarts CP/M, as on a board that boots it by itself.
    fn reset(&mut self, out: &mut Vec<u8>) {
        self.line.clear();
        self.type_ahead.clear();
        self.drive = 'B';
        self.prompt(out);
    }

    fn receive(&mut self, character: u8, out: &mut Vec<u8>) {
        let mut state = std::mem::replace(&mut self.state, State::Prompt);
        let (name, end) = match &mut state {
            State::Prompt => return self.type_in(character, out),
            State::DiskError => return self.prompt(out),
            State::Loading(..) | State::Starting(..) => {
                self.type_ahead.push(character);
                (None, None)
            }
            State::GuestProgram(running) => {
                running.receive(character);
                (None, None)
            }
            State::Receiving(name, receiver) => {
                (Some(name.clone()), receiver.receive(character, out))
            }
            State::Sending(sender) => (None, sender.receive(character, out)),
        };
        let ends_early = match &state {
            State::Receiving(..) => self.is_early_end(false),
            State::Sending(_) => self.is_early_end(true),
            _ => false,
        };
        match end {
            Some(end) => self.ended(name, end, out),
            None => self.state = state,
        }
        if ends_early {
            self.end_early(out);
        }
    }

    fn set_time(&mut self, now: Duration) {
        self.now = now;
    }

    fn typed_at_prompt(&self) -> &[u8] {
        &self.typed
    }

    fn idle(&mut self, since: Duration, out: &mut Vec<u8>) -> bool {
        match &mut self.state {
            State::Receiving(name, receiver) => {
                let name = name.clone();
                let since = since.min(self.now.saturating_sub(self.began));
                if let Some(end) = receiver.idle(since, out) {
                    self.ended(Some(name), end, out);
                }
                false
            }
            State::Loading(end, arguments) if *end <= self.now => {
                let arguments = std::mem::take(arguments);
                out.extend(b"\r\n");
                if let Some((letters, file)) = arguments.split_once(' ') {
                    self.xm(letters, file, out);
                }
                if matches!(self.state, State::Receiving(..) | State::Sending(_)) {
                    let started = std::mem::replace(&mut self.state, State::Prompt);
                    self.state = State::Starting(self.now + PRINT_TIME, Box::new(started));
                }
                false
            }
            State::Starting(end, started) if *end <= self.now => {
                self.began = *end;
                self.state = std::mem::replace(started.as_mut(), State::Prompt);
                false
            }
            State::GuestProgram(running) => {
                let is_running = running.run(&mut self.memory, out).is_none();
                if !is_running {
                    self.prompt(out);
                }
                is_running
            }
            _ => false,
        }
    }

    /// Returns the properties of RomWBW's driver.
    fn receiver_spec(&self) -> ReceiverSpec {
        ReceiverSpec { buffer: 32, rts: Some((16, 8)) }
    }

    fn processing_time(&self) -> Duration {
        self.busy
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        Some(&mut self.memory)
    }

    fn file(&self, name: &str) -> Option<&[u8]> {
        let place = if name.contains(':') { name.to_owned() } else { format!("A:{name}") };
        self.files.get(&place).map(Vec::as_slice)
    }
}
