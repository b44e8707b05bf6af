//! The simulated 68B50 against its data sheet, and its line with and without flow control.

use board_simulator::board_spec;
use board_simulator::{Acia, BoardModel, BoardSpec, QueueLine};
use firmware::profile::BoardProfile;

/// Control words: master reset; 8 bits, no parity, 1 stop bit, divide by 64.
const RESET: u8 = 0x03;
const SET_UP: u8 = 0x16;
/// Ten bits of 64 clocks.
const CHARACTER: u64 = 640;

fn chip() -> Acia {
    let mut acia = Acia::new(1);
    acia.set_control(RESET);
    acia.set_control(SET_UP);
    acia
}

fn receive(acia: &mut Acia, value: u8, now: &mut u64) {
    acia.start_receiving(value, true, *now);
    *now += CHARACTER;
    acia.advance(*now);
}

#[test]
fn nothing_works_before_the_first_control_word() {
    let mut acia = Acia::new(1);
    assert_eq!(acia.status(), 0);
    acia.write(b'A', 0);
    assert_eq!(acia.next_event(), None);
    assert!(!acia.can_receive());
}

#[test]
fn character_times_follow_divider_and_word() {
    // Word select 0 to 7: 7E2 7O2 7E1 7O1 8N2 8N1 8E1 8O1, bits with start, parity and stop.
    let bits = [11, 11, 10, 10, 11, 10, 11, 11];
    for (select, bits) in bits.into_iter().enumerate() {
        for (divider, clocks) in [(0, 1), (1, 16), (2, 64)] {
            let mut acia = Acia::new(1);
            acia.set_control((select as u8) << 2 | divider);
            assert_eq!(acia.character_time(), bits * clocks, "word {select}");
        }
    }
}

#[test]
fn the_transmitter_holds_one_character_behind_the_one_it_shifts() {
    let mut acia = chip();
    assert_eq!(acia.status(), 0x02);
    acia.write(b'A', 0);
    assert_eq!(acia.status(), 0x02, "the first moves on to the shift register at once");
    acia.write(b'B', 10);
    assert_eq!(acia.status(), 0x00);
    assert_eq!(acia.advance(CHARACTER - 1), None);
    assert_eq!(acia.advance(CHARACTER), Some(b'A'));
    assert_eq!(acia.status(), 0x02);
    assert_eq!(acia.advance(2 * CHARACTER), Some(b'B'));
}

#[test]
fn clear_to_send_high_holds_the_transmitter() {
    let mut acia = chip();
    acia.cts_high = true;
    assert_eq!(acia.status(), 0x08);
}

#[test]
fn an_overrun_shows_after_the_old_character_and_goes_with_the_next_read() {
    let mut acia = chip();
    let mut now = 0;
    for value in [b'A', b'B', b'C'] {
        receive(&mut acia, value, &mut now);
    }
    assert_eq!(acia.status(), 0x03, "not shown yet");
    assert_eq!(acia.read(), b'A');
    assert_eq!(acia.status(), 0x23, "shown now, the register stays full");
    acia.read();
    assert_eq!(acia.status(), 0x02);
    assert_eq!(acia.lost(), 2);
}

#[test]
fn a_bad_stop_bit_is_a_framing_error_of_that_character() {
    let mut acia = chip();
    acia.start_receiving(b'A', false, 0);
    acia.advance(CHARACTER);
    assert_eq!(acia.status(), 0x13);
    acia.read();
    assert_eq!(acia.status(), 0x02);
}

#[test]
fn control_bits_choose_interrupts_and_request_to_send() {
    // Bits 6 and 5: RTS low; RTS low with transmit interrupt; RTS high; RTS low with break.
    for (bits, interrupt, rts_high) in
        [(0x00, false, false), (0x20, true, false), (0x40, false, true), (0x60, false, false)]
    {
        let mut acia = chip();
        acia.set_control(SET_UP | bits);
        assert_eq!((acia.interrupt(), acia.rts_high()), (interrupt, rts_high), "{bits:02X}");
    }
    let mut acia = chip();
    let mut now = 0;
    acia.set_control(SET_UP | 0x80);
    assert!(!acia.interrupt());
    receive(&mut acia, 1, &mut now);
    assert_eq!((acia.interrupt(), acia.status()), (true, 0x83));
}

/// Stores what it receives from 9000h on, and is busy for 3,328 T-states with each character; holds
/// RTS high meanwhile.
const SLOW_READER: &[u8] = &[
    0x3E, 0x03, 0xD3, 0x80, 0x3E, 0x16, 0xD3, 0x80, 0x21, 0x00, 0x90, 0xDB, 0x80, 0x0F, 0x30, 0xFB,
    0xDB, 0x81, 0x77, 0x23, 0x3E, 0x56, 0xD3, 0x80, 0x06, 0x00, 0x10, 0xFE, 0x3E, 0x16, 0xD3, 0x80,
    0x18, 0xE9,
];

/// The board that the project's profile describes.
fn classic() -> BoardSpec {
    board_spec(&BoardProfile::named("rc2014-classic").expect("it ships"))
}

fn read_slowly(host_obeys_rts: bool) -> Vec<u8> {
    let spec = BoardSpec { host_obeys_rts, ..classic() };
    let mut line = QueueLine::default();
    line.to_board.extend(1..=100);
    let mut board = BoardModel::new(spec, SLOW_READER, line);
    board.run_for(1_000_000);
    board.bus().dump(0x9000, 100)
}

#[test]
fn a_host_that_obeys_rts_loses_nothing_and_one_that_does_not_loses_characters() {
    let sent: Vec<u8> = (1..=100).collect();
    assert_eq!(read_slowly(true), sent);
    assert_ne!(read_slowly(false), sent);
}
