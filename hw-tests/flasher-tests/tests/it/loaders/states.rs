//! Every monitor in every recorded state, and the expected result of `probe`, `write --via` and
//! `run --via` in it. The example `loader-states` prints this table.

use board_simulator::UsbPacketing;
use monitor_standins::{
    Basic, Cpm, CpmMonitor, MonitorModel, MonitorOptions, Romwbw, Romwbw2, Scm, ScmRelease,
};

const HALF_A_RECORD: &str = ":1082000044444444444";
const A_RECORD: &str = ":018300005527\r";

/// A row of the table: the monitor, what was typed there before, what `probe` prints, and what
/// becomes of a program.
pub(crate) struct Row {
    pub(crate) monitor: &'static str,
    pub(crate) state: &'static str,
    peer: fn() -> Box<dyn MonitorModel>,
    typed: &'static str,
    pub(crate) prints: &'static str,
    pub(crate) way: ExpectedResult,
}

/// The loader for a monitor, and how the board is left after a run.
#[derive(Clone, Copy)]
pub(crate) enum ExpectedResult {
    /// The loader, and the monitor that is at its prompt again.
    Back(&'static str, &'static str),
    /// The same on a Z180 board, where the profile of a Z80 board is refused by `run`.
    Z180(&'static str, &'static str),
    /// The loader of a monitor that needs the reset button then.
    Reset(&'static str),
    /// The loader refuses: what a person has to do first, in words of the message.
    Refused(&'static str, &'static str),
}

const SCM: ExpectedResult = ExpectedResult::Back("scm", "the Small Computer Monitor");
const ROMWBW: ExpectedResult = ExpectedResult::Back("romwbw", "RomWBW's boot loader");
const ROMWBW2: ExpectedResult = ExpectedResult::Reset("romwbw");
const SCM_Z180: ExpectedResult = ExpectedResult::Z180("scm", "the Small Computer Monitor");
const ROMWBW_Z180: ExpectedResult = ExpectedResult::Z180("romwbw", "RomWBW's boot loader");
const BASIC: ExpectedResult = ExpectedResult::Back("basic", "a ROM BASIC");
const CPM: ExpectedResult = ExpectedResult::Back("cpm", "CP/M");
const BYE: ExpectedResult = ExpectedResult::Refused("basic", "type BYE there");
const BOOT: ExpectedResult = ExpectedResult::Refused("cpm", "boot CP/M there");

impl ExpectedResult {
    pub(crate) fn loader(self) -> &'static str {
        match self {
            Self::Back(loader, _)
            | Self::Z180(loader, _)
            | Self::Reset(loader)
            | Self::Refused(loader, _) => loader,
        }
    }
}

impl Row {
    /// The monitor in this state.
    pub(crate) fn prepared(&self) -> Box<dyn MonitorModel> {
        let mut peer = (self.peer)();
        let mut printed = Vec::new();
        for byte in self.typed.bytes() {
            peer.end_ignore_window();
            peer.receive(byte, &mut printed);
        }
        peer
    }
}

/// The lines on which all of it is tried in virtual time: characters as they come, in packets as an
/// adapter sends them, and both without flow control.
pub(crate) fn lines() -> [(&'static str, MonitorOptions); 4] {
    let usb = MonitorOptions { packets: UsbPacketing::Usb, ..MonitorOptions::default() };
    let deaf = |options| MonitorOptions { host_obeys_rts: false, ..options };
    [
        ("plain", MonitorOptions::default()),
        ("packets", usb),
        ("no flow control", deaf(MonitorOptions::default())),
        ("packets, no flow control", deaf(usb)),
    ]
}

/// The lines with flow control, for tests of the real programs: on the others the pace matters, and
/// on a busy computer that is not kept.
pub(crate) fn wired_lines() -> [(&'static str, MonitorOptions); 2] {
    let [plain, packets, ..] = lines();
    [plain, packets]
}

/// Returns `true` for the first row of a monitor.
pub(crate) fn is_first(index: usize) -> bool {
    index == 0 || TABLE[index - 1].monitor != TABLE[index].monitor
}

/// Tries the rows that `is_chosen` chooses by their index, some at a time; the problems.
pub(crate) fn each_row(
    is_chosen: impl Fn(usize) -> bool,
    test: impl Fn(usize, &Row) -> Vec<String> + Sync,
) {
    const AT_ONCE: usize = 8;
    let test = &test;
    let chosen: Vec<_> = TABLE.iter().enumerate().filter(|(index, _)| is_chosen(*index)).collect();
    let problems: Vec<String> = std::thread::scope(|scope| {
        let shares: Vec<_> = (0..AT_ONCE)
            .map(|share| {
                let rows = chosen.iter().skip(share).step_by(AT_ONCE);
                scope.spawn(move || {
                    rows.flat_map(|(index, row)| test(*index, row)).collect::<Vec<_>>()
                })
            })
            .collect();
        shares.into_iter().flat_map(|share| share.join().expect("no test panics")).collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

const fn row(
    monitor: &'static str,
    state: &'static str,
    peer: fn() -> Box<dyn MonitorModel>,
    typed: &'static str,
    prints: &'static str,
    way: ExpectedResult,
) -> Row {
    Row { monitor, state, peer, typed, prints, way }
}

fn scm10() -> Box<dyn MonitorModel> {
    Box::new(Scm::new(ScmRelease::R1))
}

fn scm13() -> Box<dyn MonitorModel> {
    Box::new(Scm::new(ScmRelease::S2V13))
}

fn scm180() -> Box<dyn MonitorModel> {
    Box::new(Scm::new(ScmRelease::S6V13))
}

fn loader180() -> Box<dyn MonitorModel> {
    Box::new(Romwbw::default().on_z180())
}

fn monitor180() -> Box<dyn MonitorModel> {
    Box::new(Romwbw::in_monitor().on_z180())
}

fn loader35() -> Box<dyn MonitorModel> {
    Box::<Romwbw>::default()
}

fn monitor35() -> Box<dyn MonitorModel> {
    Box::new(Romwbw::in_monitor())
}

fn basic35() -> Box<dyn MonitorModel> {
    Box::new(Romwbw::in_basic())
}

fn loader29() -> Box<dyn MonitorModel> {
    Box::<Romwbw2>::default()
}

fn monitor29() -> Box<dyn MonitorModel> {
    Box::new(Romwbw2::in_monitor())
}

fn searle() -> Box<dyn MonitorModel> {
    Box::new(Basic::default().with_line(10, "PRINT 7"))
}

fn searle_top() -> Box<dyn MonitorModel> {
    Box::new(Basic::default().at_memory_prompt())
}

fn searle_question() -> Box<dyn MonitorModel> {
    Box::new(Basic::default().with_line(10, "PRINT 7").at_start_prompt())
}

fn feilipu() -> Box<dyn MonitorModel> {
    Box::new(Basic::feilipu().with_line(10, "PRINT 7"))
}

fn feilipu_question() -> Box<dyn MonitorModel> {
    Box::new(Basic::feilipu().with_line(10, "PRINT 7").at_start_prompt())
}

fn cpm() -> Box<dyn MonitorModel> {
    Box::new(Cpm::quick())
}

fn xm() -> Box<dyn MonitorModel> {
    Box::new(Cpm::quick().with_pending_upload("T.COM"))
}

fn deaf() -> Box<dyn MonitorModel> {
    Box::new(CpmMonitor::not_activated())
}

fn cpm_monitor() -> Box<dyn MonitorModel> {
    Box::<CpmMonitor>::default()
}

const SCM10: &str = "Small Computer Monitor 1.0.0";
const SCM13: &str = "Small Computer Monitor 1.3.0";
const ROMWBW35: &str = "RomWBW 3.5.1's debug monitor";
const LOADER35: &str = "RomWBW 3.5's boot loader";
const ROMWBW29: &str = "RomWBW 2.9.1's debug monitor";
const LOADER29: &str = "RomWBW 2.9's boot loader (guessed)";
const CPM22: &str = "CP/M 2.2 (guessed)";
const FACTORY: &str = "the factory's CP/M monitor 1.1 (guessed)";
const SEARLE: &str = "ROM BASIC 4.7b (G. Searle's)";
const FEILIPU: &str = "ROM BASIC 4.7c (feilipu's)";

pub(crate) const TABLE: [Row; 46] = [
    row("SCM 1.0.0", "prompt", scm10, "", SCM10, SCM),
    row("SCM 1.0.0", "half a line", scm10, "G 900", SCM10, SCM),
    row("SCM 1.0.0", "a dump waits for a key", scm10, "M 8000\r", SCM10, SCM),
    row("SCM 1.0.0", "between two records", scm10, A_RECORD, SCM10, SCM),
    row("SCM 1.0.0", "half a record", scm10, HALF_A_RECORD, SCM10, SCM),
    row("SCM 1.0.0", "assembler", scm10, "A 8000\r", SCM10, SCM),
    row("SCM 1.3.0", "prompt", scm13, "", SCM13, SCM),
    row("SCM 1.3.0", "half a line", scm13, "F 8000 9000 5", SCM13, SCM),
    row("SCM 1.3.0", "a dump waits for a key", scm13, "M 8000\r", SCM13, SCM),
    row("SCM 1.3.0", "between two records", scm13, A_RECORD, SCM13, SCM),
    row("SCM 1.3.0", "half a record", scm13, HALF_A_RECORD, SCM13, SCM),
    row("RomWBW 3.5.1", "boot loader", loader35, "", LOADER35, ROMWBW),
    row("RomWBW 3.5.1", "boot loader, half a line", loader35, "R", LOADER35, ROMWBW),
    row("RomWBW 3.5.1", "debug monitor", monitor35, "", ROMWBW35, ROMWBW),
    row("RomWBW 3.5.1", "half a line", monitor35, "F 8000 9000 5", ROMWBW35, ROMWBW),
    row("RomWBW 3.5.1", "a load waits", monitor35, "L\r", ROMWBW35, ROMWBW),
    row("RomWBW 3.5.1", "half a record", monitor35, "L\r:1082000044444444444", ROMWBW35, ROMWBW),
    row("RomWBW 3.5.1", "its BASIC", basic35, "\r", "RomWBW's ROM BASIC 4.7b", BYE),
    row("SCM 1.3.0, Z180", "prompt", scm180, "", SCM13, SCM_Z180),
    row("SCM 1.3.0, Z180", "a dump waits for a key", scm180, "M 8000\r", SCM13, SCM_Z180),
    row("SCM 1.3.0, Z180", "half a record", scm180, HALF_A_RECORD, SCM13, SCM_Z180),
    row("RomWBW 3.5.1, Z180", "boot loader", loader180, "", LOADER35, ROMWBW_Z180),
    row("RomWBW 3.5.1, Z180", "debug monitor", monitor180, "", ROMWBW35, ROMWBW_Z180),
    row("RomWBW 3.5.1, Z180", "half a line", monitor180, "F 8000 9000 5", ROMWBW35, ROMWBW_Z180),
    row("RomWBW 3.5.1, Z180", "a load waits", monitor180, "L\r", ROMWBW35, ROMWBW_Z180),
    row(
        "RomWBW 3.5.1, Z180",
        "half a record",
        monitor180,
        "L\r:1082000044444444444",
        ROMWBW35,
        ROMWBW_Z180,
    ),
    row("RomWBW 2.9.1", "boot loader", loader29, "", LOADER29, ROMWBW2),
    row("RomWBW 2.9.1", "debug monitor", monitor29, "", ROMWBW29, ROMWBW2),
    row("RomWBW 2.9.1", "half a line", monitor29, "F 8000 9000 5", ROMWBW29, ROMWBW2),
    row("RomWBW 2.9.1", "a load waits", monitor29, "H\r", ROMWBW29, ROMWBW2),
    row("RomWBW 2.9.1", "between two records", monitor29, "H\r:018300005527\r", ROMWBW29, ROMWBW2),
    row("RomWBW 2.9.1", "half a record", monitor29, "H\r:1082000044444444444", ROMWBW29, ROMWBW2),
    row("BASIC 4.7b", "`Memory top?`", searle_top, "", SEARLE, BASIC),
    row("BASIC 4.7b", "`Ok`", searle, "", SEARLE, BASIC),
    row("BASIC 4.7b", "half a line", searle, "10 PRINT 5", SEARLE, BASIC),
    row("BASIC 4.7b", "`Cold or warm start`", searle_question, "", SEARLE, BASIC),
    row("BASIC 4.7b", "output switched off", searle, "\x0F", SEARLE, BASIC),
    row("BASIC 4.7c", "`Ok`", feilipu, "", FEILIPU, BASIC),
    row("BASIC 4.7c", "`Cold \\| Warm start`", feilipu_question, "", FEILIPU, BASIC),
    row("BASIC 4.7c", "HLOAD waits", feilipu, "HLOAD\r", FEILIPU, BASIC),
    row(
        "BASIC 4.7c",
        "HLOAD, half a record",
        feilipu,
        "HLOAD\r:1092000044444444444",
        FEILIPU,
        BASIC,
    ),
    row("CP/M 2.2", "prompt", cpm, "", CPM22, CPM),
    row("CP/M 2.2", "half a line", cpm, "ERA *.", CPM22, CPM),
    row("CP/M 2.2", "XM 12.5 waits", xm, "", "an XMODEM receiver", CPM),
    row("CP/M monitor 1.1", "waits for a blank", deaf, "", FACTORY, BOOT),
    row("CP/M monitor 1.1", "prompt", cpm_monitor, "", FACTORY, BOOT),
];
