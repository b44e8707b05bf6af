//! The application with a stock monitor: a ROM of this test starts it, and RESET returns to that
//! ROM with processor and serial chip in their previous state.

use board_simulator::{BoardModel, QueueLine, board_spec};
use firmware::ProgramKind;
use firmware::build::BuiltImage;
use firmware::profile::{BoardProfile, UartKind};
use firmware_wire::{Reply, Request, Role};
use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

use crate::protocol::board::{Board, image};
use crate::protocol::requests::BOARDS;

/// Variables of the ROM: flags and register I at each start, the number of starts, a mark
/// without which it does nothing, and the address at which to continue.
const FOUND: u16 = 0xFB00;
const STARTS: u16 = 0xFB02;
const MARK: u8 = 0xA5;
/// Address of a program that unmaps the ROM from 0000h.
const AWAY: u16 = 0xF900;
/// The signature of HBIOS and its version.
const HBIOS: u16 = 0xFE00;
/// The ROM's value of register I.
const I: u8 = 0x5A;

/// In mode 1 it echoes each character by which it is interrupted. With `AWAY` it is unmapped from
/// 0000h, and the code there then is invalid.
const ROM: &str = "
        .LOC 0
        LDAI
        JMP START
        .LOC 38H
        .IFN ASCI,[
        .BYTE 0EDH,38H,DATA,0EDH,39H,DATA-2     ; IN0, OUT0
        EI
        RET
        ][
        IN DATA
        OUT DATA
        EI
        RETI
        ]
START:  EXAF
        .IFN ASCI,[
        .DEFINE SET[PORT,VALUE]=[
        MVI A,VALUE
        .BYTE 0EDH,39H,PORT
        ]
        SET 3FH,0C0H            ; ICR
        SET 0F8H,80H            ; CBR: RAM at 8000H
        SET 0FAH,80H            ; CBAR
        ]
        .IFN BANKED,[
        XRA A
        OUT BANKS
        MVI A,21H
        OUT BANKS+1
        INR A
        OUT BANKS+2
        INR A
        OUT BANKS+3
        MVI A,1
        OUT BANKS+4
        ]
        LXI SP,0FF00H
        EXAF
        PUSH PSW
        POP H
        SHLD 0FB00H
        LDA 0FB03H
        CPI 0A5H
        JRNZ AGAIN
        LXI H,0FB02H
        INR M
        MOV A,M
        CPI 1
        JRNZ AGAIN
        .IFN ACIA,[
        MVI A,3
        OUT CTRL
        MVI A,16H
        OUT CTRL
        ]
        .IFN NS550,[
        MVI A,83H               ; LCR, for the divisor
        OUT DATA+3
        MVI A,1
        OUT DATA
        XRA A
        OUT DATA+1
        MVI A,3
        OUT DATA+3
        OUT DATA+4              ; MCR
        MVI A,47H               ; FCR
        OUT DATA+2
        MVI A,1                 ; IER: received characters interrupt
        OUT DATA+1
        ]
        .IFN ASCI,[
        SET DATA-8,64H          ; CNTLA0
        SET DATA-6,0            ; CNTLB0
        SET DATA-4,8            ; STAT0: received characters interrupt
        ]
        LHLD 0FB04H
        MVI A,5AH
        STAI
        .IFN ON,[
        EI
        ][
        DI
        ]
        LXI D,AGAIN             ; where it returns to
        PUSH D
        PCHL
AGAIN:  HLT
        JMPR AGAIN
        .LOC 0C0H
TAIL:   .BYTE 0
        .IFN ASCI,[
        .LOC 5A0EH              ; the vector of the ASCI with this I
        .WORD 38H
        ]
        .END
";

/// The ROM for a board, which starts the application with interrupts on or off.
fn rom(profile: &BoardProfile, is_on: bool) -> Vec<u8> {
    let banks = profile.banks.map_or(0, |banks| banks.port);
    let defines = [
        ("CTRL", profile.uart.control_port.into()),
        ("ACIA", u16::from(profile.uart.kind == UartKind::Acia)),
        ("NS550", u16::from(profile.uart.kind == UartKind::Ns550)),
        ("ASCI", u16::from(profile.uart.kind == UartKind::Asci)),
        ("DATA", profile.uart.data_port.into()),
        ("BANKED", u16::from(profile.banks.is_some())),
        ("BANKS", banks.into()),
        ("ON", u16::from(is_on)),
    ];
    let defines = defines.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let loader = MemoryLoader::new().with("rom.asm", ROM);
    let options = Options { defines, ..Options::default() };
    let assembly = assemble(&loader, &["rom.asm".into()], &options);
    let modules = assembly.unwrap_or_else(|error| panic!("{error}")).modules;
    let program = link(&modules, &Layout::default()).unwrap_or_else(|error| panic!("{error}"));
    program.image.flat(0)
}

/// A board whose ROM starts the application, directly or through `AWAY`.
fn started(name: &str, is_on: bool, version: [u8; 3], is_away: bool) -> Board {
    let profile = BoardProfile::named(name).expect("it ships");
    starting(&profile, &image(name, ProgramKind::HostedApplication), is_on, version, is_away)
}

/// The same with an application that may be for another board.
fn starting(
    profile: &BoardProfile,
    image: &BuiltImage,
    is_on: bool,
    version: [u8; 3],
    is_away: bool,
) -> Board {
    let spec = board_spec(profile);
    let chip = spec.programmed(&rom(profile, is_on));
    let mut board = Board(BoardModel::with_chip(spec, chip, QueueLine::default()));
    board.send_bytes(&[]);
    let [low, high] = image.address.to_le_bytes();
    // LD A,20h; OUT (78h),A; LD HL,FE18h (JR $); LD (0000h),HL; JP application
    let away = [0x3E, 0x20, 0xD3, 0x78, 0x21, 0x18, 0xFE, 0x22, 0, 0, 0xC3, low, high];
    let bus = board.0.bus_mut();
    bus.load(image.address, &image.bytes);
    bus.load(AWAY, &away);
    bus.load(HBIOS, &version);
    let [low, high] = if is_away { AWAY } else { image.address }.to_le_bytes();
    bus.load(STARTS, &[0, MARK, low, high]);
    board.0.reset();
    board.send_bytes(&[]);
    board
}

#[test]
fn reset_restores_the_interrupt_register_enable_and_mode() {
    for name in BOARDS {
        for is_on in [false, true] {
            let mut board = started(name, is_on, [0; 3], false);
            let Reply::Identity(identity) = board.request(&Request::Identify) else {
                panic!("{name}")
            };
            assert_eq!(identity.role, Role::Application);
            assert_eq!(board.request(&Request::Reset), Reply::Resetting);
            let found = board.0.bus().dump(FOUND, 2);
            assert_eq!(found[1], I, "{name}: register I");
            assert_eq!(found[0] & 4 != 0, is_on, "{name}: whether interrupts are on");
            assert_eq!(board.0.bus().dump(STARTS, 1), [2], "{name}: the ROM was started again");
            // Without interrupts the ROM does not receive the character.
            let output = board.send_bytes(b"Q");
            assert_eq!(output == b"Q", is_on, "{name}: {output:?}");
        }
    }
}

#[test]
fn an_application_for_another_serial_chip_returns_at_once_and_leaves_this_one_alone() {
    let pairs = BOARDS.map(|name| BOARDS.map(|other| (name, other)));
    for (name, other) in pairs.into_iter().flatten().filter(|(name, other)| name != other) {
        let image = image(other, ProgramKind::HostedApplication);
        let profile = BoardProfile::named(name).expect("it ships");
        let board = starting(&profile, &image, true, [0; 3], false);
        assert_eq!(board.0.bus().dump(STARTS, 1), [1], "{name}: its ROM continues after {other}'s");
        assert_eq!(board.0.registers().i, I, "{name}");
    }
}

#[test]
fn romwbw_2_9_gets_the_board_back_by_the_roms_first_page() {
    let named = |name| BoardProfile::named(name).expect("it ships");
    // The application of the default profile runs on a board with page registers as well.
    let banked_acia = BoardProfile { uart: named("rc2014-classic").uart, ..named("rc2014-zed") };
    for (profile, name, version, is_back) in [
        (named("rc2014-zed"), "rc2014-zed", [0x57, 0xA8, 0x29], true),
        (named("rc2014-zed"), "rc2014-zed", [0x57, 0xA8, 0x35], false),
        (banked_acia, "rc2014-classic", [0x57, 0xA8, 0x29], true),
    ] {
        let image = image(name, ProgramKind::HostedApplication);
        let mut board = starting(&profile, &image, true, version, true);
        let request = firmware_wire::Frame::empty(1, Request::Reset.kind()).encode();
        board.0.line_mut().to_board.extend(request);
        board.0.run_for(10_000_000);
        assert_eq!(board.0.bus().dump(STARTS, 1) == [2], is_back, "{name} {version:?}");
    }
}
