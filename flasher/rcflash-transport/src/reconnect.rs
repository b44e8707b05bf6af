//! A transport that reconnects: when its port disappears, it is reopened as soon as it is back.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::platform::time::{Duration, Instant};

use crate::{Capabilities, Transport};

/// How often a disconnected port is polled.
const RECONNECT_INTERVAL: Duration = Duration::from_millis(250);

/// Reopens the port; returns an error while it is not there.
pub type Reopen = Box<dyn FnMut() -> io::Result<Box<dyn Transport + Send>> + Send>;

/// A transport whose port is reopened after it was disconnected.
pub struct ReconnectingTransport {
    transport: Box<dyn Transport + Send>,
    reopen: Reopen,
    /// The maximum duration of an outage.
    timeout: Duration,
    /// Ends the wait when set to `true`.
    stop: Arc<AtomicBool>,
    /// Receives a message when the port is lost and when it is back.
    on_message: fn(&str),
    outage: Option<Outage>,
}

/// A period without the port.
struct Outage {
    since: Instant,
    last_attempt: Instant,
}

/// Takes the place of the transport during an outage.
struct DisconnectedTransport {
    name: String,
    capabilities: Capabilities,
}

impl Transport for DisconnectedTransport {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn read(&mut self, _buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
        Err(io::ErrorKind::NotConnected.into())
    }

    fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        Err(io::ErrorKind::NotConnected.into())
    }
}

impl ReconnectingTransport {
    /// Wraps `transport`, whose port may be missing for up to `timeout`. Setting `stop` ends the
    /// wait, and `on_message` receives what to show to the user.
    pub fn new(
        transport: Box<dyn Transport + Send>,
        reopen: Reopen,
        timeout: Duration,
        stop: Arc<AtomicBool>,
        on_message: fn(&str),
    ) -> Self {
        Self { transport, reopen, timeout, stop, on_message, outage: None }
    }

    /// Starts an outage, or returns `error` if it is not a disconnection or no outage is allowed.
    fn start_outage(&mut self, error: io::Error) -> io::Result<()> {
        let is_temporary = matches!(
            error.kind(),
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
        );
        if is_temporary || self.timeout.is_zero() {
            return Err(error);
        }
        let seconds = self.timeout.as_secs();
        (self.on_message)(&format!(
            "{}: the port is gone; waiting up to {seconds} s for it",
            self.transport.name()
        ));
        let now = Instant::now();
        self.outage = Some(Outage { since: now, last_attempt: now });
        // Closed before it is reopened: while a program has a removed device open, Linux gives the
        // adapter another name when it comes back.
        let (name, capabilities) =
            (self.transport.name().to_owned(), self.transport.capabilities());
        self.transport = Box::new(DisconnectedTransport { name, capabilities });
        Ok(())
    }

    /// Polls the port until `end`. Returns `true` if it is connected.
    fn wait_until_connected(&mut self, end: Instant) -> io::Result<bool> {
        while let Some(outage) = &mut self.outage {
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if outage.last_attempt.elapsed() >= RECONNECT_INTERVAL {
                outage.last_attempt = Instant::now();
                if let Ok(transport) = (self.reopen)() {
                    self.transport = transport;
                    self.outage = None;
                    (self.on_message)(&format!("{}: the port is back", self.transport.name()));
                    return Ok(true);
                }
                if outage.since.elapsed() > self.timeout {
                    let problem =
                        format!("it was not plugged in again within {} s", self.timeout.as_secs());
                    return Err(io::Error::new(io::ErrorKind::NotConnected, problem));
                }
            }
            let remaining = end.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return Ok(false);
            }
            crate::platform::time::sleep(remaining.min(RECONNECT_INTERVAL / 5));
        }
        Ok(true)
    }
}

impl Transport for ReconnectingTransport {
    fn inner(&self) -> Option<&dyn Transport> {
        Some(&*self.transport)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        Some(&mut *self.transport)
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        if !self.wait_until_connected(Instant::now() + timeout)? {
            return Ok(0);
        }
        match self.transport.read(buffer, timeout) {
            Ok(count) => Ok(count),
            Err(error) => self.start_outage(error).map(|()| 0),
        }
    }

    /// During an outage writes time out, as with a board that suspends the host.
    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        if !self.wait_until_connected(Instant::now())? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match self.transport.write(bytes, deadline) {
            Ok(()) => Ok(()),
            Err(error) => {
                self.start_outage(error)?;
                Err(io::ErrorKind::TimedOut.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A transport that is disconnected after its last byte.
    struct ShortLived(Vec<u8>);

    impl Transport for ShortLived {
        fn name(&self) -> &str {
            "short"
        }

        fn read(&mut self, buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            buffer[0] = self.0.remove(0);
            Ok(1)
        }

        fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    fn transport(timeout: Duration, mut failures: u32) -> ReconnectingTransport {
        let reopen = move || -> io::Result<Box<dyn Transport + Send>> {
            if failures == 0 {
                return Ok(Box::new(ShortLived(b"B".to_vec())));
            }
            failures -= 1;
            Err(io::ErrorKind::NotFound.into())
        };
        let stop = Arc::default();
        ReconnectingTransport::new(
            Box::new(ShortLived(b"A".to_vec())),
            Box::new(reopen),
            timeout,
            stop,
            |_| {},
        )
    }

    /// Returns the bytes received until an error.
    fn received_until_error(
        transport: &mut ReconnectingTransport,
        max: usize,
    ) -> (Vec<u8>, Option<io::ErrorKind>) {
        let mut received = Vec::new();
        let mut buffer = [0; 4];
        loop {
            match transport.read(&mut buffer, RECONNECT_INTERVAL) {
                Ok(count) => received.extend(&buffer[..count]),
                Err(error) => return (received, Some(error.kind())),
            }
            if received.len() == max {
                return (received, None);
            }
        }
    }

    #[test]
    fn a_port_that_comes_back_is_used_again() {
        let mut reconnecting = transport(Duration::from_secs(60), 2);
        assert_eq!(received_until_error(&mut reconnecting, 2), (b"AB".to_vec(), None));
        let refused = reconnecting.write(b"x", Instant::now()).map_err(|error| error.kind());
        assert_eq!(refused, Err(io::ErrorKind::TimedOut), "nothing is written during an outage");
    }

    #[test]
    fn a_port_that_does_not_come_back_is_an_error() {
        let mut reconnecting = transport(Duration::from_millis(1), u32::MAX);
        let (bytes, error) = received_until_error(&mut reconnecting, 2);
        assert_eq!((bytes.as_slice(), error), (&b"A"[..], Some(io::ErrorKind::NotConnected)));
        let mut at_once = transport(Duration::ZERO, 0);
        assert_eq!(received_until_error(&mut at_once, 2).1, Some(io::ErrorKind::BrokenPipe));
    }

    /// A transport that is disconnected at once, and sets the flag when it is dropped.
    struct DropFlag(Arc<AtomicBool>);

    impl Transport for DropFlag {
        fn name(&self) -> &str {
            "flagged"
        }

        fn read(&mut self, _buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    impl Drop for DropFlag {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_disconnected_device_is_closed_before_it_is_reopened() {
        let closed = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&closed);
        let reopen = move || -> io::Result<Box<dyn Transport + Send>> {
            assert!(seen.load(Ordering::Relaxed), "Linux would give the adapter another name");
            Ok(Box::new(ShortLived(b"B".to_vec())))
        };
        let flagged = Box::new(DropFlag(closed));
        let timeout = Duration::from_secs(60);
        let mut reconnecting =
            ReconnectingTransport::new(flagged, Box::new(reopen), timeout, Arc::default(), |_| {});
        assert_eq!(received_until_error(&mut reconnecting, 1), (b"B".to_vec(), None));
        assert_eq!(reconnecting.name(), "short");
    }

    #[test]
    fn the_user_ends_the_wait() {
        let mut reconnecting = transport(Duration::from_secs(60), u32::MAX);
        assert_eq!(received_until_error(&mut reconnecting, 1).0, b"A");
        reconnecting.stop.store(true, Ordering::Relaxed);
        assert_eq!(received_until_error(&mut reconnecting, 2).1, Some(io::ErrorKind::Interrupted));
    }
}
