//! A line that outlives its adapter: when the port is gone, it is opened again as soon as it is
//! back.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host_platform::time::{Duration, Instant};

use crate::{Capabilities, ControlLine, Passed, Transport};

/// The time between two looks for a port that is away.
const LOOK: Duration = Duration::from_millis(250);

/// Opens the port again; an error while it is not there.
pub type Reopen = Box<dyn FnMut() -> io::Result<Box<dyn Transport + Send>> + Send>;

/// A line that is opened again when its device has gone.
pub struct Lasting {
    line: Box<dyn Transport + Send>,
    reopen: Reopen,
    /// The longest time that it may be away.
    patience: Duration,
    /// Ends the wait when set.
    stop: Arc<AtomicBool>,
    /// Shows what happens.
    note: fn(&str),
    away: Option<Away>,
}

/// A time in which the port is not there.
struct Away {
    since: Instant,
    looked: Instant,
}

/// A stand-in for the line while its port is not there.
struct Gone {
    name: String,
    capabilities: Capabilities,
}

impl Transport for Gone {
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

impl Lasting {
    /// A line that waits for its port for so long, unless `stop` is set.
    #[must_use]
    pub fn new(
        line: Box<dyn Transport + Send>,
        reopen: Reopen,
        patience: Duration,
        stop: Arc<AtomicBool>,
        note: fn(&str),
    ) -> Self {
        Self { line, reopen, patience, stop, note, away: None }
    }

    /// Notes that the port is gone, or gives the error back if there is nothing to wait for.
    fn lose(&mut self, error: io::Error) -> io::Result<()> {
        let passes = matches!(
            error.kind(),
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
        );
        if passes || self.patience.is_zero() {
            return Err(error);
        }
        let seconds = self.patience.as_secs();
        (self.note)(&format!(
            "{}: the port is gone; waiting up to {seconds} s for it",
            self.line.name()
        ));
        let now = Instant::now();
        self.away = Some(Away { since: now, looked: now });
        // Closed now: as long as a program holds a device that has gone, Linux gives the adapter
        // another name when it comes back.
        let (name, capabilities) = (self.line.name().to_owned(), self.line.capabilities());
        self.line = Box::new(Gone { name, capabilities });
        Ok(())
    }

    /// Looks for the port until `end`; whether the line is there.
    fn find(&mut self, end: Instant) -> io::Result<bool> {
        while let Some(away) = &mut self.away {
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if away.looked.elapsed() >= LOOK {
                away.looked = Instant::now();
                if let Ok(line) = (self.reopen)() {
                    self.line = line;
                    self.away = None;
                    (self.note)(&format!("{}: the port is back", self.line.name()));
                    return Ok(true);
                }
                if away.since.elapsed() > self.patience {
                    let problem =
                        format!("it was not plugged in again within {} s", self.patience.as_secs());
                    return Err(io::Error::new(io::ErrorKind::NotConnected, problem));
                }
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            host_platform::time::sleep(left.min(LOOK / 5));
        }
        Ok(true)
    }
}

impl Transport for Lasting {
    fn name(&self) -> &str {
        self.line.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.line.capabilities()
    }

    fn now(&self) -> Instant {
        self.line.now()
    }

    fn passed(&self) -> Option<Passed> {
        self.line.passed()
    }

    fn set_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        self.line.set_line(line, on)
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        if !self.find(Instant::now() + timeout)? {
            return Ok(0);
        }
        match self.line.read(buffer, timeout) {
            Ok(count) => Ok(count),
            Err(error) => self.lose(error).map(|()| 0),
        }
    }

    /// While the port is away nothing is taken, as by a board that holds the host off.
    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        if !self.find(Instant::now())? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match self.line.write(bytes, deadline) {
            Ok(()) => Ok(()),
            Err(error) => {
                self.lose(error)?;
                Err(io::ErrorKind::TimedOut.into())
            }
        }
    }

    fn obey_rts(&mut self, obey: bool) -> io::Result<bool> {
        self.line.obey_rts(obey)
    }

    fn set_baud(&mut self, baud: u32) -> io::Result<()> {
        self.line.set_baud(baud)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.line.discard_unsent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that gives its bytes and then is gone.
    struct Short(Vec<u8>);

    impl Transport for Short {
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

    fn line(patience: Duration, mut failures: u32) -> Lasting {
        let reopen = move || -> io::Result<Box<dyn Transport + Send>> {
            if failures == 0 {
                return Ok(Box::new(Short(b"B".to_vec())));
            }
            failures -= 1;
            Err(io::ErrorKind::NotFound.into())
        };
        let stop = Arc::default();
        Lasting::new(Box::new(Short(b"A".to_vec())), Box::new(reopen), patience, stop, |_| {})
    }

    /// The bytes that come until the line fails.
    fn heard(line: &mut Lasting, most: usize) -> (Vec<u8>, Option<io::ErrorKind>) {
        let mut heard = Vec::new();
        let mut buffer = [0; 4];
        loop {
            match line.read(&mut buffer, LOOK) {
                Ok(count) => heard.extend(&buffer[..count]),
                Err(error) => return (heard, Some(error.kind())),
            }
            if heard.len() == most {
                return (heard, None);
            }
        }
    }

    #[test]
    fn a_port_that_comes_back_is_gone_on_with() {
        let mut lasting = line(Duration::from_secs(60), 2);
        assert_eq!(heard(&mut lasting, 2), (b"AB".to_vec(), None));
        let refused = lasting.write(b"x", Instant::now()).map_err(|error| error.kind());
        assert_eq!(refused, Err(io::ErrorKind::TimedOut), "nothing is taken while it is away");
    }

    #[test]
    fn a_port_that_stays_away_ends_in_an_error() {
        let mut lasting = line(Duration::from_millis(1), u32::MAX);
        let (bytes, error) = heard(&mut lasting, 2);
        assert_eq!((bytes.as_slice(), error), (&b"A"[..], Some(io::ErrorKind::NotConnected)));
        let mut at_once = line(Duration::ZERO, 0);
        assert_eq!(heard(&mut at_once, 2).1, Some(io::ErrorKind::BrokenPipe));
    }

    /// A line that is gone at once, and tells when it is closed.
    struct Held(Arc<AtomicBool>);

    impl Transport for Held {
        fn name(&self) -> &str {
            "held"
        }

        fn read(&mut self, _buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_device_that_has_gone_is_let_go_of_before_its_name_is_looked_for() {
        let closed = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&closed);
        let reopen = move || -> io::Result<Box<dyn Transport + Send>> {
            assert!(seen.load(Ordering::Relaxed), "Linux would give the adapter another name");
            Ok(Box::new(Short(b"B".to_vec())))
        };
        let held = Box::new(Held(closed));
        let patience = Duration::from_secs(60);
        let mut lasting = Lasting::new(held, Box::new(reopen), patience, Arc::default(), |_| {});
        assert_eq!(heard(&mut lasting, 1), (b"B".to_vec(), None));
        assert_eq!(lasting.name(), "short");
    }

    #[test]
    fn the_user_ends_the_wait() {
        let mut lasting = line(Duration::from_secs(60), u32::MAX);
        assert_eq!(heard(&mut lasting, 1).0, b"A");
        lasting.stop.store(true, Ordering::Relaxed);
        assert_eq!(heard(&mut lasting, 2).1, Some(io::ErrorKind::Interrupted));
    }
}
