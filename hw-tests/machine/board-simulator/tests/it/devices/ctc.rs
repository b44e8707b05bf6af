//! Z80 CTC: counting, reading back, outputs and interrupts as in its manual.

use board_simulator::Ctc;

/// Control words: counter or timer, a time constant follows, software reset.
const COUNTER: u8 = 0x47;
const TIMER_16: u8 = 0x07;
const TIMER_256: u8 = 0x27;

#[test]
fn periods_are_constant_times_input_or_prescaler() {
    for (control, constant, period) in
        [(COUNTER, 12, 12 * 4), (COUNTER, 0, 256 * 4), (TIMER_16, 10, 160), (TIMER_256, 10, 2560)]
    {
        let mut ctc = Ctc::new();
        ctc.connect(1, 4);
        assert_eq!(ctc.output_period(1), None);
        ctc.write(1, control, 0);
        assert_eq!(ctc.output_period(1), None, "it stands until the constant is there");
        ctc.write(1, constant, 0);
        assert_eq!(ctc.output_period(1), Some(period), "{control:02X}");
        ctc.write(1, 0x03, 0);
        assert_eq!(ctc.output_period(1), None, "reset");
    }
}

#[test]
fn a_counter_without_input_stands() {
    let mut ctc = Ctc::new();
    ctc.write(2, COUNTER, 0);
    ctc.write(2, 5, 0);
    assert_eq!((ctc.output_period(2), ctc.read(2, 1000)), (None, 5));
}

#[test]
fn the_count_is_read_while_it_decreases() {
    let mut ctc = Ctc::new();
    ctc.write(3, TIMER_16, 100);
    ctc.write(3, 3, 100);
    let read: Vec<_> = [0, 15, 16, 32, 47, 48].map(|after| ctc.read(3, 100 + after)).into();
    assert_eq!(read, [3, 3, 2, 1, 1, 3]);
}

#[test]
fn zeros_interrupt_with_a_vector_by_channel() {
    let mut ctc = Ctc::new();
    ctc.write(0, 0xA8, 0);
    for channel in [2, 1] {
        ctc.write(channel, TIMER_16 | 0x80, 0);
        ctc.write(channel, 10, 0);
    }
    assert_eq!((ctc.interrupt(), ctc.next_event()), (false, Some(160)));
    ctc.advance(160);
    assert_eq!((ctc.interrupt(), ctc.vector()), (true, 0xAA));
    ctc.acknowledge();
    assert!(!ctc.interrupt(), "channel 2 has to wait for channel 1");
    ctc.return_from_interrupt();
    assert_eq!((ctc.interrupt(), ctc.vector()), (true, 0xAC));
    ctc.acknowledge();
    ctc.return_from_interrupt();
    assert!(!ctc.interrupt());
    ctc.advance(320);
    assert!(ctc.interrupt());
    ctc.reset();
    assert!(!ctc.interrupt());
}
