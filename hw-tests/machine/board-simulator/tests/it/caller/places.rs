//! The memory of the caller, and its other requests.

use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::{Reply, Request, Role, crc16};
use rcflash_link::caller::{Caller, CallerError};
use rcflash_link::loader::{self, LoadError};

use super::bench::{BOARDS, Bench, CALL_TIME};

#[test]
fn the_caller_identifies_itself_and_leads_back_to_the_monitor() {
    for board in BOARDS {
        let mut bench = Bench::new(board);
        let identity = bench.caller.identity().clone();
        assert_eq!((identity.role, identity.build_id), (Role::Caller, bench.image.build));
        assert_eq!(identity.load_range, (0x8000, 0xDDFF));
        let monitor = loader::enter_monitor(&mut bench.link).expect("RESET leads there");
        assert_eq!(monitor.role, Role::Monitor);
        let failed = Caller::attach(&mut bench.link);
        assert!(matches!(failed, Err(CallerError::NotCaller(_))), "{failed:?}");
    }
}

#[test]
fn callers_in_flash_and_beside_a_stock_monitor_call_and_lead_back_as_well() {
    let kinds = [(BOARDS[0], ProgramKind::HostedCaller), (BOARDS[1], ProgramKind::HostedCaller)];
    for (board, kind) in kinds.into_iter().chain([(BOARDS[1], ProgramKind::FlashCaller)]) {
        let mut bench = Bench::with_caller(board, kind);
        assert_eq!(bench.caller.identity().build_id, bench.image.build, "{board}, {kind:?}");
        let results = bench.make(&vec![bench.call("DEEP", &[]); 40]).expect("made");
        assert!(results.iter().all(|one| one.status.faults() == 0));
        let [last] = &bench.make(&[bench.call("DEEP", &[])]).expect("made")[..] else { panic!() };
        assert_eq!((last.status.0, last.stack_used), (0, 20), "{board}, {kind:?}");
        let first = bench.caller.identity().load_range.0;
        let failed = bench.caller.upload(&mut bench.link, first - 1, &[1]);
        assert!(failed.is_err(), "{board}, {kind:?}");
        let monitor = loader::enter_monitor(&mut bench.link).expect("RESET leads there");
        assert_eq!(monitor.role, Role::Monitor);
    }
}

#[test]
fn programs_are_verified_in_the_memory_that_is_theirs_only() {
    let mut bench = Bench::new(BOARDS[0]);
    let bytes: Vec<u8> = (0..3000_u32).map(|number| ((number * 31) >> 3) as u8).collect();
    bench.caller.upload(&mut bench.link, 0x9000, &bytes).expect("there is room");
    assert_eq!(bench.board.dump(0x9000, bytes.len()), bytes);
    let again = bench.caller.upload(&mut bench.link, 0x9000, &bytes).expect("there is room");
    assert_eq!(again.sent, 0, "it was there");
    let failed = bench.caller.upload(&mut bench.link, 0xDDFF, &[1, 2]);
    assert!(matches!(failed, Err(CallerError::Load(LoadError::DoesNotFit { .. }))));
}

#[test]
fn status_shows_whether_the_caller_was_overwritten() {
    for board in BOARDS {
        let mut bench = Bench::new(board);
        let status = |bench: &mut Bench| match bench.link.request(
            "status",
            &Request::Status,
            CALL_TIME * 10,
        ) {
            Ok(Reply::Status(status)) => status,
            other => panic!("{other:?}"),
        };
        bench.make(&vec![bench.call("DEEP", &[]); 30]).expect("made");
        let before = status(&mut bench);
        assert_eq!(before.crc, crc16(&bench.image.bytes), "{board}");
        assert_eq!((before.lost, before.interrupts_off), (0, 0));
        assert!(before.stack_free > 64, "{board}: {} bytes", before.stack_free);
        bench.board.poke(bench.image.address + 0x20, &[0x99]);
        assert_ne!(status(&mut bench).crc, before.crc);
    }
}

/// Returns the addresses that a caller uses, by its sections and the symbols of its layout.
fn is_used(kind: ProgramKind, profile: &BoardProfile) -> Vec<(u32, u32)> {
    let image = build(profile, kind).unwrap_or_else(|error| panic!("{error}"));
    let at = |name| u32::from(image.program.symbol(name).unwrap_or_else(|| panic!("no {name}")));
    let sections = image.program.sections.iter().filter(|section| section.size > 0);
    let mut used: Vec<_> =
        sections.map(|one| (u32::from(one.address), u32::from(one.address) + one.size)).collect();
    used.push((at("STKEND"), at("STACK")));
    used.push((at("CALSTK"), at("CALSTK") + 256));
    used.push((at("IMTAB"), at("IMTAB") + 257));
    used.push((at("IMJUMP"), at("IMJUMP") + 3));
    used.sort_unstable();
    used
}

#[test]
fn nothing_of_the_caller_overlaps_or_lies_where_programs_may() {
    let cases = [
        (ProgramKind::Caller, 0xDE00, 0xFFF0),
        (ProgramKind::FlashCaller, 0xEA00, 0xFFF0),
        (ProgramKind::HostedCaller, 0xB400, 0xD800),
    ];
    for name in BoardProfile::names() {
        let profile = BoardProfile::named(name).expect("it ships");
        for (kind, first, end) in cases {
            if kind == ProgramKind::FlashCaller && profile.flash_application.is_none() {
                continue;
            }
            let used = is_used(kind, &profile);
            for pair in used.windows(2) {
                assert!(pair[0].1 <= pair[1].0, "{name}, {kind:?}: {pair:X?} overlap");
            }
            let image = build(&profile, kind).unwrap_or_else(|error| panic!("{error}"));
            let load_hi = image.program.symbol("LOADHI").map(u32::from);
            assert_eq!(load_hi, Some(first - 1), "{name}, {kind:?}");
            let in_ram = used.iter().filter(|(start, _)| *start >= 0x8000);
            assert!(
                in_ram.clone().all(|(start, stop)| *start >= first && *stop <= end),
                "{name}, {kind:?}: {used:X?}"
            );
        }
    }
}

#[test]
fn below_the_stack_for_routines_a_page_is_free() {
    for name in BoardProfile::names() {
        let profile = BoardProfile::named(name).expect("it ships");
        for kind in [ProgramKind::Caller, ProgramKind::HostedCaller] {
            let used = is_used(kind, &profile);
            let image = build(&profile, kind).unwrap_or_else(|error| panic!("{error}"));
            let stack = u32::from(image.program.symbol("CALSTK").expect("the layout sets it"));
            let is_free = |(start, end): &(u32, u32)| *end <= stack - 0xF0 || *start >= stack;
            assert!(used.iter().all(is_free), "{name}, {kind:?}: {used:X?}");
        }
    }
}
