//! Monitors beside which a program with this project's protocol runs: they load and start it, and
//! it returns to them at its end.

use std::time::Duration;

use tdlasm::image::Image;
use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

use crate::cpm::{self, CpmName, FileTransfer, transfer_file};
use crate::described;
use crate::error::{LoaderError, Result};
use crate::event::LoadObserver;
use crate::exchange::{self, MAX_CHAR_GAP, REPLY_TIMEOUT};
use crate::hex_load::{LoadRequest, load_hex};
use crate::pace::Pace;
use crate::prompt::{Peer, identify_prompt};
use crate::reach::FlowControlMode;
use crate::session::MonitorSession;
use crate::stock::StockMonitor;

/// The name of the file in CP/M. RomWBW starts on its ROM drive; drive A is writable.
const CPM_FILE: &str = "A:HWTESTS.COM";
/// Where CP/M loads and starts it.
const CPM_ORIGIN: u16 = 0x0100;
/// The source of the code before the program in that file.
const PROLOGUE_SOURCE: &str = include_str!("cpmldr.asm");
/// How long a program that is in memory may take until it announces itself.
const MAX_START_TIME: Duration = Duration::from_secs(4);
/// The same for CP/M, which reads it from a disk: floppies take seconds.
const MAX_DISK_TIME: Duration = Duration::from_secs(10);
/// How long XM may take to reply; its first request comes after up to ten seconds.
const XM_REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a monitor may take to restart: RomWBW's boot loader, or CP/M's warm boot from a disk.
const RESTART_TIMEOUT: Duration = Duration::from_secs(5);

/// A stock monitor that stays on the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResidentMonitor {
    /// One that loads programs into memory.
    Memory(StockMonitor),
    /// CP/M with XM.
    Cpm,
}

/// A program in memory, for CP/M from 0100h or from 8000h on.
#[derive(Debug, Clone, Copy)]
pub struct HostedProgram<'a> {
    /// Its bytes.
    pub image: &'a Image,
    /// Its entry address.
    pub entry: u16,
    /// The first address after the program and its variables.
    pub top: u16,
}

impl ResidentMonitor {
    /// The monitors that a word of `--via` names, each with the word and its explanation for
    /// `--help`.
    pub const NAMED: [(Self, &'static str, &'static str); 4] = [
        (Self::Memory(StockMonitor::Scm), "scm", "The Small Computer Monitor, at its prompt `*`"),
        (
            Self::Memory(StockMonitor::Romwbw),
            "romwbw",
            "RomWBW's debug monitor, at its prompt or at the boot loader's",
        ),
        (
            Self::Memory(StockMonitor::Basic),
            "basic",
            "A ROM BASIC 4.7, Searle's or feilipu's, into which a hex loader is typed first",
        ),
        (
            Self::Cpm,
            "cpm",
            "CP/M at its prompt, or any XMODEM receiver; `rcflash write` sends the file unchanged",
        ),
    ];

    /// Returns the word of the monitor on the command line, or `FILE.toml` for a described one.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let named = Self::NAMED.into_iter().find(|(monitor, ..)| monitor == self);
        named.map_or("FILE.toml", |(_, word, _)| word)
    }

    /// Returns the monitor of this name.
    ///
    /// ```
    /// use rcflash_monitors::ResidentMonitor;
    /// assert_eq!(ResidentMonitor::from_name("cpm"), Some(ResidentMonitor::Cpm));
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        let named = Self::NAMED.into_iter().find(|(_, word, _)| *word == name);
        named.map(|(monitor, ..)| monitor)
    }

    /// Returns the monitor that loads programs on a board with `peer`; this project's own is none.
    pub fn for_peer(peer: Peer) -> Option<Self> {
        match peer {
            Peer::Scm => Some(Self::Memory(StockMonitor::Scm)),
            Peer::RomwbwLoader | Peer::RomwbwMonitor => Some(Self::Memory(StockMonitor::Romwbw)),
            Peer::Basic => Some(Self::Memory(StockMonitor::Basic)),
            Peer::Cpm | Peer::XmodemReceiver | Peer::CpmMonitor => Some(Self::Cpm),
            Peer::OwnFirmware => None,
        }
    }

    /// Loads a program, verifies it, and starts it.
    ///
    /// # Errors
    /// Returns [`LoaderError`] if the load or the start fails, or the user interrupts.
    pub fn start(
        &self,
        session: &mut MonitorSession,
        program: HostedProgram,
        observer: &mut dyn LoadObserver,
    ) -> std::result::Result<(), LoaderError> {
        let Self::Memory(monitor) = self else {
            return start_as_cpm_file(session, program, observer);
        };
        let flow_control = FlowControlMode::Auto;
        let request = LoadRequest {
            image: program.image,
            entry: Some(program.entry),
            verify: true,
            pace: None,
            flow_control,
            uses_scratch: true,
        };
        load_hex(monitor, session, &request, observer).map(drop)
    }

    /// Waits until a program of this project, which was just started, has announced itself: it
    /// listens from its first line on, which ends with its build. Gives up when nothing comes; then
    /// the program can't send, or the line was corrupted, and IDENT tells which.
    ///
    /// # Errors
    /// Returns [`LoaderError`] if the transport fails, or CP/M's prompt is back instead.
    pub fn wait_for_announcement(
        &self,
        session: &mut MonitorSession,
    ) -> std::result::Result<(), LoaderError> {
        const OPERATION: &str = "starting the program";
        let silence = if *self == Self::Cpm { MAX_DISK_TIME } else { MAX_START_TIME };
        match session.receive_while_coming(OPERATION, silence, is_announcement) {
            Err(LoaderError::NoReply { .. }) => {}
            other => return other.map(drop),
        }
        // What is sent to a prompt would be typed there, and executed with the next command.
        if *self != Self::Cpm || identify_prompt(session.received()) != Some(Peer::Cpm) {
            return Ok(());
        }
        let text = format!("it is at its prompt: {}", exchange::escape_tail(session.received()));
        Err(LoaderError::UnexpectedReply { peer: "CP/M", operation: OPERATION, text })
    }

    /// Waits until the program has returned to the monitor, and brings that to its prompt. Returns
    /// what is at its prompt, such as `RomWBW's boot loader`. If the prompt remains unread, a load
    /// in a session that has received it begins without looking for it.
    ///
    /// # Errors
    /// Returns [`LoaderError`] if the monitor does not return, as RomWBW 2.9, or the transport
    /// fails.
    pub fn wait_for_return(
        &self,
        session: &mut MonitorSession,
    ) -> std::result::Result<String, LoaderError> {
        const OPERATION: &str = "waiting for the board's own monitor to return";
        let at_described = |received: &[u8]| match self {
            Self::Memory(StockMonitor::Described(monitor)) => monitor.at_prompt(received),
            _ => false,
        };
        let received = session.receive_until(OPERATION, RESTART_TIMEOUT, |received| {
            at_described(received) || identify_prompt(received).is_some()
        })?;
        // A prompt may also be part of a banner.
        session.unread(&received);
        let received = session.receive_until_quiet(OPERATION, MAX_CHAR_GAP, REPLY_TIMEOUT)?;
        if at_described(&received) {
            return Ok(described::NAME.to_owned());
        }
        let Some(peer) = identify_prompt(&received) else {
            return Err(session.timeout_error(OPERATION, RESTART_TIMEOUT));
        };
        match peer {
            // Where the next session begins.
            Peer::Scm => session.unread(&received),
            // At its question for a cold or a warm start.
            Peer::Basic => drop(exchange::send_keys(session, OPERATION, b"W")?),
            Peer::Cpm if *self == Self::Cpm => cpm::erase(session, CPM_FILE)?,
            _ => {}
        }
        Ok(peer.to_string())
    }
}

/// Sends a program to CP/M as a file and starts it.
fn start_as_cpm_file(
    session: &mut MonitorSession,
    program: HostedProgram,
    observer: &mut dyn LoadObserver,
) -> Result<()> {
    let bytes = com_file(program)?;
    let Some(name) = CpmName::new(CPM_FILE) else { return Err(LoaderError::Empty) };
    let request = FileTransfer {
        bytes: &bytes,
        name,
        xmodem_program: Some("XM"),
        run: true,
        verify: true,
        replace: true,
        pace: Pace::FULL,
        flow_control: FlowControlMode::Auto,
        reply_timeout: XM_REPLY_TIMEOUT,
    };
    transfer_file(session, &request, observer).map(drop)
}

/// Returns `true` if a line is complete that ends with `, build ` and the eight digits of a build id.
fn is_announcement(received: &[u8]) -> bool {
    let mut lines = received.split_inclusive(|byte| matches!(byte, b'\r' | b'\n'));
    lines.any(|line| {
        let build = line.strip_suffix(b"\r").and_then(|line| line.split_last_chunk::<8>());
        build.is_some_and(|(name, digits)| {
            name.ends_with(b", build ") && digits.iter().all(u8::is_ascii_hexdigit)
        })
    })
}

/// Returns the content of a .COM file that copies the program to its address and starts it, unless
/// it is there already.
fn com_file(program: HostedProgram) -> Result<Vec<u8>> {
    let Some((target, _)) = program.image.bounds() else { return Err(LoaderError::Empty) };
    let bytes = program.image.flat(0xFF);
    if (target, program.entry) == (CPM_ORIGIN, CPM_ORIGIN) {
        return Ok(bytes);
    }
    let defines = [
        ("TARGET", target),
        ("LENGTH", bytes.len() as u16),
        ("ENTRY", program.entry),
        ("TOP", program.top),
    ];
    let defines = defines.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let loader = MemoryLoader::new().with("cpmldr.asm", PROLOGUE_SOURCE);
    let options = Options { defines, ..Options::default() };
    // The source is built in and assembled by the tests, so there are no errors.
    let modules = assemble(&loader, &["cpmldr.asm".into()], &options)
        .unwrap_or_else(|errors| unreachable!("{errors}"))
        .modules;
    let program =
        link(&modules, &Layout::default()).unwrap_or_else(|errors| unreachable!("{errors}"));
    Ok([program.image.flat(0), bytes].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdlasm::image::ImageRun;

    #[test]
    fn every_peer_but_ours_leads_to_a_host_that_can_be_named() {
        for (host, word, _) in ResidentMonitor::NAMED {
            assert_eq!(host.name(), word);
            assert_eq!(ResidentMonitor::from_name(word), Some(host));
        }
        assert_eq!(ResidentMonitor::from_name("monitor"), None);
        let romwbw = ResidentMonitor::Memory(StockMonitor::Romwbw);
        assert_eq!(ResidentMonitor::for_peer(Peer::RomwbwLoader), Some(romwbw));
        assert_eq!(ResidentMonitor::for_peer(Peer::OwnFirmware), None);
    }

    #[test]
    fn the_file_for_cpm_moves_the_program_up_and_jumps_to_it() {
        let image = Image::new([ImageRun { address: 0x8400, bytes: vec![0xC9, 0x76] }]);
        let file = com_file(HostedProgram { image: &image, entry: 0x8401, top: 0xD800 });
        let file = file.expect("it has bytes");
        // LD HL,(6); LD DE,D800h; OR A; SBC HL,DE; JR C,..
        assert_eq!(file[..10], [0x2A, 6, 0, 0x11, 0x00, 0xD8, 0xB7, 0xED, 0x52, 0x38]);
        let tail = (0x100 + file.len() - 2).to_le_bytes();
        // LD HL,tail; LD DE,8400h; LD BC,2; LDIR; JP 8401h
        let moves = [0x21, tail[0], tail[1], 0x11, 0, 0x84, 1, 2, 0, 0xED, 0xB0, 0xC3, 0x01, 0x84];
        assert_eq!(file[11..25], moves);
        assert_eq!(file[file.len() - 2..], [0xC9, 0x76]);
        let image = Image::new([ImageRun { address: 0x0100, bytes: vec![0xC9] }]);
        let own = com_file(HostedProgram { image: &image, entry: 0x0100, top: 0x0101 });
        assert_eq!(own.expect("it has bytes"), [0xC9]);
    }
}
