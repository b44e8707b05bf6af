//! What the evaluator may do on a simulated board.

use std::ops::Range;

use board_simulator::GuardConfig;
use firmware::build::BuiltImage;
use tdlasm::link::{PlacedSection, Program};
use tdlasm::module::SectionKind;

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
/// The routine that reports the program counter of what the interrupt service has interrupted.
const PC_REPORT: &str = "PCRPT";
/// Bytes below STACK that the evaluator may use: 256 (`sargon-src/README.md`), less what the
/// interrupt service takes, 10 bytes (`acia.asm`) and its return address.
const STACK_BYTES: u16 = 256 - 12;
/// Columns of the fast evaluator and its data page between them: 15 pages (`sargon.asm`).
const COLUMN_BYTES: u32 = 15 * 256;

/// Returns what the evaluator of an application may do.
pub(crate) fn guard(application: &BuiltImage) -> GuardConfig {
    let program = &application.program;
    let symbols = |names: &[&str]| names.iter().filter_map(|name| program.symbol(name)).collect();
    let code = program.sections.iter().filter(|section| section.kind == SectionKind::Prog);
    GuardConfig {
        code: code.map(PlacedSection::addresses).collect(),
        data: evaluator_data(application),
        stack_floor: program.symbol("STACK").unwrap_or(0).wrapping_sub(STACK_BYTES),
        routines: symbols(&ROUTINES),
        leaf_routines: symbols(&LEAF_ROUTINES),
        callbacks: symbols(&CALLBACKS),
        after_service: symbols(&[PC_REPORT]),
        case_routine: program.symbol("PINFND"),
        request_tag: program.symbol("REQ").unwrap_or(0).wrapping_add(1),
        identity: program.symbol("BUILD").map(|at| (at, application.build.to_le_bytes())),
    }
}

/// Returns the name of a routine of the evaluator.
pub(crate) fn routine_name(program: &Program, address: u16) -> Option<&'static str> {
    let is_there = |name: &&str| program.symbol(name) == Some(address);
    ROUTINES.into_iter().chain(LEAF_ROUTINES).find(is_there)
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
            data.push(section.addresses());
            continue;
        }
        let is_reserved =
            |at: &u32| u16::try_from(*at).is_ok_and(|at| program.image.byte(at).is_none());
        data.extend(section.addresses().filter(is_reserved).map(|at| at..at + 1));
    }
    data
}
