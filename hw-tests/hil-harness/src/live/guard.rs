//! Watches the evaluator on a simulated board: what it must not do is a finding of the case whose
//! request ran, even if all values are right.

use std::ops::Range;

use board_simulator::{Guard, GuardConfig, Violation, ViolationKind};
use firmware::build::BuiltImage;
use tdlasm::link::PlacedSection;
use tdlasm::module::SectionKind;

use super::LiveBoard;

/// Modules of the application that are not part of the evaluator.
const APPLICATION_MODULES: [&str; 17] = [
    "APP", "POSITN", "EXHAUS", "SECTNS", "CRC32", "CRCREC", "ANALYS", "TRACE", "COMMON", "FRAME",
    "RING", "PLACE", "CRC16", "ACIA", "SIO", "HOSTED", "STATS",
];
/// Routines of the evaluator whose calls are checked one by one.
const ROUTINES: [&str; 4] = ["POINTS", "PINFND", "ATTACK", "XCHNG"];
/// Routines of the evaluator that the application calls, too.
const LEAF_ROUTINES: [&str; 4] = ["NEWLST", "NEXTAD", "ATKSAV", "PNCK"];
/// Routines of the application that POINTS calls for each square.
const CALLBACKS: [&str; 2] = ["ADDREC", "FOLD"];
/// Bytes below STACK that the evaluator may use: 256 (`sargon-src/README.md`), less what the
/// interrupt service takes, 10 bytes (`acia.asm`) and its return address.
const STACK_BYTES: u16 = 256 - 12;
/// Columns of the fast evaluator and its data page between them: 15 pages (`sargon.asm`).
const COLUMN_BYTES: u32 = 15 * 256;

/// What code under test did wrong during a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The sequence number of the request.
    pub seq: u8,
    /// The index of the position within the request, counted on if the board repeats it.
    pub position: usize,
    /// What was done, by which routine, and where.
    pub reason: String,
}

/// Creates the guard for an application.
pub(super) fn guard(application: &BuiltImage) -> Guard {
    let program = &application.program;
    let symbols = |names: &[&str]| names.iter().filter_map(|name| program.symbol(name)).collect();
    let code = program.sections.iter().filter(|section| section.kind == SectionKind::Prog);
    Guard::new(&GuardConfig {
        code: code.map(range).collect(),
        data: evaluator_data(application),
        stack_floor: program.symbol("STACK").unwrap_or(0).wrapping_sub(STACK_BYTES),
        routines: symbols(&ROUTINES),
        leaf_routines: symbols(&LEAF_ROUTINES),
        callbacks: symbols(&CALLBACKS),
        position_routine: program.symbol("PINFND"),
        request_tag: program.symbol("REQ").unwrap_or(0).wrapping_add(1),
        identity: program.symbol("BUILD").map(|at| (at, application.build.to_le_bytes())),
    })
}

fn range(section: &PlacedSection) -> Range<u32> {
    let start = u32::from(section.address);
    start..start + section.size
}

/// Returns what the evaluator may write: its data page, the columns of the fast one, the data
/// sections of its modules, and space that they reserve among their code.
fn evaluator_data(application: &BuiltImage) -> Vec<Range<u32>> {
    let program = &application.program;
    let page = program.symbol("BOARDA").map(u32::from).map(|start| start..start + 0x100);
    let columns = program.symbol("SPREAD").and_then(|_| program.symbol("COLUMN"));
    let columns = columns.map(|page| u32::from(page) << 8).map(|at| at..at + COLUMN_BYTES);
    let mut data: Vec<_> = page.into_iter().chain(columns).collect();
    let is_evaluator =
        |section: &&PlacedSection| !APPLICATION_MODULES.contains(&section.module.as_str());
    for section in program.sections.iter().filter(is_evaluator) {
        if section.kind != SectionKind::Prog {
            data.push(range(section));
            continue;
        }
        let is_reserved =
            |at: &u32| u16::try_from(*at).is_ok_and(|at| program.image.byte(at).is_none());
        data.extend(range(section).filter(is_reserved).map(|at| at..at + 1));
    }
    data
}

/// Returns what a violation is, as the rest of a sentence that begins with the routine.
fn describe(kind: ViolationKind) -> String {
    match kind {
        ViolationKind::Write { address, value } => {
            format!("wrote {address:04X}H outside its data (value {value:02X}H)")
        }
        ViolationKind::CodeWrite { address, value } => {
            format!("wrote {address:04X}H in program memory (value {value:02X}H)")
        }
        ViolationKind::StackPointer { sp } => {
            format!("moved the stack pointer to {sp:04X}H, outside its stack")
        }
        ViolationKind::StackNotRestored { sp, expected } => {
            format!("returned with the stack pointer at {sp:04X}H instead of {expected:04X}H")
        }
        ViolationKind::WrongReturn { address, expected } => {
            format!("returned to {address:04X}H instead of its caller at {expected:04X}H")
        }
        ViolationKind::InterruptsOff => "returned with interrupts off".to_owned(),
        ViolationKind::InterruptLatency { max, .. } => {
            format!("kept interrupts off for more than {max} T-states, in which bytes are lost")
        }
        ViolationKind::InterruptVectoring { mode, i } => {
            format!("changed interrupt mode or register I (now IM{mode}, I = {i:02X}H)")
        }
        ViolationKind::Output { port, value } => format!("wrote {value:02X}H to port {port:02X}H"),
        ViolationKind::Input { port } => format!("read port {port:02X}H"),
        ViolationKind::Halt => "executed HLT".to_owned(),
        ViolationKind::LeftCode { address } => {
            format!("left the program's code for {address:04X}H")
        }
        ViolationKind::Restart => "reached 0000H, which restarts the board".to_owned(),
    }
}

impl LiveBoard {
    /// Takes the violations of a request.
    pub(super) fn claim_findings(&mut self, seq: u8) -> Vec<Finding> {
        self.collect_violations();
        let claimed: Vec<_> =
            self.violations.extract_if(.., |violation| violation.request_tag == seq).collect();
        claimed.iter().map(|violation| self.finding(violation)).collect()
    }

    /// Takes all violations that no reply has claimed, as after the board was lost.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        self.collect_violations();
        let all = std::mem::take(&mut self.violations);
        all.iter().map(|violation| self.finding(violation)).collect()
    }

    fn collect_violations(&mut self) {
        if let Some(board) = self.board.instrumentation() {
            self.violations.extend(board.take_violations());
        }
    }

    fn finding(&self, violation: &Violation) -> Finding {
        let Violation { kind, routine, pc, request_tag, position, .. } = *violation;
        let routine = self.routine_name(routine);
        let place = self.describe_address(pc);
        let reason = format!("{routine} {}: {place}", describe(kind));
        Finding { seq: request_tag, position, reason }
    }

    fn routine_name(&self, at: u16) -> &'static str {
        let program = &self.programs.application.program;
        let is_there = |name: &&str| program.symbol(name) == Some(at);
        ROUTINES.into_iter().chain(LEAF_ROUTINES).find(is_there).unwrap_or("the evaluator")
    }
}
