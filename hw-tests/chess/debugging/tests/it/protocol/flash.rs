//! The monitor's flash requests against docs/PROTOCOL.md, and its start of a program in flash, on
//! the simulated rc2014-zed.

use board_simulator::board_spec;
use board_simulator::{BoardSpec, ChipKind, SECTOR_BYTES, Sst39sf, SstModel};
use crc::{CRC_32_ISO_HDLC, Crc};
use firmware::ProgramKind;
use firmware::build::BuiltImage;
use firmware::profile::BoardProfile;
use firmware_wire::flash_program;
use firmware_wire::{
    ChipIdentity, ErrorCode, FlashReply, FlashRequest, MAX_BLOCK, Reply, Request, Role, kind,
};

use crate::protocol::board::Board;

const ZED: &str = "rc2014-zed";
const CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
/// More T-states than the monitor waits for the host before it starts a program.
const GRACE: u64 = 20_000_000;

fn profile() -> BoardProfile {
    BoardProfile::named(ZED).expect("it ships")
}

fn image(kind: ProgramKind) -> BuiltImage {
    crate::protocol::board::image(ZED, kind)
}

impl Board {
    fn new() -> Self {
        Self::of(board_spec(&profile()))
    }

    fn of(spec: BoardSpec) -> Self {
        let chip = spec.programmed(&image(ProgramKind::Monitor).bytes);
        Self::power_up(spec, chip)
    }

    fn flash(&mut self, request: FlashRequest) -> FlashReply {
        match self.request(&Request::Flash(request)) {
            Reply::Flash(reply) => reply,
            other => panic!("{other:?}"),
        }
    }

    fn refuses(&mut self, request: FlashRequest) -> (ErrorCode, u16) {
        match self.request(&Request::Flash(request)) {
            Reply::Error(error) => (error.code, error.detail),
            other => panic!("{other:?}"),
        }
    }

    fn chip(&self) -> &Sst39sf {
        self.0.bus().chip().as_sst().expect("a flash chip")
    }

    fn role(&mut self) -> Role {
        match self.request(&Request::Identify) {
            Reply::Identity(identity) => identity.role,
            other => panic!("{other:?}"),
        }
    }
}

fn program(address: u32, data: &[u8]) -> FlashRequest {
    FlashRequest::Program { address, data: data.to_vec() }
}

#[test]
fn the_chip_reports_its_identity_and_size() {
    for (model, device, sectors) in
        [(SstModel::Sf010a, 0xB5, 32), (SstModel::Sf020a, 0xB6, 64), (SstModel::Sf040, 0xB7, 128)]
    {
        let spec = board_spec(&profile());
        let mut board = Board::of(BoardSpec { chip: ChipKind::Sst(model), ..spec });
        let expected = ChipIdentity::new(0xBF, device, sectors, 1).expect("it is made");
        assert_eq!(board.flash(FlashRequest::Chip), FlashReply::Chip(expected));
    }
}

#[test]
fn a_chip_that_does_not_respond_to_commands_is_rejected() {
    let protected = BoardSpec { writable: false, ..board_spec(&profile()) };
    let eprom = BoardSpec { chip: ChipKind::Eprom, ..board_spec(&profile()) };
    for spec in [protected, eprom] {
        let mut board = Board::of(spec);
        // It returns the monitor's first two bytes: DI, JMP.
        assert_eq!(board.refuses(FlashRequest::Chip), (ErrorCode::Chip, 0xC3F3));
        assert_eq!(board.refuses(FlashRequest::Erase { sector: 5 }), (ErrorCode::Chip, 0xC3F3));
        assert_eq!(board.refuses(program(0x5000, &[1])), (ErrorCode::Chip, 0xC3F3));
        assert_eq!(board.refuses(FlashRequest::Boot { crc: 0 }), (ErrorCode::Chip, 0xC3F3));
    }
}

#[test]
fn blocks_are_programmed_read_and_checked_all_over_the_chip() {
    let mut board = Board::new();
    let data: Vec<u8> = (0..MAX_BLOCK as u8).collect();
    for address in [0x01000, 0x03F14, 0x04000, 0x0A800, 0x7FF14] {
        let count = MAX_BLOCK as u8;
        let done = FlashReply::Programmed { address, count };
        assert_eq!(board.flash(program(address, &data)), done);
        let there = &board.chip().cells()[address as usize..][..MAX_BLOCK];
        assert_eq!(there, data, "{address:05X}");
        let read = FlashReply::Memory { address, data: data.clone() };
        assert_eq!(board.flash(FlashRequest::Read { address, count }), read);
        let length = MAX_BLOCK as u16;
        let crc = CRC32.checksum(&data);
        assert_eq!(board.flash(FlashRequest::Crc { address, length }), FlashReply::Crc(crc));
        let verify = FlashRequest::Verify { address, length, crc };
        assert_eq!(board.flash(verify), FlashReply::Verified);
        let low = crc as u16;
        let wrong = FlashRequest::Verify { address, length, crc: crc ^ 0x0100_0000 };
        assert_eq!(board.refuses(wrong), (ErrorCode::Verify, low));
    }
    assert_eq!((board.chip().unerased(), board.chip().ignored()), (0, 0));
}

#[test]
fn a_whole_page_has_its_check() {
    let mut board = Board::new();
    for length in [1, 255, 256, 257, 0x1000, 0x4000] {
        let crc = CRC32.checksum(&board.chip().cells()[..usize::from(length)]);
        assert_eq!(
            board.flash(FlashRequest::Crc { address: 0, length }),
            FlashReply::Crc(crc),
            "{length}"
        );
    }
}

#[test]
fn a_sector_is_erased_alone() {
    let mut board = Board::new();
    for sector in [1, 3, 4, 127] {
        let first = sector * 0x1000;
        for address in [first - 1, first, first + 0xFFF] {
            if address > 0xFFF {
                board.flash(program(address, &[0]));
            }
        }
        let request = FlashRequest::Erase { sector: sector as u16 };
        assert_eq!(board.flash(request), FlashReply::Erased(sector as u16));
        let cells = &board.chip().cells()[first as usize..][..SECTOR_BYTES];
        assert!(cells.iter().all(|cell| *cell == 0xFF), "sector {sector}");
        assert_eq!(board.chip().wear()[sector as usize], 1);
    }
    assert_eq!(board.chip().cells()[0x2FFF], 0, "a neighbour");
    assert_eq!(board.chip().wear().iter().sum::<u32>(), 4);
}

#[test]
fn programming_again_changes_nothing_and_raising_a_bit_is_refused() {
    let mut board = Board::new();
    for _ in 0..2 {
        board.flash(program(0x2000, &[0x12, 0xFF, 0x34]));
    }
    board.flash(program(0x2000, &[0x10, 0x56, 0x34]));
    assert_eq!(board.chip().cells()[0x2000..0x2003], [0x10, 0x56, 0x34]);
    assert_eq!(board.refuses(program(0x2000, &[0x10, 0xFF])), (ErrorCode::ReadBack, 0x2001));
    assert_eq!(board.chip().unerased(), 0, "not even tried");
}

#[test]
fn the_boot_sector_is_neither_erased_nor_programmed() {
    let mut board = Board::new();
    let before = board.chip().cells()[..SECTOR_BYTES].to_vec();
    assert_eq!(board.refuses(FlashRequest::Erase { sector: 0 }), (ErrorCode::Protected, 0));
    for address in [0, 0xFFF] {
        assert_eq!(board.refuses(program(address, &[0])), (ErrorCode::Protected, 0));
    }
    assert_eq!(board.chip().cells()[..SECTOR_BYTES], before);
    assert_eq!(board.chip().wear()[0], 0);
}

#[test]
fn addresses_outside_the_chip_and_across_borders_are_refused() {
    let mut board = Board::new();
    use ErrorCode::{Address, BadArgument, BadLength};
    assert_eq!(board.refuses(FlashRequest::Erase { sector: 128 }), (Address, 128));
    assert_eq!(board.refuses(FlashRequest::Erase { sector: 0x8001 }), (Address, 0x8001));
    assert_eq!(board.refuses(program(0x8_0000, &[0])), (Address, 0));
    assert_eq!(board.refuses(program(0xFF_1234, &[0])), (Address, 0x1234));
    assert_eq!(board.refuses(program(0x1FFF, &[0, 0])), (Address, 0x1FFF));
    let crc = |address, length| FlashRequest::Crc { address, length };
    assert_eq!(board.refuses(crc(0x3FFF, 2)), (Address, 0x3FFF));
    assert_eq!(board.refuses(crc(0x0000, 0x4001)), (Address, 0));
    assert_eq!(board.refuses(crc(0x0001, 0xFFFF)), (Address, 1));
    assert_eq!(board.refuses(crc(0x8_0000, 1)), (Address, 0));
    assert_eq!(board.refuses(crc(0x1000, 0)), (BadArgument, 3));
    let read = |address, count| FlashRequest::Read { address, count };
    assert_eq!(board.refuses(read(0x3FFF, 2)), (Address, 0x3FFF));
    assert_eq!(board.refuses(read(0x1000, 0)), (BadArgument, 3));
    assert_eq!(board.refuses(read(0x1000, 237)), (BadArgument, 3));
    let Reply::Error(error) = board.send_frame(kind::PROGRAM, vec![0, 0x10, 0]) else { panic!() };
    assert_eq!((error.code, error.detail), (BadLength, 3));
    let spec = BoardSpec { chip: ChipKind::Sst(SstModel::Sf010a), ..board_spec(&profile()) };
    let mut small = Board::of(spec);
    assert_eq!(small.refuses(FlashRequest::Erase { sector: 32 }), (Address, 32));
    assert_eq!(small.refuses(program(0x2_0000, &[0])), (Address, 32), "it would be sector 0");
}

#[test]
fn ram_is_where_it_was_after_every_request() {
    let mut board = Board::new();
    board.request(&Request::Write { address: 0x8000, data: vec![1, 2, 3] });
    for request in [
        FlashRequest::Chip,
        FlashRequest::Erase { sector: 9 },
        program(0x9000, &[1]),
        FlashRequest::Crc { address: 0x9000, length: 1 },
        FlashRequest::Verify { address: 0x9000, length: 1, crc: 0 },
        FlashRequest::Read { address: 0x9000, count: 1 },
        FlashRequest::Erase { sector: 0 },
        FlashRequest::Crc { address: 0x3FFF, length: 2 },
    ] {
        board.request(&Request::Flash(request.clone()));
        let there = board.request(&Request::Read { address: 0x8000, count: 3 });
        let expected = Reply::Memory { address: 0x8000, data: vec![1, 2, 3] };
        assert_eq!(there, expected, "{request:?}");
    }
}

/// A monitor with another name and the same function.
fn other_monitor() -> Vec<u8> {
    let monitor = image(ProgramKind::Monitor);
    let mut bytes = monitor.bytes.clone();
    let name = usize::from(monitor.program.symbol("NAME").expect("it has one"));
    bytes[name..name + 6].copy_from_slice(b"Other!");
    bytes.resize(SECTOR_BYTES, 0xFF);
    bytes
}

#[test]
fn the_boot_sector_is_replaced_by_what_waits_in_ram() {
    let mut board = Board::new();
    let next = other_monitor();
    for (index, data) in next.chunks(MAX_BLOCK).enumerate() {
        let address = 0x8000 + (index * MAX_BLOCK) as u16;
        board.request(&Request::Write { address, data: data.to_vec() });
    }
    let crc = CRC32.checksum(&next);
    let refused = (ErrorCode::Verify, 0);
    assert_eq!(board.refuses(FlashRequest::Boot { crc: crc ^ 1 }), refused);
    assert_eq!(board.chip().wear()[0], 0);
    assert_eq!(board.flash(FlashRequest::Boot { crc }), FlashReply::Booting);
    let Reply::Identity(identity) = board.request(&Request::Identify) else { panic!() };
    assert_eq!(identity.name, "Other! board monitor 1");
    assert_eq!(board.chip().cells()[..SECTOR_BYTES], next);
    assert_eq!((board.chip().wear()[0], board.chip().unerased()), (1, 0));
}

/// The monitor and, after a header, the application.
fn with_application(autostart: bool, corrupted_offset: Option<usize>) -> Board {
    let spec = board_spec(&profile());
    let mut chip = spec.programmed(&image(ProgramKind::Monitor).bytes);
    let app = image(ProgramKind::FlashApplication);
    let header =
        flash_program::program_header(&app.bytes, app.address, autostart).expect("it fits");
    let mut content = [&header[..], &app.bytes].concat();
    if let Some(at) = corrupted_offset {
        content[at] ^= 0x10;
    }
    chip.load(flash_program::HEADER_ADDRESS.into(), &content);
    Board::power_up(spec, chip)
}

#[test]
fn a_valid_program_with_autostart_is_started() {
    let mut board = with_application(true, None);
    assert_eq!(board.role(), Role::Application);
    assert_eq!(board.request(&Request::Reset), Reply::Resetting);
    assert_eq!(board.role(), Role::Monitor, "RESET leads to the monitor");
    board.0.reset();
    board.0.run_for(GRACE);
    assert_eq!(board.role(), Role::Application);
}

#[test]
fn a_program_without_autostart_or_with_a_wrong_crc_is_not_started() {
    assert_eq!(with_application(false, None).role(), Role::Monitor);
    let last = image(ProgramKind::FlashApplication).bytes.len() + flash_program::HEADER_BYTES - 1;
    for corrupted in [0, 3, 4, 6, 8, 12, 15, 16, 1000, last] {
        assert_eq!(with_application(true, Some(corrupted)).role(), Role::Monitor, "{corrupted}");
    }
}

#[test]
fn the_host_stops_the_start_by_a_byte() {
    for byte in [0x00, b'\r', b'x'] {
        let mut board = with_application(true, None);
        board.0.reset();
        board.0.run_for(1_000_000); // banner and announcement are being sent
        board.0.line_mut().to_board.push_back(byte);
        board.0.run_for(GRACE);
        let output = String::from_utf8_lossy(&board.0.line_mut().from_board).into_owned();
        assert!(output.contains("any key stops it"), "{output}");
        assert_eq!(board.role(), Role::Monitor, "{byte:02X}");
    }
}
