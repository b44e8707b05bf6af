//! A port of this computer: the slave side of a pseudo-terminal.

use std::io::{self, ErrorKind};

use rcflash_transport::platform::files::runtime_dir;
use rcflash_transport::platform::pty::Pty;
use rcflash_transport::port::{OpenError, Port, check_baud};
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{ByteCounts, Capabilities, ControlLine, Transport, network};

const SECOND: Duration = Duration::from_secs(1);

fn open_pty() -> (Pty, String) {
    let board = Pty::open(115_200).expect("a pseudo-terminal");
    let name = board.path().to_str().expect("it is ASCII").to_owned();
    (board, name)
}

/// Returns what the board receives until it has as many bytes.
fn received(board: &Pty, count: usize) -> Vec<u8> {
    let (mut received, deadline) = (Vec::new(), Instant::now() + 60 * SECOND);
    while received.len() < count {
        assert!(Instant::now() < deadline, "{received:?}");
        board.wait_readable(SECOND);
        let mut buffer = [0; 64];
        let length = board.read(&mut buffer).unwrap_or(0);
        received.extend(&buffer[..length]);
    }
    received
}

#[test]
fn bytes_and_settings_reach_the_device() {
    let (board, name) = open_pty();
    let mut port = network::open(&name, 115_200).expect("it is free");
    assert_eq!((port.name(), port.byte_counts()), (&*name, Some(ByteCounts::default())));
    assert_eq!(port.capabilities(), Capabilities::default(), "a pseudo-terminal has no lines");
    port.write(b"\0dump\xFF", Instant::now() + SECOND).expect("it is accepted");
    assert_eq!(received(&board, 6), b"\0dump\xFF");
    assert_eq!(board.write(b"ok\0"), 3);
    let (mut buffer, deadline) = ([0; 16], Instant::now() + 60 * SECOND);
    let mut count = 0;
    while count < 3 && Instant::now() < deadline {
        count += port.read(&mut buffer[count..], SECOND).expect("it is connected");
    }
    assert_eq!(buffer[..3], *b"ok\0");
    assert_eq!(port.byte_counts(), Some(ByteCounts { sent: 6, received: 3 }));
    assert_eq!(port.read(&mut buffer, Duration::ZERO).expect("it is connected"), 0);

    assert!(port.set_flow_control(false).expect("a setting"), "it was on");
    assert_eq!(board.uses_rts_cts(), Some(false));
    port.set_baud(9600).expect("a setting");
    assert_eq!(board.baud(), Some(9600));
    port.keep_lines_at_close().expect("a setting");
    let unsupported = port.set_control_line(ControlLine::Dtr, true).map_err(|error| error.kind());
    assert_eq!(unsupported, Err(ErrorKind::Unsupported));
}

#[test]
fn settings_of_a_disconnected_device_are_errors() {
    let (board, name) = open_pty();
    let mut port = network::open(&name, 115_200).expect("it is free");
    drop(board);
    assert!(port.keep_lines_at_close().is_err());
    assert!(port.discard_unsent().is_err());
}

#[test]
fn a_board_that_reads_nothing_makes_writes_time_out() {
    let (board, name) = open_pty();
    let mut port = Port::open(&name, 115_200).expect("it is free");
    let late = port.write(b"x", Instant::now()).map_err(|error| error.kind());
    assert_eq!(late, Err(ErrorKind::TimedOut));
    let chunk = [7; 4096];
    let error = (0..100).find_map(|_| port.write(&chunk, Instant::now() + SECOND / 10).err());
    assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::TimedOut));
    let sent = port.byte_counts().expect("it counts").sent as usize;
    assert_eq!(received(&board, sent), vec![7; sent]);
    port.discard_unsent().expect("nothing is unsent");
}

#[test]
fn a_used_port_is_refused_and_a_killed_program_is_named() {
    let (_board, name) = open_pty();
    let port = Port::open(&name, 115_200).expect("it is free");
    assert_eq!(port.previous_holder(), None);
    let message = Port::open(&name, 115_200).err().expect("it is locked").to_string();
    assert!(message.contains(&name) && message.contains("wait until that ends"), "{message}");
    // The lock file of a program that was killed keeps its entry.
    let prefix = format!("{}@", name.trim_start_matches('/').replace('/', "-"));
    let files = std::fs::read_dir(runtime_dir("rcflash")).expect("the locks").flatten();
    let is_own = |path: &std::path::PathBuf| {
        path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&prefix))
    };
    let file = files.map(|entry| entry.path()).find(is_own).expect("its lock");
    drop(port);
    std::fs::write(&file, "77\n1000\nrcflash write\n").expect("a file");
    let port = Port::open(&name, 115_200).expect("its holder has ended");
    assert_eq!(port.previous_holder().map(|holder| holder.pid), Some(77));
}

#[test]
fn what_is_no_serial_port_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("ttyUSB7");
    let error = |path: &std::path::Path| {
        Port::open(path.to_str().expect("UTF-8"), 115_200).err().expect("it is none")
    };
    assert!(matches!(error(&missing), OpenError::NotFound(_)));
    std::fs::write(&missing, "").expect("a file");
    assert!(matches!(error(&missing), OpenError::NotSerial(_)));
    assert!(matches!(error(folder.path()), OpenError::NotSerial(_)));
    assert!(matches!(error("/dev/null".as_ref()), OpenError::NotSerial(_)));
    let busy = OpenError::Busy("/dev/ttyUSB7".to_owned(), None).to_string();
    assert_eq!(busy, "/dev/ttyUSB7 is in use by another program; close that first");
}

/// A transport with the methods that every transport has.
struct BytesOnly;

impl Transport for BytesOnly {
    fn name(&self) -> &str {
        "bytes"
    }

    fn read(&mut self, _buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
        Ok(0)
    }

    fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_transport_that_only_carries_bytes_has_no_settings() {
    let mut transport = BytesOnly;
    assert_eq!((transport.byte_counts(), transport.previous_holder()), (None, None));
    assert_eq!(transport.capabilities(), Capabilities::default());
    assert!(!transport.set_flow_control(true).expect("it has no effect"));
    assert!(transport.keep_lines_at_close().is_ok() && transport.discard_unsent().is_ok());
    let line = transport.set_control_line(ControlLine::Dtr, true);
    for refused in [line, transport.set_baud(9600)] {
        assert_eq!(refused.map_err(|error| error.kind()), Err(ErrorKind::Unsupported));
    }
}

/// Bit 9 of a character of 10 bits is sampled 9.5 bits after the start: at 3 % it is 0.3 bits off.
#[test]
fn a_speed_may_differ_by_three_percent() {
    for (actual, is_near) in [(970, true), (1030, true), (969, false), (1031, false)] {
        assert_eq!(check_baud(actual, 1000).is_ok(), is_near, "{actual}");
    }
    let message = check_baud(9600, 115_200).expect_err("it is another").to_string();
    assert!(message.contains("set 9600 baud instead of 115200"), "{message}");
}
