//! A serial port as the flasher opens it, on a pseudo-terminal.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use board_simulator::{PtyLine, SerialLine};
use rcflash_transport::port::Port;
use rcflash_transport::{ByteCounts, Capabilities, ControlLine, Transport};

#[test]
fn control_lines_are_unsupported_and_bytes_counted_on_a_pseudo_terminal() {
    let mut far = PtyLine::open(115_200).expect("a pseudo-terminal");
    let mut port = Port::open(&far.path().to_string_lossy(), 115_200).expect("it opens");
    assert_eq!(port.capabilities(), Capabilities::default());
    for line in [ControlLine::Dtr, ControlLine::Rts, ControlLine::Break] {
        let error = port.set_control_line(line, true).expect_err("there is no such wire");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
    let soon = Instant::now() + Duration::from_secs(5);
    port.write(b"three", soon).expect("it goes out");
    far.transmit(b'!');
    far.flush(None);
    let mut received = [0; 8];
    assert_eq!(port.read(&mut received, Duration::from_secs(5)).expect("it comes"), 1);
    assert_eq!(port.byte_counts(), Some(ByteCounts { sent: 5, received: 1 }));
}
