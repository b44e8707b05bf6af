//! The built images: sizes, addresses, and constants equal to those of the Rust side of the
//! protocol.

use firmware::ProgramKind;
use firmware::build::{BuildError, build, build_id, build_with};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use firmware_wire::{self as wire, flash_program};

fn classic() -> BoardProfile {
    BoardProfile::named("rc2014-classic").expect("it ships")
}

#[test]
fn the_monitor_fits_the_boot_sector_of_every_board() {
    for name in BoardProfile::names() {
        let profile = BoardProfile::named(name).expect("it ships");
        let image = build(&profile, ProgramKind::Monitor).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(image.address, 0);
        assert!(
            image.bytes.len() <= flash_program::HEADER_ADDRESS.into(),
            "{name}: {} bytes",
            image.bytes.len()
        );
    }
}

#[test]
fn the_debug_kernel_has_the_constants_of_the_wire_and_one_address_for_restarts_with_the_monitor() {
    for name in BoardProfile::names() {
        let profile = BoardProfile::named(name).expect("it ships");
        let built = |kind| build(&profile, kind).unwrap_or_else(|error| panic!("{error}"));
        let (kernel, monitor) = (built(ProgramKind::Kernel), built(ProgramKind::Monitor));
        let symbol = |name| kernel.program.symbol(name);
        assert_eq!((kernel.address, symbol("DEBUG")), (0xF000, Some(0xF000)));
        assert_eq!(symbol("BPMAX"), Some(wire::MAX_BREAKPOINTS as u16));
        let vector = symbol("KVECT").expect("the layout sets it");
        assert_eq!(monitor.program.symbol("KVECT"), Some(vector));
        let [low, high] = vector.to_le_bytes();
        assert_eq!(monitor.bytes[0x30..0x33], [0xC3, low, high], "{name}: RST 6 leads there");
        let length = symbol("KLEN").expect("it is defined");
        assert!(kernel.bytes.len() <= length.into(), "{name}: {} bytes", kernel.bytes.len());
    }
}

#[test]
fn the_application_for_flash_stands_behind_its_header_and_only_where_flash_is() {
    let zed = BoardProfile::named("rc2014-zed").expect("it ships");
    let image = build(&zed, ProgramKind::FlashApplication).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(image.address, flash_program::PROGRAM_ADDRESS);
    assert_eq!(image.program.symbol("APP"), Some(flash_program::PROGRAM_ADDRESS));
    assert!(image.bytes.len() <= flash_program::MAX_PROGRAM_BYTES);
    let refused = build(&classic(), ProgramKind::FlashApplication);
    assert!(matches!(refused, Err(BuildError::NoFlash(board)) if board == "rc2014-classic"));
}

#[test]
fn both_sides_have_the_same_constants_of_flash() {
    use wire::{ErrorCode, kind};
    let zed = BoardProfile::named("rc2014-zed").expect("it ships");
    let image = build(&zed, ProgramKind::Monitor).unwrap_or_else(|e| panic!("{e}"));
    let constants: &[(&str, u16)] = &[
        ("T.CHIP", kind::CHIP.into()),
        ("T.ERAS", kind::ERASE.into()),
        ("T.PROG", kind::PROGRAM.into()),
        ("T.FCRC", kind::FLASH_CRC.into()),
        ("T.VRFY", kind::FLASH_VERIFY.into()),
        ("T.FRED", kind::FLASH_READ.into()),
        ("T.BOOT", kind::BOOT.into()),
        ("E.CHIP", ErrorCode::Chip.code().into()),
        ("E.PROT", ErrorCode::Protected.code().into()),
        ("E.TIME", ErrorCode::Timeout.code().into()),
        ("E.VRFY", ErrorCode::Verify.code().into()),
        ("SLOT", flash_program::HEADER_ADDRESS),
        ("SLOTLN", flash_program::HEADER_BYTES as u16),
    ];
    for (name, value) in constants {
        assert_eq!(image.program.symbol(name), Some(*value), "{name}");
    }
}

#[test]
fn the_application_starts_with_its_entry_and_fits_six_kilobytes() {
    for behaviour in Behaviour::ALL {
        let evaluator = Evaluator { behaviour, own: None };
        let image = build_with(&classic(), ProgramKind::Application, &evaluator)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(image.address, 0x8000);
        assert_eq!(image.program.symbol("APP"), Some(0x8000));
        assert!(image.bytes.len() <= 0x1800, "{behaviour}: {} bytes", image.bytes.len());
    }
}

#[test]
fn the_hosted_application_leaves_the_memory_of_every_stock_monitor_alone() {
    // 8400h: behind BASIC's variables; D800h: BDOS of a CP/M with a TPA of 54 KiB.
    let free = 0x8400..0xD800;
    for name in BoardProfile::names() {
        let profile = BoardProfile::named(name).expect("it ships");
        for behaviour in Behaviour::ALL {
            let evaluator = Evaluator { behaviour, own: None };
            let image = build_with(&profile, ProgramKind::HostedApplication, &evaluator)
                .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((image.address, image.program.symbol("APP")), (0x8400, Some(0x8400)));
            let sections = image.program.sections.iter();
            // The page of the fast evaluator's data is reserved from address 0 on.
            for section in sections.filter(|section| section.address > 0 && section.size > 0) {
                let last = u32::from(section.address) + section.size - 1;
                let is_free = free.contains(&section.address) && last < u32::from(free.end);
                assert!(is_free, "{name}, {behaviour}: {section:?}");
            }
            let stack = image.program.symbol("STACK").expect("the layout sets it");
            assert!(free.contains(&stack));
        }
    }
}

#[test]
fn the_build_id_is_in_the_image_and_is_its_crc() {
    let image =
        build(&classic(), ProgramKind::Application).unwrap_or_else(|error| panic!("{error}"));
    let at = usize::from(image.program.symbol("BUILD").expect("it has one") - image.address);
    assert_eq!(image.bytes[at..at + 4], image.build.to_le_bytes());
    assert_eq!(build_id(&image.bytes, at), image.build);
}

#[test]
fn the_application_has_its_length_and_256_bytes_of_stack() {
    use ProgramKind::{Application, FlashApplication, HostedApplication};
    for name in BoardProfile::names() {
        let profile = BoardProfile::named(name).expect("it ships");
        for kind in [Application, FlashApplication, HostedApplication] {
            let Ok(image) = build(&profile, kind) else { continue };
            let at = |symbol| image.program.symbol(symbol).expect("status.asm's");
            let length = usize::from(at("IMGLEN") - image.address);
            let stored = u16::from_le_bytes([image.bytes[length], image.bytes[length + 1]]);
            assert_eq!(usize::from(stored), image.bytes.len(), "{name}, {kind:?}");
            assert_eq!(at("APP"), image.address, "{name}, {kind:?}");
            assert_eq!(at("STACK") - at("STKEND"), 256, "{name}, {kind:?}");
        }
    }
}

#[test]
fn the_build_id_is_zlibs_crc_with_the_field_as_zeros() {
    // CRC-32 of "12340000" + 4 zeros would need a table; the catalogue's check is of "123456789".
    let bytes = b"123456789";
    assert_eq!(build_id(bytes, 9), build_id(b"123456789\xAA\xBB\xCC\xDD", 9));
    let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
    assert_eq!(crc.checksum(bytes), 0xCBF4_3926);
    assert_eq!(build_id(b"12345678", 4), crc.checksum(b"1234\0\0\0\0"));
}

#[test]
fn both_sides_of_the_wire_have_the_same_constants() {
    use wire::{capability, danger, kind, status, step};
    let image =
        build(&classic(), ProgramKind::Application).unwrap_or_else(|error| panic!("{error}"));
    let monitor = build(&classic(), ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    let bytes: &[(&str, u8)] = &[
        ("PROTO", wire::PROTOCOL_VERSION),
        ("T.IDNT", kind::IDENT),
        ("T.RSET", kind::RESET),
        ("T.IDLE", kind::IDLE),
        ("T.STUS", kind::STATUS),
        ("T.WRIT", kind::WRITE),
        ("T.CRC", kind::CRC),
        ("T.READ", kind::READ),
        ("T.RUN", kind::RUN),
        ("T.XCHG", kind::EXCHANGE),
        ("T.POSN", kind::POSITION),
        ("T.PEND", kind::POSITION_END),
        ("T.XHST", kind::EXHAUST),
        ("T.PNTS", kind::POINTS),
        ("T.TRCE", kind::TRACE),
        ("T.STAT", kind::STATE),
        ("T.SET", kind::SET),
        ("T.GO", kind::GO),
        ("T.STOP", kind::STOPPED + wire::REPLY_BIT),
        ("T.REPL", wire::REPLY_BIT),
        ("T.PLCE", kind::PC_REPORT + wire::REPLY_BIT),
        ("T.ERR", wire::ERROR_REPLY),
        ("E.TYPE", wire::ErrorCode::UnknownType.code()),
        ("E.LEN", wire::ErrorCode::BadLength.code()),
        ("E.ADDR", wire::ErrorCode::Address.code()),
        ("E.READ", wire::ErrorCode::ReadBack.code()),
        ("E.ARG", wire::ErrorCode::BadArgument.code()),
        ("E.DMGD", wire::ErrorCode::CorruptedFrame.code()),
        ("E.OVRN", wire::ErrorCode::Overrun.code()),
        ("MAXPAY", wire::MAX_PAYLOAD as u8),
        ("MAXENC", wire::MAX_ENCODED as u8),
        ("MAXBLK", wire::MAX_BLOCK as u8),
        ("BODY", wire::BODY_OVERHEAD as u8),
        ("ZRUN", wire::LOCATE_SEQUENCE[1..].len() as u8),
        ("RECORD", wire::SQUARE_RECORD_BYTES as u8),
        ("RECMAX", wire::MAX_SQUARES_PER_FRAME as u8),
        ("ROLE.M", b'M'),
        ("ROLE.A", b'A'),
        ("ROLE.K", b'K'),
        ("C.RAM", capability::LOADS_RAM),
        ("C.FLSH", capability::WRITES_FLASH),
        ("C.XCHG", capability::EXCHANGE),
        ("C.POSN", capability::POSITION),
        ("C.ORIG", capability::ORIGINAL),
        ("C.XHST", capability::EXHAUST),
        ("SPCNUM", wire::EXHAUST_SPACES),
        ("BINNUM", wire::RESIDUE_BINS as u8),
        ("C.PNTS", capability::POINTS),
        ("C.TRCE", capability::TRACE),
        ("T.CHKS", kind::CHECKS),
        ("T.CALL", kind::CALL),
        ("T.CNT", kind::COUNT),
        ("ROLE.C", b'C'),
        ("PAIRS", wire::REGISTER_PAIRS as u8),
        ("CNTMAX", wire::MAX_COUNTED_BYTES as u8),
        ("S.SP", wire::CallStatus::STACK_POINTER),
        ("S.OFF", wire::CallStatus::INTERRUPTS_OFF),
        ("S.OVFL", wire::CallStatus::STACK_OVERFLOW),
        ("S.LOST", wire::CallStatus::BYTES_LOST),
        ("S.INT", wire::CallStatus::INTERRUPTED),
        ("POSLEN", wire::POSITION_BYTES as u8),
        ("C.CHKS", wire::extended_capability::CHECKS as u8),
        ("C.IDLE", wire::extended_capability::IDLE as u8),
        ("C.STUS", wire::extended_capability::STATUS as u8),
    ];
    for (name, value) in bytes {
        for program in [&image.program, &monitor.program] {
            assert_eq!(program.symbol(name), Some(u16::from(*value)), "{name}");
        }
    }
    let steps: &[(&str, u8)] = &[
        ("S.TAKE", step::TAKES),
        ("S.LAST", step::TAKES_LAST),
        ("S.HELP", step::NEEDS_HELP),
        ("S.ALON", step::HAS_NO_HELP),
        ("S.STOP", step::STOPS),
        ("S.LEN", wire::STEP_BYTES as u8),
    ];
    for (name, value) in steps {
        assert_eq!(image.program.symbol(name), Some(u16::from(*value)), "{name}");
    }
    let bit = |name| image.program.symbol(name).map(|bit| 1u8 << bit);
    assert_eq!(bit("B.OVER"), Some(status::OVERFLOW));
    assert_eq!(bit("B.SHRT"), Some(status::SHORT));
    assert_eq!(bit("B.DNGR"), Some(danger::ARTICLE));
    assert_eq!(bit("B.ORG"), Some(danger::ORIGINAL));
}

#[test]
fn the_caller_has_its_registers_and_the_stack_for_routines_where_it_needs_them() {
    use ProgramKind::{Caller, FlashCaller, HostedCaller};
    for name in BoardProfile::names() {
        let profile = BoardProfile::named(name).expect("it ships");
        for kind in [Caller, FlashCaller, HostedCaller] {
            let Ok(image) = build(&profile, kind) else { continue };
            let at = |symbol| image.program.symbol(symbol).expect("the caller's");
            assert_eq!(at("APP"), image.address, "{name}, {kind:?}");
            assert_eq!(at("RIN") & 0xFFC0, (at("ROUT") + 19) & 0xFFC0, "{name}, {kind:?}");
            assert_eq!(at("CALSTK") & 0xFF, 0, "{name}, {kind:?}");
            assert_eq!(at("DEEP"), u16::from(wire::CALL_STACK_BYTES));
            assert!(at("IDLEN") <= wire::MAX_PAYLOAD as u16);
        }
    }
}

#[test]
fn the_rings_and_tables_lie_where_the_routines_need_them() {
    use ProgramKind::{Application, Caller, FlashApplication, FlashCaller};
    use ProgramKind::{HostedApplication, HostedCaller, Monitor};
    let applications = [Application, FlashApplication, HostedApplication];
    let callers = [Caller, FlashCaller, HostedCaller];
    for name in BoardProfile::names() {
        let profile = BoardProfile::named(name).expect("it ships");
        for kind in [Monitor].into_iter().chain(applications).chain(callers) {
            let Ok(image) = build(&profile, kind) else { continue };
            let at = |symbol| image.program.symbol(symbol).expect("the driver's and the check's");
            assert_eq!(at("RXRING") & 0x7FF, 0, "{name}, {kind:?}: bit 10 is clear in the ring");
            for page in ["TXRING", "HIGHS", "LOWS"] {
                assert_eq!(at(page) & 0xFF, 0, "{name}, {kind:?}: {page}");
            }
        }
    }
}

#[test]
fn a_file_that_no_override_inserts_is_refused_although_a_built_in_one_has_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file");
    };
    // The built-in names.asm inserts the built-in sargon.asm.
    write("xchng.asm", "\t.IDENT XCHNG\n\t.INSERT names.asm\nXCHNG::\tRET\n\t.END\n");
    let evaluator =
        Evaluator { own: Some(folder.path().to_owned()), behaviour: Behaviour::default() };
    let build = || build_with(&classic(), ProgramKind::Application, &evaluator);
    build().unwrap_or_else(|error| panic!("{error}"));
    write("sargon.asm", "; mine\n");
    let error = build().expect_err("nothing inserts it").to_string();
    assert!(error.contains("sargon.asm"), "{error}");
    write("xchng.asm", "\t.IDENT XCHNG\n\t.INSERT sargon.asm\nXCHNG::\tRET\n\t.END\n");
    build().unwrap_or_else(|error| panic!("{error}"));
}
