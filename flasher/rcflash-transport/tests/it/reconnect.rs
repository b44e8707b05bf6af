//! A reconnecting transport is its port, and keeps its name during an outage.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{ByteCounts, Capabilities, ControlLine, ReconnectingTransport, Transport};

use crate::test_port::TestPort;

static MESSAGES: Mutex<String> = Mutex::new(String::new());

fn reconnecting(
    port: &TestPort,
    timeout: Duration,
    stop: &Arc<AtomicBool>,
) -> ReconnectingTransport {
    let reopened = port.clone();
    let reopen = move || -> io::Result<Box<dyn Transport + Send>> {
        match reopened.with(|state| state.is_unplugged) {
            true => Err(io::ErrorKind::NotFound.into()),
            false => Ok(Box::new(reopened.clone())),
        }
    };
    let on_message = |text: &str| *MESSAGES.lock().expect("no panic") += &format!("{text}\n");
    let transport = Box::new(port.clone());
    ReconnectingTransport::new(transport, Box::new(reopen), timeout, Arc::clone(stop), on_message)
}

#[test]
fn settings_reach_the_port() {
    let port = TestPort::default();
    let mut transport = reconnecting(&port, Duration::from_secs(60), &Arc::default());
    let capabilities = Capabilities { flow_control: true, control_lines: true };
    assert_eq!((transport.name(), transport.capabilities()), ("test port", capabilities));
    transport.write(b"abc", Instant::now() + Duration::from_secs(60)).expect("it accepts all");
    assert_eq!(transport.byte_counts(), Some(ByteCounts { sent: 3, received: 7 }));
    transport.set_control_line(ControlLine::Break, true).expect("it has all lines");
    assert!(transport.set_flow_control(false).expect("it has the wires"));
    transport.set_baud(9600).expect("it is supported");
    transport.discard_unsent().expect("it can");
    let calls = ["Break true", "flow control false", "baud 9600", "discard"];
    assert_eq!(port.with(|state| state.calls.clone()), calls);
    assert!(transport.set_baud(300).is_err());
}

#[test]
fn an_outage_is_announced_and_ends_with_the_port_or_with_the_users_stop() {
    let (port, stop) = (TestPort::default(), Arc::default());
    let mut transport = reconnecting(&port, Duration::from_secs(61), &stop);
    port.with(|state| state.is_unplugged = true);
    assert_eq!(transport.read(&mut [0; 4], Duration::ZERO).expect("an outage"), 0);
    assert_eq!(transport.name(), "test port");
    assert!(transport.capabilities().control_lines, "as before the outage");
    let refused = transport
        .write(b"x", Instant::now() + Duration::from_secs(60))
        .map_err(|error| error.kind());
    assert_eq!(refused, Err(io::ErrorKind::TimedOut));
    assert!(transport.set_baud(9600).is_err(), "no port has the setting");
    port.with(|state| {
        state.is_unplugged = false;
        state.from_board.extend(b"ok");
    });
    let mut received = [0; 4];
    let deadline = Instant::now() + Duration::from_secs(60);
    while transport.read(&mut received, Duration::from_secs(1)).expect("an outage") == 0 {
        assert!(Instant::now() < deadline);
    }
    assert_eq!(received[..2], *b"ok");
    transport.write(b"x", Instant::now() + Duration::from_secs(60)).expect("it is back");
    let messages = MESSAGES.lock().expect("no panic").clone();
    assert!(messages.contains("test port: the port is gone; waiting up to 61 s"), "{messages}");
    assert!(messages.contains("test port: the port is back"), "{messages}");
    stop.store(true, Ordering::Relaxed);
    port.with(|state| state.is_unplugged = true);
    assert_eq!(transport.read(&mut received, Duration::ZERO).expect("an outage"), 0);
    let ended = transport.read(&mut received, Duration::from_secs(60));
    assert_eq!(ended.map_err(|error| error.kind()), Err(io::ErrorKind::Interrupted));
}
