//! 16C550: registers, FIFOs and interrupts as in the data sheet of the TL16C550C.

use board_simulator::Ns550;

/// Ten bits of 16 clocks of the divisor 1, four T-states each: 115,200 baud at 7.3728 MHz.
const CHARACTER: u64 = 640;
const DATA: u8 = 0;
const IER: u8 = 1;
const IIR: u8 = 2;
const FCR: u8 = 2;
const LCR: u8 = 3;
const MCR: u8 = 4;
const LSR: u8 = 5;

/// A chip at 115,200 baud, 8N1, with FIFOs as `fcr` has them.
fn chip(fcr: u8) -> Ns550 {
    let mut chip = Ns550::new(4);
    for (register, value) in [(LCR, 0x83), (DATA, 1), (IER, 0), (LCR, 3), (FCR, fcr)] {
        chip.write(register, value, 0);
    }
    chip
}

fn receive(chip: &mut Ns550, values: &[u8], now: &mut u64) {
    for value in values {
        chip.start_receiving(*value, true, *now);
        *now += CHARACTER;
        chip.advance(*now);
    }
}

#[test]
fn a_reset_leaves_divisor_and_scratch_register() {
    let mut chip = chip(0xC7);
    chip.write(7, 0x5A, 0);
    chip.reset();
    let reset = [IER, IIR, LCR, MCR, LSR].map(|register| chip.read(register, 0));
    assert_eq!(reset, [0x00, 0x01, 0x00, 0x00, 0x60]);
    assert_eq!(chip.read(7, 0), 0x5A);
    chip.write(LCR, 0x80, 0);
    assert_eq!(chip.read(DATA, 0), 1);
}

#[test]
fn character_times_follow_divisor_and_format() {
    // 8N1, 7E1, 8N2 at 9600 baud: 1.8432 MHz / 16 / 12.
    for (format, bits) in [(0x03, 10), (0x1A, 10), (0x07, 11), (0x00, 7)] {
        let mut chip = Ns550::new(4);
        chip.write(LCR, 0x80, 0);
        chip.write(DATA, 12, 0);
        chip.write(LCR, format, 0);
        assert_eq!(chip.character_time(), bits * 16 * 12 * 4, "{format:02X}");
    }
    assert!(!Ns550::new(4).can_receive(), "it has no divisor after power-up");
}

#[test]
fn received_data_interrupts_at_the_trigger_level_until_below_it() {
    for (fcr, trigger) in [(0x01, 1), (0x41, 4), (0x81, 8), (0xC1, 14)] {
        let (mut chip, mut now) = (chip(fcr), 0);
        chip.write(IER, 1, 0);
        receive(&mut chip, &vec![7; trigger - 1], &mut now);
        assert!(!chip.interrupt(), "{fcr:02X}");
        receive(&mut chip, &[7], &mut now);
        assert_eq!(chip.read(IIR, now), 0xC4, "{fcr:02X}");
        chip.read(DATA, now);
        assert_eq!(chip.read(IIR, now), 0xC1, "{fcr:02X}");
    }
}

#[test]
fn a_fifo_that_is_not_touched_for_four_characters_interrupts_until_it_is_read() {
    let (mut chip, mut now) = (chip(0xC1), 0);
    chip.write(IER, 1, 0);
    receive(&mut chip, b"ab", &mut now);
    assert_eq!(chip.next_event(), Some(now + 4 * CHARACTER));
    chip.advance(now + 4 * CHARACTER - 1);
    assert!(!chip.interrupt());
    now += 4 * CHARACTER;
    chip.advance(now);
    assert_eq!(chip.read(IIR, now), 0xCC);
    assert_eq!(chip.read(DATA, now), b'a');
    assert!(!chip.interrupt());
    assert_eq!(chip.next_event(), Some(now + 4 * CHARACTER), "it runs again for the other one");
}

#[test]
fn an_overrun_keeps_the_fifo_shows_at_once_and_does_not_stop_reception() {
    let (mut chip, mut now) = (chip(0x01), 0);
    chip.write(IER, 4, 0);
    let sent: Vec<u8> = (0..17).collect();
    receive(&mut chip, &sent, &mut now);
    assert_eq!(chip.read(IIR, now), 0xC6);
    assert_eq!(chip.read(LSR, now), 0x63);
    assert_eq!(chip.read(LSR, now), 0x61, "reading clears it");
    let got: Vec<u8> = (0..16).map(|_| chip.read(DATA, now)).collect();
    assert_eq!((got.as_slice(), chip.lost()), (&sent[..16], 1));
    receive(&mut chip, b"z", &mut now);
    assert_eq!(chip.read(DATA, now), b'z');
}

#[test]
fn without_fifos_an_overrun_overwrites_the_old_character() {
    let (mut chip, mut now) = (chip(0x06), 0);
    receive(&mut chip, b"ab", &mut now);
    assert_eq!((chip.read(LSR, now), chip.read(DATA, now)), (0x63, b'b'));
    assert_eq!(chip.read(IIR, now), 0x01);
}

#[test]
fn framing_error_and_break_show_when_their_character_is_the_oldest() {
    let (mut chip, mut now) = (chip(0x01), 0);
    receive(&mut chip, b"a", &mut now);
    for value in [b'b', 0] {
        chip.start_receiving(value, false, now);
        now += CHARACTER;
        chip.advance(now);
    }
    let statuses = [0xE1, 0xE9, 0xF9].map(|_| {
        let status = chip.read(LSR, now);
        chip.read(DATA, now);
        status
    });
    assert_eq!(statuses, [0xE1, 0xE9, 0xF9], "bit 7: an error somewhere in the FIFO");
    assert_eq!(chip.read(LSR, now), 0x60);
}

#[test]
fn the_transmitter_takes_sixteen_characters_once_it_is_empty() {
    let mut chip = chip(0x01);
    chip.write(IER, 2, 0);
    assert_eq!(chip.read(IIR, 0), 0xC2, "enabled while empty");
    assert_eq!(chip.read(IIR, 0), 0xC1, "cleared by reading");
    for value in 0..17 {
        chip.write(DATA, value, 0);
    }
    assert_eq!(chip.read(LSR, 0), 0x00);
    let sent: Vec<u8> = (1..=17).filter_map(|count| chip.advance(count * CHARACTER)).collect();
    assert_eq!(sent, (0..17).collect::<Vec<_>>(), "the first went on to the shift register");
    assert_eq!((chip.read(LSR, 0), chip.read(IIR, 0)), (0x60, 0xC2));
}

#[test]
fn dtr_follows_the_modem_control_register() {
    let mut chip = chip(0x01);
    assert!(chip.dtr_high(), "after a reset");
    for (value, is_high) in [(0x0B, false), (0x08, true), (0x0A, true), (0x09, false)] {
        chip.write(MCR, value, 0);
        assert_eq!(chip.dtr_high(), is_high, "{value:02X}");
    }
}
