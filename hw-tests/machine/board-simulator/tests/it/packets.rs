//! The packets of USB adapters.

use std::time::Duration;

use board_simulator::{PacketTimer, UsbPacketing};

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_full_packet_is_sent_at_once_and_a_partial_one_when_the_timer_expires() {
    let mut timer = PacketTimer::new(UsbPacketing::Usb);
    assert_eq!(timer.packet_length(61, 15 * MS), 0);
    assert_eq!(timer.packet_length(61, 16 * MS), 61);
    assert_eq!(timer.packet_length(100, MS), 62);
    timer.restart(MS);
    assert_eq!((timer.packet_length(38, 16 * MS), timer.packet_length(38, 17 * MS)), (0, 38));
    timer.expire(40 * MS);
    assert_eq!(timer.expiry(), 49 * MS, "the timer is periodic: 1, 17, 33, 49 ms");
    assert_eq!(PacketTimer::new(UsbPacketing::None).packet_length(3, MS), 3);
}
