//! The Z80 sources, compiled into the program, so that builds do not depend on files.

use std::io;
use std::path::{Path, PathBuf};

use tdlasm::source::{DiskLoader, Loader, MemoryLoader};

/// The folder in which built-in sources are, as in `firmware:/crc16.asm`, apart from all files of
/// users.
pub const BUILT_IN_ROOT: &str = "firmware:/";

/// The evaluator's files.
#[cfg(feature = "evaluator")]
mod evaluator {
    use sargon_src::*;

    pub(super) const INCLUDED: &[(&str, &str)] = &[SARGON, NAMES];
    pub(super) const SHARED: &[(&str, &str)] =
        &[TABLES, DATA, NEWLST, ATTACK, ATKSAV, PNCK, PINFND, NEXTAD, POINTS, TRACE];
    pub(super) const CHOSEN: [(&str, &str); 3] = [XCHNG, XCHFST, SPREAD];
}

/// Without the evaluator, only monitor and debug kernel can be built.
#[cfg(not(feature = "evaluator"))]
mod evaluator {
    pub(super) const INCLUDED: &[(&str, &str)] = &[];
    pub(super) const SHARED: &[(&str, &str)] = &[];
    pub(super) const CHOSEN: [(&str, &str); 3] = [("", ""); 3];
}

/// Files included by others.
const INCLUDED: &[(&str, &str)] = &[
    ("wire.asm", include_str!("../../z80/wire.asm")),
    ("cobs.asm", include_str!("../../z80/cobs.asm")),
    ("start.asm", include_str!("../../z80/start.asm")),
    ("chkint.asm", include_str!("../../z80/chkint.asm")),
    ("memory.asm", include_str!("../../z80/memory.asm")),
    ("z180.asm", include_str!("../../z80/z180.asm")),
    ("ns550r.asm", include_str!("../../z80/ns550r.asm")),
    ("flow.asm", include_str!("../../z80/flow.asm")),
    ("drain.asm", include_str!("../../z80/drain.asm")),
    ("send.asm", include_str!("../../z80/send.asm")),
];

/// The files shared by monitor and application.
const SHARED: &[(&str, &str)] = &[
    ("common.asm", include_str!("../../z80/common.asm")),
    ("frame.asm", include_str!("../../z80/frame.asm")),
    ("ring.asm", include_str!("../../z80/ring.asm")),
    ("place.asm", include_str!("../../z80/place.asm")),
    ("crc16.asm", include_str!("../../z80/crc16.asm")),
];

/// The driver of the 68B50.
pub(crate) const ACIA: (&str, &str) = ("acia.asm", include_str!("../../z80/acia.asm"));

/// The driver of the SIO.
pub(crate) const SIO: (&str, &str) = ("sio.asm", include_str!("../../z80/sio.asm"));

/// The driver of a Z180's ASCI.
pub(crate) const ASCI: (&str, &str) = ("asci.asm", include_str!("../../z80/asci.asm"));

/// The driver of the 16C550.
pub(crate) const NS550: (&str, &str) = ("ns550.asm", include_str!("../../z80/ns550.asm"));

/// The boot monitor's own files.
const MONITOR: &[(&str, &str)] = &[
    ("reset.asm", include_str!("../../z80/reset.asm")),
    ("monitor.asm", include_str!("../../z80/monitor.asm")),
];

/// The monitor's further files where the board can write its flash.
pub(crate) const FLASH: &[(&str, &str)] = &[
    ("flash.asm", include_str!("../../z80/flash.asm")),
    ("flcmd.asm", include_str!("../../z80/flcmd.asm")),
    ("auto.asm", include_str!("../../z80/auto.asm")),
    ("crc32.asm", include_str!("../../z80/crc32.asm")),
];

/// The debug kernel's files. It shares no state with other programs, since it may stop any of them.
const KERNEL: &[(&str, &str)] = &[
    ("debug.asm", include_str!("../../z80/debug.asm")),
    ("polled.asm", include_str!("../../z80/polled.asm")),
    ("crc16.asm", include_str!("../../z80/crc16.asm")),
];

/// The application's files, without those of the evaluator.
const APPLICATION: &[(&str, &str)] = &[
    ("app.asm", include_str!("../../z80/app.asm")),
    ("positn.asm", include_str!("../../z80/positn.asm")),
    ("exhaust.asm", include_str!("../../z80/exhaust.asm")),
    ("sectns.asm", include_str!("../../z80/sectns.asm")),
    ("crc32.asm", include_str!("../../z80/crc32.asm")),
    ("crcrec.asm", include_str!("../../z80/crcrec.asm")),
    ("analys.asm", include_str!("../../z80/analys.asm")),
    ("status.asm", include_str!("../../z80/status.asm")),
];

/// The caller's files.
const CALLER: &[(&str, &str)] = &[
    ("caller.asm", include_str!("../../z80/caller.asm")),
    ("call.asm", include_str!("../../z80/call.asm")),
    ("count.asm", include_str!("../../z80/count.asm")),
    ("invoke.asm", include_str!("../../z80/invoke.asm")),
    ("crc32.asm", include_str!("../../z80/crc32.asm")),
    ("status.asm", include_str!("../../z80/status.asm")),
];

/// The additional file of a program that a stock monitor starts.
pub(crate) const HOSTED: (&str, &str) = ("hosted.asm", include_str!("../../z80/hosted.asm"));

/// XCHNG of the corrected and the original evaluator.
pub(crate) const XCHNG: (&str, &str) = evaluator::CHOSEN[0];

/// XCHNG of the fast evaluator, which does not call NEXTAD.
pub(crate) const FAST_XCHNG: (&str, &str) = evaluator::CHOSEN[1];

/// The fast evaluator's finding of attackers.
pub(crate) const SPREAD: (&str, &str) = evaluator::CHOSEN[2];

const LAYOUTS: &[(&str, &str)] = &[
    ("monitor", include_str!("../../layouts/monitor.toml")),
    ("flash-app", include_str!("../../layouts/flash-app.toml")),
    ("ram-app", include_str!("../../layouts/ram-app.toml")),
    ("hosted-app", include_str!("../../layouts/hosted-app.toml")),
    ("kernel", include_str!("../../layouts/kernel.toml")),
    ("caller", include_str!("../../layouts/caller.toml")),
    ("flash-caller", include_str!("../../layouts/flash-caller.toml")),
    ("hosted-caller", include_str!("../../layouts/hosted-caller.toml")),
];

/// A program of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramKind {
    /// The boot monitor, in ROM.
    Monitor,
    /// The application: the exchange evaluator behind the wire protocol.
    Application,
    /// The application at the addresses of flash.
    FlashApplication,
    /// The application beside the board's stock monitor.
    HostedApplication,
    /// The debug kernel, in the monitor's RAM.
    Kernel,
    /// The caller, which calls any routine for the host.
    Caller,
    /// The caller at the addresses of flash.
    FlashCaller,
    /// The caller beside the board's stock monitor.
    HostedCaller,
}

impl ProgramKind {
    /// The files to assemble, in link order.
    pub(crate) fn files(self) -> impl Iterator<Item = &'static str> {
        let (own, evaluator, common): (_, &[_], &[_]) = match self {
            Self::Monitor => (MONITOR, &[], SHARED),
            Self::Application | Self::FlashApplication | Self::HostedApplication => {
                (APPLICATION, evaluator::SHARED, SHARED)
            }
            Self::Kernel => (KERNEL, &[], &[]),
            Self::Caller | Self::FlashCaller | Self::HostedCaller => (CALLER, &[], SHARED),
        };
        own.iter().chain(evaluator).chain(common).map(|(name, _)| *name)
    }
}

/// Returns the path of a built-in source.
pub(crate) fn built_in_path(name: &str) -> PathBuf {
    format!("{BUILT_IN_ROOT}{name}").into()
}

/// The built-in sources, with the disk for override files.
#[derive(Clone)]
pub(crate) struct Sources {
    built_in: MemoryLoader,
    disk: Option<DiskLoader>,
}

impl Sources {
    /// Returns the built-in sources with other texts for some files.
    pub(crate) fn with_replaced(replaced: &[(&str, &str)]) -> Self {
        let with = |loader: MemoryLoader, (name, text): (&str, &str)| {
            loader.with(built_in_path(name), text)
        };
        let loader = built_in_files().fold(MemoryLoader::new(), with);
        Self { built_in: replaced.iter().copied().fold(loader, with), disk: None }
    }

    pub(crate) fn with_disk(&self) -> Self {
        Self { disk: Some(DiskLoader), ..self.clone() }
    }
}

impl Loader for Sources {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        match &self.disk {
            Some(disk) if !self.built_in.exists(path) => disk.load(path),
            _ => self.built_in.load(path),
        }
    }

    fn exists(&self, path: &Path) -> bool {
        self.built_in.exists(path) || self.disk.is_some_and(|disk| disk.exists(path))
    }
}

fn built_in_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    let chosen = [ACIA, SIO, ASCI, NS550, HOSTED].into_iter().chain(evaluator::CHOSEN);
    let lists = [INCLUDED, SHARED, MONITOR, FLASH, KERNEL, APPLICATION, CALLER];
    let evaluator = [evaluator::INCLUDED, evaluator::SHARED];
    lists.into_iter().chain(evaluator).flatten().copied().chain(chosen)
}

/// Returns the text of a built-in Z80 source by file name.
pub fn source(name: &str) -> Option<&'static str> {
    built_in_files().find(|(known, _)| *known == name).map(|(_, text)| text)
}

pub(crate) fn layout(name: &str) -> Option<&'static str> {
    LAYOUTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
