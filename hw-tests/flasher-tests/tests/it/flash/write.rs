//! Writing flash: the sectors that are written, left alone, and refused.

use board_simulator::{BoardSpec, ChipKind, RomChip, SstModel};
use firmware::ProgramKind;
use firmware_wire::flash_program;
use firmware_wire::{ErrorCode, Request};
use rcflash_link::LinkError;
use rcflash_link::flash::{self, FlashError, FlashImage, FlashImageError, SECTOR, WriteSummary};
use rcflash_link::loader;

use crate::flash::line::{BoardNearby, image, programmed, spec};

/// Compares and writes; returns the numbers of the sectors and the result.
fn put(
    near: &BoardNearby,
    content: &FlashImage,
    force: bool,
) -> Result<(Vec<u16>, WriteSummary), FlashError> {
    let (mut link, monitor) = near.monitor();
    let chip = flash::chip(&mut link, &monitor)?;
    let sectors = flash::changed_sectors(&mut link, &chip, content, force, |_| {})?;
    let written = flash::write(&mut link, &sectors, |_| {})?;
    assert_eq!(link.stats().total_retries(), 0, "{:?}", link.stats());
    Ok((sectors.iter().map(|sector| sector.number).collect(), written))
}

fn application() -> FlashImage {
    let app = image(ProgramKind::FlashApplication);
    FlashImage::program(&app.bytes, app.address, false).unwrap_or_else(|error| panic!("{error}"))
}

fn wear(near: &BoardNearby) -> Vec<u32> {
    near.world().board.bus().chip().as_sst().expect("a flash chip").wear().to_vec()
}

#[test]
fn a_blank_chip_is_written_without_erasing_and_the_program_runs() {
    let near = BoardNearby::new(spec(), programmed());
    let (sectors, written) = put(&near, &application(), false).unwrap_or_else(|e| panic!("{e}"));
    let app = image(ProgramKind::FlashApplication);
    let count = (flash_program::HEADER_BYTES + app.bytes.len()).div_ceil(SECTOR);
    assert_eq!(sectors.len(), count);
    assert_eq!(written, WriteSummary { erased: 0, programmed: count });
    let program = usize::from(flash_program::PROGRAM_ADDRESS);
    assert_eq!(near.cells(program + app.bytes.len())[program..], app.bytes);
    let (mut link, _) = near.monitor();
    let running = loader::run(&mut link, app.address).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(running.build_id, app.build);
}

#[test]
fn what_is_there_already_is_not_written_again_unless_it_must() {
    let near = BoardNearby::new(spec(), programmed());
    let written = |force| put(&near, &application(), force).unwrap_or_else(|e| panic!("{e}"));
    let (sectors, _) = written(false);
    assert_eq!(written(false), (Vec::new(), WriteSummary::default()));
    assert_eq!(wear(&near).iter().sum::<u32>(), 0);
    assert_eq!(written(true).0, sectors);
    let mut expected = vec![0; 128];
    sectors.iter().for_each(|sector| expected[usize::from(*sector)] = 1);
    assert_eq!(wear(&near), expected);
}

#[test]
fn only_the_sector_that_differs_is_written() {
    let near = BoardNearby::new(spec(), programmed());
    let mut bytes: Vec<u8> = (0..5 * SECTOR).map(|at| (at * 7 / 3) as u8).collect();
    put(&near, &FlashImage::raw(0x7_B000, bytes.clone()), false).unwrap_or_else(|e| panic!("{e}"));
    bytes[2 * SECTOR + 9] ^= 0x80;
    let again = put(&near, &FlashImage::raw(0x7_B000, bytes.clone()), false);
    let (sectors, written) = again.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((sectors, written), (vec![0x7D], WriteSummary { erased: 1, programmed: 1 }));
    assert_eq!(near.cells(0x8_0000)[0x7_B000..], bytes);
}

#[test]
fn the_rest_of_a_sector_stays_as_it_is() {
    let near = BoardNearby::new(spec(), programmed());
    let all: Vec<u8> = (0..2 * SECTOR).map(|at| (at % 251) as u8).collect();
    put(&near, &FlashImage::raw(0x2_0000, all.clone()), false).unwrap_or_else(|e| panic!("{e}"));
    let part = FlashImage::raw(0x2_0FF0, vec![0xEE; 32]);
    let (sectors, _) = put(&near, &part, false).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sectors, [0x20, 0x21]);
    let mut expected = all;
    expected[0xFF0..0x1010].fill(0xEE);
    assert_eq!(near.cells(0x2_2000)[0x2_0000..], expected);
}

#[test]
fn what_the_chip_or_the_board_can_not_hold_is_refused() {
    let small = BoardSpec { chip: ChipKind::Sst(SstModel::Sf010a), ..spec() };
    let chip = small.programmed(&image(ProgramKind::Monitor).bytes);
    let near = BoardNearby::new(small, chip);
    let refused = put(&near, &FlashImage::raw(0x1_FFFF, vec![1, 2]), false);
    let too_long = FlashImageError::TooLong { last: 0x2_0000, end: 0x1_FFFF };
    assert!(matches!(refused, Err(FlashError::Image(problem)) if problem == too_long));
    let eprom = BoardSpec { chip: ChipKind::Eprom, ..spec() };
    let chip = eprom.programmed(&image(ProgramKind::Monitor).bytes);
    let refused = put(&BoardNearby::new(eprom, chip), &application(), false);
    let Err(FlashError::Link(LinkError::Refused { error, .. })) = &refused else {
        panic!("{refused:?}")
    };
    assert_eq!(error.code, ErrorCode::Chip);
    let message = refused.expect_err("just seen").to_string();
    assert!(message.contains("write-protect jumper"), "{message}");
}

#[test]
fn a_chip_with_a_dead_cell_fails_its_verification() {
    let near = BoardNearby::new(spec(), programmed());
    let mut content = vec![0xFF; SECTOR];
    content[100] = 0x0F;
    let (mut link, monitor) = near.monitor();
    let chip = flash::chip(&mut link, &monitor).unwrap_or_else(|error| panic!("{error}"));
    let content = FlashImage::raw(0x5000, content);
    let sectors = flash::changed_sectors(&mut link, &chip, &content, false, |_| {});
    let sectors = sectors.unwrap_or_else(|error| panic!("{error}"));
    // A cell outside the programmed range lost a bit between comparing and verifying.
    near.world().board.bus_mut().chip_mut().load(0x5800, &[0xFE]);
    let error = flash::write(&mut link, &sectors, |_| {}).expect_err("it differs");
    let mut there = vec![0xFF; SECTOR];
    there[100] = 0x0F;
    let low_half =
        |bytes: &[u8]| crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(bytes) as u16;
    let wanted = low_half(&there);
    there[0x800] = 0xFE;
    let halves = (wanted, low_half(&there));
    let FlashError::Verify { sector: 5, expected: here, actual: there } = error else {
        panic!("{error}")
    };
    assert_eq!((here, there), halves);
    assert!(error.is_mismatch());
}

#[test]
fn a_program_that_fails_its_verification_has_no_header() {
    let near = BoardNearby::new(spec(), programmed());
    let (mut link, monitor) = near.monitor();
    let chip = flash::chip(&mut link, &monitor).unwrap_or_else(|error| panic!("{error}"));
    let sectors = flash::changed_sectors(&mut link, &chip, &application(), false, |_| {});
    let sectors = sectors.unwrap_or_else(|error| panic!("{error}"));
    // The last cell of the program's first sector lost a bit.
    near.world().board.bus_mut().chip_mut().load(0x1FFF, &[0]);
    let error = flash::write(&mut link, &sectors, |_| {}).expect_err("it differs");
    assert!(error.is_mismatch(), "{error}");
    let header =
        usize::from(flash_program::HEADER_ADDRESS)..usize::from(flash_program::PROGRAM_ADDRESS);
    assert_eq!(near.cells(header.end)[header], [0xFF; flash_program::HEADER_BYTES]);
}

/// A monitor whose VERIFY skips the comparison and reports success for all data.
fn always_verifying() -> RomChip {
    let monitor = image(ProgramKind::Monitor);
    let at = |name| usize::from(monitor.program.symbol(name).expect("it is there"));
    let mut bytes = monitor.bytes.clone();
    let equal = at("CRCEQU");
    bytes[equal..equal + 2].copy_from_slice(&[0xAF, 0xC9]); // XRA A; RET
    spec().programmed(&bytes)
}

#[test]
fn a_board_that_accepts_a_wrong_check_is_reported_as_unreliable() {
    let near = BoardNearby::new(spec(), always_verifying());
    let error = put(&near, &application(), false).expect_err("a wrong check was accepted");
    assert!(matches!(error, FlashError::VerifyUnreliable), "{error}");
}

#[test]
fn the_boot_sector_is_replaced_on_request_and_verified() {
    let near = BoardNearby::new(spec(), programmed());
    let monitor = image(ProgramKind::Monitor);
    let name = usize::from(monitor.program.symbol("NAME").expect("it has one"));
    let mut bytes = [0xFF; SECTOR];
    bytes[..monitor.bytes.len()].copy_from_slice(&monitor.bytes);
    let (mut link, there) = near.monitor();
    let differs = flash::boot_sector_differs(&mut link, &bytes);
    assert!(!differs.unwrap_or_else(|error| panic!("{error}")));
    bytes[name..name + 6].copy_from_slice(b"Other!");
    let next = flash::replace_boot_sector(&mut link, &there, &bytes);
    assert_eq!(next.unwrap_or_else(|error| panic!("{error}")).name, "Other! board monitor 1");
    assert_eq!(near.cells(SECTOR), bytes);
}

#[test]
fn a_monitor_that_cannot_write_flash_is_reported() {
    let classic = firmware::profile::BoardProfile::named("rc2014-classic").expect("it ships");
    let rom = firmware::build::build(&classic, ProgramKind::Monitor);
    let spec = board_simulator::board_spec(&classic);
    let chip = spec.programmed(&rom.unwrap_or_else(|error| panic!("{error}")).bytes);
    let near = BoardNearby::new(spec, chip);
    let (mut link, monitor) = near.monitor();
    let refused = flash::chip(&mut link, &monitor);
    assert!(matches!(refused, Err(FlashError::NoFlash(_))), "{refused:?}");
    assert!(link.request("resetting", &Request::Reset, std::time::Duration::ZERO).is_ok());
}

#[test]
fn a_program_is_written_in_twice_its_time_on_the_line() {
    let near = BoardNearby::new(spec(), programmed());
    let bytes: Vec<u8> = (0..6 * SECTOR as u32).map(|at| ((at * at) >> 7) as u8).collect();
    let content =
        |mark: u8| FlashImage::raw(0x2000, bytes.iter().map(|byte| byte ^ mark).collect());
    put(&near, &content(1), false).unwrap_or_else(|error| panic!("{error}"));
    let (mut link, monitor) = near.monitor();
    let chip = flash::chip(&mut link, &monitor).unwrap_or_else(|error| panic!("{error}"));
    let began = near.clock();
    let sectors = flash::changed_sectors(&mut link, &chip, &content(0), false, |_| {});
    let sectors = sectors.unwrap_or_else(|error| panic!("{error}"));
    let compared = near.clock();
    flash::write(&mut link, &sectors, |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let (compared, written) = (compared - began, near.clock() - compared);
    // At 115,200 baud and 7.3728 MHz a character takes 640 T-states.
    let line = 640 * bytes.len() as u64;
    println!("of the line's {line} T-states: comparing {compared}, writing {written}");
    assert!(written < 2 * line, "{written} T-states, {line} on the line");
}
