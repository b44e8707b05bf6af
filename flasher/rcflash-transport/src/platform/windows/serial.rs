//! Serial devices; every call that waits has a timeout.

use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use serialport::{COMPort, FlowControl, SerialPort};

/// The shortest timeout that the driver supports.
const MIN_TIMEOUT: Duration = Duration::from_millis(1);

/// An open serial device, 8 data bits, no parity, 1 stop bit; of one program at a time.
pub struct Device {
    port: COMPort,
}

impl Device {
    /// Opens a device, with RTS/CTS flow control.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`] if there is no such device, [`ErrorKind::ResourceBusy`] if
    /// another program uses it, or the system's error.
    pub fn open(name: &str, baud: u32) -> io::Result<Self> {
        let settings = serialport::new(name, baud).flow_control(FlowControl::Hardware);
        let port = settings.timeout(MIN_TIMEOUT).dtr_on_open(true).open_native();
        let port = port.map_err(|error| match error.kind() {
            // A port that is listed and can't be opened is in use by another program.
            serialport::ErrorKind::NoDevice if is_listed(name) => ErrorKind::ResourceBusy.into(),
            serialport::ErrorKind::NoDevice => ErrorKind::NotFound.into(),
            _ => io::Error::from(error),
        })?;
        Ok(Self { port })
    }

    /// Access to baud rate, flow control and control lines.
    pub(crate) fn settings(&mut self) -> &mut dyn SerialPort {
        &mut self.port
    }

    /// Reads received bytes, waiting up to `timeout`; returns 0 if none arrived.
    pub fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.set_timeout(timeout)?;
        match self.port.read(buffer) {
            Err(error) if error.kind() == ErrorKind::TimedOut => Ok(0),
            other => other,
        }
    }

    /// Writes the bytes that the device accepts within `timeout`; returns their number.
    pub fn write(&mut self, bytes: &[u8], timeout: Duration) -> io::Result<usize> {
        self.set_timeout(timeout)?;
        match self.port.write(bytes) {
            Err(error) if error.kind() == ErrorKind::TimedOut => Ok(0),
            other => other,
        }
    }

    /// Does nothing: on Windows, the driver decides whether DTR and RTS change at close.
    pub fn keep_lines_at_close(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn set_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        let timeout = timeout.max(MIN_TIMEOUT);
        if self.port.timeout() != timeout {
            self.port.set_timeout(timeout)?;
        }
        Ok(())
    }
}

fn is_listed(name: &str) -> bool {
    let ports = serialport::available_ports().unwrap_or_default();
    ports.iter().any(|port| port.port_name.eq_ignore_ascii_case(name))
}

/// Returns `true` if `name` is a device, not a name of a board: a path, or COM and a number.
pub fn is_device_name(name: &str) -> bool {
    let number = name.get(..3).filter(|com| com.eq_ignore_ascii_case("com")).map(|_| &name[3..]);
    let is_com = number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    is_com || name.contains(['/', '\\'])
}

/// Returns `false`: Windows has no pseudo-terminals that are serial devices.
pub fn is_pseudo_terminal(_device: &Path) -> bool {
    false
}
