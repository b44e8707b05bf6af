//! Monitors beside which a program of this project's protocol runs: it is loaded through them,
//! started, and goes back to them in the end.

use std::time::Duration;

use tdlasm::image::Image;
use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

use super::cpm::{self, CpmName, FileOrder, transfer};
use super::deliver::deliver;
use super::error::{LoaderError, Result};
use super::knock::{self, ANSWER};
use super::pace::Pace;
use super::prompt::{Peer, recognise};
use super::talk::Talk;
use super::{FlowChoice, Order, Stock, Watch};

/// The file that CP/M gets. RomWBW starts on its ROM drive; A is a drive that can be written.
const FILE: &str = "A:HWTESTS.COM";
/// The source of what stands before the program in that file.
const PROLOGUE: &str = include_str!("cpmldr.asm");
/// The longest wait for an answer of XM, whose first call comes after up to ten seconds.
const XM: Duration = Duration::from_secs(10);
/// The longest wait for the banner of a monitor that starts again: RomWBW's boot loader, CP/M's
/// warm boot from a disk.
const RESTARTS: Duration = Duration::from_secs(5);

/// The monitor that a board keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// The Small Computer Monitor.
    Scm,
    /// RomWBW's debug monitor.
    Romwbw,
    /// A ROM BASIC.
    Basic,
    /// CP/M with XM.
    Cpm,
}

/// A program for memory from 8000h on.
#[derive(Debug, Clone, Copy)]
pub struct Guest<'a> {
    /// Its bytes.
    pub image: &'a Image,
    /// Its entry address.
    pub entry: u16,
    /// The first address that neither it nor its variables need.
    pub top: u16,
}

impl Host {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Scm, Self::Romwbw, Self::Basic, Self::Cpm];

    /// Returns its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scm => "scm",
            Self::Romwbw => "romwbw",
            Self::Basic => "basic",
            Self::Cpm => "cpm",
        }
    }

    /// Returns the one of this name, or of the name of the loader that leads there.
    ///
    /// ```
    /// use rcflash_monitors::Host;
    /// assert_eq!(Host::named("cpm"), Some(Host::Cpm));
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "xmodem" => Some(Self::Cpm),
            name => Self::ALL.into_iter().find(|host| host.name() == name),
        }
    }

    /// Returns the one through which a program gets to a board where `peer` answers.
    #[must_use]
    pub fn of(peer: Peer) -> Option<Self> {
        match peer {
            Peer::Scm => Some(Self::Scm),
            Peer::RomwbwLoader | Peer::RomwbwMonitor => Some(Self::Romwbw),
            Peer::Basic => Some(Self::Basic),
            Peer::Cpm | Peer::XmodemReceiver | Peer::CpmMonitor => Some(Self::Cpm),
            Peer::Ours => None,
        }
    }

    /// Loads a program, has it read back, and starts it.
    ///
    /// # Errors
    /// What kept it from running, or the user.
    pub fn start(
        self,
        talk: &mut Talk,
        guest: Guest,
        watch: &mut dyn Watch,
    ) -> std::result::Result<(), LoaderError> {
        let stock = match self {
            Self::Scm => Stock::Scm,
            Self::Romwbw => Stock::Romwbw,
            Self::Basic => Stock::Basic,
            Self::Cpm => return start_file(talk, guest, watch),
        };
        let flow = FlowChoice::Auto;
        let order =
            Order { image: guest.image, entry: Some(guest.entry), verify: true, pace: None, flow };
        deliver(stock, talk, &order, watch).map(drop)
    }

    /// Waits for the monitor after the program has gone back to it, and puts things in their place
    /// there. Returns who is at its prompt.
    ///
    /// # Errors
    /// It does not come back, as RomWBW 2.9 does not, or the line failed.
    pub fn wait_for(self, talk: &mut Talk) -> std::result::Result<Peer, LoaderError> {
        const WHAT: &str = "waiting for the board's own monitor to come back";
        let heard = talk.hear_until(WHAT, RESTARTS, |heard| recognise(heard).is_some())?;
        // What looks like a prompt may be the middle of a banner.
        talk.give_back(&heard);
        let heard = talk.receive_until_quiet(WHAT, knock::QUIET, ANSWER)?;
        let Some(peer) = recognise(&heard) else {
            return Err(talk.silence(WHAT, RESTARTS));
        };
        match peer {
            // It asks for a cold or a warm start.
            Peer::Basic => drop(knock::knock(talk, WHAT, b"W")?),
            Peer::Cpm => cpm::erase(talk, FILE)?,
            _ => {}
        }
        Ok(peer)
    }
}

/// Brings a program to CP/M as a file, and starts that.
fn start_file(talk: &mut Talk, guest: Guest, watch: &mut dyn Watch) -> Result<()> {
    let bytes = command_file(guest)?;
    let Some(name) = CpmName::new(FILE) else { return Err(LoaderError::Empty) };
    let order = FileOrder {
        bytes: &bytes,
        name,
        program: Some("XM"),
        run: true,
        verify: true,
        replace: true,
        pace: Pace::FULL,
        flow: FlowChoice::Auto,
        patience: XM,
    };
    transfer(talk, &order, watch).map(drop)
}

/// The content of a .COM file that brings a program to its place and starts it.
fn command_file(guest: Guest) -> Result<Vec<u8>> {
    let Some((target, _)) = guest.image.bounds() else { return Err(LoaderError::Empty) };
    let bytes = guest.image.flat(0xFF);
    let defines = [
        ("TARGET", target),
        ("LENGTH", bytes.len() as u16),
        ("ENTRY", guest.entry),
        ("TOP", guest.top),
    ];
    let defines = defines.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let loader = MemoryLoader::new().with("cpmldr.asm", PROLOGUE);
    let options = Options { defines, ..Options::default() };
    // Its source is ours and the tests assemble it: it has no errors.
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
    use tdlasm::image::Run;

    #[test]
    fn every_peer_but_ours_leads_to_a_host_that_can_be_named() {
        for host in Host::ALL {
            assert_eq!(Host::named(host.name()), Some(host));
        }
        assert_eq!(Host::named("xmodem"), Some(Host::Cpm));
        assert_eq!(Host::named("monitor"), None);
        assert_eq!(Host::of(Peer::RomwbwLoader), Some(Host::Romwbw));
        assert_eq!(Host::of(Peer::Ours), None);
    }

    #[test]
    fn the_file_for_cpm_moves_the_program_up_and_jumps_to_it() {
        let image = Image::new([Run { address: 0x8400, bytes: vec![0xC9, 0x76] }]);
        let file = command_file(Guest { image: &image, entry: 0x8401, top: 0xD800 });
        let file = file.expect("it has bytes");
        // LD HL,(6); LD DE,D800h; OR A; SBC HL,DE; JR C,..
        assert_eq!(file[..10], [0x2A, 6, 0, 0x11, 0x00, 0xD8, 0xB7, 0xED, 0x52, 0x38]);
        let tail = (0x100 + file.len() - 2).to_le_bytes();
        // LD HL,tail; LD DE,8400h; LD BC,2; LDIR; JP 8401h
        let moves = [0x21, tail[0], tail[1], 0x11, 0, 0x84, 1, 2, 0, 0xED, 0xB0, 0xC3, 0x01, 0x84];
        assert_eq!(file[11..25], moves);
        assert_eq!(file[file.len() - 2..], [0xC9, 0x76]);
    }
}
