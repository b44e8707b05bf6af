//! Z80 SIO/2: registers, queue, interrupts and RTS as in its manual.

use board_simulator::{Sio, SioPort};

/// Ten bits of 64 clocks.
const CHARACTER: u64 = 640;
/// Registers 4, 3 and 5 as RC2014 software sets them: x64, 1 stop bit; 8 bits, receiver on; 8 bits,
/// transmitter on, DTR, RTS.
const SET_UP: [(u8, u8); 3] = [(4, 0xC4), (3, 0xC1), (5, 0xEA)];

fn set(sio: &mut Sio, port: SioPort, register: u8, value: u8) {
    sio.write_control(port, register, 0);
    sio.write_control(port, value, 0);
}

fn chip() -> Sio {
    let mut sio = Sio::new();
    for port in [SioPort::A, SioPort::B] {
        sio.write_control(port, 0x18, 0);
        for (register, value) in SET_UP {
            set(&mut sio, port, register, value);
        }
    }
    sio
}

fn receive(sio: &mut Sio, port: SioPort, value: u8, now: &mut u64) {
    sio.start_receiving(port, value, true, *now);
    *now += CHARACTER;
    sio.advance(*now);
}

fn register(sio: &mut Sio, port: SioPort, number: u8) -> u8 {
    sio.write_control(port, number, 0);
    sio.read_control(port)
}

#[test]
fn nothing_works_before_it_is_set_up() {
    let mut sio = Sio::new();
    assert!(!sio.can_receive(SioPort::A));
    assert!(sio.rts_high(SioPort::A));
    sio.write_data(SioPort::A, b'A', 0);
    assert_eq!(sio.next_event(), None);
}

#[test]
fn the_pointer_goes_back_to_register_0_after_each_use() {
    let mut sio = chip();
    // Register 1: all sent; register 0: transmitter empty, /DCD and /CTS low.
    assert_eq!(register(&mut sio, SioPort::A, 1) & 0x71, 0x01);
    assert_eq!(sio.read_control(SioPort::A) & 0x2D, 0x2C);
}

#[test]
fn character_times_follow_clock_mode_and_word() {
    // Register 4, register 3, bits with start, parity and stop, clocks a bit.
    let table = [
        (0xC4, 0xC1, 10.0, 64.0),
        (0x84, 0xC1, 10.0, 32.0),
        (0x44, 0xC1, 10.0, 16.0),
        (0x04, 0xC1, 10.0, 1.0),
        (0x4C, 0xC1, 11.0, 16.0),
        (0x48, 0xC1, 10.5, 16.0),
        (0x45, 0xC1, 11.0, 16.0),
        (0x44, 0x81, 8.0, 16.0),
        (0x44, 0x41, 9.0, 16.0),
        (0x44, 0x01, 7.0, 16.0),
    ];
    for (fourth, third, bits, clocks) in table {
        let mut sio = chip();
        set(&mut sio, SioPort::A, 4, fourth);
        set(&mut sio, SioPort::A, 3, third);
        let expected = f64::ceil(bits * clocks) as u64;
        assert_eq!(sio.receive_time(SioPort::A), Some(expected), "{fourth:02X} {third:02X}");
        sio.set_clock_period(SioPort::A, 6);
        assert_eq!(sio.receive_time(SioPort::A), Some((bits * clocks * 6.0) as u64));
    }
    let mut synchronous = chip();
    set(&mut synchronous, SioPort::A, 4, 0xC0);
    assert_eq!(synchronous.receive_time(SioPort::A), None);
}

#[test]
fn three_characters_wait_and_the_fourth_takes_the_third_ones_place() {
    let mut sio = chip();
    let mut now = 0;
    for value in b"ABC" {
        receive(&mut sio, SioPort::A, *value, &mut now);
    }
    assert_eq!((register(&mut sio, SioPort::A, 1) & 0x20, sio.lost(SioPort::A)), (0, 0));
    receive(&mut sio, SioPort::A, b'D', &mut now);
    assert_eq!(sio.lost(SioPort::A), 1);
    assert_eq!([sio.read_data(SioPort::A), sio.read_data(SioPort::A)], *b"AB");
    assert_eq!(register(&mut sio, SioPort::A, 1) & 0x20, 0x20, "the one that was overrun");
    assert_eq!(sio.read_data(SioPort::A), b'D');
    assert_eq!(sio.read_control(SioPort::A) & 1, 0, "empty");
    assert_eq!(register(&mut sio, SioPort::A, 1) & 0x20, 0x20, "latched");
    sio.write_control(SioPort::A, 0x30, now);
    assert_eq!(register(&mut sio, SioPort::A, 1) & 0x20, 0, "error reset");
}

#[test]
fn a_framing_error_belongs_to_its_character() {
    let mut sio = chip();
    let mut now = 0;
    sio.start_receiving(SioPort::A, b'A', false, now);
    now += CHARACTER;
    sio.advance(now);
    receive(&mut sio, SioPort::A, b'B', &mut now);
    assert_eq!(register(&mut sio, SioPort::A, 1) & 0x40, 0x40);
    sio.read_data(SioPort::A);
    assert_eq!(register(&mut sio, SioPort::A, 1) & 0x40, 0);
}

#[test]
fn the_transmitter_holds_one_character_behind_the_one_it_shifts() {
    let mut sio = chip();
    sio.write_data(SioPort::A, b'A', 0);
    assert_eq!(sio.read_control(SioPort::A) & 4, 4, "the first moves on at once");
    sio.write_data(SioPort::A, b'B', 10);
    assert_eq!(sio.read_control(SioPort::A) & 4, 0);
    assert_eq!(register(&mut sio, SioPort::A, 1) & 1, 0);
    assert_eq!(sio.advance(CHARACTER - 1), [None, None]);
    assert_eq!(sio.advance(CHARACTER), [Some(b'A'), None]);
    assert_eq!(sio.advance(2 * CHARACTER), [Some(b'B'), None]);
    assert_eq!(register(&mut sio, SioPort::A, 1) & 1, 1, "all sent");
}

#[test]
fn request_to_send_rises_only_behind_the_last_character() {
    let mut sio = chip();
    assert!(!sio.rts_high(SioPort::A));
    sio.write_data(SioPort::A, b'A', 0);
    set(&mut sio, SioPort::A, 5, 0xE8);
    assert!(!sio.rts_high(SioPort::A), "a character is being sent");
    sio.advance(CHARACTER);
    assert!(sio.rts_high(SioPort::A));
    set(&mut sio, SioPort::A, 5, 0xEA);
    assert!(!sio.rts_high(SioPort::A));
}

#[test]
fn auto_enables_let_clear_to_send_hold_the_transmitter() {
    for (third, held) in [(0xC1, false), (0xE1, true)] {
        let mut sio = chip();
        set(&mut sio, SioPort::A, 3, third);
        sio.set_cts(SioPort::A, true, 0);
        assert_eq!(sio.read_control(SioPort::A) & 0x20, 0);
        sio.write_data(SioPort::A, b'A', 0);
        assert_eq!(sio.next_event().is_none(), held);
        sio.set_cts(SioPort::A, false, 5);
        assert!(sio.next_event().is_some());
    }
}

#[test]
fn receive_interrupts_follow_their_mode() {
    // Bits 4 and 3 of register 1: off, first character only, all, all.
    for (bits, first, second) in
        [(0x00, false, false), (0x08, true, false), (0x10, true, true), (0x18, true, true)]
    {
        let mut sio = chip();
        let mut now = 0;
        set(&mut sio, SioPort::A, 1, bits);
        sio.write_control(SioPort::A, 0x20, now);
        receive(&mut sio, SioPort::A, 1, &mut now);
        assert_eq!(sio.interrupt(), first, "{bits:02X}");
        sio.read_data(SioPort::A);
        receive(&mut sio, SioPort::A, 2, &mut now);
        assert_eq!(sio.interrupt(), second, "{bits:02X}");
        sio.write_control(SioPort::A, 0x20, now);
        assert_eq!(sio.interrupt(), bits != 0, "enabled for the next one");
    }
}

#[test]
fn the_transmitter_interrupts_when_its_buffer_becomes_empty_not_while_it_is() {
    let mut sio = chip();
    set(&mut sio, SioPort::A, 1, 0x02);
    assert!(!sio.interrupt());
    sio.write_data(SioPort::A, b'A', 0);
    assert!(sio.interrupt(), "it has moved on to the shift register");
    sio.write_control(SioPort::A, 0x28, 0);
    assert!(!sio.interrupt(), "taken back");
    sio.write_data(SioPort::A, b'B', 1);
    assert!(!sio.interrupt());
    sio.advance(CHARACTER);
    assert!(sio.interrupt());
}

#[test]
fn the_vector_shows_the_cause_if_channel_b_enables_it() {
    let mut sio = chip();
    let mut now = 0;
    set(&mut sio, SioPort::B, 2, 0xE0);
    set(&mut sio, SioPort::A, 1, 0x1B);
    set(&mut sio, SioPort::B, 1, 0x1B);
    receive(&mut sio, SioPort::A, 1, &mut now);
    assert_eq!(sio.vector(), 0xE0);
    set(&mut sio, SioPort::B, 1, 0x1F);
    // From the manual's table, the most urgent first.
    assert_eq!((sio.vector(), register(&mut sio, SioPort::B, 2)), (0xEC, 0xEC), "A received");
    sio.start_receiving(SioPort::A, 1, false, now);
    now += CHARACTER;
    sio.advance(now);
    sio.read_data(SioPort::A);
    assert_eq!(sio.vector(), 0xEE, "A received with an error");
    sio.read_data(SioPort::A);
    sio.write_data(SioPort::A, 0, now);
    assert_eq!(sio.vector(), 0xE8, "A sent");
    sio.write_control(SioPort::A, 0x28, now);
    sio.set_cts(SioPort::A, true, now);
    assert_eq!(sio.vector(), 0xEA, "A external");
    sio.write_control(SioPort::A, 0x10, now);
    receive(&mut sio, SioPort::B, 1, &mut now);
    assert_eq!(sio.vector(), 0xE4, "B received");
    sio.read_data(SioPort::B);
    sio.write_data(SioPort::B, 0, now);
    assert_eq!(sio.vector(), 0xE0, "B sent");
    sio.write_control(SioPort::B, 0x28, now);
    sio.set_cts(SioPort::B, true, now);
    assert_eq!(sio.vector(), 0xE2, "B external");
    sio.write_control(SioPort::B, 0x10, now);
    assert_eq!((sio.interrupt(), sio.vector()), (false, 0xE6), "none");
}

#[test]
fn an_interrupt_in_service_blocks_lower_priorities_until_reti() {
    let mut sio = chip();
    let mut now = 0;
    set(&mut sio, SioPort::A, 1, 0x18);
    set(&mut sio, SioPort::B, 1, 0x18);
    receive(&mut sio, SioPort::B, 1, &mut now);
    sio.acknowledge();
    assert!(sio.in_service() && !sio.interrupt());
    receive(&mut sio, SioPort::A, 1, &mut now);
    assert!(sio.interrupt(), "channel A is more urgent");
    sio.acknowledge();
    assert!(!sio.interrupt());
    sio.read_data(SioPort::A);
    sio.return_from_interrupt();
    assert!(!sio.interrupt(), "B is still served");
    sio.write_control(SioPort::A, 0x38, now);
    assert!(sio.interrupt(), "the command does what RETI does, and B's character still waits");
}
